"""Rule tests as the program uses them: rows that a monitor is given, and what it must say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from trivet.findings import Finding
from trivet.verdicts import Reason

MemberKey: TypeAlias = Mapping[str, str | None]
"""Each property of a member's key and its text, in the order of the key; None where it has no value."""


@dataclass(frozen=True, slots=True)
class RuleTest:
    """One test of one monitor. It expects members, counts, or both."""

    name: str
    given: Mapping[str, Sequence[Mapping[str, str]]]
    """Rows by object type; columns that a row leaves out are NULL, object types that are left out have no row."""
    at: datetime | None
    """The slot's instant, aware."""
    breach: tuple[MemberKey, ...]
    no_data: tuple[tuple[MemberKey, Reason], ...]
    names_members: bool
    """Whether `breach` and `no_data` are all who may not be compliant; without it only counts are compared."""
    counts: Mapping[str, int]
    """The counts that are compared, by their names in an evaluation document."""
    place: Finding
    """Where it stands, without a message."""
    baselines: Mapping[str, Decimal] = field(default_factory=dict)
    """What baselines come to in every group, by name; one that is left out has no history."""

    def finding(self, message: str) -> Finding:
        """What is to be said of it."""
        return replace(self.place, message=f"'{self.name}': {message}")
