"""Whole evaluations of grouped monitors, member by member, against the plain-Python oracle."""

from __future__ import annotations

from hypothesis import given, note, settings

from tests.conformance.grouped_harness import differences
from tests.conformance.harness import describe
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds

DATA_SETS = min(settings.default.max_examples, 60)


@settings(max_examples=DATA_SETS)
@given(world=grouped_worlds())
def test_compiled_groups_and_oracle_agree_on_every_member(world: GroupedWorld) -> None:
    found = differences(world)
    note(describe(world))
    assert found == []
