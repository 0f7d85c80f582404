"""Monitor files as they are written: the door through which they come in."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from monitors.alerting_document import AlertingModel
from monitors.grouping_document import GroupingModel
from trivet.documents import EMPTY
from trivet.faults import expected
from trivet.fields import Between, DurationText, Flag, Name, Number, Prose, Slug, Text
from trivet.scheduling import Ambiguous, CatchUp, Nonexistent
from trivet.validation import StrictModel
from trivet.verdicts import Reason


def _read_cell(value: object) -> str:
    if not isinstance(value, str):
        advice = 'write "" for a blank, and leave it out where it is NULL' if value is EMPTY else ""
        raise expected("a text", advice=advice)
    return str(value)


_PLAIN = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
Cell = Annotated[str, BeforeValidator(_read_cell), WithJsonSchema({"anyOf": _PLAIN})]
"""A cell of a raw table: any text, a blank one too. `27.20` need not be quoted, it is the text that was written."""
KeyModel: TypeAlias = Cell | dict[Name, Cell]
"""A member's key as it is shown: the text alone, or by property where there are several."""
_Count = Annotated[int, Between(0)]


class ScheduleModel(StrictModel):
    """When a monitor comes due: one of `every`, `cron` and `after`."""

    every: DurationText | None = None
    cron: Text | None = None
    """Five fields; week days by name."""
    timezone: Text | None = None
    """IANA name in which `cron` is read; the contract's time zone if absent."""
    after: Literal["refresh"] | None = None
    """`refresh`: once for each warehouse that ingestion publishes."""


class DaylightSavingModel(StrictModel):
    """What becomes of a cron line's times where the clock of its zone changes."""

    nonexistent: Nonexistent = Nonexistent.SHIFT_FORWARD
    """Times that the clock leaves out."""
    ambiguous: Ambiguous = Ambiguous.FIRST
    """Times that it shows twice."""


class UndecidedModel(StrictModel):
    """A member that must not be decided, and why."""

    key: KeyModel
    reason: Reason


class CountsModel(StrictModel):
    """Counts that must be found; those left out are not looked at."""

    population: _Count | None = None
    breach: _Count | None = None
    no_data: _Count | None = None
    compliant: _Count | None = None
    partial: _Count | None = None
    duplicate_keys: _Count | None = None


class ExpectModel(StrictModel):
    """What a monitor must say. Where members are named, whoever is not must be compliant."""

    breach: list[KeyModel] | None = None
    """The keys of the breached members."""
    no_data: dict[Cell, Reason] | list[UndecidedModel] | None = None
    """The reason of each undecided member."""
    counts: CountsModel | None = None


class RuleTestModel(StrictModel):
    """Rows that a monitor is given, and what it must say of them."""

    name: Text
    given: dict[Name, list[dict[Name, Cell]]]
    """Rows by object type. Cells are text, as raw tables have them; what is left out is NULL."""
    at: Text | None = None
    """The slot's instant."""
    baselines: dict[Name, Number] = {}
    """What baselines come to, for every group; one that is left out has no history."""
    expect: ExpectModel


class MonitorModel(GroupingModel, AlertingModel):
    """One monitor."""

    id: Slug
    object: Name
    """Object type of the contract whose rows are the members, or are grouped to them."""
    breach_when: Prose
    """Condition that makes a member a breach; see the expression reference."""
    where: Prose | None = None
    """Condition that narrows the population."""
    title: Text | None = None
    description: Prose | None = None
    strict: Flag = False
    """A linked row, or a row of a group, without a value makes it unknown instead of partial."""
    allow_empty: Flag = False
    """An empty population is compliant."""
    samples: Annotated[int, Between(0, 1000)] = 100
    """Members of each kind in an evaluation document, at most."""
    timeout: DurationText | None = None
    """Longest time for the queries of one evaluation; the contract's limit if absent."""
    enabled: Flag = True
    schedule: ScheduleModel | None = None
    catch_up: CatchUp = CatchUp.LATEST
    """Which of the slots that came due while nothing ran are run."""
    delay: DurationText = timedelta()
    """How long after its instant a slot starts, so that late data is in."""
    jitter: DurationText = timedelta()
    """Over how long the starts of many monitors are spread."""
    dst: DaylightSavingModel = DaylightSavingModel()
    notify: list[Slug] = []
    """Receivers of the settings."""
    owner: Text | None = None
    runbook: Text | None = None
    labels: dict[Name, Text] = {}
    tests: list[RuleTestModel] = []
    """What `trivet check --tests` runs."""


class MonitorFileModel(StrictModel):
    """One monitor file."""

    monitors: Annotated[list[MonitorModel], Field(min_length=1)]
