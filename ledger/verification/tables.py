"""The rows of a store as a source, read untyped and in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from ledger.verification.findings import Damage, DamageKind
from ledger.verification.layout import BOOLEAN, INTEGER, LAYOUT, BoundRows
from ledger.verification.source import RawEntry, RawHead, RawRow

_BATCH = 1000
_ENTRY = sa.table("ledger_entry", *(sa.column(name) for name in RawEntry._fields))
_HEAD = sa.table("ledger_head", *(sa.column(name) for name in RawHead._fields))


class StoreSource:
    """A store behind an open connection.

    The transaction must see one snapshot while others write: any transaction of SQLite, REPEATABLE READ on
    PostgreSQL.
    """

    def __init__(self, connection: sa.Connection, *, any_text: bool = False) -> None:
        """Args: the connection; whether SQLite is to hand over text that is not UTF-8, which takes longer."""
        self._connection = connection
        self._any_text = any_text
        self._tables = {part.table: part for parts in LAYOUT.values() for part in parts}

    def faults(self) -> Iterable[Damage]:
        """Missing tables and columns."""
        inspector = sa.inspect(self._connection)
        wanted = {"ledger_entry": RawEntry._fields, "ledger_head": RawHead._fields}
        wanted |= {name: tuple(part.columns) for name, part in self._tables.items()}
        for table, columns in wanted.items():
            if not inspector.has_table(table):
                yield Damage(None, DamageKind.SCHEMA, f"table {table} is missing")
                continue
            present = {column["name"] for column in inspector.get_columns(table)}
            for name in sorted(set(columns) - present):
                yield Damage(None, DamageKind.SCHEMA, f"column {table}.{name} is missing")

    def entries(self) -> Iterator[Sequence[RawEntry]]:
        """The entries in order."""
        statement = sa.select(_ENTRY).order_by(_ENTRY.c.seq).execution_options(yield_per=_BATCH)
        with self._connection.execute(statement) as rows:
            yield from rows.partitions()  # type: ignore[misc]

    def rows(self, entry_type: str, subjects: Sequence[str]) -> Iterator[RawRow]:
        """The bound rows of some subjects."""
        for part in LAYOUT[entry_type]:
            yield from self._rows_of(part, subjects)

    def head(self) -> Sequence[RawHead]:
        """The head row."""
        return [RawHead(*row) for row in self._connection.execute(sa.select(_HEAD).limit(2))]

    def orphans(self) -> Iterator[tuple[str, str, Any, int]]:
        """Bound rows without an entry."""
        for entry_type, parts in LAYOUT.items():
            for part in parts:
                subject = sa.table(part.table, sa.column(part.subject)).c[part.subject]
                known = sa.exists().where(_ENTRY.c.entry_type == entry_type, _ENTRY.c.subject_id == subject)
                found = sa.select(subject, sa.func.count()).where(~known).group_by(subject).limit(_BATCH)
                for value, count in self._connection.execute(found).all():
                    yield part.table, part.subject, value, count

    def of_type(self, entry_type: str) -> Iterator[RawEntry]:
        """The entries of one type."""
        statement = sa.select(_ENTRY).where(_ENTRY.c.entry_type == entry_type).order_by(_ENTRY.c.seq)
        for row in self._connection.execute(statement).all():
            yield RawEntry(*row)

    def places(self, column: str, value: bytes) -> list[int]:
        """Where a hash stands."""
        statement = sa.select(_ENTRY.c.seq).where(_ENTRY.c[column] == value).limit(3)
        return [seq for seq in self._connection.execute(statement).scalars() if isinstance(seq, int)]

    def _rows_of(self, part: BoundRows, subjects: Sequence[str]) -> Iterator[RawRow]:
        stored = sa.table(part.table, *(sa.column(name) for name in part.columns))
        order = [self._by_bytes(part, stored.c[name]) for name in (part.subject, *part.order)]
        chosen = stored.c[part.subject].in_(subjects)
        statement = sa.select(stored).where(chosen).order_by(*order).execution_options(yield_per=_BATCH)
        names, place = list(part.columns), list(part.columns).index(part.subject)
        with self._connection.execute(statement) as rows:
            for values in rows:
                row, fault = {}, None
                for name, value in zip(names, values, strict=True):
                    try:
                        row[name] = _plain(part, name, value)
                    except ValueError as error:
                        row[name], fault = value, str(error)
                yield RawRow(values[place], part.table, row, fault)

    def _by_bytes(self, part: BoundRows, column: sa.ColumnClause[Any]) -> sa.ColumnElement[Any]:
        # SQLite orders text by bytes; PostgreSQL by the database's language unless told otherwise.
        if self._connection.dialect.name == "postgresql" and part.columns[column.name] != INTEGER:
            return sa.collate(column, "C")
        return column

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Lets SQLite hand over text that is not UTF-8, as surrogates that no canonical form admits."""
        driver = self._connection.connection.driver_connection
        if not self._any_text or not isinstance(driver, sqlite3.Connection):
            yield
            return
        before = driver.text_factory
        driver.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            yield
        finally:
            driver.text_factory = before


def is_undecodable(error: DatabaseError) -> bool:
    """Whether SQLite met text that is not UTF-8."""
    return "Could not decode to UTF-8" in str(error.orig)


def is_corrupt(error: DatabaseError) -> bool:
    """Whether an error says that the store's file itself is broken."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    # An extended result code of SQLite keeps the primary one in its low byte.
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _plain(part: BoundRows, name: str, value: object) -> object:
    kind = part.columns[name]
    if value is None:
        return None
    if kind == BOOLEAN:
        # SQLite has no booleans: it stores 0 and 1.
        if isinstance(value, int) and value in (0, 1):
            return bool(value)
    elif kind == INTEGER:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif isinstance(value, str):
        return value
    raise ValueError(f"{part.table}.{name} holds {value!r:.40}, which is no {kind}")
