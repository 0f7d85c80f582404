"""Members as the store holds them: what they are judged from again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trivet.verdicts import Reason, Verdict


@dataclass(frozen=True, slots=True)
class RecordedMember:
    """A member as the store holds it."""

    ordinal: int
    verdict: Verdict
    reason: Reason | None
    operands: Mapping[str, str | None]
    causes: Mapping[str, Sequence[str]]
    provenance: Sequence[Mapping[str, Any]] = ()
    key: Mapping[str, str | None] = field(default_factory=dict)
    erased: bool = False
    """Its text was erased."""

    def has_row(self, link: str) -> bool:
        """Whether a linked row was recorded beside it: its values, where it was read, or why it decided nothing."""
        names = f"{link}."
        values = any(value is not None for name, value in self.operands.items() if name.startswith(names))
        told = any(part.get("of") == link for part in self.provenance)
        return values or told or any(name.startswith(names) for name in self.causes)


def recorded_member(row: Mapping[str, Any]) -> RecordedMember:
    """A row of `member` as it is judged again.

    Raises:
        ValueError, KeyError, TypeError: the row is damaged.
    """
    return RecordedMember(
        row["ordinal"],
        Verdict(row["verdict"]),
        Reason(row["reason"]) if row["reason"] else None,
        json.loads(row["operands"]),
        json.loads(row["causes"]),
        json.loads(row["provenance"]),
        json.loads(row["member_key"]),
        row["erased"] is not None,
    )
