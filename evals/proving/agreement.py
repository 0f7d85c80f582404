"""Where a judgement of the product and one of the oracle differ: counts first, then members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from evals.oracle.evaluation import OracleMember, OracleResult
from evals.oracle.groups import GroupMember, GroupResult
from monitors.evaluation import Counts, NotMade
from trivet.verdicts import Verdict
from worker.judging import Judgement

_COUNTS = ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys")


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """What is compared of a breached or undecided member."""

    key: tuple[str | None, ...]
    verdict: str
    reason: str | None = None
    causes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By operand, sorted."""
    partial: bool = False
    """Of a breach alone; an undecided member has no such mark."""

    def __str__(self) -> str:
        key = ", ".join("NULL" if part is None else repr(part) for part in self.key)
        reason = f" ({self.reason})" if self.reason else ""
        causes = "".join(f", {operand}: {', '.join(causes)}" for operand, causes in self.causes)
        return f"[{key}] {self.verdict}{reason}{causes}{', partial' if self.partial else ''}"


Expected: TypeAlias = OracleResult | GroupResult


def differences(found: Judgement, expected: Expected, *, by: str = "compiled") -> list[str]:
    """Each difference in a line; none where the two agree.

    Args:
        found: what the product says.
        expected: what the oracle says of the same data.
        by: what the product's plan is called.
    """
    counts = found.outcome
    if isinstance(counts, NotMade):
        return [f"not made by {by}: {counts.reason} {counts.message}"]
    lines = [
        f"{name}: {by} {mine}, oracle {other}" for name, mine, other in _counted(counts, expected) if mine != other
    ]
    mine, other = Counter(said_by_product(found)), Counter(said_by_oracle(expected))
    lines += [f"only {by}: {member}" for member in (mine - other).elements()]
    lines += [f"only oracle: {member}" for member in (other - mine).elements()]
    return lines


def _counted(counts: Counts, expected: Expected) -> Iterator[tuple[str, object, object]]:
    for name in _COUNTS:
        yield name, getattr(counts, name), getattr(expected, name)
    if isinstance(expected, GroupResult):
        yield "unexpected", counts.unexpected, expected.unexpected
    reasons = Counter(member.reason for member in expected.members if member.reason is not None)
    yield "reasons", dict(counts.no_data_reasons), dict(reasons)


def said_by_product(found: Judgement) -> Iterator[Said]:
    """What the product says of each breached and undecided member."""
    for member in (*found.breached, *found.undecided):
        yield Said(
            tuple(member.key.values()),
            member.verdict.value,
            member.reason.value if member.reason else None,
            tuple(sorted((name, tuple(causes)) for name, causes in member.causes.items())),
            member.partial,
        )


def said_by_oracle(expected: Expected) -> Iterator[Said]:
    """What the oracle says of each breached and undecided member."""
    for member in expected.members:
        if member.verdict is not Verdict.COMPLIANT:
            yield _said(member)


def _said(member: OracleMember | GroupMember) -> Said:
    return Said(
        member.key,
        member.verdict.value,
        member.reason.value if member.reason else None,
        tuple(sorted((name, tuple(cause.value for cause in found)) for name, found in member.causes.items())),
        member.partial and member.verdict is Verdict.BREACH,
    )
