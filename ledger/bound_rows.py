"""Rows that live outside the ledger and are bound to an entry by `rows_root` in its payload.

`rows_root` is the Merkle root (RFC 9162) over all rows of one subject: tables in the order of the
binding, rows in the order of the table's key. So one entry binds a million rows, and any change,
added row or missing row shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.hashing import leaf_hash, merkle_root
from ledger.tables import as_stored
from trivet.canonical import Json, canonical_json, content_hash

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class BoundTable:
    """A table whose rows belong to the subject of an entry.

    Raises:
        ValueError: a named column does not exist, or a column is not text, integer or boolean.
    """

    table: sa.Table
    subject: str
    """The column that holds the subject id."""
    order: tuple[str, ...]
    """The columns that order the rows of one subject, without ties."""
    erasable: Mapping[str, str | None] = field(default_factory=dict)
    """The columns whose text may be erased, with what is then put in its place.

    Such a table has a column `salt`, random for each row, and a column `erased` for the hash of what was erased.
    """

    def __post_init__(self) -> None:
        for name in (self.subject, *self.order, *self.erasable, *(("salt", "erased") if self.erasable else ())):
            if name not in self.table.columns:
                raise ValueError(f"{self.table.name} has no column {name}")
        for column in self.table.columns:
            if not isinstance(column.type, (sa.Text, sa.Integer, sa.Boolean)):
                place = f"{self.table.name}.{column.name}"
                raise ValueError(f"{place}: a bound column is text, integer or boolean")


@dataclass(frozen=True, slots=True)
class Binding:
    """The tables that hold the rows of one entry type, in the order they are hashed in."""

    entry_type: EntryType
    tables: tuple[BoundTable, ...]


def new_salt() -> str:
    """32 random hex digits: with them, nobody can tell an erased text by trying which one has its hash."""
    return token_hex(16)


def text_hash(row: Mapping[str, Json], erasable: Collection[str]) -> str:
    """The hash of what may be erased of a row, salted: SHA-256 over the canonical JSON of salt and columns, as hex.

    Raises:
        ValueError: a value has no canonical form.
    """
    parts = {name: row[name] for name in ("salt", *erasable) if row.get(name) is not None}
    return content_hash(parts)


def row_leaf(table: str, row: Mapping[str, Json], erasable: Collection[str] = ()) -> bytes:
    """The Merkle leaf of one row: the canonical JSON `{"row": {column: value}, "table": name}`.

    Columns that are NULL are left out: a nullable column that a later migration adds then leaves
    the leaves of earlier rows as they are. Of a salted row, `text` stands for salt and erasable columns.

    Raises:
        ValueError: a value has no canonical form.
    """
    present = {name: value for name, value in row.items() if value is not None}
    if "salt" in present or "erased" in present:
        text = present.pop("erased", None) or text_hash(row, erasable)
        for name in ("salt", *erasable):
            present.pop(name, None)
        present["text"] = text
    return leaf_hash(canonical_json({"row": present, "table": table}))


def rows_root(binding: Binding, rows: Iterable[tuple[str, Mapping[str, Json]]]) -> bytes:
    """The Merkle root over rows, each with its table's name, in the order of the binding.

    Raises:
        ValueError: a value has no canonical form.
    """
    erasable = {part.table.name: part.erasable for part in binding.tables}
    return merkle_root(row_leaf(table, row, erasable[table]) for table, row in rows)


def bound_rows(connection: sa.Connection, binding: Binding, subject_id: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """The stored rows of one subject as `rows_root` takes them, streamed.

    Raises:
        ValueError: a stored value is not of its column's type; the message names the place.
    """
    for bound in binding.tables:
        with connection.execute(_rows_of(bound, connection.dialect.name), {"subject": subject_id}) as rows:
            for row in rows.mappings():
                yield (
                    bound.table.name,
                    {column.name: _plain(column, row[column.name]) for column in bound.table.columns},
                )


def collect_rows_root(connection: sa.Connection, binding: Binding, subject_id: str) -> bytes:
    """The Merkle root over the stored rows of one subject.

    Raises:
        ValueError: a stored value is not of its column's type, or has no canonical form.
    """
    return rows_root(binding, bound_rows(connection, binding, subject_id))


def _rows_of(bound: BoundTable, dialect: str) -> sa.Select[tuple[object, ...]]:
    stored = as_stored(bound.table)
    order = [_by_bytes(stored.c[name], bound.table.c[name], dialect) for name in bound.order]
    statement = sa.select(stored).where(stored.c[bound.subject] == sa.bindparam("subject", type_=sa.Text))
    return statement.order_by(*order).execution_options(yield_per=_BATCH)


def _by_bytes(stored: sa.ColumnClause[Any], column: sa.Column[Any], dialect: str) -> sa.ColumnElement[Any]:
    # SQLite orders text by bytes; PostgreSQL by the database's language unless told otherwise.
    if dialect == "postgresql" and isinstance(column.type, sa.Text):
        return sa.collate(stored, "C")
    return stored


def _plain(column: sa.Column[Any], value: object) -> Json:
    if value is None:
        return None
    if isinstance(column.type, sa.Boolean):
        # SQLite has no booleans: it stores 0 and 1.
        if isinstance(value, int) and value in (0, 1):
            return bool(value)
    elif isinstance(column.type, sa.Integer):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif isinstance(value, str):
        return value
    kind = type(column.type).__name__.lower()
    raise ValueError(f"{column.table.name}.{column.name} holds {value!r:.40}, which is no {kind}")
