"""What was recorded of members leads to their verdicts again, whatever the world they were recorded in."""

from __future__ import annotations

import pytest
from hypothesis import given, note, settings

from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from tests.conformance.harness import describe, judge_compiled
from tests.oracle.strategies import World, worlds
from worker.recording import member_rows
from worker.rejudging import RecordedMember, recorded_member, rejudge


def recorded(world: World) -> list[RecordedMember]:
    """The members of a world as the store would give them back."""
    made = judge_compiled(world)
    assert isinstance(made.outcome, Counts)
    rows = member_rows("E1", (*made.breached, *made.undecided))
    return [recorded_member({**row, "erased": None}) for row in rows]


def definition_of(world: World) -> MonitorDefinition:
    return MonitorDefinition("world", world.object_name, world.breach_when, world.where, world.strict)


@pytest.mark.slow
@settings(max_examples=25)
@given(world=worlds())
def test_no_recorded_member_is_judged_otherwise_the_second_time(world: World) -> None:
    members = recorded(world)
    made = rejudge(definition_of(world), world.contract, members)
    note(describe(world))
    note("\n".join(map(str, members)))
    assert made.differences == []
    assert made.reproduced + made.inputs_gone == len(members)
