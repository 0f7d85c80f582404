"""When a recorded value means the same as one of today: what decides a measure, as one hash.

A measure is a figure of a group that each evaluation records. Its hash covers the monitor's population and keys, what
the figure is taken of, and what the contract says of every property and link that it reads. It does not cover
`breach_when`, titles or schedules, so a bound can be changed without losing the history.
"""

from __future__ import annotations

from catalog.contract import Contract, EffectiveDates, LinkType, ObjectType, Property
from catalog.expressions.aggregates import figure_type, figure_unit
from catalog.expressions.checking import Scope
from catalog.expressions.printing import print_condition, print_operand
from catalog.expressions.tree import Aggregate, Comparison, ComparisonOperator, Condition
from catalog.expressions.walking import condition_links, condition_references
from monitors.definition import MonitorDefinition
from monitors.grouping import Grouping
from trivet.canonical import Json, content_hash


def measure_hash(definition: MonitorDefinition, of: Aggregate, contract: Contract) -> str:
    """SHA-256 over what decides the values of a figure of a grouped monitor."""
    grouping, rows = definition.grouping, contract.object_type(definition.object)
    if grouping is None or rows is None:
        raise LookupError(f"{definition.id} has no groups")
    scope = Scope(contract, rows)
    asked: list[Condition] = [Comparison(ComparisonOperator.EQUAL, of, of)]
    asked += [definition.where] if definition.where is not None else []
    return content_hash(
        {
            "measure": print_operand(of),
            "type": str(figure_type(of, scope)),
            "unit": figure_unit(of, scope),
            "where": print_condition(definition.where) if definition.where is not None else None,
            "strict": definition.strict,
            **_grouping_json(grouping),
            "time_zone": contract.calendar.time_zone,
            "objects": _objects_json(asked, [key.property for key in grouping.keys], scope),
            "links": [_link_json(link) for link in _links(asked, scope)],
        }
    )


def _grouping_json(grouping: Grouping) -> dict[str, Json]:
    """What of a grouping decides a figure; who is expected does not, but for the periods that are to be covered."""
    judged = grouping.judged()
    kept = {name: judged[name] for name in ("keys", "min_count", "min_coverage")}
    covers_periods = grouping.min_coverage is not None and grouping.min_coverage.per is not None
    return {**kept, "expect": judged["expect"] if covers_periods else None}


def _links(asked: list[Condition], scope: Scope) -> list[LinkType]:
    names = sorted({name for condition in asked for name in condition_links(condition)})
    return [link for name in names if (link := scope.link(name)) is not None]


def _objects_json(asked: list[Condition], keys: list[str], scope: Scope) -> list[Json]:
    """The views and properties that are read, by object type."""
    read: dict[str, set[str]] = {scope.object_type.name: set(keys)}
    for link in _links(asked, scope):
        near, far = read[scope.object_type.name], read.setdefault(link.target, set())
        near |= {*link.source_keys, *([link.as_of.date] if link.as_of is not None else [])}
        far |= {*link.target_keys, *(_far_dates(link.as_of) if link.as_of is not None else [])}
    for ref in (ref for condition in asked for ref in condition_references(condition)):
        owner = scope.object_type.name if ref.link is None else scope.require_link(ref.link, ref.span).target
        read.setdefault(owner, set()).add(ref.name)
    found = ((scope.contract.object_type(name), names) for name, names in sorted(read.items()))
    return [_object_json(of, names) for of, names in found if of is not None]


def _far_dates(dates: EffectiveDates) -> list[str]:
    return [dates.valid_from, *([dates.valid_to] if dates.valid_to is not None else [])]


def _object_json(of: ObjectType, names: set[str]) -> Json:
    found = [item for name in sorted(names) if (item := of.find_property(name)) is not None]
    properties: list[Json] = [_property_json(item) for item in found]
    return {"name": of.name, "view": of.view, "properties": properties}


def _property_json(item: Property) -> Json:
    """What decides whether a cell has a value, and which."""
    return {
        "name": item.name,
        "type": str(item.type),
        "unit": item.unit,
        "missing": tuple(sorted(item.missing)),
        "cause": item.cause,
        "censored": (item.censored.side, item.censored.limit) if item.censored is not None else None,
        "non_negative": item.non_negative,
    }


def _link_json(link: LinkType) -> Json:
    return {
        "name": link.name,
        "source_keys": link.source_keys,
        "target": link.target,
        "target_keys": link.target_keys,
        "to_one": link.cardinality.is_to_one,
        "as_of": _dates_json(link.as_of) if link.as_of is not None else None,
    }


def _dates_json(dates: EffectiveDates) -> Json:
    return {
        "date": dates.date,
        "valid_from": dates.valid_from,
        "valid_to": dates.valid_to,
        "restates": dates.restates.value,
        "within": dates.within,
    }
