"""Appending one entry, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from ledger.entries import EntryType, LedgerEntry, LedgerHead
from ledger.hashing import entry_hash, extend_frontier, leaf_hash
from ledger.reading import head
from ledger.tables import ledger_entry, ledger_head
from trivet.canonical import Json, canonical_json
from trivet.errors import InternalError

RESERVED_KEYS = frozenset({"entry_type", "subject_id"})
"""Keys that `append` adds to every payload, so that the two columns are hashed as well."""


def append(
    connection: sa.Connection, entry_type: EntryType, subject_id: str, payload: Mapping[str, Json]
) -> LedgerEntry:
    """Chains one entry to the ledger. It never commits: the caller's transaction decides.

    The head row is locked until that transaction ends, so append last, with nothing slow after it.
    On SQLite the transaction must have begun as a writing one (`BEGIN IMMEDIATE`).

    Raises:
        ValueError: the payload has no canonical form, or uses a reserved key.
        CheckFailedError: the head row is missing or damaged.
        InternalError: the subject already has an entry of this type, or the head row moved.
    """
    taken = RESERVED_KEYS & payload.keys()
    if taken:
        raise ValueError(f"the payload may not hold {', '.join(sorted(taken))}: the ledger adds it")
    text = canonical_json({**payload, "entry_type": entry_type.value, "subject_id": subject_id})
    last = head(connection, for_update=True)
    entry = _chained(last, entry_type, subject_id, text)
    _insert(connection, entry)
    _move_head(connection, last, entry)
    return entry


def _chained(last: LedgerHead, entry_type: EntryType, subject_id: str, text: bytes) -> LedgerEntry:
    seq, leaf = last.seq + 1, leaf_hash(text)
    return LedgerEntry(
        seq=seq,
        entry_type=entry_type,
        subject_id=subject_id,
        payload=text.decode("utf-8"),
        leaf_hash=leaf,
        prev_hash=last.entry_hash,
        entry_hash=entry_hash(seq, last.entry_hash, leaf),
    )


def _insert(connection: sa.Connection, entry: LedgerEntry) -> None:
    values = {
        "seq": entry.seq,
        "entry_type": entry.entry_type.value,
        "subject_id": entry.subject_id,
        "payload": entry.payload,
        "leaf_hash": entry.leaf_hash,
        "prev_hash": entry.prev_hash,
        "entry_hash": entry.entry_hash,
    }
    try:
        connection.execute(sa.insert(ledger_entry), values)
    except IntegrityError as error:
        raise InternalError(
            f"the store refused ledger entry {entry.seq} ({entry.entry_type} {entry.subject_id}): either this"
            " subject has an entry of this type already, or the head row was changed by hand"
        ) from error


def _move_head(connection: sa.Connection, last: LedgerHead, entry: LedgerEntry) -> None:
    frontier = extend_frontier(last.frontier, last.seq, entry.leaf_hash)
    moved = connection.execute(
        sa.update(ledger_head)
        .where(
            ledger_head.c.id == 1,
            ledger_head.c.seq == last.seq,
            ledger_head.c.entry_hash == last.entry_hash,
        )
        .values(seq=entry.seq, entry_hash=entry.entry_hash, merkle_frontier=frontier_text(frontier))
    )
    if moved.rowcount != 1:
        raise InternalError(
            f"the ledger's head moved while entry {entry.seq} was appended; append in a writing transaction"
        )


def frontier_text(frontier: tuple[bytes, ...]) -> str:
    """A frontier as the head row holds it: canonical JSON list of hex hashes."""
    return canonical_json([node.hex() for node in frontier]).decode("ascii")
