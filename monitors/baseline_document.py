"""The baselines of a grouped monitor as files hold them."""

from __future__ import annotations

from typing import Annotated, Literal

from catalog.expressions.baselines import MOST_EVALUATIONS, Statistic
from trivet.fields import Between, Prose
from trivet.validation import StrictModel


class BaselineModel(StrictModel):
    """What a figure came to in the monitor's own earlier evaluations."""

    of: Prose
    """One aggregate, whose values are recorded in each evaluation."""
    statistic: Statistic
    last: Annotated[int, Between(1, MOST_EVALUATIONS)]
    """Evaluations that it looks back on."""
    weekday: Literal["any", "same"] = "any"
    """`same`: only evaluations of the slot's own weekday count."""
    min_history: Annotated[int, Between(1, MOST_EVALUATIONS)]
    """Values that a group needs in these evaluations; fewer are insufficient."""
