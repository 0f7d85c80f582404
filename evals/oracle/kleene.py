"""Strong Kleene logic, and the two quantifiers over rows of which some are indeterminate. None is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from catalog.expressions.tree import Quantifier

Truth: TypeAlias = bool | None


def conjunction(truths: Sequence[Truth]) -> Truth:
    """Strong Kleene `and`."""
    if any(truth is False for truth in truths):
        return False
    return None if None in truths else True


def disjunction(truths: Sequence[Truth]) -> Truth:
    """Strong Kleene `or`."""
    if any(truth is True for truth in truths):
        return True
    return None if None in truths else False


def negation(truth: Truth) -> Truth:
    """Strong Kleene `not`."""
    return None if truth is None else not truth


def quantified(quantifier: Quantifier, truths: Sequence[Truth], *, to_one: bool, strict: bool) -> Truth:
    """`any` or `all` over the matching rows, where None stands for each row that is not determinate."""
    decided = {truth for truth in truths if truth is not None}
    if not decided or (strict and None in truths) or (to_one and len(decided) == 2):
        return None
    return True in decided if quantifier is Quantifier.ANY else False not in decided
