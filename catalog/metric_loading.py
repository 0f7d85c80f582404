"""Metrics from their files to records, once `metric_rules` found no fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from catalog.contract import Additivity, Metric
from catalog.document import ObjectTypeModel
from catalog.expressions.tree import Aggregate
from catalog.metric_document import DerivedModel, MetricDisplayModel, MetricModel
from catalog.metric_records import Derivation, DerivedMetric, MetricDisplay, NullRule
from catalog.metric_shapes import Metrics, aggregate_of, is_never_negative, parts_of, unit_of_metric, walk


def metrics_of(models: Sequence[MetricModel]) -> tuple[Metric, ...]:
    """The metrics over object types, in the order of the files."""
    return tuple(_metric(model) for model in models if model.derived is None)


def derived_metrics_of(
    models: Sequence[MetricModel], objects: Mapping[str, ObjectTypeModel]
) -> tuple[DerivedMetric, ...]:
    """The metrics over metrics, each behind those that it is made of."""
    known = {model.name: model for model in models}
    derived = [model for model in models if model.derived is not None]
    derived.sort(key=lambda model: len(walk(model.name, known)))
    return tuple(_derived(model, model.derived, known, objects) for model in derived if model.derived is not None)


def _metric(model: MetricModel) -> Metric:
    return Metric(
        name=model.name,
        object_type=cast(str, model.object),
        expression=cast(str, model.expression),
        aggregate=cast(Aggregate, aggregate_of(model)),
        description=model.description,
        unit=model.unit,
        synonyms=tuple(model.synonyms),
        allowed_dimensions=tuple(model.allowed_dimensions),
        mandatory_filters=tuple(item.property for item in model.mandatory_filters),
        grain=tuple(model.grain or ()),
        additivity=Additivity(model.additivity) if model.additivity else None,
        null_rule=model.null_rule or NullRule.IGNORE_AND_COUNT,
        empty_rule=model.empty_rule,
        display=_display(model.display),
        not_the_same_as=tuple(model.not_the_same_as),
    )


def _derived(
    model: MetricModel, derived: DerivedModel, metrics: Metrics, objects: Mapping[str, ObjectTypeModel]
) -> DerivedMetric:
    (kind,), parts = derived.kinds, parts_of(derived)
    periods = derived.period_over_period or derived.mean_per_period
    change = derived.period_over_period
    return DerivedMetric(
        name=model.name,
        derivation=Derivation(
            kind=kind,
            parts=parts,
            period=periods.period if periods else None,
            by=periods.by if periods else None,
            relative=change is not None and change.relative,
            non_negative=is_never_negative(parts[-1], metrics, objects),
        ),
        description=model.description,
        unit=unit_of_metric(model.name, metrics, objects),
        synonyms=tuple(model.synonyms),
        display=_display(model.display),
        not_the_same_as=tuple(model.not_the_same_as),
    )


def _display(model: MetricDisplayModel | None) -> MetricDisplay | None:
    return MetricDisplay(model.round, model.scale) if model else None
