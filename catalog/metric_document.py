"""Metrics as contract files hold them. `metric_loading.py` makes records of them, `metric_rules.py` judges them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from catalog.metric_records import DerivationKind, EmptyRule, NullRule
from catalog.periods import Period
from trivet.fields import Between, Flag, Name, Prose, Text
from trivet.validation import StrictModel


class MandatoryFilterModel(StrictModel):
    """A property that a question must hold to a value."""

    property: Name
    value: Literal["literal"]
    """What holds it: literals that stand in the statement."""


class MetricDisplayModel(StrictModel):
    """How a metric's values are shown: one of the two."""

    round: Annotated[int, Between(0, 12)] | None = None
    """Digits after the point to which it is rounded, once and at the end."""
    scale: Annotated[int, Between(0, 38)] | None = None
    """Digits after the point that are shown at least; never rounds."""


class ChangeModel(StrictModel):
    """A metric held against the period before."""

    of: Name
    """A metric over an object type."""
    period: Name
    """Property of that object type by which periods are told apart."""
    by: Period | None = None
    """The period in which a date lies; without it the values of `period` are the periods."""
    relative: Flag = False
    """`true`: the change over the size of the figure before."""


class MeanModel(StrictModel):
    """The mean of what a metric comes to in each period."""

    of: Name
    """A metric over an object type: a sum or a count."""
    period: Name
    """Property of that object type by which periods are told apart."""
    by: Period | None = None
    """The period in which a date lies; without it the values of `period` are the periods."""


Pair = Annotated[list[Name], Field(min_length=2, max_length=2)]


class DerivedModel(StrictModel):
    """Arithmetic over other metrics: one of the closed list."""

    ratio: Pair | None = None
    """The first over the second."""
    share: Pair | None = None
    """A part over its whole, both in one unit."""
    difference: Pair | None = None
    """The first less the second, both in one unit."""
    period_over_period: ChangeModel | None = None
    mean_per_period: MeanModel | None = None

    @property
    def kinds(self) -> list[DerivationKind]:
        """Which of the list are stated."""
        return [kind for kind in DerivationKind if getattr(self, kind.value) is not None]


class MetricModel(StrictModel):
    """A certified measure: an aggregate over an object type, or derived from others."""

    name: Name
    object: Name | None = None
    expression: Text | None = None
    """One aggregate over properties of the object type, such as sum(amount)."""
    derived: DerivedModel | None = None
    """In place of `object` and `expression`."""
    description: Prose = ""
    unit: Text | None = None
    synonyms: list[Text] = []
    grain: Annotated[list[Name] | None, Field(min_length=1)] = None
    """Keys of the object type: what is counted once, and below which it is not told apart."""
    additivity: Literal["additive", "semi_additive", "non_additive"] | None = None
    null_rule: NullRule | None = None
    """What rows without a value do to it."""
    empty_rule: EmptyRule | None = None
    """What a sum over no row is."""
    display: MetricDisplayModel | None = None
    not_the_same_as: list[Name] = []
    """Metrics that it is taken for, and is not."""
    allowed_dimensions: list[Name] = []
    """Properties, of any object type, by which it may be told apart; none named means any."""
    mandatory_filters: list[MandatoryFilterModel] = []
