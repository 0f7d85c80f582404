"""Words and records of metrics that are derived from others, and of what a metric says beside its expression."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from catalog.periods import Period


class DerivationKind(StrEnum):
    """How one metric is made of others. The list is closed; each has its rule for nulls, zero and signs."""

    RATIO = "ratio"
    """The first over the second. No value where either has none or the second is zero; of any sign."""
    SHARE = "share"
    """A part over its whole, as a ratio; neither can be negative, and both are in one unit."""
    DIFFERENCE = "difference"
    """The first less the second, in one unit. No value where either has none: nothing is no zero. Of any sign."""
    PERIOD_OVER_PERIOD = "period_over_period"
    """The figure less that of the period before, or that over its size. The first period has none; a rise is
    positive, also from a figure below zero; relative to zero there is none."""
    MEAN_PER_PERIOD = "mean_per_period"
    """The mean of what single periods come to. Periods without a value do not enter; without any there is none."""


class NullRule(StrEnum):
    """What rows without a value do to a metric."""

    IGNORE_AND_COUNT = "ignore_and_count"
    """They do not enter, and are counted where the figure is shown."""
    UNKNOWN = "unknown"
    """A single one leaves the figure unknown."""


class EmptyRule(StrEnum):
    """What a sum over no row is."""

    NO_DATA = "no_data"
    """No figure, and nothing may stand in for it."""
    ZERO = "zero"


@dataclass(frozen=True, slots=True)
class MetricDisplay:
    """How values are shown."""

    round: int | None = None
    """Digits after the point to which a value is rounded, once and at the end."""
    scale: int | None = None
    """Digits after the point that are shown at least."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a derived metric is made of."""

    kind: DerivationKind
    parts: tuple[str, ...]
    """Names of metrics: two, or the one that periods are told apart of."""
    period: str | None = None
    """Property by which periods are told apart."""
    by: Period | None = None
    """The period in which its dates lie; None where its values are the periods."""
    relative: bool = False
    """Of period_over_period: the change over the size of the figure before."""
    non_negative: bool = False
    """Whether the last part can never be below zero."""

    def __str__(self) -> str:
        if self.period is None:
            return f"{self.kind} of {' and '.join(self.parts)}"
        periods = f"{self.by} of {self.period}" if self.by else self.period
        return f"{'relative ' if self.relative else ''}{self.kind} of {self.parts[0]} by {periods}"


@dataclass(frozen=True, slots=True)
class DerivedMetric:
    """A certified measure that is arithmetic over other metrics."""

    name: str
    derivation: Derivation
    description: str = ""
    unit: str | None = None
    synonyms: tuple[str, ...] = ()
    """Other words by which people ask for it."""
    display: MetricDisplay | None = None
    """None where the contract does not say."""
    not_the_same_as: tuple[str, ...] = ()
    """Names of metrics that it is taken for, and is not."""
