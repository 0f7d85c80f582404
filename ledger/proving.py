"""Proofs for others: that an entry is in the ledger, and that one checkpoint's entries begin with another's."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa

from ledger.checkpoints import StoredCheckpoint, checkpoint_at
from ledger.entries import LedgerEntry
from ledger.hashing import extend_frontier, frontier_root, merkle_root
from ledger.tables import ledger_entry
from ledger.verification.notes import Checkpoint, NotANote, read_checkpoint, read_witness
from ledger.verification.proofs import CONSISTENCY, INCLUSION
from trivet.errors import CheckFailedError, UsageError

_BATCH = 10_000


def inclusion_proof(connection: sa.Connection, entry: LedgerEntry, checkpoint: StoredCheckpoint) -> str:
    """A C2SP tlog-proof that the entry is one of those that the checkpoint was signed over; it holds the payload too.

    Raises:
        CheckFailedError: the entries are not those that the checkpoint was signed over.
    """
    stated = read_checkpoint(checkpoint.note)
    path = _roots(connection, stated, inclusion_ranges(entry.seq - 1, stated.size))
    extra = base64.b64encode(entry.payload.encode("utf-8")).decode("ascii")
    lines = [INCLUSION, f"extra {extra}", f"index {entry.seq - 1}", *_encoded(path)]
    return "\n".join([*lines, "", checkpoint.note])


def consistency_proof(connection: sa.Connection, old: Checkpoint, new: Checkpoint) -> str:
    """A proof that the entries of the new checkpoint begin with those of the old one.

    Raises:
        CheckFailedError: the entries are not those that the new checkpoint was signed over.
    """
    path = _roots(connection, new, consistency_ranges(old.size, new.size))
    return "\n".join([CONSISTENCY, *_encoded(path), "", old.note, new.note])


def inclusion_ranges(index: int, size: int) -> list[tuple[int, int]]:
    """The ranges of leaves whose roots prove a leaf, nearest first (RFC 9162, section 2.1.3.1)."""
    start, end, found = 0, size, []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start = middle
    return found[::-1]


def consistency_ranges(old: int, new: int) -> list[tuple[int, int]]:
    """The ranges of leaves whose roots prove that a tree begins with a smaller one (RFC 9162, section 2.1.4.1)."""
    if old in (0, new):
        return []
    start, end, whole, found = 0, new, True, []
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start, whole = middle, False
    return ([] if whole else [(start, end)]) + found[::-1]


def _split(size: int) -> int:
    """The largest power of two that is smaller than `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def _roots(connection: sa.Connection, checkpoint: Checkpoint, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """The root of each range of leaves; on the way the whole is held against the checkpoint."""
    starts = dict(sorted((start, (start, end)) for start, end in ranges))
    frontiers: dict[tuple[int, int], tuple[bytes, ...]] = dict.fromkeys(ranges, ())
    whole: tuple[bytes, ...] = ()
    inside: tuple[int, int] | None = None
    place = 0
    for leaf in _leaves(connection, checkpoint.size):
        inside = starts.get(place, inside)
        whole = extend_frontier(whole, place, leaf)
        if inside is not None and place < inside[1]:
            frontiers[inside] = extend_frontier(frontiers[inside], place - inside[0], leaf)
        place += 1
    if place != checkpoint.size or (frontier_root(whole) if whole else merkle_root(())) != checkpoint.root:
        message = f"the ledger's entries are not those that the checkpoint over {checkpoint.size} was signed over"
        raise CheckFailedError(f"{message}; run `trivet ledger verify`")
    return [frontier_root(frontiers[pair]) for pair in ranges]


def _leaves(connection: sa.Connection, size: int) -> Iterator[bytes]:
    statement = sa.select(ledger_entry.c.leaf_hash).where(ledger_entry.c.seq <= size).order_by(ledger_entry.c.seq)
    with connection.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from rows.scalars()


def _encoded(path: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(value).decode("ascii") for value in path]


def checkpoint_named(connection: sa.Connection, text: str) -> Checkpoint:
    """A checkpoint that a person named: the last one in a file, or that over so many entries.

    Raises:
        UsageError: there is none.
        CheckFailedError: the ledger's own is damaged.
    """
    if Path(text).is_file():
        found = read_witness(Path(text).read_text("utf-8", "replace"), text).checkpoints
        if not found:
            raise UsageError(f"the file '{text}' holds no checkpoint")
        return found[-1]
    held = checkpoint_at(connection, int(text)) if text.isdecimal() and len(text) <= 18 else None
    if held is None:
        raise UsageError(f"'{text}' is neither a file nor the size of a checkpoint that the ledger holds")
    try:
        return read_checkpoint(held.note)
    except NotANote as error:
        raise CheckFailedError(f"the checkpoint in entry {held.seq} is damaged: {error}") from None
