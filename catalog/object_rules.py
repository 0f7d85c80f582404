"""What must hold of an object type beyond the shape of its file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from catalog.contract import Sensitivity
from catalog.datatypes import Kind
from catalog.document import MaxAgeModel, ObjectTypeModel, PropertyModel
from catalog.expressions.syntax import KEYWORDS
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean


def unique_findings(
    document: Document, path: Path, name: str, seen: dict[str, str], *, within: str = ""
) -> Iterator[Finding]:
    """A finding if `name` was seen before; names that differ only in case are one to an engine."""
    folded = f"{within}{name}".lower()
    if folded in seen:
        same = "stands here twice" if seen[folded] == name else f"differs from '{seen[folded]}' only in case"
        yield document.finding(path, f"'{name}' {same}; names must be distinct")
    seen.setdefault(folded, name)


def object_findings(document: Document, path: Path, model: ObjectTypeModel) -> Iterator[Finding]:
    """Every fault of one object type: keys, names, types, companions."""
    names = [item.name for item in model.properties]
    seen: dict[str, str] = {}
    for index, item in enumerate(model.properties):
        place = (*path, "properties", index)
        yield from unique_findings(document, (*place, "name"), item.name, seen)
        yield from _property_findings(document, place, item)
    for index, key in enumerate(model.primary_key):
        place = (*path, "primary_key", index)
        if key not in names:
            yield document.finding(place, f"{model.name} has no property '{key}'{did_you_mean(key, names)}")
        elif key in model.primary_key[:index]:
            yield document.finding(place, f"'{key}' stands here twice; a key names each property once")
    yield from _age_findings(document, (*path, "max_age"), model)


def _age_findings(document: Document, path: Path, model: ObjectTypeModel) -> Iterator[Finding]:
    by_property = isinstance(model.max_age, MaxAgeModel)
    limit = model.max_age.limit if isinstance(model.max_age, MaxAgeModel) else model.max_age
    if limit is not None and limit < timedelta(seconds=1):
        yield document.finding((*path, "limit") if by_property else path, "expected at least one second, such as 8d")
    if not isinstance(model.max_age, MaxAgeModel):
        return
    place, name = (*path, "property"), model.max_age.property
    found = next((item for item in model.properties if item.name == name), None)
    if found is None:
        names = [item.name for item in model.properties]
        yield document.finding(place, f"{model.name} has no property '{name}'{did_you_mean(name, names)}")
    elif found.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        yield document.finding(place, f"'{name}' is {found.type}; data ages by a date or a timestamp")
    elif found.sensitivity is not Sensitivity.NONE:
        yield document.finding(place, f"'{name}' is restricted, and verdicts would tell of it; name another date")


def _property_findings(document: Document, path: Path, model: PropertyModel) -> Iterator[Finding]:
    if model.name in KEYWORDS:
        yield document.finding((*path, "name"), f"'{model.name}' is a word of the condition language; choose another")
    for index, mark in enumerate(model.missing):
        if mark != mark.strip(" "):
            yield document.finding(
                (*path, "missing", index), "marks are compared without blanks at their ends; remove them"
            )
    companions: list[tuple[Path, str | None]] = [(("raw",), model.raw), (("cause",), model.cause)]
    if model.censored:
        companions += [(("censored", "side"), model.censored.side), (("censored", "limit"), model.censored.limit)]
    for key, column in companions:
        if column is not None and column.lower() == model.name.lower():
            yield document.finding((*path, *key), f"'{column}' is the property itself; name its companion column")
    if model.censored and not (model.type.is_number or model.type.kind in (Kind.DATE, Kind.TIMESTAMP)):
        yield document.finding(
            (*path, "censored"), f"{model.type} has no bounds; only numbers and dates can be censored"
        )
    if model.non_negative and not model.type.is_number:
        yield document.finding((*path, "non_negative"), f"{model.type} has no sign; only numbers can be non-negative")
    if model.monitor is not None and model.sensitivity is Sensitivity.NONE:
        yield document.finding((*path, "monitor"), "only what is restricted is masked; say `sensitivity: restricted`")
    if model.display and not (model.type.is_number and model.type.kind is not Kind.INTEGER):
        yield document.finding((*path, "display", "scale"), f"{model.type} has no digits after the point to show")
