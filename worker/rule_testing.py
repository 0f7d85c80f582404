"""Running rule tests: given rows in a warehouse in memory, judged as an evaluation judges, against what is expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TypeAlias

from catalog.contract import Contract
from catalog.engines.duckdb_fixture import FixtureTable
from catalog.engines.port import Engine, Snapshot
from catalog.expressions.baselines import BaselineRule
from catalog.expressions.tree import Not
from monitors.definition import MonitorDefinition
from monitors.evaluation import Member, NotMade
from monitors.rule_tests import MemberKey, RuleTest
from trivet.canonical import Json
from trivet.findings import Finding
from trivet.verdicts import Reason, Verdict
from worker.baselines import NothingPast, Past
from worker.judging import Judgement, judge

Fixture: TypeAlias = Callable[[Mapping[str, FixtureTable]], Engine]
"""Makes a warehouse of tables, by the names of the views that they stand for."""
_Key: TypeAlias = tuple[tuple[str, str | None], ...]


_ANY_INSTANT = datetime(2000, 1, 1, tzinfo=UTC)
"""For conditions that look at no clock; loading refuses a test of one that does, and says no instant."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is otherwise than a test expects."""

    about: str
    """A member by its key, a count by its name, or the evaluation."""
    expected: str
    found: str
    key: MemberKey | None = None
    """The member's key, where it is about one."""

    def __str__(self) -> str:
        return f"{self.about}: expected {self.expected}, found {self.found}"

    def to_json(self) -> dict[str, Json]:
        """As `trivet check --tests --json` prints it."""
        key: Json = None if self.key is None else dict(self.key)
        return {"about": self.about, "key": key, "expected": self.expected, "found": self.found}


@dataclass(frozen=True, slots=True)
class RuleTestResult:
    """What one test came to."""

    monitor: str
    test: RuleTest
    differences: tuple[Difference, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each difference."""
        return tuple(self.test.finding(str(item)) for item in self.differences)

    def to_json(self) -> dict[str, Json]:
        """As `trivet check --tests --json` prints it."""
        differences: list[Json] = [item.to_json() for item in self.differences]
        return {
            "monitor": self.monitor,
            "name": self.test.name,
            "ok": not self.differences,
            "differences": differences,
        }


def run_rule_tests(
    monitors: Sequence[MonitorDefinition], contract: Contract, fixture: Fixture
) -> Iterator[RuleTestResult]:
    """Runs every test of the monitors, in the order of their files. A disabled monitor's tests run as well."""
    for definition in monitors:
        for test in definition.tests:
            yield RuleTestResult(definition.id, test, tuple(_differences(definition, test, contract, fixture)))


def _differences(
    definition: MonitorDefinition, test: RuleTest, contract: Contract, fixture: Fixture
) -> Iterator[Difference]:
    tables = {
        item.view: FixtureTable(dict.fromkeys(item.columns, "VARCHAR"), test.given.get(item.name, ()))
        for item in contract.object_types
    }
    with fixture(tables).snapshot() as snapshot:
        found = _judged(definition, test, contract, snapshot)
        if isinstance(found.outcome, NotMade):
            message = f"none: {found.outcome.reason}: {found.outcome.message}"
            yield Difference("the evaluation", "a verdict of each member", message)
            return
        if test.names_members:
            yield from _member_differences(definition, test, contract, snapshot, found)
        for name, expected in test.counts.items():
            count = getattr(found.outcome, name)
            if count != expected:
                yield Difference(name, str(expected), str(count))


def _member_differences(
    definition: MonitorDefinition, test: RuleTest, contract: Contract, snapshot: Snapshot, found: Judgement
) -> Iterator[Difference]:
    """Of each key, the verdicts that were expected and not found, beside those that were found and not expected."""
    expected = Counter(_expected_members(test))
    flagged = (*found.breached, *found.undecided)
    given = Counter((_key(member.key), _said(member.verdict, member.reason)) for member in flagged)
    missed, unlooked_for = expected - given, given - expected
    compliant = _compliant_keys(definition, test, contract, snapshot) if missed else set()
    causes = {_key(member.key): causes for member in found.undecided if (causes := _causes(member))}
    for key in sorted({key for key, _ in (*missed, *unlooked_for)}, key=_in_order):
        wanted = [said for of, said in missed.elements() if of == key] or [Verdict.COMPLIANT.value]
        seen = [said for of, said in unlooked_for.elements() if of == key]
        if not seen:
            seen = [Verdict.COMPLIANT.value if key in compliant else "no such member"]
        elif key in causes:
            seen.append(causes[key])
        yield Difference(_shown(key), ", ".join(wanted), ", ".join(seen), dict(key))


def _expected_members(test: RuleTest) -> Iterator[tuple[_Key, str]]:
    for key in test.breach:
        yield _key(key), _said(Verdict.BREACH, None)
    for key, reason in test.no_data:
        yield _key(key), _said(Verdict.NO_DATA, reason)


def _compliant_keys(definition: MonitorDefinition, test: RuleTest, contract: Contract, snapshot: Snapshot) -> set[_Key]:
    """The compliant members, which no query lists: those that breach the negated condition."""
    negated = replace(definition, breach_when=Not(definition.breach_when))
    return {_key(member.key) for member in _judged(negated, test, contract, snapshot).breached}


def _judged(definition: MonitorDefinition, test: RuleTest, contract: Contract, snapshot: Snapshot) -> Judgement:
    return judge(definition, contract, snapshot, test.at or _ANY_INSTANT, look_back=partial(_given_past, test))


def _given_past(test: RuleTest, definition: MonitorDefinition, rule: BaselineRule, measure: str, at: datetime) -> Past:
    value = test.baselines.get(rule.name)
    return NothingPast() if value is None else _GivenPast(value)


@dataclass(frozen=True, slots=True)
class _GivenPast:
    """What a test says that a baseline comes to."""

    value: Decimal
    evaluations: tuple[str, ...] = ()

    def comes_to(self, key: str, *, exact: bool) -> Decimal | Reason:
        return self.value


def _key(key: MemberKey) -> _Key:
    return tuple(key.items())


def _in_order(key: _Key) -> list[tuple[bool, str]]:
    return [(text is not None, text or "") for _, text in key]


def _said(verdict: Verdict, reason: Reason | None) -> str:
    return f"{verdict} ({reason})" if reason else verdict.value


def _causes(member: Member) -> str:
    """Why it was not decided, in the words of an evaluation."""
    return "; ".join(f"{operand}: {', '.join(causes)}" for operand, causes in member.causes.items())


def _shown(key: _Key) -> str:
    texts = [(name, "NULL" if text is None else text if text.strip() else "(blank)") for name, text in key]
    return texts[0][1] if len(texts) == 1 else ", ".join(f"{name} {text}" for name, text in texts)
