"""Whole evaluations, member by member, against the plain-Python oracle."""

from __future__ import annotations

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.conformance.harness import PLANS, describe, differences
from tests.oracle.strategies import World, families

READABLE = "pair"
DATA_SETS = min(settings.default.max_examples, 60)
"""Each is judged under up to three conditions by two plans, which takes most of a second."""
PASSES = tuple(plan for plan in PLANS if plan != READABLE)


@settings(max_examples=DATA_SETS)
@given(family=families(), other=st.sampled_from(PASSES))
def test_every_plan_and_the_oracle_agree_on_every_member(family: tuple[World, ...], other: str) -> None:
    found = differences(*family, plans=(READABLE, other))
    note("\n".join(map(describe, family)))
    assert found == []
