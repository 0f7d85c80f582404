"""Questions that can be answered, offered where one cannot be."""

from __future__ import annotations

from catalog.contract import Contract, ObjectType, Sensitivity
from catalog.datatypes import Kind
from monitors.definition import MonitorDefinition
from resolver.measuring import AnyMetric, mandatory, objects_of, unplannable
from resolver.plan import Measure, SemanticPlan
from resolver.vocabulary import Linked, row_noun

MOST = 3


def nearest_questions(
    contract: Contract, monitors: tuple[MonitorDefinition, ...], linked: Linked | None
) -> tuple[str, ...]:
    """At most `MOST` questions, about what the question names where it names anything."""
    named = _named(contract, linked)
    found = []
    if contract.metrics:
        return tuple([*_metric_questions(contract, linked), *_watched(named, monitors)][:MOST])
    for item in named[:1] or contract.object_types[:1]:
        noun = row_noun(item)
        found.append(f"How many {noun}s are there?")
        found += [f"What is the average {name} of {noun}s?" for name in _averages(item, linked)[:1]]
        mine = [one for one in monitors if one.object == item.name and one.enabled and one.title]
        found += [f"Which {noun}s: {one.title}?" for one in mine[:1]]
    return tuple(found[:MOST])


def _metric_questions(contract: Contract, linked: Linked | None) -> list[str]:
    """Questions under a contract that measures by its metrics alone: verified ones, and metrics that need no filter."""
    named = linked.metrics_named if linked is not None else frozenset()
    free = [
        item
        for item in sorted(contract.every_metric, key=lambda item: item.name not in named)
        if unplannable(item, contract) is None and not _is_filtered(contract, item)
    ]
    asked = [item.question for item in contract.verified_queries[:1]]
    return [*asked, *(f"What is the {item.name.replace('_', ' ')}?" for item in free)]


def _is_filtered(contract: Contract, metric: AnyMetric) -> bool:
    (about,) = objects_of(metric, contract)
    return bool(mandatory(SemanticPlan(about, Measure.METRIC, metric=metric.name), contract))


def _watched(named: list[ObjectType], monitors: tuple[MonitorDefinition, ...]) -> list[str]:
    about = {item.name: row_noun(item) for item in named[:1]}
    found = [one for one in monitors if one.object in about and one.enabled and one.title]
    return [f"Which {about[one.object]}s: {one.title}?" for one in found[:1]]


def _named(contract: Contract, linked: Linked | None) -> list[ObjectType]:
    if linked is None:
        return []
    objects = linked.objects_named or {target.object for span in linked.spans for target in span.targets}
    return [item for item in contract.object_types if item.name in objects]


def _averages(item: ObjectType, linked: Linked | None) -> list[str]:
    """The facts of an object type, those that the question names first."""
    named = linked.properties_named(item.name) if linked is not None else frozenset()
    facts = [
        declared.name
        for declared in item.properties
        if declared.type.kind in (Kind.DECIMAL, Kind.DOUBLE) and declared.sensitivity is Sensitivity.NONE
    ]
    return [name.replace("_", " ") for name in sorted(facts, key=lambda name: name not in named)]
