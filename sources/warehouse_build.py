"""One DuckDB file from raw tables and views, written where nobody looks yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb

from sources.identifiers import OWN_SCHEMA, RAW_SCHEMA, quoted
from sources.raw_tables import RawTable, create_raw_table
from sources.views import View
from trivet.errors import InputError, InternalError, UnavailableError
from trivet.findings import Finding, Position

Columns: TypeAlias = Mapping[str, Mapping[str, str]]
"""Of each governed view, `schema.name`: its columns in order, each with its physical type."""

_RECORDS = f"""
    CREATE TABLE {OWN_SCHEMA}.generation (generation VARCHAR NOT NULL, built_at VARCHAR NOT NULL);
    CREATE TABLE {OWN_SCHEMA}.source (
        name VARCHAR NOT NULL, document VARCHAR NOT NULL, sha256 VARCHAR NOT NULL,
        bytes BIGINT NOT NULL, "rows" BIGINT NOT NULL, ingested_at VARCHAR NOT NULL)"""
_COLUMNS = """
    SELECT schema_name || '.' || view_name, column_name, data_type
    FROM duckdb_views() JOIN duckdb_columns() USING (schema_name)
    WHERE view_name = table_name AND NOT duckdb_views.internal
    ORDER BY schema_name, view_name, column_index"""
_LINE_OF_ERROR = re.compile(r"^LINE (\d+):", re.MULTILINE)


def build_warehouse(
    path: Path, tables: Sequence[RawTable], views: Sequence[View], generation: str, built_at: str
) -> tuple[Columns, dict[str, int]]:
    """Writes a warehouse file; the columns of its governed views, and the rows of each.

    The staged files are removed once they are loaded, and nothing else outside the folder of `path`
    can be reached by a statement.

    Args:
        path: the file to write, in a folder of its own that also holds the staged files.
        tables: what to load, in order.
        views: what to create, each after those that it reads.
        generation: the name of this build, recorded inside the file.
        built_at: its instant as `trivet.clock.utc_text` writes it.

    Raises:
        InputError: views that the engine refuses, or that fail on the data.
        UnavailableError: the engine could not write the file: no space, no memory.
    """
    with _connection(path) as connection:
        connection.execute(f"CREATE SCHEMA {RAW_SCHEMA}; CREATE SCHEMA {OWN_SCHEMA};{_RECORDS}")
        connection.execute(f"INSERT INTO {OWN_SCHEMA}.generation VALUES (?, ?)", [generation, built_at])
        for table in tables:
            create_raw_table(connection, table)
            _record_source(connection, table, built_at)
            for file in table.files:
                file.path.unlink()
        rows = _create_views(connection, views)
        columns: dict[str, dict[str, str]] = {}
        for view, column, kind in connection.execute(_COLUMNS).fetchall():
            columns.setdefault(view, {})[column] = kind
        connection.execute("CHECKPOINT")
    if path.with_name(f"{path.name}.wal").exists():
        raise InternalError(f"{path.name}: a write-ahead log remained after the checkpoint")
    path.chmod(path.stat().st_mode & ~0o222)
    return columns, rows


@contextmanager
def _connection(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that can reach the folder of `path` and nothing else, and cannot be told otherwise."""
    folder = str(path.parent)
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
    }
    try:
        with duckdb.connect(str(path), config=config) as connection:
            connection.execute("SET temp_directory = $folder", {"folder": f"{folder}/spill"})
            connection.execute("SET allowed_directories = [$folder]", {"folder": f"{folder}/"})
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
    except duckdb.Error as error:
        raise UnavailableError(f"DuckDB could not build the warehouse: {error}") from error


def _record_source(connection: duckdb.DuckDBPyConnection, table: RawTable, ingested_at: str) -> None:
    records = [(table.name, file.document, file.sha256, file.size, file.rows, ingested_at) for file in table.files]
    connection.executemany(f"INSERT INTO {OWN_SCHEMA}.source VALUES (?, ?, ?, ?, ?, ?)", records)


def _create_views(connection: duckdb.DuckDBPyConnection, views: Sequence[View]) -> dict[str, int]:
    """Creates the views and reads each to its end once; the rows of each."""
    rows: dict[str, int] = {}
    findings: list[Finding] = []
    for view in views:
        try:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(view.schema)}")
            connection.execute(view.statement)
        except duckdb.Error as error:
            findings.append(_view_finding(view, error, _LINE_OF_ERROR.search(str(error))))
            continue
        try:
            # Hashing whole rows computes every column, so a cast that fails on some row fails here.
            reading = f"SELECT count(*), bit_xor(hash(_row)) FROM {quoted(view.schema, view.name)} AS _row"
            rows[view.qualified] = connection.execute(reading).fetchall()[0][0]
        except (duckdb.OutOfMemoryException, duckdb.IOException):
            raise
        except duckdb.Error as error:
            findings.append(_view_finding(view, error, None))
    if findings:
        raise InputError(findings)
    return rows


def _view_finding(view: View, error: duckdb.Error, line: re.Match[str] | None) -> Finding:
    """The engine's words about a view, at the line of its statement where they name one."""
    message = " ".join(str(error).partition("\nLINE ")[0].split())
    return Finding(view.document, Position(int(line[1]), 1) if line else None, "", message)
