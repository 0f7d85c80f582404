"""The metrics of a contract in questions: which plan is one, what it demands, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from catalog.contract import Contract, Metric, ObjectType
from catalog.expressions.tree import AggregateFunction, Arithmetic, Condition, Operand, PropertyRef
from resolver.plan import Filter, Measure, Operator, SemanticPlan

HOLDING = (Operator.EQUAL, Operator.IN)
"""How a filter holds a property to literals."""

_MEASURES = {
    AggregateFunction.COUNT: Measure.COUNT,
    AggregateFunction.COUNT_DISTINCT: Measure.COUNT,
    AggregateFunction.SUM: Measure.SUM,
    AggregateFunction.AVG: Measure.AVG,
    AggregateFunction.MIN: Measure.MIN,
    AggregateFunction.MAX: Measure.MAX,
}


def find_metric(contract: Contract, name: str | None) -> Metric | None:
    """The metric of that name, if there is one."""
    return next((item for item in contract.metrics if item.name == name), None)


def measure_of(metric: Metric) -> Measure | None:
    """The word that asks for what a metric does, such as `sum`; None where there is none."""
    return _MEASURES.get(metric.aggregate.function)


def properties_of(metric: Metric) -> tuple[str, ...]:
    """The properties that a metric aggregates, each once."""
    return tuple(dict.fromkeys(_names(metric.aggregate.argument)))


def as_metric(plan: SemanticPlan, contract: Contract) -> SemanticPlan:
    """The plan, as a plan of the metric that it measures where it measures one."""
    object_type = contract.object_type(plan.object)
    for metric in contract.metrics:
        if object_type is not None and metric.object_type == plan.object and _measures(plan, metric, object_type):
            return replace(plan, measure=Measure.METRIC, property=None, metric=metric.name)
    return plan


def missing_filters(plan: SemanticPlan, contract: Contract) -> tuple[str, ...]:
    """The properties that the contract wants held to values, and that the plan does not hold."""
    held = {item.property for item in plan.filters if item.operator in HOLDING}
    return tuple(name for name in mandatory(plan, contract) if name not in held)


def held_filters(plan: SemanticPlan, contract: Contract) -> tuple[Filter, ...]:
    """The plan's filters by which it holds what the contract wants held."""
    wanted = mandatory(plan, contract)
    return tuple(item for item in plan.filters if item.property in wanted and item.operator in HOLDING)


def mandatory(plan: SemanticPlan, contract: Contract) -> tuple[str, ...]:
    """The properties that the contract wants held to values in what the plan reads."""
    object_type, metric = contract.object_type(plan.object), find_metric(contract, plan.metric)
    names = [*(object_type.mandatory_filters if object_type else ()), *(metric.mandatory_filters if metric else ())]
    return tuple(dict.fromkeys(names))


def _measures(plan: SemanticPlan, metric: Metric, object_type: ObjectType) -> bool:
    if measure_of(metric) is not plan.measure:
        return False
    argument = metric.aggregate.argument
    if metric.aggregate.function is AggregateFunction.COUNT:
        return argument is None
    if metric.aggregate.function is AggregateFunction.COUNT_DISTINCT:
        return isinstance(argument, PropertyRef) and object_type.primary_key == (argument.name,)
    return isinstance(argument, PropertyRef) and argument.name == plan.property


def _names(argument: Operand | Condition | None) -> Iterator[str]:
    match argument:
        case PropertyRef(name, _):
            yield name
        case Arithmetic(_, left, right):
            yield from _names(left)
            yield from _names(right)
        case _:
            return
