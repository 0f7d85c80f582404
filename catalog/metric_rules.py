"""What must hold of metrics and mandatory filters beyond the shape of their file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.datatypes import Kind
from catalog.document import ObjectTypeModel
from catalog.expressions.syntax import KEYWORDS, SyntaxFault, parse_operand
from catalog.expressions.tree import Aggregate, AggregateFunction, Arithmetic, Condition, Literal, Operand, PropertyRef
from catalog.metric_derivation_rules import DerivationRules
from catalog.metric_document import ChangeModel, MandatoryFilterModel, MeanModel, MetricModel
from catalog.metric_records import EmptyRule
from catalog.metric_shapes import COUNTS, aggregate_of, property_of, unit_of_values
from catalog.metric_units import is_same_unit
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

FUNCTIONS = (
    AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MIN, AggregateFunction.MAX,
    AggregateFunction.MEDIAN, AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT,
)  # fmt: skip
"""What a metric may be; the others have no one spelling in SQL."""

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
_OF_NUMBERS = (AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MEDIAN)


def filter_findings(
    document: Document, path: Path, filters: Sequence[MandatoryFilterModel], model: ObjectTypeModel
) -> Iterator[Finding]:
    """Every mandatory filter on what the object type does not have."""
    names = [item.name for item in model.properties]
    for index, item in enumerate(filters):
        if item.property not in names:
            message = f"{model.name} has no property '{item.property}'{did_you_mean(item.property, names)}"
            yield document.finding((*path, "mandatory_filters", index, "property"), message)


def expression_fault(text: str, model: ObjectTypeModel) -> str | None:
    """What is wrong with a metric's expression; None if it is one aggregate of what the object type has."""
    tree = parse_operand(text)
    if isinstance(tree, SyntaxFault):
        return tree.message
    if not isinstance(tree, Aggregate) or tree.function not in FUNCTIONS:
        names = ", ".join(FUNCTIONS)
        return f"expected one aggregate ({names}) such as sum(amount)"
    types = {item.name: item.type for item in model.properties}
    for name in _names(tree.argument):
        if name is None:
            return "an aggregate of a metric is taken over properties, numbers and arithmetic, without links"
        if name not in types:
            return f"{model.name} has no property '{name}'{did_you_mean(name, types)}"
        if tree.function in _OF_NUMBERS and not types[name].is_number:
            return f"{tree.function} of '{name}', which is {types[name]}; expected a number"
    if tree.argument is not None and not any(_names(tree.argument)):
        return "an aggregate of a metric names a property"
    return None


def _names(argument: Operand | Condition | None) -> Iterator[str | None]:
    """The properties of an argument; None for each part that a metric may not have."""
    match argument:
        case None | Literal():
            return
        case PropertyRef(name, None):
            yield name
        case Arithmetic(_, left, right):
            yield from _names(left)
            yield from _names(right)
        case _:
            yield None


@dataclass(frozen=True, slots=True)
class MetricRules:
    """Judges one metric among all others."""

    document: Document
    path: Path
    """Of the metric."""
    objects: Mapping[str, ObjectTypeModel]
    metrics: Mapping[str, MetricModel]

    def findings(self, metric: MetricModel) -> Iterator[Finding]:
        """Every fault of a metric beyond the shape of its file."""
        if metric.name in KEYWORDS:
            yield self._finding("name", f"'{metric.name}' is a word of the condition language; choose another")
        if metric.derived is not None:
            rules = DerivationRules(self.document, self.path, self.objects, self.metrics)
            yield from rules.findings(metric, metric.derived)
        else:
            yield from self._base(metric)
        yield from self._display(metric)
        for index, name in enumerate(metric.not_the_same_as):
            if name == metric.name:
                yield self._finding(("not_the_same_as", index), "a metric is the same as itself; name another")
            elif name not in self.metrics:
                message = f"there is no metric '{name}'{did_you_mean(name, set(self.metrics) - {metric.name})}"
                yield self._finding(("not_the_same_as", index), message)

    def _base(self, metric: MetricModel) -> Iterator[Finding]:
        absent = [key for key in ("object", "expression") if getattr(metric, key) is None]
        for key in absent:
            yield self.document.finding(self.path, f"missing key '{key}'; a metric has it, or `derived`")
        if metric.object is None or metric.expression is None:
            return
        model = self.objects.get(metric.object)
        if model is None:
            message = f"there is no object type '{metric.object}'{did_you_mean(metric.object, self.objects)}"
            yield self._finding("object", message)
            return
        if (fault := expression_fault(metric.expression, model)) is not None:
            yield self._finding("expression", fault)
        known = [item.name for other in self.objects.values() for item in other.properties]
        for index, name in enumerate(metric.allowed_dimensions):
            if name not in known:
                message = f"no object type has a property '{name}'{did_you_mean(name, known)}"
                yield self._finding(("allowed_dimensions", index), message)
        yield from filter_findings(self.document, self.path, metric.mandatory_filters, model)
        if fault is None and (aggregate := aggregate_of(metric)) is not None:
            yield from self._grain(metric, aggregate, model)
            yield from self._additivity(metric, aggregate, model)
            yield from self._rows(metric, aggregate)
            yield from self._unit(metric)

    def _grain(self, metric: MetricModel, aggregate: Aggregate, model: ObjectTypeModel) -> Iterator[Finding]:
        grain = metric.grain or []
        for index, name in enumerate(grain):
            if name not in model.primary_key:
                keys = ", ".join(model.primary_key)
                yield self._finding(("grain", index), f"'{name}' is no key of {model.name}; its keys are {keys}")
        if not grain or not set(grain) <= set(model.primary_key):
            return
        if aggregate.function is AggregateFunction.COUNT and set(grain) != set(model.primary_key):
            message = f"count() counts rows, of which one {', '.join(grain)} has several"
            yield self._finding("expression", f"{message}; write count_distinct({grain[0]})")
        if aggregate.function is AggregateFunction.COUNT_DISTINCT and [*_names(aggregate.argument)] != grain:
            message = f"it counts something else than {', '.join(grain)}, of which its grain is"
            yield self._finding("grain", message)

    def _additivity(self, metric: MetricModel, aggregate: Aggregate, model: ObjectTypeModel) -> Iterator[Finding]:
        if metric.additivity is None or metric.additivity == "non_additive":
            return
        if aggregate.function not in (AggregateFunction.SUM, AggregateFunction.COUNT):
            message = f"{aggregate.function}(...) of groups does not add up; write non_additive, or leave it out"
            yield self._finding("additivity", message)
            return
        of = {item.name: item for item in model.properties}
        used = [of[name] for name in _names(aggregate.argument) if name in of]
        strict = next((item for item in used if item.additivity not in (None, "additive", metric.additivity)), None)
        if isinstance(aggregate.argument, PropertyRef) and strict is not None:
            yield self._finding("additivity", f"'{strict.name}' is {strict.additivity}, and a sum of it is no better")
        periods = {item.period for other in self.metrics.values() for item in self._periods_over(other, model.name)}
        dated = any(of[key].type.kind in _MOMENTS or key in periods for key in model.primary_key if key in of)
        if metric.additivity == "semi_additive" and not dated:
            yield self._finding("additivity", f"{model.name} has no date in its primary key, so no one time to sum at")

    def _periods_over(self, metric: MetricModel, name: str) -> Iterator[ChangeModel | MeanModel]:
        """By what periods of an object type a derived metric tells its figures apart."""
        derived = metric.derived
        for item in (derived.period_over_period, derived.mean_per_period) if derived is not None else ():
            if item is not None and item.of in self.metrics and self.metrics[item.of].object == name:
                yield item

    def _rows(self, metric: MetricModel, aggregate: Aggregate) -> Iterator[Finding]:
        if metric.null_rule is not None and aggregate.argument is None:
            yield self._finding("null_rule", "count() counts rows, whatever they hold; leave it out")
        if metric.empty_rule is None:
            return
        if aggregate.function in COUNTS:
            yield self._finding("empty_rule", "a count over no row is 0 and decides; leave it out")
        elif metric.empty_rule is EmptyRule.ZERO and aggregate.function is not AggregateFunction.SUM:
            yield self._finding(
                "empty_rule", f"{aggregate.function}(...) of nothing is no number; only a sum may be zero"
            )

    def _unit(self, metric: MetricModel) -> Iterator[Finding]:
        of_values = unit_of_values(metric, self.objects)
        if metric.unit is not None and of_values is not None and not is_same_unit(metric.unit, of_values):
            yield self._finding("unit", f"its values are in {of_values}, not in {metric.unit}")

    def _display(self, metric: MetricModel) -> Iterator[Finding]:
        if metric.display is None:
            return
        if (metric.display.round is None) == (metric.display.scale is None):
            yield self._finding("display", "expected one of `round` and `scale`")
        aggregate = aggregate_of(metric)
        if metric.derived is None and aggregate is not None and not self._has_digits(metric, aggregate):
            yield self._finding("display", "it is no number with digits after the point")

    def _has_digits(self, metric: MetricModel, aggregate: Aggregate) -> bool:
        if aggregate.function in COUNTS:
            return False
        if not isinstance(aggregate.argument, PropertyRef):
            return True
        found = property_of(metric, aggregate.argument.name, self.objects)
        return found is None or found.type.is_number

    def _finding(self, key: str | Path, message: str) -> Finding:
        return self.document.finding((*self.path, *((key,) if isinstance(key, str) else key)), message)
