"""DuckDB as a warehouse: a private, locked-down instance for each snapshot.

The order of settings is the only one that works (tried on 2.0.1); each is a second wall behind the
referee. A fresh `:memory:` instance attaches the file read-only, so that it pins one inode: a
second ordinary connection of the same process would see the old file after a swap.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb

from catalog.engines.port import EngineFault, QueryTimeout, SnapshotIdentity, WarehouseMissing
from catalog.referee.certified import CertifiedQuery, Purpose
from trivet.errors import InternalError

_ALIAS = "warehouse"
_FETCH = 10_000
_INTERRUPT_EVERY = 0.02
"""Seconds between two interrupts of a query that is past its time."""


class DuckDBEngine:
    """A DuckDB file. Any number of snapshots can be open at once, in any thread or process."""

    name = "duckdb"
    version = duckdb.__version__

    def __init__(self, path: Path, *, threads: int = 2, memory_limit: str = "2GB") -> None:
        self._path = path
        self._threads = threads
        self._memory_limit = memory_limit

    @contextmanager
    def snapshot(self) -> Iterator[DuckDBSnapshot]:
        """Opens one snapshot with the monitor profile; closes it on leaving."""
        with tempfile.TemporaryDirectory(prefix="trivet-spill-") as spill, _faults():
            connection, status = self._open_file(spill)
            try:
                connection.execute("BEGIN TRANSACTION READ ONLY")
                identity = SnapshotIdentity(
                    generation=_generation(connection),
                    device=status.st_dev,
                    inode=status.st_ino,
                    size=status.st_size,
                    modified_ns=status.st_mtime_ns,
                )
                yield DuckDBSnapshot(connection, identity)
            finally:
                connection.close()

    def _open_file(self, spill: str) -> tuple[duckdb.DuckDBPyConnection, os.stat_result]:
        """A connection and the file that it holds: looked at before and after, lest a swap fall between."""
        before = self._status()
        while True:
            connection = self._open(spill)
            try:
                after = self._status()
            except BaseException:
                connection.close()
                raise
            if (before.st_dev, before.st_ino, before.st_mtime_ns) == (after.st_dev, after.st_ino, after.st_mtime_ns):
                return connection, after
            connection.close()
            before = after

    def _status(self) -> os.stat_result:
        try:
            return self._path.stat()
        except OSError:
            message = f"{self._path.name} is not there; `trivet ingest` builds it"
            raise WarehouseMissing(message) from None

    def _open(self, spill: str) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            ":memory:",
            config={
                "threads": self._threads,
                "memory_limit": self._memory_limit,
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "allow_community_extensions": False,
                "python_enable_replacements": False,
            },
        )
        try:
            path = str(self._path).replace("'", "''")
            connection.execute(f"ATTACH '{path}' AS {_ALIAS} (READ_ONLY)")
            connection.execute(f"USE {_ALIAS}")
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET temp_directory = '{}'".format(spill.replace("'", "''")))
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        except BaseException:
            connection.close()
            raise
        return connection


class DuckDBSnapshot:
    """One read-only transaction. Everything is fetched inside it, since results stream."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, identity: SnapshotIdentity) -> None:
        self._connection = connection
        self.identity = identity
        self._columns: dict[str, Mapping[str, str] | None] = {}

    def columns(self, view: str) -> Mapping[str, str] | None:
        """Physical type of each column of a view; None where there is no such view."""
        if view not in self._columns:
            self._columns[view] = self._look_up(view)
        return self._columns[view]

    def run(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        """All rows of a certified query."""
        return list(self.stream(query, timeout))

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        """The rows of a certified query. The time runs until the last row is fetched."""
        if query.purpose is not Purpose.MONITOR:
            raise InternalError(f"a query for purpose {query.purpose} has no business in the monitor profile")
        with _time_limit(self._connection, timeout), _faults():
            result = self._connection.execute(query.sql)
            while rows := result.fetchmany(_FETCH):
                yield from rows

    def _look_up(self, view: str) -> Mapping[str, str] | None:
        namespace, _, name = view.rpartition(".")
        with _faults():
            rows = self._connection.execute(
                "SELECT column_name, data_type FROM duckdb_columns() "
                "WHERE database_name = ? AND schema_name = ? AND table_name = ? ORDER BY column_index",
                [_ALIAS, namespace, name],
            ).fetchall()
        return dict(rows) or None


@contextmanager
def _faults() -> Iterator[None]:
    """The engine's exceptions as the port's faults, on one line.

    An interrupt that arrives through a Python signal surfaces as a bare `RuntimeError`.
    """
    try:
        yield
    except duckdb.InterruptException as error:
        raise QueryTimeout(_one_line(error)) from None
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise QueryTimeout(_one_line(error)) from None
        raise
    except duckdb.Error as error:
        raise EngineFault(_one_line(error)) from None


@contextmanager
def _time_limit(connection: duckdb.DuckDBPyConnection, timeout: timedelta) -> Iterator[None]:
    """Interrupts the connection's query once `timeout` has passed, again and again until it ends.

    A single interrupt can fall between two statements, where it is lost and the query runs for ever.
    """
    ended = threading.Event()

    def watch() -> None:
        if ended.wait(timeout.total_seconds()):
            return
        while not ended.is_set():
            connection.interrupt()
            ended.wait(_INTERRUPT_EVERY)

    watchdog = threading.Thread(target=watch, name="trivet-query-watchdog", daemon=True)
    watchdog.start()
    try:
        yield
    finally:
        ended.set()
        watchdog.join()


def _generation(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The name that ingestion gave this file. It is the first read, so the snapshot starts here."""
    known = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = ? AND schema_name = '_trivet' "
        "AND table_name = 'generation'",
        [_ALIAS],
    ).fetchall()
    if not known[0][0]:
        return None
    rows = connection.execute(f"SELECT generation FROM {_ALIAS}._trivet.generation").fetchall()
    return str(rows[0][0]) if rows else None


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else type(error).__name__
