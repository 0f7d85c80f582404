"""What must hold of a calendar whose periods stand in a governed table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.calendar_document import CalendarTableModel
from catalog.datatypes import DataType, Kind
from catalog.document import CalendarModel, ObjectTypeModel
from trivet.documents import Document, Path
from trivet.findings import Finding, did_you_mean

_ARITHMETIC = ("fiscal_year_start_month", "fiscal_year_label")
_LABELS = (Kind.TEXT, Kind.INTEGER)


def calendar_findings(
    document: Document, calendar: CalendarModel, objects: Mapping[str, ObjectTypeModel]
) -> Iterator[Finding]:
    """Every fault of the calendar's table: what it names must be there, and nothing else may say the same."""
    table = calendar.table
    if table is None:
        return
    for key in _ARITHMETIC:
        if key in calendar.model_fields_set:
            message = "the table says when fiscal years begin; remove this key, which nothing would ask"
            yield document.finding(("calendar", key), message, key=True)
    path: Path = ("calendar", "table")
    model = objects.get(table.object)
    if model is None:
        message = f"there is no object type '{table.object}'{did_you_mean(table.object, objects)}"
        yield document.finding((*path, "object"), message)
        return
    types = {item.name: item.type for item in model.properties}
    for key, name in _parts(table):
        if name not in types:
            yield document.finding((*path, key), f"{model.name} has no property '{name}'{did_you_mean(name, types)}")
        elif (wanted := _wanted(key, types[name])) is not None:
            yield document.finding((*path, key), f"'{name}' is {types[name]}; expected {wanted}")
    if table.entity is not None and not any(
        item.name == table.entity for other in objects.values() if other is not model for item in other.properties
    ):
        message = (
            f"no other object type has a property '{table.entity}', by which questions would say whose period they mean"
        )
        yield document.finding((*path, "entity"), message)


def _parts(table: CalendarTableModel) -> Iterator[tuple[str, str]]:
    yield from (("label", table.label), ("start", table.start), ("end", table.end))
    if table.entity is not None:
        yield "entity", table.entity


def _wanted(key: str, kind: DataType) -> str | None:
    """What a part of the table must be, where a type is something else."""
    if key == "label":
        return None if kind.kind in _LABELS else "text or integer"
    if key in ("start", "end"):
        return None if kind.kind is Kind.DATE else "a date"
    return None if kind.kind is Kind.TEXT else "text"
