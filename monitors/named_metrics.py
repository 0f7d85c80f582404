"""Metrics by name in the conditions of a grouped monitor: what the contract demands of whoever takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.contract import Additivity, Contract, Metric, ObjectType
from catalog.datatypes import Kind
from catalog.expressions.checking import Fault
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_operand
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import (
    And,
    Comparison,
    ComparisonOperator,
    Condition,
    Literal,
    Membership,
    Operand,
    PropertyRef,
)
from catalog.metric_expansion import (
    NamedMetric,
    expanded,
    expanded_operand,
    expression_of,
    metric_of,
    metrics_named,
    parts_of_metric,
)
from catalog.metric_records import DerivationKind, DerivedMetric, EmptyRule, NullRule
from catalog.periods import Period

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class NamedMetrics:
    """Puts what metrics stand for in the place of their names, in the conditions of one monitor."""

    contract: Contract
    object_type: ObjectType
    keys: tuple[GroupKey, ...] | None
    """Of the groups; None where the members are rows."""
    where: str | None
    """As the file has it."""
    strict: bool

    def expanded(self, condition: Condition) -> tuple[Condition, tuple[Fault, ...]]:
        """The condition without names of metrics, and what is wrong with those that it had."""
        named = metrics_named(condition, self.object_type, self.contract)
        faults = tuple(fault for found in named for fault in self._faults(found))
        return (condition if faults else expanded(condition, self.object_type, self.contract)), faults

    def expanded_operand(self, operand: Operand) -> tuple[Operand, tuple[Fault, ...]]:
        """The same of an operand that is no more than a name."""
        metric = metric_of(operand, self.object_type, self.contract)
        if metric is None or not isinstance(operand, PropertyRef):
            return operand, ()
        faults = tuple(self._faults((operand, metric)))
        return (operand if faults else expanded_operand(operand, self.object_type, self.contract)), faults

    def narrowing_faults(self, condition: Condition) -> tuple[Fault, ...]:
        """The metrics in a `where`, which is asked of rows before there are groups."""
        named = metrics_named(condition, self.object_type, self.contract)
        return tuple(
            Fault(f"'{metric.name}' is a metric, and `where` narrows rows; write it in breach_when", ref.span)
            for ref, metric in named
        )

    def used(self, text: str) -> tuple[tuple[str, str], ...]:
        """The metrics that the text of a condition names, each with what it stands for."""
        condition = parse_condition(text)
        if isinstance(condition, SyntaxFault):
            return ()
        found: dict[str, str] = {}
        for ref, metric in metrics_named(condition, self.object_type, self.contract):
            expression = expression_of(metric, self.contract, ref.span)
            if expression is not None:
                found[metric.name] = print_operand(expression)
        return tuple(found.items())

    def _faults(self, named: NamedMetric) -> Iterator[Fault]:
        ref, metric = named
        if self.keys is None:
            message = f"'{metric.name}' is a metric, and so a figure of a group: give the monitor group_by"
            yield Fault(f"{message} ([] is one group of all rows)", ref.span)
            return
        over = next((part for part in parts_of_metric(metric, self.contract) if not self._is_own(part)), None)
        if over is not None:
            by_way = "" if over is metric else f" by way of '{over.name}'"
            message = f"'{metric.name}' is taken over {over.object_type}{by_way}, and this monitor watches"
            yield Fault(f"{message} {self.object_type.name}", ref.span)
            return
        if expression_of(metric, self.contract, ref.span) is None:
            message = f"'{metric.name}' is a mean of what periods come to, which no group of a monitor has"
            yield Fault(f"{message}; watch '{self._first_part(metric)}' of each period", ref.span)
            return
        if isinstance(metric, DerivedMetric) and metric.derivation.kind is DerivationKind.PERIOD_OVER_PERIOD:
            yield from self._period_faults(ref, metric)
        for part in parts_of_metric(metric, self.contract):
            yield from self._part_faults(ref, part, self.keys)

    def _is_own(self, part: Metric) -> bool:
        return part.object_type == self.object_type.name

    def _first_part(self, metric: Metric | DerivedMetric) -> str:
        return metric.derivation.parts[0] if isinstance(metric, DerivedMetric) else metric.name

    def _period_faults(self, ref: PropertyRef, metric: DerivedMetric) -> Iterator[Fault]:
        of, by = str(metric.derivation.period), metric.derivation.by or Period.DAY
        found = self.object_type.find_property(of)
        if found is None or found.type.kind not in _MOMENTS:
            message = f"'{metric.name}' compares values of {of}, which is no date, so no monitor knows which is before"
            yield Fault(message, ref.span)
        elif GroupKey(of, by) not in (self.keys or ()):
            yield Fault(
                f"'{metric.name}' compares each {by} of {of}; add {{period: {by}, of: {of}}} to group_by", ref.span
            )

    def _part_faults(self, ref: PropertyRef, part: Metric, keys: tuple[GroupKey, ...]) -> Iterator[Fault]:
        held = self._held()
        for name in part.mandatory_filters:
            if held is not None and name not in held:
                message = f"'{part.name}' is taken of rows whose {name} is held to literals"
                yield Fault(f"{message}; say so in `where`, such as {name} = '...'", ref.span)
        named = [key.property for key in keys]
        outside = [name for name in named if part.allowed_dimensions and name not in part.allowed_dimensions]
        if outside:
            allowed = ", ".join(part.allowed_dimensions)
            yield Fault(f"'{part.name}' is told apart by {allowed} alone, not by {outside[0]}", ref.span)
        finer = [name for name in named if part.grain and name in self.object_type.primary_key]
        finer = [name for name in finer if name not in part.grain]
        if finer:
            message = f"'{part.name}' has the grain of {', '.join(part.grain)}, and {finer[0]} is finer"
            yield Fault(message, ref.span)
        if part.null_rule is NullRule.UNKNOWN and not self.strict:
            message = f"a row without a value leaves '{part.name}' unknown; say `strict: true`, or write its expression"
            yield Fault(message, ref.span)
        if part.empty_rule is EmptyRule.ZERO:
            message = f"'{part.name}' is zero over no row, and a monitor has no figure there; write its expression"
            yield Fault(message, ref.span)
        if part.additivity is Additivity.SEMI_ADDITIVE and not any(self._is_one_day(key) for key in keys):
            yield Fault(f"'{part.name}' is semi_additive: it is not summed over time; group by day", ref.span)

    def _is_one_day(self, key: GroupKey) -> bool:
        found = self.object_type.find_property(key.property)
        return found is not None and found.type.kind in _MOMENTS and key.period in (None, Period.DAY)

    def _held(self) -> set[str] | None:
        """The properties that `where` holds to literals; None where it cannot be read, which is said there."""
        if self.where is None:
            return set()
        condition = parse_condition(self.where)
        return None if isinstance(condition, SyntaxFault) else set(_held_by(condition))


def _held_by(condition: Condition) -> Iterator[str]:
    match condition:
        case And(items=items):
            for item in items:
                yield from _held_by(item)
        case Comparison(ComparisonOperator.EQUAL, PropertyRef(name, None), Literal()):
            yield name
        case Comparison(ComparisonOperator.EQUAL, Literal(), PropertyRef(name, None)):
            yield name
        case Membership(PropertyRef(name, None), choices) if all(isinstance(item, Literal) for item in choices):
            yield name
        case _:
            return
