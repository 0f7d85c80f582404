"""Baselines: what a figure of a group came to in the monitor's own earlier evaluations, as one number.

The rule stands in the monitor's file under `baselines`; a condition names it as `baseline.NAME`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from catalog.expressions.tree import Aggregate, Comparison, ComparisonOperator

BASELINE = "baseline"
"""The word before the point; no link may have it as its name."""
MOST_EVALUATIONS = 366
"""Evaluations that a baseline looks back on at most: each is named in the ledger entry of every evaluation."""


class Statistic(StrEnum):
    """What earlier values come to."""

    MEAN = "mean"
    """Their sum over their number, to 12 significant digits."""
    MEDIAN = "median"
    """The middle one; of an even number, the mean of the middle two."""
    DEVIATION = "deviation"
    """Their sample standard deviation, to 12 significant digits."""

    @property
    def needs(self) -> int:
        """The fewest values of which there is one."""
        return 2 if self is Statistic.DEVIATION else 1


@dataclass(frozen=True, slots=True)
class BaselineRule:
    """One baseline of a monitor."""

    name: str
    of: Aggregate
    """The figure whose earlier values are taken; it is recorded in each evaluation, whatever the verdict."""
    statistic: Statistic
    last: int
    """Evaluations that it looks back on."""
    min_history: int
    """Values of these that a group needs; fewer are insufficient."""
    same_weekday: bool = False
    """Whether only evaluations of the slot's own weekday count."""

    @property
    def beside_itself(self) -> Comparison:
        """A condition that names what the baseline is taken of, and nothing else."""
        return Comparison(ComparisonOperator.EQUAL, self.of, self.of)
