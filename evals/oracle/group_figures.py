"""The figures of one group: their inputs, whether these are enough, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from catalog.expressions.checking import Scope, type_of
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    BaselineRef,
    Between,
    Change,
    Comparison,
    Exists,
    LinkCount,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
)
from catalog.expressions.walking import references
from evals.oracle.calendar_periods import day_before, days_of, label
from evals.oracle.comparisons import Decision, Unknown, merged
from evals.oracle.conditions import decide
from evals.oracle.figures import aggregate, change, is_enough
from evals.oracle.group_keys import Group, GroupedRows, Key, Row
from evals.oracle.linking import Outcomes
from evals.oracle.operands import Lookup, evaluate, failures
from evals.oracle.outcomes import Determinate, Indeterminate, Outcome, Value, cause_of, value_of
from evals.oracle.units import unit_of
from trivet.verdicts import Cause, Reason

Found: TypeAlias = Sequence[tuple[str, Cause]]
"""Operands with a cause each."""
_ROW_CONDITION = (Comparison, Between, Membership, Presence, Exists, And, Or, Not)
_WITHOUT_UNIT = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT, AggregateFunction.NULL_SHARE)


@dataclass(frozen=True, slots=True)
class GroupFigure:
    """A figure of one group: its value, or why it has none."""

    outcome: Outcome
    unknown: Unknown | None
    partial: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """Works out figures over the rows of one evaluation."""

    of: GroupedRows

    def unit(self, node: Operand) -> str | None:
        """The unit of a figure: that of the values that it is one of, or adds up."""
        if isinstance(node, Change):
            return None if node.relative else self.unit(node.operand)
        if isinstance(node, BaselineRef):
            (rule,) = [item for item in self.of.definition.baselines if item.name == node.name]
            return self.unit(rule.of)
        assert isinstance(node, Aggregate)
        if node.function in _WITHOUT_UNIT or node.argument is None or isinstance(node.argument, _ROW_CONDITION):
            return None
        return unit_of(node.argument, self.of.place.units)

    def figure(self, node: Aggregate | Change | BaselineRef, key: Key, group: Group) -> GroupFigure:
        """One figure of one group."""
        if isinstance(node, Aggregate):
            return self._aggregate(node, key, group)
        if isinstance(node, BaselineRef):
            held = self.of.baselines[node.name].get(key)
            return _unknown(Reason.INSUFFICIENT, {}, False) if held is None else _known(held)
        assert isinstance(node.operand, Aggregate)
        now = self._aggregate(node.operand, key, group)
        earlier = self._before(key)
        before = None if earlier is None else self._aggregate(node.operand, *earlier)
        partial = now.partial or (before is not None and before.partial)
        if now.unknown is not None:
            return replace(now, partial=partial)
        if before is None or before.unknown is not None:
            causes = before.unknown.causes if before is not None and before.unknown is not None else {}
            return _unknown(Reason.INSUFFICIENT, causes, partial)
        assert isinstance(now.outcome, Determinate)
        assert isinstance(before.outcome, Determinate)
        made = change(now.outcome.value, before.outcome.value, relative=node.relative)
        if isinstance(made, Indeterminate):
            return _unknown(Reason.LEFT_NULL, {print_operand(node): {made.cause}}, partial)
        return GroupFigure(made, None, partial)

    def _before(self, key: Key) -> tuple[Key, Group] | None:
        parts: list[Value] = []
        for named, value in zip(self.of.grouping.keys, key, strict=True):
            if named.period is not None and isinstance(value, date):
                earlier = day_before(named.period, value)
                if earlier is None:
                    return None
                value = days_of(named.period, earlier)[0]
            parts.append(value)
        found = tuple(parts)
        return (found, self.of.groups[found]) if found in self.of.groups else None

    def _aggregate(self, node: Aggregate, key: Key, group: Group) -> GroupFigure:
        entered: list[tuple[Row, Value]] = []
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
        of = type_of(argument, Scope(self.of.contract, self.of.of)) if takes_value else None  # type: ignore[arg-type]
        made = aggregate(node.function, [value for _, value in entered], of)
        if isinstance(made, Indeterminate):
            return _unknown(Reason.LEFT_NULL, {print_operand(node): {made.cause}}, partial)
        return GroupFigure(made, None, partial)

    def _input(self, node: Aggregate, row: Row) -> tuple[Value | None, Found, bool]:
        """What a row in scope gives: a value, or the causes; and whether a linked row was indeterminate."""
        argument = node.argument
        if argument is None:
            return True, (), False
        if isinstance(argument, _ROW_CONDITION):
            decision = decide(argument, row.situation)
            return decision.truth, _listed(decision), decision.partial
        own = row.situation.own
        lookup = _lookup(own)
        outcome = evaluate(argument, lookup, self.of.place)
        value = None if outcome is None else value_of(outcome)
        if node.function is AggregateFunction.NULL_SHARE:
            return value is None, (), False
        why = [(ref.name, cause) for ref in references(argument) if (cause := cause_of(own[ref.name])) is not None]
        why += failures(argument, lookup, self.of.place)
        return value, why, False

    def _is_lacking(self, node: Aggregate, key: Key, group: Group, entered: Sequence[Row]) -> bool:
        counts = node.function is AggregateFunction.COUNT
        if not counts and len(entered) < self.of.grouping.min_count:
            return True
        if self.of.definition.strict and len(entered) < len(group.rows):
            return True
        coverage = self.of.grouping.min_coverage
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
        named = self.of.grouping.period
        assert named is not None
        assert named.period is not None
        (first,) = [value for each, value in zip(self.of.grouping.keys, key, strict=True) if each is named]
        assert isinstance(first, date)
        whole, expected = days_of(named.period, first), self.of.expected_days()
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


def _known(value: Value) -> GroupFigure:
    return GroupFigure(Determinate(value), None, partial=False)


def _unknown(reason: Reason, causes: Mapping[str, set[Cause]], partial: bool) -> GroupFigure:
    return GroupFigure(Indeterminate(Cause.NULL), Unknown(reason, causes), partial)
