"""What the ledger holds: entry types, one entry, and the head."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ledger.hashing import GENESIS_HASH, HASH_SIZE, frontier_root


class EntryType(StrEnum):
    """The closed list of what an entry can record."""

    EVALUATION = "evaluation"
    """An evaluation of a monitor, made or not; its rows are bound by `rows_root`."""
    OUTCOME = "outcome"
    """How a question ended."""
    ESCALATION = "escalation"
    STEWARD_DECISION = "steward_decision"
    ALERT_CHANGE = "alert_change"
    MEMBER_CHANGES = "member_changes"
    """How the flagged members of a monitor moved with an evaluation."""
    DELIVERY = "delivery"
    DIGEST = "digest"
    """How every monitor stood once a day, and who is told."""
    RECEIVER = "receiver"
    """A receiver that had said that it is gone for good is sent to again, or is forgotten."""
    SILENCE = "silence"
    ACCEPTANCE = "acceptance"
    """A member's breach is accepted until a date, or is so no longer."""
    PAUSE = "pause"
    """A monitor is not to be evaluated for a while."""
    RESUME = "resume"
    """It is to be evaluated again before that while is over."""
    DEFINITION_PUBLISHED = "definition_published"
    CONTRACT_PUBLISHED = "contract_published"
    CONTRACT_VERIFIED = "contract_verified"
    """The verified questions of a contract were rerun, and what they came to."""
    PUBLICATION = "publication"
    """From here on these monitors and this contract are in force, all at once."""
    CLOCK_SET_BACK = "clock_set_back"
    """The clock ran ahead and was set right: from where monitors are planned again."""
    SETTINGS_CHANGED = "settings_changed"
    CHECKPOINT = "checkpoint"
    RECOVERY = "recovery"
    REDACTION = "redaction"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry as it is stored."""

    seq: int
    """Place in the ledger, from 1 without gaps."""
    entry_type: EntryType
    subject_id: str
    """What the entry is about; at most one entry for each type and subject."""
    payload: str
    """Canonical JSON, an object that holds `entry_type` and `subject_id` too."""
    leaf_hash: bytes
    prev_hash: bytes
    """The `entry_hash` of the entry before; 32 zero bytes for entry 1."""
    entry_hash: bytes

    def content(self) -> dict[str, Any]:
        """The payload, parsed."""
        parsed: dict[str, Any] = json.loads(self.payload)
        return parsed


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """Where the ledger ends: what the next entry is chained to.

    Raises:
        ValueError: the parts cannot belong to one ledger.
    """

    seq: int
    """Of the last entry; 0 for an empty ledger."""
    entry_hash: bytes
    """Of the last entry; 32 zero bytes for an empty ledger."""
    frontier: tuple[bytes, ...]
    """Compact range of the Merkle tree over all leaf hashes, largest subtree first."""

    def __post_init__(self) -> None:
        if self.seq < 0 or len(self.frontier) != self.seq.bit_count():
            raise ValueError(f"{self.seq} entries have no frontier of {len(self.frontier)} hashes")
        for value in (self.entry_hash, *self.frontier):
            if not isinstance(value, bytes) or len(value) != HASH_SIZE:
                raise ValueError(f"a hash is not {HASH_SIZE} bytes")

    @property
    def root(self) -> bytes:
        """The Merkle root over all leaf hashes (RFC 9162)."""
        return frontier_root(self.frontier)


GENESIS = LedgerHead(seq=0, entry_hash=GENESIS_HASH, frontier=())
"""The head of an empty ledger."""
