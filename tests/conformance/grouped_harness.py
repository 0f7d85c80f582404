"""Runs a grouped world through compiler, referee and DuckDB, and says where the oracle differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from evals.oracle.groups import GroupMember, GroupResult, judge_groups
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from tests.conformance.harness import snapshot_of
from tests.oracle.grouped_worlds import GroupedWorld
from trivet.verdicts import Verdict
from worker.judging import Judgement, judge

Said = tuple[tuple[str | None, ...], str, str | None, tuple[tuple[str, tuple[str, ...]], ...], bool]
"""Key, verdict, reason, causes, partial: what is compared of each member."""

_COUNTS = ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected")


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
    return compared(found, expected)


def compared(found: Judgement, expected: GroupResult) -> list[str]:
    """Where a judgement differs from what the oracle says."""
    if not isinstance(found.outcome, Counts):
        return [f"not made: {found.outcome.reason} {found.outcome.message}"]
    lines = [
        f"{name}: compiled {getattr(found.outcome, name)}, oracle {getattr(expected, name)}"
        for name in _COUNTS
        if getattr(found.outcome, name) != getattr(expected, name)
    ]
    compiled, oracle = Counter(_compiled(found)), Counter(_oracle(expected))
    lines += [f"only compiled: {member}" for member in (compiled - oracle).elements()]
    lines += [f"only oracle:   {member}" for member in (oracle - compiled).elements()]
    return lines


def _compiled(found: Judgement) -> Iterator[Said]:
    for member in (*found.breached, *found.undecided):
        causes = tuple(sorted((name, tuple(causes)) for name, causes in member.causes.items()))
        key = tuple(member.key.values())
        yield key, member.verdict.value, member.reason.value if member.reason else None, causes, member.partial


def _oracle(expected: GroupResult) -> Iterator[Said]:
    for member in expected.members:
        if member.verdict is not Verdict.COMPLIANT:
            yield _said(member)


def _said(member: GroupMember) -> Said:
    causes = tuple(sorted((name, tuple(cause.value for cause in found)) for name, found in member.causes.items()))
    # A breach is shown as partial; an undecided member has no such mark.
    partial = member.partial and member.verdict is Verdict.BREACH
    return member.key, member.verdict.value, member.reason.value if member.reason else None, causes, partial
