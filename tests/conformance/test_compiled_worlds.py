"""Whole evaluations, member by member, against the plain-Python oracle."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from compiler.planning import why_readable
from tests.conformance.amounts import IN_CI, ROWS, judged_pairs
from tests.conformance.harness import PLANS, definition_of, describe, differences
from tests.oracle.strategies import World, families

MONITORS, DATA_SETS = 4, 8
"""Of one example. Compiling costs more than judging so few rows does, so each monitor judges several data sets."""
PAIRS = 2_000 if IN_CI else 100
"""Pairs of a monitor and a data set that all plans judge in one run, at the least."""
READABLE = "pair"
# The most costly ones less often.
PASSES = ("shared scan, small view", *(plan for plan in PLANS if plan != READABLE))


def judge(drawn: tuple[tuple[tuple[World, ...], ...], str]) -> int:
    """Holds all plans against the oracle; says how many pairs a pass judged as well."""
    data_sets, scan = drawn
    judged = 0
    for family in data_sets:
        found = differences(*family, plans=(READABLE, scan))
        assert not found, "\n".join([*found, *map(describe, family)])
        judged += sum(why_readable(definition_of(world), world.contract) is None for world in family)
    return judged


@pytest.mark.parametrize("shard", range(ROWS.shards))
def test_every_plan_and_the_oracle_agree_on_every_member(shard: int) -> None:
    drawn = st.tuples(families(monitors=MONITORS, data_sets=DATA_SETS), st.sampled_from(PASSES))
    assert judged_pairs(drawn, ROWS, shard, judge) * ROWS.shards >= PAIRS
