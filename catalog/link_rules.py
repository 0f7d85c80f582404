"""What must hold of a link type beyond the shape of its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.contract import Restates
from catalog.datatypes import Kind
from catalog.document import AsOfModel, LinkEndModel, LinkTypeModel, ObjectTypeModel, PropertyModel
from catalog.expressions.baselines import BASELINE
from catalog.expressions.syntax import KEYWORDS
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

KEY_KINDS = frozenset({Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP})
"""Kinds that rows are linked by: a double has no exact equality."""


def link_findings(
    document: Document, path: Path, link: LinkTypeModel, objects: Mapping[str, ObjectTypeModel]
) -> Iterator[Finding]:
    """Every fault of one link: its ends, its keys, its dates."""
    ends = (("from", link.source), ("to", link.target))
    missing = [item for side, end in ends for item in _end_findings(document, (*path, side), end, objects)]
    if missing:
        yield from missing
        return
    near, far = objects[link.source.object], objects[link.target.object]
    if link.name in KEYWORDS | {BASELINE} or any(item.name == link.name for item in near.properties):
        yield document.finding(
            (*path, "name"),
            f"'{link.name}' is already a word or property that conditions over {near.name} use",
        )
    yield from _key_findings(document, path, link, near, far)
    if link.as_of is not None:
        yield from _date_findings(document, (*path, "as_of"), link, link.as_of, near, far)


def _end_findings(
    document: Document, path: Path, end: LinkEndModel, objects: Mapping[str, ObjectTypeModel]
) -> Iterator[Finding]:
    found = objects.get(end.object)
    if found is None:
        yield document.finding(
            (*path, "object"), f"there is no object type '{end.object}'{did_you_mean(end.object, objects)}"
        )
        return
    for index, key in enumerate(end.keys):
        if _find(found, key) is None:
            yield document.finding((*path, "keys", index), _no_property(found, key))
        elif key in end.keys[:index]:
            yield document.finding((*path, "keys", index), f"'{key}' stands here twice")


def _key_findings(
    document: Document, path: Path, link: LinkTypeModel, near: ObjectTypeModel, far: ObjectTypeModel
) -> Iterator[Finding]:
    if len(link.source.keys) != len(link.target.keys):
        counts = f"{len(link.source.keys)} of {near.name}, {len(link.target.keys)} of {far.name}"
        yield document.finding((*path, "to", "keys"), f"each key needs its partner: {counts}")
        return
    for index, (here, there) in enumerate(zip(link.source.keys, link.target.keys, strict=True)):
        first, second = _find(near, here), _find(far, there)
        if first is None or second is None:
            continue
        if first.type.kind is not second.type.kind:
            yield document.finding(
                (*path, "to", "keys", index),
                f"{near.name}.{here} is {first.type} and {far.name}.{there} is {second.type}; keys compare as one type",
            )
        elif first.type.kind not in KEY_KINDS:
            yield document.finding(
                (*path, "from", "keys", index),
                f"{near.name}.{here} is {first.type}, which has no exact equality",
            )


def _date_findings(
    document: Document,
    path: Path,
    link: LinkTypeModel,
    as_of: AsOfModel,
    near: ObjectTypeModel,
    far: ObjectTypeModel,
) -> Iterator[Finding]:
    own = _find(near, as_of.date)
    if own is None:
        yield document.finding((*path, "date"), _no_property(near, as_of.date))
    elif own.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        yield document.finding((*path, "date"), f"{near.name}.{as_of.date} is {own.type}; expected a date or timestamp")
    for key, name in (("valid_from", as_of.valid_from), ("valid_to", as_of.valid_to)):
        if name is None:
            continue
        other = _find(far, name)
        if other is None:
            yield document.finding((*path, key), _no_property(far, name))
        elif own is not None and other.type.kind is not own.type.kind:
            yield document.finding(
                (*path, key),
                f"{far.name}.{name} is {other.type} and {near.name}.{as_of.date} is {own.type}; make them one",
            )
    for index, name in enumerate(as_of.within):
        place = (*path, "within", index)
        if as_of.restates is not Restates.ALL:
            yield document.finding(place, "schedules are told apart only under `restates: all`")
        elif name not in link.target.keys:
            known = did_you_mean(name, link.target.keys)
            yield document.finding(place, f"'{name}' is no key of the link's far side{known}")


def _find(model: ObjectTypeModel, name: str) -> PropertyModel | None:
    return next((item for item in model.properties if item.name == name), None)


def _no_property(model: ObjectTypeModel, name: str) -> str:
    return f"{model.name} has no property '{name}'{did_you_mean(name, [item.name for item in model.properties])}"
