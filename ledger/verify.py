"""Verifying the ledger from outside: from its rows alone, trusting nothing that wrote them.

Found: any change, insertion, removal or exchange of entries and of bound rows, and a tail that was
cut while the head row still stood. Not found here: a ledger that was rewritten or cut together with
its head row; that takes a checkpoint kept elsewhere. Cells may hold anything, since a person with
the file can write anything, so every cell is read untyped and checked before it is used.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeGuard

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from ledger.bound_rows import Binding, bound_rows, rows_root
from ledger.entries import EntryType
from ledger.hashing import GENESIS_HASH, HASH_SIZE, entry_hash, extend_frontier, leaf_hash
from ledger.tables import as_stored, ledger_entry, ledger_head
from trivet.canonical import Json, canonical_json

MAX_FINDINGS = 20
"""Verification stops once it has found this much damage."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called after each entry with the entries and the bound rows read so far."""

_ENTRY = as_stored(ledger_entry)
_HEAD = as_stored(ledger_head)
_HASHES = ("leaf_hash", "prev_hash", "entry_hash")
_BATCH = 1000


class DamageKind(StrEnum):
    """What kind of promise is broken."""

    CONTENT = "content"
    """An entry's payload, type or subject is not what was hashed."""
    LINK = "link"
    """An entry's hashes do not follow from it and from the entry before."""
    GAP = "gap"
    """Entries are missing, repeated, or hold no usable `seq`."""
    ROWS = "rows"
    """The rows of an entry's subject are not those that were bound."""
    ORPHAN_ROWS = "orphan_rows"
    """Bound rows whose subject has no entry."""
    HEAD = "head"
    """The head row does not describe the entries: they were cut, or it was changed."""
    SCHEMA = "schema"
    """A table or a column of the ledger is missing."""
    UNREADABLE = "unreadable"
    """The store's file is corrupt."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One finding of a verification."""

    seq: int | None
    """The entry concerned, where there is one."""
    kind: DamageKind
    message: str

    def __str__(self) -> str:
        place = "ledger" if self.seq is None else f"entry {self.seq}"
        return f"{place}: {self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification read and what it found."""

    entries: int
    """Entries read."""
    rows: int
    """Bound rows read and hashed."""
    damage: tuple[Damage, ...]
    """In the order of reading."""
    stopped_early: bool
    """Whether there may be more damage than is listed."""

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage


def verify(
    connection: sa.Connection, bindings: Iterable[Binding] = (), progress: Progress | None = None
) -> VerifyReport:
    """Reads the whole ledger and every bound row once, and reports at most `MAX_FINDINGS` findings.

    The transaction must see one snapshot while others write: any transaction of SQLite, REPEATABLE
    READ on PostgreSQL (`worker.stores.read_only` gives both). Memory does not grow with the ledger.
    """
    walk = _Walk(connection, bindings, progress)
    found: list[Damage] = []
    with _any_text(connection), closing(walk.damage()) as damage:
        try:
            for finding in damage:
                found.append(finding)
                if len(found) == MAX_FINDINGS:
                    break
        except DatabaseError as error:
            if not _is_corrupt(error):
                raise
            message = f"{error.orig}; restore the store from a backup"
            found.append(Damage(None, DamageKind.UNREADABLE, message))
            return VerifyReport(walk.entries, walk.rows, tuple(found), stopped_early=True)
    return VerifyReport(walk.entries, walk.rows, tuple(found), stopped_early=len(found) == MAX_FINDINGS)


class _Walk:
    """One pass over the ledger, in order, that knows what must come next.

    After damage it goes on from what the entry itself states, so that one change is one finding and
    not one for every entry after it.
    """

    def __init__(self, connection: sa.Connection, bindings: Iterable[Binding], progress: Progress | None) -> None:
        self.entries = 0
        self.rows = 0
        self._connection = connection
        self._bindings = {binding.entry_type: binding for binding in bindings}
        self._progress = progress
        self._seq = 0
        # None once an unusable hash has been met: nothing can be said of it any more.
        self._tip: bytes | None = GENESIS_HASH
        self._frontier: tuple[bytes, ...] | None = ()

    def damage(self) -> Generator[Damage]:
        missing = list(self._missing_schema())
        if missing:
            yield from missing
            return
        statement = sa.select(_ENTRY).order_by(_ENTRY.c.seq).execution_options(yield_per=_BATCH)
        with self._connection.execute(statement) as rows:
            for row in rows:
                yield from self._entry(row)
                if self._progress is not None:
                    self._progress(self.entries, self.rows)
        yield from self._head()
        for binding in self._bindings.values():
            yield from self._orphans(binding)

    def _missing_schema(self) -> Iterator[Damage]:
        inspector = sa.inspect(self._connection)
        bound = [part.table for binding in self._bindings.values() for part in binding.tables]
        for table in (ledger_entry, ledger_head, *bound):
            if not inspector.has_table(table.name):
                yield Damage(None, DamageKind.SCHEMA, f"table {table.name} is missing")
                continue
            present = {column["name"] for column in inspector.get_columns(table.name)}
            for name in sorted(set(table.columns.keys()) - present):
                yield Damage(None, DamageKind.SCHEMA, f"column {table.name}.{name} is missing")

    def _entry(self, row: sa.Row[Any]) -> Iterator[Damage]:
        gap = self._gap(row.seq)
        if gap is not None:
            yield gap
        seq = row.seq if _is_seq(row.seq) else None
        self.entries += 1
        yield from self._links(row, seq, after_gap=gap is not None)
        self._seq = self._seq if seq is None else seq
        yield from self._content(row, seq)

    def _gap(self, seq: object) -> Damage | None:
        expected = self._seq + 1
        if not _is_seq(seq):
            return Damage(None, DamageKind.GAP, f"an entry's seq is {_shown(seq)} where {expected} was due")
        if seq > expected:
            lost = f"entry {expected} is" if seq == expected + 1 else f"entries {expected} to {seq - 1} are"
            return Damage(seq, DamageKind.GAP, f"{lost} missing before it")
        if seq < expected:
            return Damage(seq, DamageKind.GAP, f"its seq occurs again where {expected} was due")
        return None

    def _links(self, row: sa.Row[Any], seq: int | None, *, after_gap: bool) -> Iterator[Damage]:
        unusable = [name for name in _HASHES if not _is_hash(getattr(row, name))]
        if unusable:
            message = f"{', '.join(unusable)} must be {HASH_SIZE} bytes"
            yield Damage(seq, DamageKind.LINK, message)
        else:
            if self._tip is not None and row.prev_hash != self._tip and not after_gap:
                yield Damage(seq, DamageKind.LINK, "prev_hash is not the entry_hash of the entry before it")
            if seq is not None and row.entry_hash != entry_hash(seq, row.prev_hash, row.leaf_hash):
                message = "entry_hash does not follow from its seq, prev_hash and leaf_hash"
                yield Damage(seq, DamageKind.LINK, message)
        self._tip = row.entry_hash if _is_hash(row.entry_hash) else None
        if self._frontier is not None and _is_hash(row.leaf_hash):
            self._frontier = extend_frontier(self._frontier, self.entries - 1, row.leaf_hash)
        else:
            self._frontier = None

    def _content(self, row: sa.Row[Any], seq: int | None) -> Iterator[Damage]:
        payload = _canonical_object(row.payload)
        if payload is None:
            yield Damage(seq, DamageKind.CONTENT, "its payload is not a canonical JSON object")
            return
        if leaf_hash(row.payload.encode("utf-8")) != row.leaf_hash:
            yield Damage(seq, DamageKind.CONTENT, "its payload does not have the recorded leaf_hash")
            return
        for name in ("entry_type", "subject_id"):
            if payload.get(name) != getattr(row, name):
                stated, held = _shown(payload.get(name)), _shown(getattr(row, name))
                yield Damage(seq, DamageKind.CONTENT, f"its {name} was recorded as {stated} and is {held}")
        yield from self._rows(payload, seq)

    def _rows(self, payload: dict[str, Any], seq: int | None) -> Iterator[Damage]:
        entry_type, subject, recorded = (payload.get(k) for k in ("entry_type", "subject_id", "rows_root"))
        if entry_type not in tuple(EntryType) or not isinstance(subject, str):
            yield Damage(seq, DamageKind.CONTENT, f"it records {_shown(entry_type)} about {_shown(subject)}")
            return
        binding = self._bindings.get(EntryType(entry_type))
        if binding is None:
            if recorded is not None:
                yield Damage(seq, DamageKind.ROWS, f"it binds rows, and none are known for {entry_type}")
            return
        tables = ", ".join(part.table.name for part in binding.tables)
        try:
            root = rows_root(self._counted(bound_rows(self._connection, binding, subject)))
        except ValueError as error:
            yield Damage(seq, DamageKind.ROWS, f"{entry_type} {subject}: {_printable(str(error))}")
            return
        if recorded != root.hex():
            message = f"the rows of {entry_type} {subject} in {tables} are not those that were recorded"
            yield Damage(seq, DamageKind.ROWS, message)

    def _counted(self, rows: Iterable[tuple[str, dict[str, Json]]]) -> Iterator[tuple[str, dict[str, Json]]]:
        for row in rows:
            self.rows += 1
            yield row

    def _head(self) -> Iterator[Damage]:
        rows = self._connection.execute(sa.select(_HEAD).limit(2)).all()
        if len(rows) != 1 or rows[0].id != 1:
            yield Damage(None, DamageKind.HEAD, "there must be one head row, with id 1")
            return
        head = rows[0]
        if not isinstance(head.seq, int) or head.seq != self._seq:
            last = f"the last entry is {self._seq}" if self._seq else "there is no entry"
            yield Damage(None, DamageKind.HEAD, f"the head row says {_shown(head.seq)} entries, and {last}")
        if self._tip is not None and head.entry_hash != self._tip:
            message = "the head row's entry_hash is not that of the last entry"
            yield Damage(None, DamageKind.HEAD, message)
        if self._frontier is not None and head.merkle_frontier != _frontier_text(self._frontier):
            message = "the head row's merkle_frontier is not that of the entries"
            yield Damage(None, DamageKind.HEAD, message)

    def _orphans(self, binding: Binding) -> Iterator[Damage]:
        for part in binding.tables:
            subject = as_stored(part.table).c[part.subject]
            known = sa.exists().where(_ENTRY.c.entry_type == binding.entry_type.value, _ENTRY.c.subject_id == subject)
            orphans = sa.select(subject, sa.func.count()).where(~known).group_by(subject).limit(MAX_FINDINGS)
            for subject_id, count in self._connection.execute(orphans).all():
                place = f"{part.table.name}, {part.subject} {_shown(subject_id)}"
                message = f"{place}: {count} row{'' if count == 1 else 's'} without an entry"
                yield Damage(None, DamageKind.ORPHAN_ROWS, message)


def _canonical_object(payload: object) -> dict[str, Any] | None:
    if not isinstance(payload, str):
        return None
    try:
        value = json.loads(payload)
        if isinstance(value, dict) and canonical_json(value) == payload.encode("utf-8"):
            return value
    except (ValueError, RecursionError):
        pass
    return None


def _frontier_text(frontier: tuple[bytes, ...]) -> str:
    return json.dumps([node.hex() for node in frontier], separators=(",", ":"))


def _is_seq(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and 0 < value < 2**63


def _is_hash(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == HASH_SIZE


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _is_corrupt(error: DatabaseError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", None)
    # An extended result code of SQLite keeps the primary one in its low byte.
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def _any_text(connection: sa.Connection) -> Iterator[None]:
    """Lets SQLite hand over text that is not UTF-8, as surrogates that no canonical form admits."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        yield
        return
    before = driver.text_factory
    driver.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        driver.text_factory = before
