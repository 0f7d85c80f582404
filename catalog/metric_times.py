"""Which keys of an object type tell times apart: over these a balance is not summed."""

from __future__ import annotations

from catalog.contract import Contract, ObjectType
from catalog.datatypes import Kind

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


def time_keys(item: ObjectType, contract: Contract) -> frozenset[str]:
    """The dates of its primary key; where it has none, the keys that a derived metric over it names as its `period`."""
    keys = [part for part in item.properties if part.name in item.primary_key]
    dates = frozenset(part.name for part in keys if part.type.kind in _MOMENTS)
    if dates:
        return dates
    named: set[str] = set()
    for metric in contract.derived_metrics:
        of = contract.metric(metric.derivation.parts[0])
        if metric.derivation.period is not None and getattr(of, "object_type", None) == item.name:
            named.add(metric.derivation.period)
    return frozenset(part.name for part in keys if part.name in named)
