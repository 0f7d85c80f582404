"""The semantic plan: what a question asks for, in the contract's own words, and whether the contract allows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from catalog.contract import Additivity, Contract, ObjectType, Property
from catalog.datatypes import Kind
from monitors.definition import MonitorDefinition
from trivet.findings import did_you_mean


class Measure(StrEnum):
    """What is asked of the rows."""

    COUNT = "count"
    LIST = "list"
    MIN = "min"
    MAX = "max"
    AVG = "avg"
    SUM = "sum"
    METRIC = "metric"
    """What a metric of the contract measures."""

    @property
    def is_aggregate(self) -> bool:
        """Whether it takes the values of a property together."""
        return self in (Measure.MIN, Measure.MAX, Measure.AVG, Measure.SUM)


class Operator(StrEnum):
    """How a filter compares."""

    EQUAL = "="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    IN = "in"
    BETWEEN = "between"
    """Both ends included."""
    DURING = "during"
    """A day of a period of the contract's calendar, by its label."""
    IS_MISSING = "is missing"


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on one property."""

    property: str
    operator: Operator
    values: tuple[str, ...] = ()
    """As text: one value, two for `between`, any number for `in`, none for `is missing`."""


@dataclass(frozen=True, slots=True)
class SemanticPlan:
    """One question over the rows of one object type. All filters hold together."""

    object: str
    measure: Measure
    property: str | None = None
    """What is measured; of a list what is shown beside the key; None for a count."""
    by: str | None = None
    """The dimension that the rows are grouped by."""
    filters: tuple[Filter, ...] = ()
    metric: str | None = None
    """The metric that is measured; then `property` is None."""


class MonitorAsk(StrEnum):
    """What is asked of a monitor's verdicts."""

    COUNT = "count"
    """How many members breach."""
    LIST = "list"
    """Which members breach."""
    UNDECIDED = "undecided"
    """Which members could not be decided."""
    UNLINKED = "unlinked"
    """Which members have nothing to be judged by: no linked row, or none with a value."""


@dataclass(frozen=True, slots=True)
class MonitorQuestion:
    """A question that a monitor decides already."""

    monitor: str
    asks: MonitorAsk


@dataclass(frozen=True, slots=True)
class SqlText:
    """SQL as a model wrote it, or as a person verified it."""

    text: str
    verified: bool = False
    """Whether it belongs to the very question, by a person's word that the contract keeps."""


@dataclass(frozen=True, slots=True)
class CannotAnswer:
    """A model's word that the data does not answer the question."""

    why: str


Proposed = SemanticPlan | MonitorQuestion | SqlText | CannotAnswer
"""What a proposer may come up with."""

_ORDERED = (Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL, Operator.BETWEEN)
_COUNTS = {Operator.BETWEEN: (2, 2), Operator.IN: (1, 100), Operator.IS_MISSING: (0, 0)}


def plan_fault(plan: SemanticPlan, contract: Contract) -> str | None:
    """What the contract has against a plan, in words; None where it has nothing."""
    object_type = contract.object_type(plan.object)
    if object_type is None:
        return (
            f"no object type '{plan.object}'{did_you_mean(plan.object, (item.name for item in contract.object_types))}"
        )
    if contract.calendar.table is None and any(item.operator is Operator.DURING for item in plan.filters):
        return "the contract has no table of periods, so nothing is 'during' one"
    return next(_faults(plan, object_type), None)


def monitor_fault(asked: MonitorQuestion, monitors: tuple[MonitorDefinition, ...]) -> str | None:
    """What is wrong with a question to a monitor; None where nothing is."""
    names = [item.id for item in monitors]
    return None if asked.monitor in names else f"no monitor '{asked.monitor}'{did_you_mean(asked.monitor, names)}"


def _faults(plan: SemanticPlan, object_type: ObjectType) -> Iterator[str]:
    for name in (plan.property, plan.by, *(item.property for item in plan.filters)):
        if name is not None and object_type.find_property(name) is None:
            known = (item.name for item in object_type.properties)
            yield f"{object_type.name} has no property '{name}'{did_you_mean(name, known)}"
            return
    measured = object_type.find_property(plan.property) if plan.property else None
    if plan.measure.is_aggregate and measured is None:
        yield f"{plan.measure} needs a property"
    if measured is not None and not _can_measure(plan.measure, measured):
        yield f"{plan.measure} of {measured.name} means nothing: it is {measured.type}"
    if measured is not None and plan.measure is Measure.SUM and measured.additivity is Additivity.NON_ADDITIVE:
        yield f"the contract says that {measured.name} does not add up, so there is no sum of it"
    if plan.measure is Measure.COUNT and measured is not None:
        yield "a count counts rows, and takes no property"
    if plan.measure is Measure.LIST and plan.by is not None:
        yield "a list is not grouped"
    for item in plan.filters:
        yield from _filter_faults(item, object_type)


def _can_measure(measure: Measure, measured: Property) -> bool:
    match measure:
        case Measure.AVG | Measure.SUM:
            return measured.type.is_number
        case Measure.MIN | Measure.MAX:
            return measured.type.is_number or measured.type.kind in (Kind.DATE, Kind.TIMESTAMP)
        case Measure.COUNT | Measure.LIST | Measure.METRIC:
            return True


def _filter_faults(item: Filter, object_type: ObjectType) -> Iterator[str]:
    declared = object_type.find_property(item.property)
    least, most = _COUNTS.get(item.operator, (1, 1))
    if not least <= len(item.values) <= most:
        yield f"'{item.property} {item.operator}' takes another number of values than {len(item.values)}"
        return
    if declared is None:
        return
    if item.operator is Operator.DURING:
        if declared.type.kind is not Kind.DATE:
            yield f"{item.property} is {declared.type}, and only a date is during a period"
        return
    if item.operator in _ORDERED and declared.type.kind in (Kind.TEXT, Kind.BOOLEAN):
        yield f"{item.property} is {declared.type}, which '{item.operator}' does not order"
    for value in item.values:
        if read_value(value, declared) is None:
            yield f"'{value}' is no {declared.type}, as {item.property} is"


def read_value(text: str, declared: Property) -> Decimal | str | bool | date | datetime | None:
    """The value that a filter's text spells for a property; None where it spells none."""
    match declared.type.kind:
        case Kind.TEXT:
            return text if text.strip(" \t\n\v\f\r") and text.strip() not in declared.missing else None
        case Kind.BOOLEAN:
            return {"true": True, "false": False}.get(text.strip().lower())
        case Kind.INTEGER | Kind.DECIMAL | Kind.DOUBLE:
            return _read_number(text)
        case Kind.DATE:
            return _read_date(text)
        case Kind.TIMESTAMP:
            return _read_moment(text)
        case Kind.DURATION:
            return None


def _read_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip().replace(",", "")) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _read_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if len(text.strip()) == 10 else None
    except ValueError:
        return None


def _read_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
