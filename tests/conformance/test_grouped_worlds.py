"""Whole evaluations of grouped monitors, member by member, against the plain-Python oracle."""

from __future__ import annotations

import pytest

from tests.conformance.amounts import GROUPS, judged_pairs
from tests.conformance.grouped_harness import differences
from tests.conformance.harness import describe
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds


def judge(world: GroupedWorld) -> int:
    """Holds the compiled queries against the oracle."""
    found = differences(world)
    assert not found, "\n".join([*found, describe(world)])
    return 1


@pytest.mark.parametrize("shard", range(GROUPS.shards))
def test_compiled_groups_and_oracle_agree_on_every_member(shard: int) -> None:
    assert judged_pairs(grouped_worlds(), GROUPS, shard, judge) >= GROUPS.examples
