"""Staged files into tables of the schema `raw`, each row with the place it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from sources.identifiers import RAW_SCHEMA, quoted
from sources.layout import SOURCE_DOCUMENT, SOURCE_PAGE, SOURCE_ROW, SOURCE_TABLE, StagedFile
from trivet.errors import InternalError

_PROVENANCE_TYPES = {
    SOURCE_DOCUMENT: "VARCHAR NOT NULL",
    SOURCE_TABLE: "VARCHAR NOT NULL",
    SOURCE_PAGE: "INTEGER",
    SOURCE_ROW: "BIGINT NOT NULL",
}
# A record may be far longer than the engine's default of 2 MB; a single cell is bounded by the parser.
_LONGEST_LINE = 64 << 20


@dataclass(frozen=True, slots=True)
class RawTable:
    """A raw table to be: one or more staged files of one layout."""

    name: str
    """The source's name, and the table's in the schema `raw`."""
    format: str
    """`csv` or `parquet`."""
    files: tuple[StagedFile, ...]
    """In order of their documents."""

    @property
    def rows(self) -> int:
        """Rows of all files together."""
        return sum(file.rows for file in self.files)


def create_raw_table(connection: duckdb.DuckDBPyConnection, table: RawTable) -> None:
    """Creates and fills one raw table, files and rows in their order.

    Raises:
        InternalError: the engine read another number of rows than the files hold.
    """
    columns = {column.name: column.type for column in table.files[0].columns} | _PROVENANCE_TYPES
    name = quoted(RAW_SCHEMA, table.name)
    definition = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns.items())
    connection.execute(f"CREATE TABLE {name} ({definition})")
    for file in table.files:
        rows = _csv_rows(file) if table.format == "csv" else _parquet_rows(file)
        parameters = {"document": file.document, "source": table.name, "path": str(file.path)}
        loaded = connection.execute(f"INSERT INTO {name} {rows}", parameters).fetchall()[0][0]
        if loaded != file.rows:
            raise InternalError(f"{file.document}: {file.rows} rows were read but {loaded} were loaded")


def _csv_rows(file: StagedFile) -> str:
    """Reads the plain copy: every cell quoted, the row number last, no cell ever NULL."""
    names = [f"c{number}" for number in range(len(file.columns) + 1)]
    cells, row = names[:-1], names[-1]
    columns = _listing(f"'{name}': 'VARCHAR'" for name in names)
    return f"""
        SELECT {", ".join(cells)}, $document, $source, NULL, {row}::BIGINT
        FROM read_csv($path, auto_detect = false, header = false, columns = {{{columns}}},
                      delim = ',', quote = '"', escape = '"', new_line = '\\n', strict_mode = true,
                      null_padding = false, ignore_errors = false, max_line_size = {_LONGEST_LINE},
                      force_not_null = [{_listing(f"'{name}'" for name in names)}])"""


def _parquet_rows(file: StagedFile) -> str:
    cells = ", ".join(quoted(column.name) for column in file.columns)
    return f"""
        SELECT {cells}, $document, $source, NULL, file_row_number + 1
        FROM read_parquet($path, file_row_number = true)"""


def _listing(items: Iterable[str]) -> str:
    return ", ".join(items)
