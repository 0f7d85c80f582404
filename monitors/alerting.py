"""When and how a monitor's alert is told. Nothing here decides a verdict or counts in the definition hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from catalog.expressions.tree import Condition
from trivet.verdicts import Severity


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long something must go on before it counts: evaluations in a row, or a time between slots."""

    evaluations: int = 1
    """Not looked at where `time` is given."""
    time: timedelta | None = None

    def is_reached(self, count: int, since: datetime, slot: datetime) -> bool:
        """Whether a run of `count` evaluations from the slot `since` to `slot` is long enough."""
        return slot - since >= self.time if self.time is not None else count >= self.evaluations


@dataclass(frozen=True, slots=True)
class Threshold:
    """A count of members, or a share of the population."""

    count: int = 0
    """Not looked at where `percent` is given."""
    percent: Decimal | None = None

    def is_exceeded(self, part: int, whole: int) -> bool:
        """Whether `part` of `whole` members are more than this."""
        return part > self.count if self.percent is None else 100 * part > self.percent * whole

    def is_reached(self, part: int, whole: int) -> bool:
        """Whether `part` of `whole` members are at least this; no member reaches nothing."""
        return part > 0 and (part >= self.count if self.percent is None else 100 * part >= self.percent * whole)

    def __str__(self) -> str:
        return str(self.count) if self.percent is None else f"{self.percent}%"


@dataclass(frozen=True, slots=True)
class NoDataRule:
    """What holds for one reason in place of what holds for all; None where nothing else is said."""

    reason: str
    """Of a member, or of an evaluation that could not be made."""
    alert: bool | None = None
    tolerate: Threshold | None = None
    lasting: Lasting | None = None
    severity: Severity | None = None
    notify: tuple[str, ...] = ()
    """Receivers that are told besides."""


@dataclass(frozen=True, slots=True)
class NoDataPolicy:
    """When missing data is told. It quiets the alert, never the verdict."""

    alert: bool = True
    tolerate: Threshold = Threshold()
    """Undecided members that do not yet alert, those of reasons with a rule of their own left out."""
    lasting: Lasting | None = None
    """None: as for breaches."""
    severity: Severity | None = None
    """None: that of the monitor."""
    reasons: tuple[NoDataRule, ...] = ()

    def rule(self, reason: str) -> NoDataRule | None:
        """The rule of this reason; None where it has none of its own."""
        return next((rule for rule in self.reasons if rule.reason == reason), None)


@dataclass(frozen=True, slots=True)
class SeverityLevel:
    """From how many breached members on an alert is how loud."""

    severity: Severity
    size: Threshold


@dataclass(frozen=True, slots=True)
class Flapping:
    """When an alert that comes and goes is told once instead of each time."""

    changes: int = 4
    """More changes than this, among the latest evaluations, are too many."""
    of: int = 10
    """The evaluations that are looked at."""
    alert: bool = True
    """False: each coming and going is told."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """How often an alert that goes on is told again."""

    every: timedelta
    most: int = 6
    """Repetitions of one episode."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """Who is told when nobody has acknowledged."""

    after: timedelta
    """Since it fired."""
    to: str
    """A receiver of the settings."""


@dataclass(frozen=True, slots=True)
class AlertPolicy:
    """Everything but missing data: see `NoDataPolicy`."""

    fires_after: Lasting = Lasting()
    """`for` in the file."""
    clears_after: Lasting = Lasting()
    """`keep_firing_for` in the file: how long it must be in order before it is resolved."""
    recover_when: Condition | None = None
    """What must hold of a member that breached before it has recovered; None: that it is compliant."""
    levels: tuple[SeverityLevel, ...] = ()
    """Severity by size, the loudest last; none where the severity is one word."""
    flapping: Flapping = Flapping()
    judged_share: Decimal | None = None
    """In points of 100: a fall of the judged share by more than this is told by itself."""
    repeat: Repeat | None = None
    escalate: tuple[Escalation, ...] = ()
    """In the order of their time."""
    per_group: bool = False
    """Each group of the monitor has an alert of its own."""

    def severity_of(self, size: int, population: int, otherwise: Severity) -> Severity:
        """How loud a breach of this size is; below every level, `info`."""
        if not self.levels:
            return otherwise
        reached = [level.severity for level in self.levels if level.size.is_reached(size, population)]
        return reached[-1] if reached else Severity.INFO

    def receivers(self) -> Iterator[str]:
        """Those that escalations name."""
        yield from (step.to for step in self.escalate)
