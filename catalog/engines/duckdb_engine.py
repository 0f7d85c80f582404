"""DuckDB as a warehouse of monitors: a private, locked-down instance for each snapshot.

Time limits stand above each other: that of a query, which a thread holds by interrupting it; a little later the
engine's own, should the thread come late; and above both the runner's, which ends the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from catalog.engines.duckdb_instance import ALIAS, begin, faults, hold_file, open_locked
from catalog.engines.port import HeldName, SnapshotIdentity
from catalog.engines.spill import spill_folder
from catalog.engines.watchdog import Watchdog
from catalog.referee.certified import CertifiedQuery, Purpose
from trivet.errors import InternalError

_FETCH = 10_000
BACKSTOP = timedelta(seconds=5)
"""How long after a query's time the engine ends it by itself."""


class DuckDBEngine:
    """A DuckDB file. Any number of snapshots can be open at once, in any thread of the process that made the engine."""

    name = "duckdb"
    version = duckdb.__version__

    def __init__(
        self,
        path: Path,
        *,
        threads: int = 2,
        memory_limit: str = "2GB",
        spill: Path | None = None,
        spill_limit: str | None = None,
    ) -> None:
        """Of each snapshot.

        Args:
            path: the warehouse file.
            threads: how many the engine uses.
            memory_limit: of its buffers, such as `2GB`.
            spill: where it may write what does not fit into memory; the system's temporary folder if absent.
            spill_limit: how much it may write there, such as `10GB`.
        """
        self._path = path
        self._threads = threads
        self._memory_limit = memory_limit
        self._spill = spill
        self._spill_limit = spill_limit
        self._remembered: Remembered = {}
        self._process = os.getpid()

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[DuckDBSnapshot]:
        """Opens one snapshot with the monitor profile; closes it on leaving."""
        _require_process(self._process)
        with spill_folder(self._spill) as spill, faults():
            connection, status = hold_file(self._path, lambda: self._open(spill, longest))
            watchdog = Watchdog(connection.interrupt)
            try:
                identity = begin(connection, status)
                yield DuckDBSnapshot(connection, identity, watchdog, self._memory_of(identity))
            finally:
                # Closing it in a child of the process that opened it would end that child by a segmentation fault.
                if os.getpid() == self._process:
                    watchdog.close()
                    connection.close()

    def _memory_of(self, identity: SnapshotIdentity) -> Remembered | None:
        """What is known of exactly this data. A write-ahead log beside the file changes the data, not the file."""
        if self._path.with_name(f"{self._path.name}.wal").exists():
            return None
        for key in [key for key in self._remembered.copy() if key[0] != identity]:
            self._remembered.pop(key, None)
        return self._remembered

    def _open(self, spill: Path, longest: timedelta | None) -> duckdb.DuckDBPyConnection:
        return open_locked(
            self._path,
            threads=self._threads,
            memory_limit=self._memory_limit,
            spill=str(spill),
            spill_limit=self._spill_limit,
            timeout=None if longest is None else longest + BACKSTOP,
        )


Remembered: TypeAlias = dict[tuple[SnapshotIdentity, str], list[tuple[Any, ...]]]
"""Rows of queries that were run before, by the data and the statement."""


class DuckDBSnapshot:
    """One read-only transaction. Everything is fetched inside it, since results stream."""

    can_hold = True

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        identity: SnapshotIdentity,
        watchdog: Watchdog,
        memory: Remembered | None = None,
    ) -> None:
        self._connection = connection
        self.identity = identity
        self._watchdog = watchdog
        self._memory = {} if memory is None else memory
        self._columns: dict[str, Mapping[str, str] | None] = {}
        self._process = os.getpid()

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
        _require_process(self._process)
        _require_monitor(query)
        with self._watchdog.limit(timeout), faults():
            result = self._connection.execute(query.sql)
            while rows := result.fetchmany(_FETCH):
                yield from rows

    def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
        """Keeps the rows of a certified query in a temporary table, which even a read-only transaction may make."""
        _require_process(self._process)
        _require_monitor(query)
        with self._watchdog.limit(timeout), faults():
            self._connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS {query.sql}")

    def supply(
        self, name: HeldName, columns: Sequence[str], rows: Iterable[Sequence[str | None]], timeout: timedelta
    ) -> None:
        """Keeps given rows in a temporary table. Each column is one parameter: one for each cell would take minutes."""
        listed = list(rows)
        values = [[row[place] for row in listed] for place, _ in enumerate(columns)]
        selected = ", ".join(f"UNNEST(CAST(? AS VARCHAR[])) AS {_quoted(column)}" for column in columns)
        with self._watchdog.limit(timeout), faults():
            self._connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS SELECT {selected}", values)

    def remembered(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        """All rows of a certified query, run once for the same data."""
        key = (self.identity, query.sql)
        found = self._memory.get(key)
        if found is None:
            # A snapshot of newer data, in another thread, may forget it at once.
            found = self._memory[key] = self.run(query, timeout)
        return found

    def _look_up(self, view: str) -> Mapping[str, str] | None:
        _require_process(self._process)
        namespace, _, name = view.rpartition(".")
        with faults():
            rows = self._connection.execute(
                "SELECT column_name, data_type FROM duckdb_columns() "
                "WHERE database_name = ? AND schema_name = ? AND table_name = ? ORDER BY column_index",
                [ALIAS, namespace, name],
            ).fetchall()
        return dict(rows) or None


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _require_process(process: int) -> None:
    """A connection does not survive a fork: its threads are gone, and what a child writes may be lost in silence."""
    if os.getpid() != process:
        raise InternalError("an engine belongs to the process that made it, and this one was forked from that")


def _require_monitor(query: CertifiedQuery) -> None:
    if query.purpose is not Purpose.MONITOR:
        raise InternalError(f"a query for purpose {query.purpose} has no business in the monitor profile")
