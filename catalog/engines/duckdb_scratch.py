"""A small DuckDB file made of given texts, so that recorded values can be judged by the same queries as a warehouse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

SCHEMA = "recorded"
_LARGEST_OBJECT = 2**28
"""Bytes of one row at most."""


@dataclass(frozen=True, slots=True)
class ScratchTable:
    """A table whose every column is text."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[Sequence[str | None]]


def build_scratch(path: Path, tables: Sequence[ScratchTable]) -> None:
    """Writes the tables into a new DuckDB file, in the schema `recorded`.

    Raises:
        OSError: the file, or what is read into it, cannot be written.
    """
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        for number, table in enumerate(tables):
            source = path.with_name(f"{path.stem}-{number}.jsonl")
            with source.open("w", encoding="utf-8") as lines:
                for row in table.rows:
                    named = {f"c{place}": value for place, value in enumerate(row) if value is not None}
                    lines.write(json.dumps(named) + "\n")
            places = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(table.columns)))
            chosen = ", ".join(f"c{place} AS {_quoted(name)}" for place, name in enumerate(table.columns))
            options = f"format = 'newline_delimited', columns = {{{places}}}, maximum_object_size = {_LARGEST_OBJECT}"
            made = f"CREATE TABLE {SCHEMA}.{_quoted(table.name)} AS SELECT {chosen} FROM read_json(?, {options})"
            connection.execute(made, [str(source)])
            source.unlink()
        connection.execute("CHECKPOINT")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
