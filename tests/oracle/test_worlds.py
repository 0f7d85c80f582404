"""Laws that the oracle keeps in every world that the strategies can make, and what those worlds reach."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import Phase, assume, given, seed, settings
from hypothesis import strategies as st

from catalog.expressions.checking import Scope, check_condition
from catalog.expressions.printing import print_condition
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import And, Not, Or
from catalog.expressions.walking import atoms, counted_links
from evals.oracle.evaluation import OracleResult, Table
from tests.oracle.strategies import World, judge_world, worlds
from trivet.verdicts import Cause, Reason, Verdict

SWAPPED = {
    Verdict.BREACH: Verdict.COMPLIANT,
    Verdict.COMPLIANT: Verdict.BREACH,
    Verdict.NO_DATA: Verdict.NO_DATA,
}


def verdicts(result: OracleResult) -> list[Verdict]:
    return [member.verdict for member in result.members]


@given(worlds())
def test_every_world_is_within_its_bounds_and_its_conditions_have_no_fault(world: World) -> None:
    member = world.contract.object_type(world.object_name)
    assert member is not None
    scope = Scope(world.contract, member)
    for condition in [world.breach_when] if world.where is None else [world.breach_when, world.where]:
        assert check_condition(condition, scope) == ()
        assert parse_condition(print_condition(condition)) == condition
    for item in world.contract.object_types:
        table = world.tables[item.view]
        assert len(table.rows) <= 8
        assert set(table.columns) == set(item.columns)
        assert all(set(row) == set(item.columns) for row in table.rows)


@given(worlds())
def test_breach_no_data_and_compliant_are_the_population(world: World) -> None:
    result = judge_world(world)
    assert result.breach + result.no_data + result.compliant == result.population == len(result.members)
    assert len({member.row for member in result.members}) == result.population
    for member in result.members:
        assert (member.reason is not None) == (member.verdict is Verdict.NO_DATA)
        assert not member.causes or member.verdict is Verdict.NO_DATA
        assert not member.partial or member.verdict is not Verdict.NO_DATA


@given(worlds())
def test_not_swaps_breach_and_compliant_and_leaves_the_rest(world: World) -> None:
    plain, negated = judge_world(world), judge_world(replace(world, breach_when=Not(world.breach_when)))
    assert verdicts(negated) == [SWAPPED[verdict] for verdict in verdicts(plain)]
    assert [(member.reason, member.causes) for member in negated.members] == [
        (member.reason, member.causes) for member in plain.members
    ]


@given(worlds())
def test_a_condition_beside_itself_is_itself(world: World) -> None:
    plain = judge_world(world)
    for twice in (And, Or):
        assert judge_world(replace(world, breach_when=twice((world.breach_when, world.breach_when)))) == plain


def _far_sides(world: World) -> Iterator[str]:
    """The views that the members do not stand in."""
    yield from (item.view for item in world.contract.object_types if item.name != world.object_name)


@given(worlds())
def test_duplicated_linked_rows_change_nothing_but_their_count(world: World) -> None:
    conditions = [world.breach_when] if world.where is None else [world.breach_when, world.where]
    assume(not any(counted_links(atom) for condition in conditions for atom in atoms(condition)))
    doubled = dict(world.tables)
    for view in _far_sides(world):
        doubled[view] = Table(doubled[view].columns, [*doubled[view].rows, *doubled[view].rows])
    assert judge_world(replace(world, tables=doubled)) == judge_world(world)


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_linked_rows_changes_nothing(world: World, shuffle: random.Random) -> None:
    shuffled = dict(world.tables)
    for view in _far_sides(world):
        rows = list(shuffled[view].rows)
        shuffle.shuffle(rows)
        shuffled[view] = Table(shuffled[view].columns, rows)
    assert judge_world(replace(world, tables=shuffled)) == judge_world(world)


@given(worlds())
def test_what_is_decided_under_strict_is_decided_the_same_without(world: World) -> None:
    lenient = {member.row: member.verdict for member in judge_world(replace(world, strict=False)).members}
    for member in judge_world(replace(world, strict=True)).members:
        if member.verdict is not Verdict.NO_DATA:
            assert lenient[member.row] is member.verdict


@pytest.mark.slow
def test_worlds_reach_every_verdict_reason_and_cause_of_a_row() -> None:
    of_groups_or_sources = {Reason.LEFT_MISSING, Reason.INSUFFICIENT, Reason.SOURCE_STALE}
    missing = {*Verdict, *Reason, *Cause, "partial", "duplicate_keys"} - of_groups_or_sources

    @settings(max_examples=100, database=None, phases=[Phase.generate], deadline=None)
    @given(worlds())
    def look(world: World) -> None:
        result = judge_world(world)
        missing.difference_update(["partial"] * result.partial, ["duplicate_keys"] * result.duplicate_keys)
        for member in result.members:
            missing.difference_update([member.verdict, member.reason])
            missing.difference_update(cause for causes in member.causes.values() for cause in causes)

    for number in range(20):
        if missing:
            seed(number)(look)()
    assert missing == set()
