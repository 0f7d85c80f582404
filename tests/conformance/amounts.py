"""How much is generated: in CI the whole amount, the same for the same commit; at a desk less, and new each time.

A shard is one test, so that several processes share the work. There are few, since the first example of each is the
same: the least that can be drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import given, seed, settings
from hypothesis import strategies as st

Drawn = TypeVar("Drawn")
IN_CI = settings().derandomize


@dataclass(frozen=True, slots=True)
class Amount:
    """How many examples are judged, and in how many tests."""

    shards: int
    examples: int
    """Of each shard."""


ROWS = Amount(shards=7, examples=10) if IN_CI else Amount(shards=2, examples=7)
"""Families of monitors whose members are rows."""
GROUPS = Amount(shards=4, examples=50) if IN_CI else Amount(shards=2, examples=16)
"""Monitors whose members are groups, which no pass judges."""


def judged_pairs(strategy: st.SearchStrategy[Drawn], amount: Amount, shard: int, judge: Callable[[Drawn], int]) -> int:
    """Judges what one shard draws, and says how many pairs of a monitor and a data set that were.

    Args:
        strategy: what is drawn.
        amount: how much of it.
        shard: its number, from which follows in CI what is drawn.
        judge: judges one example, and tells how many of its pairs count.
    """
    judged = 0

    @settings(max_examples=amount.examples)
    @given(drawn=strategy)
    def check(drawn: Drawn) -> None:
        nonlocal judged
        judged += judge(drawn)

    (seed(shard)(check) if IN_CI else check)()
    return judged
