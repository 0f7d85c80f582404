"""What a verification can say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DamageKind(StrEnum):
    """What kind of promise is broken."""

    CONTENT = "content"
    """An entry's payload, type or subject is not what was hashed."""
    LINK = "link"
    """An entry's hashes do not follow from it and from the entry before."""
    GAP = "gap"
    """Entries are missing, or one holds no usable `seq`."""
    ORDER = "order"
    """An entry stands elsewhere than where it was recorded."""
    FORK = "fork"
    """Two entries follow the same one, or two signed checkpoints of one size disagree."""
    ROWS = "rows"
    """The rows of an entry's subject are not those that were bound."""
    ORPHAN_ROWS = "orphan_rows"
    """Bound rows whose subject has no entry."""
    TAIL_CUT = "tail_cut"
    """Entries at the end are gone: the head row or a checkpoint knows of more."""
    REWRITE = "rewrite"
    """The entries hash well, and are not those that a checkpoint was signed over."""
    CHECKPOINT = "checkpoint"
    """A checkpoint contradicts the entry that holds it, or its signature does not hold."""
    HEAD = "head"
    """The head row does not describe the entries."""
    SCHEMA = "schema"
    """A table, a column or a file of the ledger is missing."""
    UNREADABLE = "unreadable"
    """The store's file is corrupt."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One finding of a verification."""

    seq: int | None
    """The entry concerned, where there is one: of missing or rewritten entries the first."""
    kind: DamageKind
    message: str

    def __str__(self) -> str:
        place = "ledger" if self.seq is None else f"entry {self.seq}"
        return f"{place}: {self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far checkpoints vouch for the entries."""

    checkpoints: int
    """Checkpoints that agree with the entries and whose signature holds."""
    size: int
    """The largest number of entries that one of them was signed over."""
    witnessed: int
    """The same, of those that are kept outside the ledger."""
    unchecked: int
    """Checkpoints whose signature could not be checked, since no key is known."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """A restored backup that the ledger itself tells of."""

    seq: int
    """The entry that tells it; the entries before it are those of the backup."""
    seen: int | None
    """How many entries the last checkpoint that was seen then was signed over; None where none was known."""

    @property
    def lost(self) -> tuple[int, int] | None:
        """First and last number of the entries that are known to have been lost."""
        return (self.seq, self.seen) if self.seen is not None and self.seen >= self.seq else None


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification read and what it found."""

    entries: int
    """Entries read."""
    rows: int
    """Bound rows read and hashed."""
    damage: tuple[Damage, ...]
    """In the order of reading; at most `MAX_FINDINGS`."""
    stopped_early: bool
    """Whether there may be more damage than is listed."""
    coverage: Coverage = Coverage(0, 0, 0, 0)
    recoveries: tuple[Recovery, ...] = ()
    redactions: int = 0
    """Rows whose text was erased, and said to be."""
    notices: tuple[str, ...] = ()
    """What is no damage and should be known."""

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage

    @property
    def uncovered(self) -> int:
        """Entries at the end that no checkpoint vouches for."""
        return max(self.entries - self.coverage.size, 0)


MAX_FINDINGS = 20
"""Verification stops once it has found this much damage."""


def shown(value: object) -> str:
    """A value from a store as it may stand in a message."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
