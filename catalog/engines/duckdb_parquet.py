"""Parquet files out of JSON Lines, by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

_LARGEST_OBJECT = 2**28
"""Bytes of one line at most."""


def write_parquet(lines: Path, columns: Mapping[str, str], target: Path) -> None:
    """Writes a JSON Lines file as Parquet.

    Args:
        lines: one object on each line; a key that is absent is NULL.
        columns: the keys that become columns, in their order, with their DuckDB types.
        target: the Parquet file, which must not exist.

    Raises:
        FileExistsError: it does.
        OSError: it cannot be written.
    """
    target.open("x").close()
    types = ", ".join(f"{_literal(name)}: {_literal(kind)}" for name, kind in columns.items())
    options = f"format = 'newline_delimited', columns = {{{types}}}, maximum_object_size = {_LARGEST_OBJECT}"
    with duckdb.connect(":memory:") as connection:
        read = f"SELECT * FROM read_json({_literal(str(lines))}, {options})"
        connection.execute(f"COPY ({read}) TO {_literal(str(target))} (FORMAT parquet)")


def _literal(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))
