"""Questions that can be answered, offered where one cannot be."""

from __future__ import annotations

from catalog.contract import Contract, ObjectType, Sensitivity
from catalog.datatypes import Kind
from monitors.definition import MonitorDefinition
from resolver.vocabulary import Linked, row_noun

MOST = 3


def nearest_questions(
    contract: Contract, monitors: tuple[MonitorDefinition, ...], linked: Linked | None
) -> tuple[str, ...]:
    """At most `MOST` questions, about what the question names where it names anything."""
    named = _named(contract, linked)
    found = []
    for item in named[:1] or contract.object_types[:1]:
        noun = row_noun(item)
        found.append(f"How many {noun}s are there?")
        found += [f"What is the average {name} of {noun}s?" for name in _averages(item, linked)[:1]]
        mine = [one for one in monitors if one.object == item.name and one.enabled and one.title]
        found += [f"Which {noun}s: {one.title}?" for one in mine[:1]]
    return tuple(found[:MOST])


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
