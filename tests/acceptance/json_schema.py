"""A validator of the part of JSON Schema (2020-12) that the published schemas use, and of no more.

A keyword that it does not know is an error, so that no constraint is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_NOTES = {"$schema", "$defs", "title", "description", "default", "examples"}


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, place: str = "$") -> list[str]:
    """Where and by which keyword a value violates a schema; none where it is valid."""
    return list(_violations(value, schema, root or schema, place))


def _violations(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    for keyword, rule in schema.items():
        if keyword == "$ref":
            yield from _violations(value, definition(rule, root), root, place)
        elif keyword in ("anyOf", "oneOf"):
            fitting = sum(not violations(value, option, root, place) for option in rule)
            if fitting != 1 and (keyword == "oneOf" or not fitting):
                yield f"{place}: {keyword}"
        elif keyword in ("properties", "additionalProperties", "patternProperties", "propertyNames", "items"):
            yield from _inside(keyword, value, schema, root, place)
        elif keyword not in _NOTES and not _holds(keyword, rule, value):
            yield f"{place}: {keyword}"


def definition(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` names."""
    prefix, name = reference.rsplit("/", 1)
    assert prefix == "#/$defs"
    found: dict[str, Any] = root["$defs"][name]
    return found


def _inside(keyword: str, value: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    rule = schema[keyword]
    if keyword == "items":
        for number, item in enumerate(value if isinstance(value, list) else ()):
            yield from _violations(item, rule, root, f"{place}[{number}]")
        return
    for key, item in value.items() if isinstance(value, dict) else ():
        if keyword == "propertyNames":
            yield from _violations(key, rule, root, f"{place}.{key}")
        elif keyword == "properties" and key in rule:
            yield from _violations(item, rule[key], root, f"{place}.{key}")
        elif keyword == "patternProperties":
            for pattern, inner in rule.items():
                if re.search(pattern, key):
                    yield from _violations(item, inner, root, f"{place}.{key}")
        elif keyword == "additionalProperties" and not _is_named(key, schema):
            if isinstance(rule, dict):
                yield from _violations(item, rule, root, f"{place}.{key}")
            elif not rule:
                yield f"{place}.{key}: additionalProperties"


def _is_named(key: str, schema: dict[str, Any]) -> bool:
    patterns = schema.get("patternProperties", {})
    return key in schema.get("properties", {}) or any(re.search(pattern, key) for pattern in patterns)


def _holds(keyword: str, rule: Any, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match keyword:
        case "type":
            return any(_TYPES[name](value) for name in (rule if isinstance(rule, list) else [rule]))
        case "enum":
            return value in rule
        case "const":
            return bool(value == rule)
        case "required":
            return not isinstance(value, dict) or set(rule) <= value.keys()
        case "pattern":
            return not isinstance(value, str) or re.search(rule, value) is not None
        case "minLength":
            return not isinstance(value, str) or len(value) >= rule
        case "minItems":
            return not isinstance(value, list) or len(value) >= rule
        case "minimum":
            return not is_number or value >= rule
        case "maximum":
            return not is_number or value <= rule
        case "format" if rule == "date":
            return not isinstance(value, str) or re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) is not None
    raise AssertionError(f"the validator does not know the keyword {keyword!r}")
