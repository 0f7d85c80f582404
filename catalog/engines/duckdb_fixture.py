"""DuckDB over rows that stand in memory: a warehouse for rule tests and proofs, which judges as any other does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import duckdb

from catalog.engines.duckdb_engine import DuckDBSnapshot
from catalog.engines.duckdb_instance import ALIAS, faults
from catalog.engines.port import SnapshotIdentity
from catalog.engines.watchdog import Watchdog

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "512MB",
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
_NOWHERE = SnapshotIdentity(generation=None, device=0, inode=0, size=0, modified_ns=0)


@dataclass(frozen=True, slots=True)
class FixtureTable:
    """What stands in the place of one governed view."""

    columns: Mapping[str, str]
    """Physical type of each column, such as `VARCHAR`."""
    rows: Sequence[Mapping[str, object]]
    """Cells by column; a column that a row leaves out is NULL."""


class FixtureEngine:
    """A warehouse in memory, made anew for each snapshot and locked down before anything is asked of it."""

    name = "duckdb"
    version = duckdb.__version__

    def __init__(self, tables: Mapping[str, FixtureTable]) -> None:
        """Args: the tables by the names of the views, `schema.name`; names and types come from the contract alone."""
        self._tables = tables

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[DuckDBSnapshot]:
        """Opens a snapshot of the tables; closes it on leaving."""
        with faults(), duckdb.connect(":memory:", config=_CONFIG) as connection:
            connection.execute(f"ATTACH ':memory:' AS {ALIAS}")
            connection.execute(f"USE {ALIAS}")
            connection.execute("SET TimeZone = 'UTC'")
            for view, table in self._tables.items():
                _create(connection, view, table)
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            connection.execute("BEGIN TRANSACTION READ ONLY")
            with closing(Watchdog(connection.interrupt)) as watchdog:
                yield DuckDBSnapshot(connection, _NOWHERE, watchdog)


def _create(connection: duckdb.DuckDBPyConnection, view: str, table: FixtureTable) -> None:
    namespace, _, name = view.partition(".")
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{namespace}"')
    columns = ", ".join(f'"{column}" {kind}' for column, kind in table.columns.items())
    connection.execute(f'CREATE TABLE "{namespace}"."{name}" ({columns})')
    if table.rows:
        holes = ", ".join("?" for _ in table.columns)
        rows = [[row.get(column) for column in table.columns] for row in table.rows]
        connection.executemany(f'INSERT INTO "{namespace}"."{name}" VALUES ({holes})', rows)
