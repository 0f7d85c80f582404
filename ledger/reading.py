"""Reading the ledger for people and programs. Nothing here proves anything: that is `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import sqlalchemy as sa

from ledger.entries import EntryType, LedgerEntry, LedgerHead
from ledger.tables import as_stored, ledger_entry, ledger_head
from trivet.errors import CheckFailedError, UsageError

_ENTRY = as_stored(ledger_entry)
_HEAD = as_stored(ledger_head)
_TYPES = frozenset(entry_type.value for entry_type in EntryType)
_BATCH = 1000


def entries(
    connection: sa.Connection, after: int = 0, limit: int | None = None, entry_type: EntryType | None = None
) -> Iterator[LedgerEntry]:
    """Entries with a `seq` greater than `after`, in order, streamed.

    Raises:
        CheckFailedError: a row does not hold what an entry holds.
    """
    statement = sa.select(_ENTRY).where(_ENTRY.c.seq > after).order_by(_ENTRY.c.seq)
    if entry_type is not None:
        statement = statement.where(_ENTRY.c.entry_type == entry_type.value)
    if limit is not None:
        statement = statement.limit(limit)
    with connection.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        for row in rows:
            yield _entry(row)


def entry(connection: sa.Connection, seq: int) -> LedgerEntry | None:
    """The entry at `seq`, if there is one.

    Raises:
        CheckFailedError: the row does not hold what an entry holds.
    """
    row = connection.execute(sa.select(_ENTRY).where(_ENTRY.c.seq == seq)).one_or_none()
    return None if row is None else _entry(row)


def entry_about(connection: sa.Connection, entry_type: EntryType, subject_id: str) -> LedgerEntry | None:
    """The entry of this type about this subject, if there is one.

    Raises:
        CheckFailedError: the row does not hold what an entry holds.
    """
    statement = sa.select(_ENTRY).where(_ENTRY.c.entry_type == entry_type.value, _ENTRY.c.subject_id == subject_id)
    row = connection.execute(statement).one_or_none()
    return None if row is None else _entry(row)


def last_seq(connection: sa.Connection, entry_type: EntryType) -> int | None:
    """The `seq` of the last entry of a type, if there is one.

    For types of which there are few: it costs a look at each of them, and none at the entries of other types.
    """
    # The sum keeps PostgreSQL from walking the primary key backwards, past every entry that came after.
    statement = sa.select(sa.func.max(_ENTRY.c.seq + 0)).where(_ENTRY.c.entry_type == entry_type.value)
    found: int | None = connection.execute(statement).scalar_one()
    return found


def entry_named(connection: sa.Connection, text: str) -> LedgerEntry:
    """The entry that a person named: by its number, or by what it is about where that is one.

    Raises:
        UsageError: there is none, or more than one.
        CheckFailedError: the row does not hold what an entry holds.
    """
    if text.isdecimal() and len(text) <= 18 and (found := entry(connection, int(text))) is not None:
        return found
    matches = [item for kind in EntryType if (item := entry_about(connection, kind, text)) is not None]
    if not matches:
        raise UsageError(f"the ledger has no entry '{text}'; `trivet ledger show` lists the last ones")
    # Moves of members are about an evaluation too; who names one means itself.
    matches = [item for item in matches if item.entry_type is not EntryType.MEMBER_CHANGES] or matches
    if len(matches) > 1:
        numbers = ", ".join(f"{item.seq} ({item.entry_type})" for item in matches)
        raise UsageError(f"more than one entry is about '{text}': {numbers}; give the number of one")
    return matches[0]


def head(connection: sa.Connection, *, for_update: bool = False) -> LedgerHead:
    """Where the ledger ends.

    `for_update` locks the head row until the transaction ends (PostgreSQL; on SQLite the writing
    transaction holds the whole store already).

    Raises:
        CheckFailedError: the head row is missing or does not hold what a head holds.
    """
    statement = sa.select(_HEAD).where(_HEAD.c.id == 1)
    row = connection.execute(statement.with_for_update() if for_update else statement).one_or_none()
    if row is None:
        raise CheckFailedError("the ledger has no head row; run `trivet ledger verify`")
    try:
        frontier = tuple(bytes.fromhex(text) for text in json.loads(row.merkle_frontier))
        return LedgerHead(row.seq, row.entry_hash, frontier)
    except (TypeError, ValueError, AttributeError) as error:
        message = f"the ledger's head row is damaged ({error}); run `trivet ledger verify`"
        raise CheckFailedError(message) from error


def _entry(row: sa.Row[tuple[object, ...]]) -> LedgerEntry:
    texts = (row.entry_type, row.subject_id, row.payload)
    hashes = (row.leaf_hash, row.prev_hash, row.entry_hash)
    fits = isinstance(row.seq, int) and all(isinstance(text, str) for text in texts)
    if not fits or not all(isinstance(value, bytes) for value in hashes) or row.entry_type not in _TYPES:
        raise CheckFailedError(f"ledger entry {row.seq!r:.40} is damaged; run `trivet ledger verify`")
    return LedgerEntry(row.seq, EntryType(row.entry_type), row.subject_id, row.payload, *hashes)
