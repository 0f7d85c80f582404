"""What can be told of a metric from its file: its unit, whether it can be negative, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from catalog.document import ObjectTypeModel, PropertyModel
from catalog.expressions.syntax import parse_operand
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Condition,
    Literal,
    Operand,
    PropertyRef,
)
from catalog.metric_document import DerivedModel, MetricModel
from catalog.metric_records import DerivationKind

Objects = Mapping[str, ObjectTypeModel]
Metrics = Mapping[str, MetricModel]

COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


def aggregate_of(metric: MetricModel) -> Aggregate | None:
    """The aggregate that a base metric is; None where its expression is none."""
    tree = parse_operand(metric.expression) if metric.expression is not None else None
    return tree if isinstance(tree, Aggregate) else None


def parts_of(derived: DerivedModel) -> tuple[str, ...]:
    """The metrics that a derived one names, in their order."""
    named: list[str] = [*(derived.ratio or ()), *(derived.share or ()), *(derived.difference or ())]
    named += [item.of for item in (derived.period_over_period, derived.mean_per_period) if item is not None]
    return tuple(named)


def property_of(metric: MetricModel, name: str, objects: Objects) -> PropertyModel | None:
    """A property of the object type that a base metric is taken over."""
    model = objects.get(metric.object or "")
    return next((item for item in model.properties if item.name == name), None) if model else None


def unit_of_values(metric: MetricModel, objects: Objects) -> str | None:
    """The unit of the one property whose values, sums or means a base metric gives."""
    aggregate = aggregate_of(metric)
    if aggregate is None or aggregate.function in COUNTS or not isinstance(aggregate.argument, PropertyRef):
        return None
    found = property_of(metric, aggregate.argument.name, objects)
    return found.unit if found else None


def unit_of_metric(name: str, metrics: Metrics, objects: Objects) -> str | None:
    """The unit of a metric: what it states, else that of its values; None where neither is known."""
    metric = metrics.get(name)
    if metric is None:
        return None
    if metric.unit is not None or metric.derived is None:
        return metric.unit or unit_of_values(metric, objects)
    kinds, parts = metric.derived.kinds, parts_of(metric.derived)
    relative = metric.derived.period_over_period is not None and metric.derived.period_over_period.relative
    if len(kinds) != 1 or kinds[0] in (DerivationKind.RATIO, DerivationKind.SHARE) or relative:
        return None
    return unit_of_metric(parts[0], metrics, objects) if parts and name not in walk(name, metrics) else None


def walk(name: str, metrics: Metrics) -> set[str]:
    """Every metric that a metric is made of, however deep; with its own name where it is made of itself."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        metric = metrics.get(waiting.pop())
        for part in parts_of(metric.derived) if metric is not None and metric.derived is not None else ():
            if part not in found:
                found.add(part)
                waiting.append(part)
    return found


def is_never_negative(name: str, metrics: Metrics, objects: Objects) -> bool:
    """Whether the contract says enough to know that a metric is not below zero. `name` is in no circle."""
    metric = metrics.get(name)
    if metric is None:
        return False
    if metric.derived is not None:
        kinds = metric.derived.kinds
        signless = (DerivationKind.RATIO, DerivationKind.SHARE, DerivationKind.MEAN_PER_PERIOD)
        return len(kinds) == 1 and kinds[0] in signless and _all_signless(metric.derived, metrics, objects)
    aggregate = aggregate_of(metric)
    if aggregate is None:
        return False
    return aggregate.function in COUNTS or all(sign is True for sign in _signs(aggregate.argument, metric, objects))


def _all_signless(derived: DerivedModel, metrics: Metrics, objects: Objects) -> bool:
    return all(is_never_negative(part, metrics, objects) for part in parts_of(derived))


def _signs(operand: Operand | Condition | None, metric: MetricModel, objects: Objects) -> Iterator[bool]:
    match operand:
        case PropertyRef(name):
            found = property_of(metric, name, objects)
            yield found is not None and found.non_negative
        case Literal(Decimal() as number):
            yield number >= 0
        case Arithmetic(operator, left, right):
            yield operator is not ArithmeticOperator.SUBTRACT
            yield from _signs(left, metric, objects)
            yield from _signs(right, metric, objects)
        case _:
            yield False
