"""What a question left open and its answer fixed, read off the plan and the question: never off a value."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.contract import Contract, ObjectType
from catalog.datatypes import Kind
from resolver.dates import calendar_year, fiscal_year
from resolver.outcome import Assumption
from resolver.phrases import Mark, read_phrase
from resolver.plan import Filter, Operator, SemanticPlan
from resolver.vocabulary import Linked, property_names, row_noun
from trivet.stems import stem


def frame(plan: SemanticPlan, linked: Linked, contract: Contract) -> tuple[Assumption, ...]:
    """The assumptions of an answer, in a fixed order: rows, date, year, time in force."""
    object_type = contract.object_type(plan.object)
    if object_type is None:
        return ()
    return tuple(
        found
        for part in (
            _object_choice(plan, linked, contract),
            _date_choice(plan, linked, object_type),
            _year_choice(plan, linked, contract),
            _all_dates(plan, linked, object_type),
        )
        for found in part
    )


def _object_choice(plan: SemanticPlan, linked: Linked, contract: Contract) -> Iterator[Assumption]:
    """Rows that the question does not name, where other rows have the same properties."""
    if plan.object in linked.objects_named or plan.metric in linked.metrics_named:
        return
    wanted = {name for name in (plan.property, plan.by, *(item.property for item in plan.filters)) if name is not None}
    others = [
        item
        for item in contract.object_types
        if item.name != plan.object and wanted and all(item.find_property(name) is not None for name in wanted)
    ]
    chosen = contract.object_type(plan.object)
    if others and chosen is not None:
        names = tuple(row_noun(item) for item in others)
        text = f"Read as a question about each {row_noun(chosen)}, not about each {names[0]}."
        yield Assumption("object", row_noun(chosen), names, "contract", text)


def _date_choice(plan: SemanticPlan, linked: Linked, object_type: ObjectType) -> Iterator[Assumption]:
    """A date that the question gives without saying what it is the date of."""
    named = linked.properties_named(plan.object)
    for item in _date_filters(plan, object_type):
        if item.property not in named:
            name = item.property.replace("_", " ")
            text = f"The date is read as the {name}, the only date that a row has."
            yield Assumption("property", item.property, (), "contract", text)
            return


def _year_choice(plan: SemanticPlan, linked: Linked, contract: Contract) -> Iterator[Assumption]:
    """A bare year, which may be a calendar year or one of the contract's fiscal years."""
    object_type = contract.object_type(plan.object)
    words = linked.question.words
    stems = [stem(word) for word in words]
    symbols = {found[0] for index in range(len(stems)) if (found := read_phrase(stems, index)) is not None}
    if object_type is None or Mark.FISCAL in symbols or ("calendar" in words):
        return
    for item in _date_filters(plan, object_type):
        for word in words:
            if item.operator is not Operator.BETWEEN or not (word.isdigit() and len(word) == 4):
                continue
            year = int(word)
            readings = {
                f"calendar year {year}": calendar_year(year),
                f"fiscal year {year}": fiscal_year(year, contract.calendar),
            }
            told = {name: f"{name} ({first} to {last})" for name, (first, last) in readings.items()}
            table = contract.calendar.table
            if table is not None:
                told[f"fiscal year {year}"] = f"fiscal year {year} as {table.object} has it"
            chosen = next((name for name, days in readings.items() if _is(item, days)), None)
            if chosen is not None and (table is not None or len(set(readings.values())) > 1):
                others = tuple(text for name, text in told.items() if name != chosen)
                text = f"{year} is read as {told[chosen]}."
                yield Assumption("period", told[chosen], others, "contract.calendar", text)


def _all_dates(plan: SemanticPlan, linked: Linked, object_type: ObjectType) -> Iterator[Assumption]:
    """Rows that stand for a time, such as a schedule, where the question says nothing of time."""
    dates = [
        item
        for name in object_type.primary_key
        if (item := object_type.find_property(name)) is not None and item.type.kind is Kind.DATE
    ]
    concerned = {plan.property, plan.by, *(item.property for item in plan.filters)}
    named = linked.properties_named(plan.object)
    for item in dates:
        if item.name not in concerned and item.name not in named:
            name = property_names(item)[0]
            text = f"Rows of every {name} are counted, past ones too; the question names none."
            yield Assumption("period", f"every {name}", (f"the latest {name}",), "contract", text)


def _date_filters(plan: SemanticPlan, object_type: ObjectType) -> list[Filter]:
    found = []
    for item in plan.filters:
        declared = object_type.find_property(item.property)
        if declared is not None and declared.type.kind in (Kind.DATE, Kind.TIMESTAMP) and item.values:
            found.append(item)
    return found


def _is(item: Filter, days: tuple[object, object]) -> bool:
    return item.values == tuple(str(day) for day in days)
