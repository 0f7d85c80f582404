"""Parquet files: typed already, so they are copied, described and loaded with their own types."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import duckdb

from sources.layout import Column, StagedFile, header_findings
from sources.source_bytes import BUFFER, WitnessedReader
from sources.workspace_files import WorkspaceFile, open_regular
from trivet.errors import InputError
from trivet.findings import Finding


def stage_parquet(file: WorkspaceFile, copy: Path) -> StagedFile:
    """Copies a Parquet file and reads its columns.

    Raises:
        InputError: it is no Parquet file, or its column names cannot be those of a table.
    """
    with open_regular(file) as raw, copy.open("wb") as target:
        original = WitnessedReader(raw)
        shutil.copyfileobj(io.BufferedReader(original, BUFFER), target, BUFFER)
    try:
        names, columns, rows = _describe(copy)
    except duckdb.Error as error:
        message = f"cannot be read as Parquet: {_first_line(error, copy)}"
        raise InputError([Finding(file.document, None, "", message)]) from None
    if found := header_findings(names, file.document, None):
        raise InputError(found)
    return StagedFile(file.document, copy, columns, rows, 0, original.digest.hexdigest(), original.size)


def _describe(path: Path) -> tuple[list[str], tuple[Column, ...], int]:
    """The names as the file writes them, the columns as the engine reads them, and the number of rows."""
    config: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}
    with duckdb.connect(":memory:", config=config) as connection:
        tree = "SELECT name, num_children FROM parquet_schema(?)"
        schema = connection.execute(tree, [str(path)]).fetchall()
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        # All pages are read as the loader will, so that a damaged file is refused here with its own name.
        pages = "SELECT count(*), bit_xor(hash(file)) FROM read_parquet(?, file_row_number = true) AS file"
        rows = connection.execute(pages, [str(path)]).fetchall()[0][0]
    return _top_level(schema), tuple(Column(name, kind) for name, kind, *_ in described), rows


def _top_level(schema: list[tuple[str, int | None]]) -> list[str]:
    """Names of the root's own columns; the schema lists the tree depth first, each node with its width.

    The engine would quietly rename the second of two equal names.
    """
    names: list[str] = []
    inner = 0
    for name, children in schema[1:]:
        if inner == 0:
            names.append(name)
        else:
            inner -= 1
        inner += children or 0
    return names


def _first_line(error: duckdb.Error, copy: Path) -> str:
    return str(error).splitlines()[0].replace(str(copy), "the file")
