"""What must hold of metrics that are derived from others: names, circles, units, signs and periods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.datatypes import Kind
from catalog.document import ObjectTypeModel
from catalog.expressions.tree import AggregateFunction
from catalog.metric_document import ChangeModel, DerivedModel, MeanModel, MetricModel
from catalog.metric_records import DerivationKind
from catalog.metric_shapes import aggregate_of, is_never_negative, parts_of, property_of, unit_of_metric, walk
from catalog.metric_units import is_same_unit, not_one_unit, quotient_fault
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

_OF_PARTS = {
    "object": "it has those of its parts",
    "expression": "it is arithmetic over its parts",
    "grain": "its parts have one each",
    "additivity": "it is told by how it is derived",
    "null_rule": "it is told by how it is derived",
    "empty_rule": "it is told by how it is derived",
    "allowed_dimensions": "those of its parts count",
    "mandatory_filters": "those of its parts count",
}
_DEEPEST = 20
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
_NAMES_PERIODS = (Kind.TEXT, Kind.INTEGER)
_SUMS = (AggregateFunction.SUM, AggregateFunction.COUNT)
_NUMBERS = (*_SUMS, AggregateFunction.AVG, AggregateFunction.MEDIAN, AggregateFunction.COUNT_DISTINCT)


@dataclass(frozen=True, slots=True)
class DerivationRules:
    """Judges one derived metric among all others."""

    document: Document
    path: Path
    """Of the metric."""
    objects: Mapping[str, ObjectTypeModel]
    metrics: Mapping[str, MetricModel]

    def findings(self, metric: MetricModel, derived: DerivedModel) -> Iterator[Finding]:
        """Every fault of a derived metric beyond the shape of its file."""
        for key, why in _OF_PARTS.items():
            if self.document.has((*self.path, key)):
                path = (*self.path, key)
                yield self.document.finding(path, f"a derived metric has no `{key}`: {why}", key=True)
        if len(derived.kinds) != 1:
            named = ", ".join(DerivationKind)
            yield self._finding((), f"expected one of {named}")
            return
        (kind,) = derived.kinds
        faults = list(self._names(metric, derived, kind))
        yield from faults
        if not faults:
            yield from self._units(metric, derived, kind)
            if kind is DerivationKind.SHARE:
                yield from self._signs(derived)
            if (change := derived.period_over_period or derived.mean_per_period) is not None:
                yield from self._periods(change, kind)

    def _names(self, metric: MetricModel, derived: DerivedModel, kind: DerivationKind) -> Iterator[Finding]:
        paired = derived.period_over_period is None and derived.mean_per_period is None
        for index, part in enumerate(parts := parts_of(derived)):
            place: Path = (kind.value, index) if paired else (kind.value, "of")
            other = self.metrics.get(part)
            if other is None:
                message = f"there is no metric '{part}'{did_you_mean(part, set(self.metrics) - {metric.name})}"
                yield self._finding(place, message)
            elif metric.name in {part, *walk(part, self.metrics)}:
                yield self._finding(place, f"'{metric.name}' would be derived from itself, by way of '{part}'")
            elif len(walk(part, self.metrics)) > _DEEPEST:
                yield self._finding(place, f"'{part}' is made of more than {_DEEPEST} metrics; state it in fewer")
            elif other.derived is None and not self._is_number(other):
                yield self._finding(place, f"'{part}' is no number, so nothing is worked out of it")
            elif other.derived is not None and (not paired or set(other.derived.kinds) & set(_OVER_PERIODS)):
                what = "a metric over an object type" if not paired else "a figure of one period"
                yield self._finding(place, f"'{part}' is derived, and {kind} takes {what}")
        if paired and parts[0] == parts[1]:
            yield self._finding((kind.value, 1), f"'{parts[1]}' stands here twice; a {kind} takes two metrics")

    def _is_number(self, metric: MetricModel) -> bool:
        aggregate = aggregate_of(metric)
        if aggregate is None or aggregate.function in _NUMBERS:
            return True  # What is wrong with an expression is said where it stands.
        refs = getattr(aggregate.argument, "name", None)
        found = property_of(metric, refs, self.objects) if isinstance(refs, str) else None
        return found is None or found.type.is_number

    def _units(self, metric: MetricModel, derived: DerivedModel, kind: DerivationKind) -> Iterator[Finding]:
        units = [unit_of_metric(part, self.metrics, self.objects) for part in parts_of(derived)]
        in_one = kind in (DerivationKind.SHARE, DerivationKind.DIFFERENCE)
        if in_one and (fault := not_one_unit(units[0], units[1])) is not None:
            yield self._finding((kind.value,), fault)
            return
        relative = derived.period_over_period is not None and derived.period_over_period.relative
        if kind is DerivationKind.RATIO:
            fault = quotient_fault(units[0], units[1], metric.unit)
            if fault is not None:
                stated = metric.unit is not None and quotient_fault(units[0], units[1], None) is None
                yield self.document.finding((*self.path, "unit") if stated else (*self.path, "derived", "ratio"), fault)
        elif metric.unit is None:
            return
        elif kind is DerivationKind.SHARE or relative:
            message = "it is a plain number, of which 0.05 is 5%; leave the unit out"
            yield self.document.finding((*self.path, "unit"), message)
        elif units[0] is not None and not is_same_unit(metric.unit, units[0]):
            yield self.document.finding((*self.path, "unit"), f"it is in {units[0]}, not in {metric.unit}")

    def _signs(self, derived: DerivedModel) -> Iterator[Finding]:
        for index, part in enumerate(parts_of(derived)):
            if not is_never_negative(part, self.metrics, self.objects):
                message = f"'{part}' may be negative, and then a share means nothing"
                yield self._finding(
                    ("share", index), f"{message}; say `non_negative: true` of its property, or take a ratio"
                )

    def _periods(self, change: ChangeModel | MeanModel, kind: DerivationKind) -> Iterator[Finding]:
        metric = self.metrics[change.of]
        aggregate, model = aggregate_of(metric), self.objects.get(metric.object or "")
        if aggregate is None or model is None:
            return
        if kind is DerivationKind.MEAN_PER_PERIOD and aggregate.function not in _SUMS:
            message = f"'{change.of}' is no sum and no count, and a mean of anything else says nothing of the rows"
            yield self._finding((kind.value, "of"), message)
        found = property_of(metric, change.period, self.objects)
        if found is None:
            names = [item.name for item in model.properties]
            message = f"{model.name} has no property '{change.period}'{did_you_mean(change.period, names)}"
            yield self._finding((kind.value, "period"), message)
        elif found.type.kind not in (*_MOMENTS, *_NAMES_PERIODS):
            yield self._finding((kind.value, "period"), f"'{found.name}' is {found.type}, which names no periods")
        elif change.by is None and found.type.kind is Kind.TIMESTAMP:
            yield self._finding((kind.value, "period"), f"'{found.name}' is an instant; say `by: month` or the like")
        elif change.by is not None and found.type.kind not in _MOMENTS:
            yield self._finding((kind.value, "by"), f"'{found.name}' is {found.type}, whose values are the periods")
        elif metric.allowed_dimensions and change.period not in metric.allowed_dimensions:
            message = f"'{change.of}' is told apart by {', '.join(metric.allowed_dimensions)} alone"
            yield self._finding((kind.value, "period"), message)

    def _finding(self, path: Path, message: str) -> Finding:
        return self.document.finding((*self.path, "derived", *path), message)


_OVER_PERIODS = (DerivationKind.PERIOD_OVER_PERIOD, DerivationKind.MEAN_PER_PERIOD)
