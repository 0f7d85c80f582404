"""What must hold of the domains of properties: the values that should exist stand in a property like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.document import ObjectTypeModel, PropertyModel
from catalog.link_rules import KEY_KINDS
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean


def domain_findings(
    document: Document, path: Path, model: ObjectTypeModel, objects: Mapping[str, ObjectTypeModel]
) -> Iterator[Finding]:
    """Every fault of the domains of one object type."""
    for index, item in enumerate(model.properties):
        if item.domain is not None and (fault := _fault(item, model, objects)) is not None:
            yield document.finding((*path, "properties", index, "domain"), fault)


def _fault(item: PropertyModel, model: ObjectTypeModel, objects: Mapping[str, ObjectTypeModel]) -> str | None:
    owner, _, name = str(item.domain).partition(".")
    if owner not in objects:
        return f"there is no object type '{owner}'{did_you_mean(owner, objects)}"
    found = next((part for part in objects[owner].properties if part.name == name), None)
    if found is None:
        names = [part.name for part in objects[owner].properties]
        return f"{owner} has no property '{name}'{did_you_mean(name, names)}"
    if (owner, name) == (model.name, item.name):
        return "it is its own domain; name the property that lists the values that should exist"
    if item.type.kind not in KEY_KINDS:
        return f"{item.type} has no values that could be listed"
    if found.type.kind is not item.type.kind:
        return f"'{item.name}' is {item.type} and {item.domain} is {found.type}; both must be of one kind"
    return None
