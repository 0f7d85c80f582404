"""The oracle for grouped monitors: groups, what was expected of them, and their figures, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.contract import Contract, EffectiveDates, LinkType
from catalog.datatypes import Kind
from catalog.expressions.checking import Scope, type_of
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    Between,
    Change,
    Comparison,
    Condition,
    Exists,
    Function,
    LinkCount,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
    nodes,
    references,
)
from catalog.periods import Period
from monitors.definition import MonitorDefinition
from monitors.grouping import DayRange, Grouping, LastPeriods
from tests.oracle.calendar_periods import day_before, days_of, label
from tests.oracle.comparisons import Decision, Situation, Unknown, merged
from tests.oracle.conditions import decide
from tests.oracle.evaluation import Table, merged_causes, object_type_of, read_table, situation_of, units_of
from tests.oracle.figures import aggregate, change, is_enough
from tests.oracle.functions import call_function
from tests.oracle.grouped_conditions import lift
from tests.oracle.linking import Outcomes, match_rows
from tests.oracle.operands import Lookup, Place, evaluate, failures
from tests.oracle.outcomes import Determinate, Indeterminate, Instant, Outcome, Value, cause_of, value_of
from tests.oracle.units import unit_of
from tests.oracle.values import instant
from trivet.verdicts import Cause, Reason, Verdict

Key: TypeAlias = tuple[Value, ...]
Found: TypeAlias = Sequence[tuple[str, Cause]]
"""Operands with a cause each."""
_PRECEDENCE = list(Reason)
_WITHOUT_UNIT = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT, AggregateFunction.NULL_SHARE)
_ROW_CONDITION = (Comparison, Between, Membership, Presence, Exists, And, Or, Not)


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One member of a grouped population."""

    key: tuple[str | None, ...]
    """As people read it; nothing but None for the member of all that has no key."""
    verdict: Verdict
    reason: Reason | None
    causes: Mapping[str, Sequence[Cause]]
    partial: bool


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Every member, and the counts."""

    members: tuple[GroupMember, ...]
    population: int
    breach: int
    no_data: int
    compliant: int
    partial: int
    unexpected: int
    duplicate_keys: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that is in scope, or perhaps in scope."""

    situation: Situation
    key: tuple[Outcome, ...]
    day: date | None
    """Local date of the period key, where there is one."""
    scope: Decision | None


@dataclass(slots=True)
class _Group:
    rows: list[_Row] = field(default_factory=list)
    expected: bool = False


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of one group: its value, or why it has none."""

    outcome: Outcome
    unknown: Unknown | None
    partial: bool


def judge_groups(
    contract: Contract, definition: MonitorDefinition, tables: Mapping[str, Table], at: datetime
) -> GroupResult:
    """The verdict of every group, and of what has no key."""
    assert definition.grouping is not None
    return _Judging(contract, definition, definition.grouping, tables, at).result()


class _Judging:
    def __init__(
        self,
        contract: Contract,
        definition: MonitorDefinition,
        grouping: Grouping,
        tables: Mapping[str, Table],
        at: datetime,
    ) -> None:
        self.contract, self.definition, self.grouping, self.tables, self.at = contract, definition, grouping, tables, at
        self.of = object_type_of(contract, definition.object)
        self.zone = ZoneInfo(contract.calendar.time_zone)
        self.place = Place(self.zone, at, units_of(self.of, contract))
        self.far_sides = [
            (link, read_table(object_type_of(contract, link.target), contract, tables))
            for link in contract.links_from(self.of.name)
        ]
        self.groups: dict[Key, _Group] = {}
        self.keyless: list[tuple[str, Cause]] = []
        self.has_keyless = False

    def result(self) -> GroupResult:
        if not self.grouping.keys:
            self.groups[()] = _Group()
        for row in self._rows():
            self._place(row)
        for key in self._expected():
            self.groups.setdefault(key, _Group()).expected = True
        members = [self._member(key, group) for key, group in self.groups.items()]
        if self.has_keyless:
            causes = merged_causes([Unknown(Reason.LEFT_NULL, merged(self.keyless))])
            nothing = (None,) * len(self.grouping.keys)
            members.append(GroupMember(nothing, Verdict.NO_DATA, Reason.LEFT_NULL, causes, partial=False))
        verdicts = Counter(member.verdict for member in members)
        expects = self.grouping.expect is not None
        return GroupResult(
            members=tuple(members),
            population=len(members),
            breach=verdicts[Verdict.BREACH],
            no_data=verdicts[Verdict.NO_DATA],
            compliant=verdicts[Verdict.COMPLIANT],
            partial=sum(member.partial for member in members),
            unexpected=sum(expects and not group.expected for group in self.groups.values()),
        )

    def _rows(self) -> Iterator[_Row]:
        for own in read_table(self.of, self.contract, self.tables):
            situation = situation_of(own, self.far_sides, self.place, self.definition.strict)
            scope = None if self.definition.where is None else decide(self.definition.where, situation)
            if scope is not None and scope.truth is False:
                continue
            day = None
            outcomes: list[Outcome] = []
            for key in self.grouping.keys:
                outcome = own[key.property]
                if key.period is not None:
                    outcome = self._local_day(outcome)
                    day = value_of(outcome)
                    if isinstance(day, date):
                        outcome = Determinate(days_of(key.period, day)[0])
                outcomes.append(outcome)
            yield _Row(situation, tuple(outcomes), day if isinstance(day, date) else None, scope)

    def _local_day(self, outcome: Outcome) -> Outcome:
        moment = value_of(outcome)
        if isinstance(moment, Instant):
            return call_function(Function.DAY_OF, [moment], self.zone, self.at)
        return outcome

    def _place(self, row: _Row) -> None:
        values = [value_of(outcome) for outcome in row.key]
        key = tuple(value for value in values if value is not None)
        if len(key) == len(values):
            self.groups.setdefault(key, _Group()).rows.append(row)
            return
        self.has_keyless = True
        for named, outcome in zip(self.grouping.keys, row.key, strict=True):
            if (cause := cause_of(outcome)) is not None:
                self.keyless.append((named.property, cause))

    def _expected(self) -> Iterator[Key]:
        expect = self.grouping.expect
        if expect is None:
            return
        named: list[tuple[Value, ...]] = [()]
        if expect.object is not None:
            named = []
            for row in read_table(object_type_of(self.contract, expect.object), self.contract, self.tables):
                outcomes = [row[name] for name in expect.keys]
                values = [value_of(outcome) for outcome in outcomes]
                if None in values:
                    self.has_keyless = True
                    self.keyless += [
                        (f"{expect.object}.{name}", cause)
                        for name, outcome in zip(expect.keys, outcomes, strict=True)
                        if (cause := cause_of(outcome)) is not None
                    ]
                else:
                    named.append(tuple(value for value in values if value is not None))
        firsts = self._expected_periods()
        for plain in named:
            for first in firsts:
                rest = iter(plain)
                yield tuple(
                    first if key.period is not None and first is not None else next(rest) for key in self.grouping.keys
                )

    def _expected_periods(self) -> list[date | None]:
        """The first days of the expected periods; one None where the key has no period."""
        key = self.grouping.period
        days = self._expected_days()
        if key is None or key.period is None or days is None:
            return [None]
        found: list[date | None] = []
        day = days.first
        while day <= days.last:
            whole = days_of(key.period, day)
            found.append(whole[0])
            day = whole[-1] + timedelta(days=1)
        return found

    def _expected_days(self) -> DayRange | None:
        expect, key = self.grouping.expect, self.grouping.period
        if expect is None or key is None or key.period is None:
            return None
        match expect.periods:
            case DayRange():
                return expect.periods
            case LastPeriods(count=count, current=current):
                last = self.at.astimezone(self.zone).date()
                if not current:
                    last = days_of(key.period, last)[0] - timedelta(days=1)
                first = days_of(key.period, last)[0]
                for _ in range(count - 1):
                    first = days_of(key.period, first - timedelta(days=1))[0]
                return DayRange(first, last)
        return None

    def _member(self, key: Key, group: _Group) -> GroupMember:
        figures = {print_operand(node): self._figure(node, key, group) for node in _named(self.definition.breach_when)}
        own: dict[str, Outcome] = {
            named.property: Determinate(value) for named, value in zip(self.grouping.keys, key, strict=True)
        }
        own |= {name: figure.outcome for name, figure in figures.items()}
        links = {
            link.name: match_rows(*self._on_slot(link, own), linked)
            for link, linked in self.far_sides
            if self._fits(link)
        }
        units = {PropertyRef(print_operand(node)): self._unit(node) for node in _named(self.definition.breach_when)}
        situation = Situation(
            own,
            links,
            replace(self.place, units={**self.place.units, **units}),
            self.definition.strict,
            {name: figure.unknown for name, figure in figures.items() if figure.unknown is not None},
        )
        decision = decide(lift(self.definition.breach_when), situation)
        shown = tuple(self._shown(index, value) for index, value in enumerate(key))
        if decision.truth is None:
            reason = min((unknown.reason for unknown in decision.counting), key=_PRECEDENCE.index)
            return GroupMember(shown, Verdict.NO_DATA, reason, merged_causes(decision.counting), partial=False)
        verdict = Verdict.BREACH if decision.truth else Verdict.COMPLIANT
        partial = decision.partial or any(figure.partial for figure in figures.values())
        return GroupMember(shown, verdict, None, {}, partial)

    def _unit(self, node: Operand) -> str | None:
        """The unit of a figure: that of the values that it is one of, or adds up."""
        if isinstance(node, Change):
            return None if node.relative else self._unit(node.operand)
        assert isinstance(node, Aggregate)
        if node.function in _WITHOUT_UNIT or node.argument is None or isinstance(node.argument, _ROW_CONDITION):
            return None
        return unit_of(node.argument, self.place.units)

    def _fits(self, link: LinkType) -> bool:
        """Whether a group has what the link is matched by; if not, no condition over it names the link."""
        plain = {key.property for key in self.grouping.keys if key.period is None}
        if not set(link.source_keys) <= plain:
            return False
        if link.as_of is None or self.grouping.as_of_slot or link.as_of.date in plain:
            return True
        near = self.of.find_property(link.as_of.date)
        by_day = GroupKey(link.as_of.date, Period.DAY) in self.grouping.keys
        return by_day and near is not None and near.type.kind is Kind.DATE

    def _on_slot(self, link: LinkType, own: Outcomes) -> tuple[LinkType, Outcomes]:
        if link.as_of is None or not self.grouping.as_of_slot:
            return link, own
        near = self.of.find_property(link.as_of.date)
        assert near is not None
        is_date = near.type.kind is Kind.DATE
        moment: Value = self.at.astimezone(self.zone).date() if is_date else instant(self.at.astimezone(UTC), self.zone)
        dates: EffectiveDates = replace(link.as_of, date="the slot")
        return replace(link, as_of=dates), {**own, "the slot": Determinate(moment)}

    def _shown(self, index: int, value: Value) -> str:
        key = self.grouping.keys[index]
        if key.period is not None and isinstance(value, date):
            return label(key.period, value)
        match value:
            case bool():
                return "true" if value else "false"
            case Instant(microseconds=micros):
                moment = datetime(1970, 1, 1) + timedelta(microseconds=micros)
                text = moment.isoformat(timespec="microseconds")
                return f"{text.removesuffix('.000000') if not moment.microsecond else text.rstrip('0')}Z"
            case date():
                return value.isoformat()
            case _:
                text = f"{value:f}" if not isinstance(value, str | int) else str(value)
                return text.rstrip("0").rstrip(".") if "." in text and not isinstance(value, str) else text

    def _figure(self, node: Aggregate | Change, key: Key, group: _Group) -> _Figure:
        if isinstance(node, Aggregate):
            return self._aggregate(node, key, group)
        assert isinstance(node.operand, Aggregate)
        now = self._aggregate(node.operand, key, group)
        if now.unknown is not None:
            return now
        earlier = self._before(key)
        before = None if earlier is None else self._aggregate(node.operand, *earlier)
        partial = now.partial or (before is not None and before.partial)
        if before is None or before.unknown is not None:
            causes = before.unknown.causes if before is not None and before.unknown is not None else {}
            return _unknown(Reason.INSUFFICIENT, causes, partial)
        assert isinstance(now.outcome, Determinate)
        assert isinstance(before.outcome, Determinate)
        made = change(now.outcome.value, before.outcome.value, relative=node.relative)
        if isinstance(made, Indeterminate):
            return _unknown(Reason.LEFT_NULL, {print_operand(node): {made.cause}}, partial)
        return _Figure(made, None, partial)

    def _before(self, key: Key) -> tuple[Key, _Group] | None:
        parts: list[Value] = []
        for named, value in zip(self.grouping.keys, key, strict=True):
            if named.period is not None and isinstance(value, date):
                earlier = day_before(named.period, value)
                if earlier is None:
                    return None
                value = days_of(named.period, earlier)[0]
            parts.append(value)
        found = tuple(parts)
        return (found, self.groups[found]) if found in self.groups else None

    def _aggregate(self, node: Aggregate, key: Key, group: _Group) -> _Figure:
        entered: list[tuple[_Row, Value]] = []
        causes: list[tuple[str, Cause]] = []
        partial = False
        for row in group.rows:
            partial = partial or (row.scope is not None and row.scope.partial)
            if row.scope is not None and row.scope.truth is None:
                causes += _listed(row.scope)
                continue
            value, why, met = self._input(node, row)
            partial = partial or met
            if value is None:
                causes += why
            else:
                entered.append((row, value))
        partial = partial or len(entered) < len(group.rows)
        lacking = self._is_lacking(node, key, group, [row for row, _ in entered])
        if not group.rows and node.function is not AggregateFunction.COUNT:
            return _unknown(Reason.LEFT_MISSING, {}, partial)
        if lacking:
            return _unknown(Reason.INSUFFICIENT, merged(causes), partial)
        argument = node.argument
        takes_value = argument is not None and not isinstance(argument, _ROW_CONDITION)
        of = type_of(argument, Scope(self.contract, self.of)) if takes_value else None  # type: ignore[arg-type]
        made = aggregate(node.function, [value for _, value in entered], of)
        if isinstance(made, Indeterminate):
            return _unknown(Reason.LEFT_NULL, {print_operand(node): {made.cause}}, partial)
        return _Figure(made, None, partial)

    def _input(self, node: Aggregate, row: _Row) -> tuple[Value | None, Found, bool]:
        """What a row in scope gives: a value, or the causes; and whether a linked row was indeterminate."""
        argument = node.argument
        if argument is None:
            return True, (), False
        if isinstance(argument, _ROW_CONDITION):
            decision = decide(argument, row.situation)
            return decision.truth, _listed(decision), decision.partial
        own = row.situation.own
        lookup = _lookup(own)
        outcome = evaluate(argument, lookup, self.place)
        value = None if outcome is None else value_of(outcome)
        if node.function is AggregateFunction.NULL_SHARE:
            return value is None, (), False
        why = [(ref.name, cause) for ref in references(argument) if (cause := cause_of(own[ref.name])) is not None]
        why += failures(argument, lookup, self.place)
        return value, why, False

    def _is_lacking(self, node: Aggregate, key: Key, group: _Group, entered: Sequence[_Row]) -> bool:
        counts = node.function is AggregateFunction.COUNT
        if not counts and len(entered) < self.grouping.min_count:
            return True
        if self.definition.strict and len(entered) < len(group.rows):
            return True
        coverage = self.grouping.min_coverage
        if coverage is None:
            return False
        if coverage.per is None:
            return not is_enough(len(entered), len(group.rows), coverage.share)
        if counts:
            return False
        parts = {label(coverage.per, day) for day in self._days_to_cover(key)}
        covered = {label(coverage.per, row.day) for row in entered if row.day is not None}
        return not is_enough(len(parts & covered), len(parts), coverage.share)

    def _days_to_cover(self, key: Key) -> list[date]:
        named = self.grouping.period
        assert named is not None
        assert named.period is not None
        (first,) = [value for each, value in zip(self.grouping.keys, key, strict=True) if each is named]
        assert isinstance(first, date)
        whole, expected = days_of(named.period, first), self._expected_days()
        if expected is None:
            return whole
        return [day for day in whole if expected.first <= day <= expected.last] or whole


def _lookup(own: Outcomes) -> Lookup:
    def find(named: PropertyRef | LinkCount) -> Outcome:
        assert isinstance(named, PropertyRef)
        return own[named.name]

    return find


def _listed(decision: Decision) -> list[tuple[str, Cause]]:
    return [
        (operand, cause)
        for unknown in decision.counting
        for operand, causes in unknown.causes.items()
        for cause in causes
    ]


def _unknown(reason: Reason, causes: Mapping[str, set[Cause]], partial: bool) -> _Figure:
    return _Figure(Indeterminate(Cause.NULL), Unknown(reason, causes), partial)


def _named(condition: Condition) -> list[Aggregate | Change]:
    """The figures of a condition: aggregates, but for those inside a change."""
    match condition:
        case And(items=items) | Or(items=items):
            return [figure for item in items for figure in _named(item)]
        case Not(item=item):
            return _named(item)
        case Comparison(left=left, right=right):
            return _inside([left, right])
        case Between(value=value, low=low, high=high):
            return _inside([value, low, high])
        case Membership(value=value, choices=choices):
            return _inside([value, *choices])
        case Presence() | Exists():
            return []


def _inside(operands: Sequence[Operand]) -> list[Aggregate | Change]:
    every = [node for operand in operands for node in nodes(operand)]
    changes = [node for node in every if isinstance(node, Change)]
    hidden = [inner for node in changes for inner in nodes(node.operand)]
    plain = [node for node in every if isinstance(node, Aggregate)]
    for inner in hidden:
        if isinstance(inner, Aggregate):
            plain.remove(inner)
    return [*changes, *plain]
