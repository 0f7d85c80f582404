"""What was recorded of members leads to their verdicts again, whatever the world they were recorded in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, note, settings

from catalog.contract import Contract
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from tests.conformance import grouped_harness, harness
from tests.conformance.harness import snapshot_of
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds
from tests.oracle.strategies import World, worlds
from trivet.verdicts import Verdict
from worker.judging import Judgement, judge
from worker.recorded_members import RecordedMember, recorded_member
from worker.recording import member_rows
from worker.rejudging import Rejudged, rejudge


def recorded(made: Judgement) -> list[RecordedMember]:
    """The members of a judgement as the store would give them back."""
    assert isinstance(made.outcome, Counts)
    rows = member_rows("E1", (*made.breached, *made.undecided))
    return [recorded_member({**row, "erased": None}) for row in rows]


def flipped(item: RecordedMember) -> RecordedMember:
    """The member with another verdict than its inputs lead to."""
    breached = item.verdict is Verdict.BREACH
    return replace(item, verdict=Verdict.NO_DATA if breached else Verdict.BREACH, reason=None)


def assert_follow_again(
    definition: MonitorDefinition, contract: Contract, members: Sequence[RecordedMember], at: datetime
) -> Rejudged:
    """No member is accused, and none that follows is reproduced if another verdict is said of it."""
    made = rejudge(definition, contract, members, at)
    assert made.differences == [], members
    assert made.reproduced + made.inputs_gone == len(members)
    assert made.why_gone.total() == made.inputs_gone
    lied = rejudge(definition, contract, [flipped(item) for item in members], at)
    assert lied.reproduced <= made.inputs_gone
    return made


@pytest.mark.slow
@settings(max_examples=25)
@given(world=worlds())
def test_no_recorded_member_is_judged_otherwise_the_second_time(world: World) -> None:
    note(harness.describe(world))
    members = recorded(harness.judge_compiled(world))
    assert_follow_again(harness.definition_of(world), world.contract, members, world.at)


@pytest.mark.slow
@settings(max_examples=12)
@given(world=grouped_worlds())
def test_no_recorded_group_is_judged_otherwise_the_second_time(world: GroupedWorld) -> None:
    note(str(world))
    definition = grouped_harness.definition_of(world)
    with snapshot_of(world.tables) as snapshot:
        members = recorded(judge(definition, world.contract, snapshot, world.at))
    assert_follow_again(definition, world.contract, members, world.at)
