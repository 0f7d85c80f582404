"""The metrics of a contract in questions: which plan is one, what it demands, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from catalog.contract import Contract, Metric, ObjectType
from catalog.expressions.tree import AggregateFunction, Arithmetic, Condition, Operand, PropertyRef
from catalog.metric_records import DerivationKind, DerivedMetric
from resolver.plan import Filter, Measure, Operator, SemanticPlan
from trivet.findings import did_you_mean

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


AnyMetric = Metric | DerivedMetric

_ONE_STEP = (DerivationKind.RATIO, DerivationKind.SHARE, DerivationKind.DIFFERENCE)
"""What is arithmetic over figures of the same rows."""


def find_metric(contract: Contract, name: str | None) -> AnyMetric | None:
    """The metric of that name, derived or not, if there is one."""
    return contract.metric(name) if name is not None else None


def measure_of(metric: AnyMetric) -> Measure | None:
    """The word that asks for what a metric does, such as `sum`; None where there is none."""
    return _MEASURES.get(metric.aggregate.function) if isinstance(metric, Metric) else None


def bases_of(metric: AnyMetric, contract: Contract) -> tuple[Metric, ...]:
    """The metrics of one aggregate that a metric is made of: itself, or every part of its parts."""
    if isinstance(metric, Metric):
        return (metric,)
    parts = (contract.metric(name) for name in metric.derivation.parts)
    return tuple(dict.fromkeys(base for part in parts if part is not None for base in bases_of(part, contract)))


def objects_of(metric: AnyMetric, contract: Contract) -> tuple[str, ...]:
    """The object types that a metric is measured over."""
    return tuple(dict.fromkeys(base.object_type for base in bases_of(metric, contract)))


def unplannable(metric: AnyMetric, contract: Contract) -> str | None:
    """Why no plan can say a metric; None where one can: it is arithmetic over one reading of one view."""
    if isinstance(metric, Metric):
        return None
    if metric.derivation.kind not in _ONE_STEP:
        return f"metric {metric.name} takes figures of several periods, and only SQL can say that"
    if len(objects_of(metric, contract)) != 1:
        named = " and ".join(objects_of(metric, contract))
        return f"metric {metric.name} is measured over {named}, and only SQL can bring them together"
    parts = (contract.metric(name) for name in metric.derivation.parts)
    return next((why for part in parts if part is not None and (why := unplannable(part, contract))), None)


def dimensions_of(metric: AnyMetric, contract: Contract) -> tuple[str, ...] | None:
    """By what a metric may be told apart; None where any property will do."""
    listed = [base.allowed_dimensions for base in bases_of(metric, contract) if base.allowed_dimensions]
    return tuple(name for name in listed[0] if all(name in other for other in listed)) if listed else None


def properties_of(metric: AnyMetric, contract: Contract) -> tuple[str, ...]:
    """The properties that a metric aggregates, each once."""
    found = (name for base in bases_of(metric, contract) for name in _names(base.aggregate.argument))
    return tuple(dict.fromkeys(found))


def metric_fault(plan: SemanticPlan, contract: Contract) -> str | None:
    """What the contract's metrics have against a plan, in words; None where they have nothing."""
    return next(_metric_faults(plan, contract), None)


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
    names = list(object_type.mandatory_filters if object_type else ())
    for base in bases_of(metric, contract) if metric else ():
        names += base.mandatory_filters
    return tuple(dict.fromkeys(names))


def _metric_faults(plan: SemanticPlan, contract: Contract) -> Iterator[str]:
    if (plan.measure is Measure.METRIC) != (plan.metric is not None):
        yield "a plan of a metric names it, and no other plan does"
    if plan.metric is None:
        return
    metric = find_metric(contract, plan.metric)
    if metric is None:
        yield f"no metric '{plan.metric}'{did_you_mean(plan.metric, (item.name for item in contract.every_metric))}"
        return
    if (why := unplannable(metric, contract)) is not None:
        yield why
        return
    if objects_of(metric, contract) != (plan.object,) or plan.property is not None:
        measured = " and ".join(objects_of(metric, contract))
        yield f"metric {metric.name} measures {measured} as the contract says, and nothing else"
    allowed = dimensions_of(metric, contract)
    if plan.by is not None and allowed is not None and plan.by not in allowed:
        yield f"metric {metric.name} is told apart by {', '.join(allowed) or 'nothing'} alone"
    if any(item.operator is Operator.IS_MISSING for item in plan.filters):
        yield "a metric is not asked of rows that lack something"


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
