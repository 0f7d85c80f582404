"""The keys of a grouped monitor as files hold them."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from catalog.periods import Period
from monitors.baseline_document import BaselineModel
from trivet.fields import Between, Day, Flag, Name
from trivet.validation import StrictModel


class PeriodKeyModel(StrictModel):
    """A key that is the period in which a date lies."""

    period: Period
    of: Name
    """A date or timestamp of the object type; timestamps are read in the contract's time zone."""


class ExpectedPeriodsModel(StrictModel):
    """The periods that must have a member: `from` and `to`, or the `last` ones."""

    from_: Annotated[Day | None, Field(alias="from")] = None
    """A day of the first period."""
    to: Day | None = None
    """A day of the last period."""
    last: Annotated[int, Between(1, 10_000)] | None = None
    """Number of periods, counted back from the slot's own."""
    current: Flag = True
    """With `last`: whether the slot's own period is the first of them."""


class ExpectModel(StrictModel):
    """The members that must exist."""

    object: Name | None = None
    """Object type whose rows name them."""
    key: Name | None = None
    """Its property, where the group has one key besides the period."""
    keys: Annotated[list[Name], Field(min_length=1)] | None = None
    """Its properties, in the order of `group_by` without the period."""
    periods: ExpectedPeriodsModel | None = None


class CoverageModel(StrictModel):
    """How much of a period must have inputs."""

    share: Annotated[Decimal, Between(0, 1)]
    per: Literal["quarter", "month", "day"]
    """Periods inside the group's own; each with a determinate input counts."""


class GroupingModel(StrictModel):
    """What a monitor says of its groups."""

    group_by: list[Name | PeriodKeyModel] | None = None
    """Makes groups the members; `[]` is one group of the whole population."""
    expect: ExpectModel | None = None
    """The members that must exist."""
    min_count: Annotated[int, Between(1)] = 1
    """Determinate inputs that a figure needs; fewer are insufficient."""
    min_coverage: Annotated[Decimal, Between(0, 1)] | CoverageModel | None = None
    """Share of a group's rows that must be determinate inputs; or of its periods."""
    as_of: Literal["slot"] | None = None
    """`slot`: links with effective dates are read on the slot's own date."""
    baselines: Annotated[dict[Name, BaselineModel], Field(min_length=1)] | None = None
    """What `baseline.NAME` stands for in `breach_when`."""
