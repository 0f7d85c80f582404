"""Whole evaluations, member by member, against the plain-Python oracle."""

from __future__ import annotations

from hypothesis import given, note

from tests.conformance.harness import describe, differences
from tests.oracle.strategies import World, worlds


@given(world=worlds())
def test_compiled_queries_and_oracle_agree_on_every_member(world: World) -> None:
    found = differences(world)
    note(describe(world))
    assert found == []
