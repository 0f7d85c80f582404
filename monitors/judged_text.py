"""What decides verdicts, as `MonitorDefinition.judged` gives it, put back into the keys of a monitor file."""

from __future__ import annotations

from collections.abc import Mapping

from trivet.canonical import Json


def monitor_keys(judged: Mapping[str, Json]) -> dict[str, Json]:
    """The keys that a monitor file would have; the loaders of files find what is wrong with them."""
    keys: dict[str, Json] = {name: value for name, value in judged.items() if name != "grouping" and value is not None}
    grouping = judged.get("grouping")
    if isinstance(grouping, Mapping):
        keys |= _grouping_keys(grouping)
    return keys


def _grouping_keys(grouping: Mapping[str, Json]) -> dict[str, Json]:
    named, expect, coverage = (grouping.get(name) for name in ("keys", "expect", "min_coverage"))
    keys: dict[str, Json] = {
        "group_by": [_key(item) for item in named if isinstance(item, Mapping)] if isinstance(named, list) else None,
        "min_count": grouping.get("min_count"),
    }
    if isinstance(expect, Mapping):
        # A key that stands there with nothing behind it is a fault in a file.
        keys["expect"] = {name: value for name, value in expect.items() if value not in (None, [])}
    if isinstance(coverage, Mapping):
        keys["min_coverage"] = dict(coverage) if coverage.get("per") is not None else coverage.get("share")
    if grouping.get("as_of_slot"):
        keys["as_of"] = "slot"
    return keys


def _key(item: Mapping[str, Json]) -> Json:
    name, period = item.get("property"), item.get("period")
    return name if period is None else {"period": period, "of": name}
