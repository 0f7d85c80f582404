"""Appending entries, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be appended."""

    entry_type: EntryType
    subject_id: str
    payload: Mapping[str, Json]

    def text(self) -> bytes:
        """The payload as it is hashed.

        Raises:
            ValueError: it has no canonical form, or uses a reserved key.
        """
        taken = RESERVED_KEYS & self.payload.keys()
        if taken:
            raise ValueError(f"the payload may not hold {', '.join(sorted(taken))}: the ledger adds it")
        return canonical_json({**self.payload, "entry_type": self.entry_type.value, "subject_id": self.subject_id})


def append(
    connection: sa.Connection, entry_type: EntryType, subject_id: str, payload: Mapping[str, Json]
) -> LedgerEntry:
    """Chains one entry to the ledger; see `append_all`."""
    (entry,) = append_all(connection, [Draft(entry_type, subject_id, payload)])
    return entry


def append_all(connection: sa.Connection, drafts: Sequence[Draft]) -> list[LedgerEntry]:
    """Chains entries to the ledger, in their order, with three statements however many there are. It never commits.

    The head row is locked until the caller's transaction ends, so append last, with nothing slow after it.
    On SQLite the transaction must have begun as a writing one (`BEGIN IMMEDIATE`).

    Raises:
        ValueError: a payload has no canonical form, or uses a reserved key.
        CheckFailedError: the head row is missing or damaged.
        InternalError: a subject already has an entry of this type, or the head row moved.
    """
    texts = [draft.text() for draft in drafts]
    if not texts:
        return []
    last = head(connection, for_update=True)
    entries, following = [], last
    for draft, text in zip(drafts, texts, strict=True):
        entry = _chained(following, draft, text)
        frontier = extend_frontier(following.frontier, following.seq, entry.leaf_hash)
        following = LedgerHead(entry.seq, entry.entry_hash, frontier)
        entries.append(entry)
    _insert(connection, entries)
    _move_head(connection, last, following)
    return entries


def _chained(last: LedgerHead, draft: Draft, text: bytes) -> LedgerEntry:
    seq, leaf = last.seq + 1, leaf_hash(text)
    return LedgerEntry(
        seq=seq,
        entry_type=draft.entry_type,
        subject_id=draft.subject_id,
        payload=text.decode("utf-8"),
        leaf_hash=leaf,
        prev_hash=last.entry_hash,
        entry_hash=entry_hash(seq, last.entry_hash, leaf),
    )


def _insert(connection: sa.Connection, entries: Sequence[LedgerEntry]) -> None:
    values = [
        {
            "seq": entry.seq,
            "entry_type": entry.entry_type.value,
            "subject_id": entry.subject_id,
            "payload": entry.payload,
            "leaf_hash": entry.leaf_hash,
            "prev_hash": entry.prev_hash,
            "entry_hash": entry.entry_hash,
        }
        for entry in entries
    ]
    try:
        connection.execute(sa.insert(ledger_entry), values)
    except IntegrityError as error:
        subjects = ", ".join(f"{entry.entry_type} {entry.subject_id}" for entry in entries[:3])
        raise InternalError(
            f"the store refused ledger entry {entries[0].seq} and those with it ({subjects}): either a"
            " subject has an entry of its type already, or the head row was changed by hand"
        ) from error


def _move_head(connection: sa.Connection, last: LedgerHead, following: LedgerHead) -> None:
    moved = connection.execute(
        sa.update(ledger_head)
        .where(
            ledger_head.c.id == 1,
            ledger_head.c.seq == last.seq,
            ledger_head.c.entry_hash == last.entry_hash,
        )
        .values(seq=following.seq, entry_hash=following.entry_hash, merkle_frontier=frontier_text(following.frontier))
    )
    if moved.rowcount != 1:
        raise InternalError(
            f"the ledger's head moved while entry {last.seq + 1} was appended; append in a writing transaction"
        )


def frontier_text(frontier: tuple[bytes, ...]) -> str:
    """A frontier as the head row holds it: canonical JSON list of hex hashes."""
    return canonical_json([node.hex() for node in frontier]).decode("ascii")
