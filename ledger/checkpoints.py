"""Checkpoints: signed statements of how many entries there are and what their Merkle root is.

A checkpoint is an entry too, so the ledger holds its own; what makes it a guard is the copy elsewhere
(`ledger.witnessing`) and the key, which whoever writes to the store need not have.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from ledger.append import append
from ledger.entries import EntryType, LedgerEntry, LedgerHead
from ledger.keys import SigningKey
from ledger.reading import head
from ledger.tables import ledger_entry
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.errors import CheckFailedError

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """When a checkpoint is due."""

    entries: int = 1000
    """After so many entries since the last one."""
    every: timedelta = timedelta(minutes=5)
    """After so long, if there is any entry since."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint as the ledger holds it."""

    seq: int
    """Of its entry."""
    size: int
    """How many entries it was signed over: those before it."""
    made_at: str
    note: str


def write_checkpoint(
    connection: sa.Connection, key: SigningKey, now: datetime, policy: CheckpointPolicy | None
) -> StoredCheckpoint | None:
    """Appends a checkpoint over everything so far, inside the caller's transaction, if one is due.

    Args:
        connection: with a writing transaction, of which this is the last part.
        key: signs it.
        now: the time.
        policy: says what is due; None makes one wherever there is an entry that the last one does not cover.

    Returns:
        The checkpoint; None where none was due.
    """
    # Looked at under the lock, so that two processes do not both find one due.
    last = head(connection, for_update=True)
    if not _is_due(last, last_checkpoint(connection), now, policy):
        return None
    note = key.note(checkpoint_text(key.name, last))
    subject = subject_of(last.seq)
    entry = append(connection, EntryType.CHECKPOINT, subject, _payload(last, note, now))
    return _stored(entry)


def is_due(connection: sa.Connection, now: datetime, policy: CheckpointPolicy) -> bool:
    """Whether a checkpoint is due, without a lock: another process may make it first."""
    return _is_due(head(connection), last_checkpoint(connection), now, policy)


def last_checkpoint(connection: sa.Connection) -> StoredCheckpoint | None:
    """The latest checkpoint that the ledger holds."""
    return next(_read(connection, sa.desc(ledger_entry.c.subject_id), limit=1), None)


def checkpoint_at(connection: sa.Connection, size: int) -> StoredCheckpoint | None:
    """The checkpoint over so many entries, if the ledger holds one."""
    return next(_read(connection, ledger_entry.c.seq, ledger_entry.c.subject_id == subject_of(size)), None)


def checkpoints_after(connection: sa.Connection, seq: int) -> Iterator[StoredCheckpoint]:
    """The checkpoints whose entries come after `seq`, in order."""
    return _read(connection, ledger_entry.c.seq, ledger_entry.c.seq > seq)


def checkpoint_text(origin: str, of: LedgerHead) -> str:
    """The text of a checkpoint (C2SP tlog-checkpoint): origin, number of entries, root."""
    return f"{origin}\n{of.seq}\n{base64.b64encode(of.root).decode('ascii')}\n"


def subject_of(size: int) -> str:
    """The subject of a checkpoint's entry: its size, in as many digits as let text be compared."""
    return f"{size:020}"


def _is_due(now_at: LedgerHead, last: StoredCheckpoint | None, now: datetime, policy: CheckpointPolicy | None) -> bool:
    uncovered = now_at.seq - (last.seq if last is not None else 0)
    if uncovered <= 0:
        return False
    if policy is None or last is None or uncovered >= policy.entries:
        return True
    return now - datetime.fromisoformat(last.made_at) >= policy.every


def _payload(last: LedgerHead, note: str, now: datetime) -> dict[str, Json]:
    return {
        "schema": PAYLOAD_VERSION,
        "size": last.seq,
        "root": base64.b64encode(last.root).decode("ascii"),
        "chain_head": last.entry_hash.hex(),
        "made_at": utc_text(now),
        "note": note,
    }


def _read(
    connection: sa.Connection, order: sa.ColumnElement[object], *where: sa.ColumnElement[bool], limit: int | None = None
) -> Iterator[StoredCheckpoint]:
    checkpoint = ledger_entry.c.entry_type == EntryType.CHECKPOINT.value
    statement = sa.select(ledger_entry).where(checkpoint, *where).order_by(order).limit(limit)
    for row in connection.execute(statement).all():
        hashes = (row.leaf_hash, row.prev_hash, row.entry_hash)
        yield _stored(LedgerEntry(row.seq, EntryType.CHECKPOINT, row.subject_id, row.payload, *hashes))


def _stored(entry: LedgerEntry) -> StoredCheckpoint:
    try:
        content = entry.content()
        return StoredCheckpoint(entry.seq, int(content["size"]), str(content["made_at"]), str(content["note"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"the checkpoint in ledger entry {entry.seq} is damaged; run `trivet ledger verify`"
        raise CheckFailedError(message) from error
