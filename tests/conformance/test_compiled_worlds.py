"""Whole evaluations, member by member, against the plain-Python oracle."""

from __future__ import annotations

from hypothesis import given, note

from tests.conformance.harness import describe, differences
from tests.oracle.strategies import World, families


@given(family=families())
def test_every_plan_and_the_oracle_agree_on_every_member(family: tuple[World, ...]) -> None:
    found = differences(*family)
    note("\n".join(map(describe, family)))
    assert found == []
