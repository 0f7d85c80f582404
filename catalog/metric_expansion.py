"""Metrics by name in conditions over groups: what each stands for, in the language of conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from catalog.contract import Contract, Metric, ObjectType
from catalog.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    ArithmeticOperator,
    Between,
    Call,
    Change,
    Comparison,
    Condition,
    Membership,
    Not,
    Operand,
    Or,
    PropertyRef,
    Span,
)
from catalog.expressions.walking import atom_nodes, atoms
from catalog.metric_records import DerivationKind, DerivedMetric

NamedMetric = tuple[PropertyRef, Metric | DerivedMetric]


def metrics_named(condition: Condition, rows: ObjectType, contract: Contract) -> list[NamedMetric]:
    """The metrics that a condition names, with each place where it does; what is a property is none."""
    found = (node for atom in atoms(condition) for node in atom_nodes(atom) if isinstance(node, PropertyRef))
    named = ((ref, metric_of(ref, rows, contract)) for ref in found)
    return [(ref, metric) for ref, metric in named if metric is not None]


def metric_of(operand: Operand, rows: ObjectType, contract: Contract) -> Metric | DerivedMetric | None:
    """The metric that an operand names."""
    if not isinstance(operand, PropertyRef) or operand.link is not None or rows.find_property(operand.name):
        return None
    return contract.metric(operand.name)


def parts_of_metric(metric: Metric | DerivedMetric, contract: Contract) -> tuple[Metric, ...]:
    """The metrics over object types that a metric is made of, each once."""
    if isinstance(metric, Metric):
        return (metric,)
    found = [contract.metric(name) for name in metric.derivation.parts]
    inner = (part for item in found if item is not None for part in parts_of_metric(item, contract))
    return tuple(dict.fromkeys(inner))


def expression_of(metric: Metric | DerivedMetric, contract: Contract, span: Span) -> Operand | None:
    """What a metric stands for, all of it at `span`; None where conditions have no such figure."""
    if isinstance(metric, Metric):
        return _placed(metric.aggregate, span)
    found = [contract.metric(name) for name in metric.derivation.parts]
    parts = [expression_of(part, contract, span) for part in found if part is not None]
    known = [part for part in parts if part is not None]
    if len(known) != len(metric.derivation.parts):
        return None
    match metric.derivation.kind:
        case DerivationKind.RATIO | DerivationKind.SHARE:
            return Arithmetic(ArithmeticOperator.DIVIDE, known[0], known[1], span)
        case DerivationKind.DIFFERENCE:
            return Arithmetic(ArithmeticOperator.SUBTRACT, known[0], known[1], span)
        case DerivationKind.PERIOD_OVER_PERIOD:
            return Change(known[0], metric.derivation.relative, span)
        case DerivationKind.MEAN_PER_PERIOD:
            return None
    assert_never(metric.derivation.kind)


def expanded(condition: Condition, rows: ObjectType, contract: Contract) -> Condition:
    """The condition with what each metric stands for in the place of its name."""

    def whole(item: Condition) -> Condition:
        return expanded(item, rows, contract)

    def part(operand: Operand) -> Operand:
        return expanded_operand(operand, rows, contract)

    match condition:
        case And(items=items, span=span):
            return And(tuple(whole(item) for item in items), span)
        case Or(items=items, span=span):
            return Or(tuple(whole(item) for item in items), span)
        case Not(item=item, span=span):
            return Not(whole(item), span)
        case Comparison(operator, left, right, quantifier, span):
            return Comparison(operator, part(left), part(right), quantifier, span)
        case Between(value, low, high, quantifier, span):
            return Between(part(value), part(low), part(high), quantifier, span)
        case Membership(value, choices, quantifier, span):
            return Membership(part(value), tuple(part(item) for item in choices), quantifier, span)
        case _:
            return condition


def expanded_operand(operand: Operand, rows: ObjectType, contract: Contract) -> Operand:
    """An operand with what each metric stands for in the place of its name. An aggregate is taken of no metric."""
    match operand:
        case PropertyRef(span=span):
            metric = metric_of(operand, rows, contract)
            found = expression_of(metric, contract, span) if metric is not None else None
            return operand if found is None else found
        case Arithmetic(operator, left, right, span):
            here, there = (expanded_operand(side, rows, contract) for side in (left, right))
            return Arithmetic(operator, here, there, span)
        case Call(function, arguments, span):
            return Call(function, tuple(expanded_operand(item, rows, contract) for item in arguments), span)
        case Change(inner, relative, span):
            return Change(expanded_operand(inner, rows, contract), relative, span)
        case _:
            return operand


def _placed(operand: Operand, span: Span) -> Operand:
    """An operand as if all of it stood at one place of another text."""
    match operand:
        case Aggregate(function, argument):
            return Aggregate(function, _placed_argument(argument, span), span)
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, _placed(left, span), _placed(right, span), span)
        case _:
            return replace(operand, span=span)


def _placed_argument(argument: Operand | Condition | None, span: Span) -> Operand | Condition | None:
    match argument:
        case None | And() | Or() | Not() | Comparison() | Between() | Membership():
            return argument
        case operand:
            return _placed(operand, span)  # type: ignore[arg-type]  # A metric's argument is no condition.
