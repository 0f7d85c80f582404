"""A monitor as the program uses it. `monitors/loading.py` makes it from YAML and is the only place that does."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from catalog.expressions.baselines import BaselineRule
from catalog.expressions.printing import print_condition
from catalog.expressions.tree import Condition
from monitors.alerting import AlertPolicy, NoDataPolicy
from monitors.baselines import rule_json
from monitors.grouping import Grouping
from monitors.rule_tests import RuleTest
from trivet.canonical import Json, content_hash
from trivet.scheduling import Ambiguous, CatchUp, Nonexistent
from trivet.verdicts import Severity

DEFAULT_SAMPLES = 100
"""Members of each kind that an evaluation document shows at most; recording is not capped by it."""


_NO_DATA, _ALERTING = NoDataPolicy(), AlertPolicy()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a monitor comes due: by `every`, by `cron`, or after each refresh."""

    every: timedelta | None = None
    cron: str | None = None
    timezone: str | None = None
    """IANA name in which `cron` is read; the contract's time zone when None."""
    after_refresh: bool = False
    """It comes due once for each warehouse that is published."""
    delay: timedelta = timedelta()
    """How long after its instant a slot starts; the instant stays what it is."""
    jitter: timedelta = timedelta()
    """Over how long starts are spread besides, though never up to the next slot."""
    nonexistent: Nonexistent = Nonexistent.SHIFT_FORWARD
    ambiguous: Ambiguous = Ambiguous.FIRST
    catch_up: CatchUp = CatchUp.LATEST


@dataclass(frozen=True, slots=True)
class MonitorDefinition:
    """One monitor: a population, a condition, and how it is watched."""

    id: str
    object: str
    """Name of the object type whose rows are the members, or are grouped to them."""
    breach_when: Condition
    where: Condition | None = None
    grouping: Grouping | None = None
    """Makes groups of the rows the members; None where each row is one."""
    baselines: tuple[BaselineRule, ...] = ()
    """What earlier evaluations come to, where groups are held against it; in the order of the file."""
    metrics: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The metrics that `breach_when` was written with, and what each stands for in it."""
    strict: bool = False
    """An indeterminate matching row, or row of a group, makes it unknown instead of partial."""
    allow_empty: bool = False
    """An empty population is compliant instead of an evaluation that could not be made."""
    samples: int = DEFAULT_SAMPLES
    timeout: timedelta | None = None
    """Longest time for the queries of one evaluation; the contract's limit when None."""
    enabled: bool = True
    title: str = ""
    description: str = ""
    severity: Severity = Severity.WARNING
    schedule: Schedule | None = None
    no_data: NoDataPolicy = _NO_DATA
    alerting: AlertPolicy = _ALERTING
    notify: tuple[str, ...] = ()
    owner: str = ""
    runbook: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    tests: tuple[RuleTest, ...] = field(default=(), compare=False)
    """What `trivet check --tests` runs; no verdict depends on it."""
    file: str = field(default="", compare=False)
    """Where it was defined, relative to the workspace."""
    _hash: str = field(default="", init=False, repr=False, compare=False)
    """`definition_hash` once it was asked for: a planner asks for that of every monitor at every tick."""

    @property
    def definition_hash(self) -> str:
        """SHA-256 over what decides a verdict; titles, owners and schedules do not."""
        if not self._hash:
            object.__setattr__(self, "_hash", content_hash(self.judged()))
        return self._hash

    def judged(self) -> dict[str, Json]:
        """What decides a verdict, as canonical JSON values."""
        grouped: dict[str, Json] = {"grouping": self.grouping.judged()} if self.grouping is not None else {}
        looking_back: dict[str, Json] = {}
        if self.baselines:
            # By name, since the order of the file decides nothing.
            looking_back = {"baselines": {rule.name: rule_json(rule) for rule in self.baselines}}
        return {
            "id": self.id,
            "object": self.object,
            "where": print_condition(self.where) if self.where is not None else None,
            "breach_when": print_condition(self.breach_when),
            "strict": self.strict,
            "allow_empty": self.allow_empty,
            **grouped,
            **looking_back,
        }
