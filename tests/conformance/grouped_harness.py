"""Runs a grouped world through compiler, referee and DuckDB, and says where the oracle differs."""

from __future__ import annotations

from datetime import timedelta

from evals.oracle.groups import judge_groups
from evals.proving import agreement
from monitors.definition import MonitorDefinition
from tests.conformance.harness import snapshot_of
from tests.oracle.grouped_worlds import GroupedWorld
from worker.judging import judge


def definition_of(world: GroupedWorld) -> MonitorDefinition:
    """The monitor of a world."""
    return MonitorDefinition(
        id="world",
        object=world.object_name,
        breach_when=world.breach_when,
        where=world.where,
        grouping=world.grouping,
        strict=world.strict,
        allow_empty=True,
        timeout=timedelta(minutes=5),
    )


def differences(world: GroupedWorld) -> list[str]:
    """Where a plan and the oracle disagree: counts first, then members. Empty where they agree.

    The readable queries make the groups each for itself, and then they judge groups that were made once.
    """
    definition = definition_of(world)
    expected = judge_groups(world.contract, definition, world.tables, world.at)
    lines = []
    with snapshot_of(world.tables) as snapshot:
        for readable in (True, False):
            found = judge(definition, world.contract, snapshot, world.at, readable=readable)
            plan = "pair" if readable else "groups"
            lines += [f"{plan}: {line}" for line in agreement.differences(found, expected)]
    return lines
