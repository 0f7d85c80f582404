"""Monitor files as they are written: the door through which they come in."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trivet.fields import Between, DurationText, Flag, Name, Prose, Slug, Text
from trivet.validation import StrictModel
from trivet.verdicts import Severity


class ScheduleModel(StrictModel):
    """When a monitor comes due: one of `every` and `cron`."""

    every: DurationText | None = None
    cron: Text | None = None
    """Five fields; week days by name."""
    timezone: Text | None = None
    """IANA name in which `cron` is read; the contract's time zone if absent."""


class NoDataModel(StrictModel):
    """When missing data is told. It quiets the alert, never the verdict."""

    alert: Flag = True
    tolerate: Annotated[int, Between(0)] = 0
    """Undecided members that do not yet alert."""


class MonitorModel(StrictModel):
    """One monitor."""

    id: Slug
    object: Name
    """Object type of the contract whose rows are the members."""
    breach_when: Prose
    """Condition that makes a member a breach; see the expression reference."""
    where: Prose | None = None
    """Condition that narrows the population."""
    title: Text | None = None
    description: Prose | None = None
    strict: Flag = False
    """A linked row without a value makes a comparison unknown instead of partial."""
    allow_empty: Flag = False
    """An empty population is compliant."""
    samples: Annotated[int, Between(0, 1000)] = 100
    """Members of each kind in an evaluation document, at most."""
    timeout: DurationText | None = None
    """Longest time for the queries of one evaluation; the contract's limit if absent."""
    enabled: Flag = True
    severity: Severity = Severity.WARNING
    schedule: ScheduleModel | None = None
    no_data: NoDataModel = NoDataModel()
    consecutive: Annotated[int, Between(1, 1000), Field(alias="for")] = 1
    """Evaluations in a row before it fires."""
    notify: list[Slug] = []
    """Receivers of the settings."""
    owner: Text | None = None
    runbook: Text | None = None
    labels: dict[Name, Text] = {}


class MonitorFileModel(StrictModel):
    """One monitor file."""

    monitors: Annotated[list[MonitorModel], Field(min_length=1)]
