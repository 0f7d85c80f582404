"""A DuckDB instance over a warehouse file, locked down: what the profiles for monitors and for questions share.

The order of settings is the only one that works (tried on 2.0.1); each is a second wall behind the
referee. A fresh `:memory:` instance attaches the file read-only, so that it pins one inode: a
second ordinary connection of the same process would see the old file after a swap.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import duckdb

from catalog.engines.port import (
    EngineFault,
    QueryTimeout,
    QueryTooLarge,
    SnapshotIdentity,
    WarehouseMissing,
    WarehouseUnsteady,
)

ALIAS = "warehouse"


def open_locked(
    path: Path,
    *,
    threads: int,
    memory_limit: str,
    spill: str | None,
    spill_limit: str | None = None,
    timeout: timedelta | None = None,
) -> duckdb.DuckDBPyConnection:
    """A connection that reads the warehouse file and nothing else, and whose settings cannot be changed.

    Args:
        path: the warehouse file.
        threads: how many the engine uses.
        memory_limit: the engine's own limit, such as `2GB`.
        spill: where it may write what does not fit into memory. Without one even the served file cannot be opened
            a second time, by `read_blob`, `read_duckdb` or `ATTACH`, and the memory limit is a hard one.
        spill_limit: how much it may write there, such as `10GB`; the engine's default if absent.
        timeout: the engine's own limit of one statement; none if absent.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": threads,
        "memory_limit": memory_limit,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
    }
    if timeout is not None:
        config["max_execution_time"] = max(1, round(timeout.total_seconds() * 1000))
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute(f"ATTACH {_literal(str(path))} AS {ALIAS} (READ_ONLY)")
        connection.execute(f"USE {ALIAS}")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET temp_directory = {_literal(spill or '')}")
        if spill_limit is not None:
            connection.execute(f"SET max_temp_directory_size = {_literal(spill_limit)}")
        # In a process without a main file DuckDB takes itself for interactive, and draws on standard output.
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET enable_external_access = false")
        if spill is None:
            connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def hold_file(
    path: Path, open_connection: Callable[[], duckdb.DuckDBPyConnection]
) -> tuple[duckdb.DuckDBPyConnection, os.stat_result]:
    """A connection and the file that it holds: looked at before and after, lest a swap fall between.

    Raises:
        WarehouseMissing: there is no file.
    """
    before = _status(path)
    while True:
        connection = open_connection()
        try:
            after = _status(path)
        except BaseException:
            connection.close()
            raise
        if (before.st_dev, before.st_ino, before.st_mtime_ns) == (after.st_dev, after.st_ino, after.st_mtime_ns):
            return connection, after
        connection.close()
        before = after


def begin(connection: duckdb.DuckDBPyConnection, status: os.stat_result) -> SnapshotIdentity:
    """Begins the one read-only transaction, and says which data it sees."""
    connection.execute("BEGIN TRANSACTION READ ONLY")
    return SnapshotIdentity(
        generation=_generation(connection),
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        modified_ns=status.st_mtime_ns,
    )


@contextmanager
def faults() -> Iterator[None]:
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
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise QueryTooLarge(_one_line(error)) from None
    except duckdb.IOException as error:
        raise WarehouseUnsteady(_one_line(error)) from None
    except duckdb.Error as error:
        raise EngineFault(_one_line(error)) from None


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError:
        raise WarehouseMissing(f"{path.name} is not there; `trivet ingest` builds it") from None


def _literal(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _generation(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The name that ingestion gave this file. It is the first read, so the snapshot starts here."""
    known = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = ? AND schema_name = '_trivet' "
        "AND table_name = 'generation'",
        [ALIAS],
    ).fetchall()
    if not known[0][0]:
        return None
    rows = connection.execute(f"SELECT generation FROM {ALIAS}._trivet.generation").fetchall()
    return str(rows[0][0]) if rows else None


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else type(error).__name__
