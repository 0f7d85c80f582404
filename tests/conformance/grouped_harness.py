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
    """Where compiled queries and oracle disagree: counts first, then members. Empty where they agree."""
    definition = definition_of(world)
    expected = judge_groups(world.contract, definition, world.tables, world.at)
    with snapshot_of(world.tables) as snapshot:
        found = judge(definition, world.contract, snapshot, world.at)
    return agreement.differences(found, expected)
