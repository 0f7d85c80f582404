"""Periods by the contract's own table: which days a label means, and for whom.

Fiscal years are what their filers say: they skip labels, and end on days that no arithmetic finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from catalog.contract import CalendarTable, Contract
from catalog.datatypes import Kind
from resolver.candidates import Drop, Dropped
from resolver.measuring import HOLDING
from resolver.outcome import ResultTable, cell_text
from resolver.plan import Filter, Operator, SemanticPlan
from resolver.plan_sql import rows_sql
from trivet.errors import InternalError

_NAMED = 10
"""Labels that are told at most where the one that was asked for is not there."""

Run = Callable[[str], ResultTable]
"""Runs a statement of our own."""


def with_days(plan: SemanticPlan, contract: Contract, run: Run) -> SemanticPlan | Dropped:
    """The plan with the days of each period that it names, or why it has none.

    Raises:
        EngineFault: the calendar cannot be read.
    """
    filters: list[Filter] = []
    for item in plan.filters:
        if item.operator is Operator.DURING:
            found = _days(item.values[0], plan, contract, run)
            if isinstance(found, Dropped):
                return found
            item = Filter(item.property, Operator.BETWEEN, found)
        filters.append(item)
    return replace(plan, filters=tuple(filters))


def _days(label: str, plan: SemanticPlan, contract: Contract, run: Run) -> tuple[str, str] | Dropped:
    table = contract.calendar.table
    calendar = contract.object_type(table.object) if table is not None else None
    if table is None or calendar is None:
        raise InternalError("a plan names a period of a contract without a table of periods")
    whose = _whose(table, plan)
    declared = calendar.find_property(table.label)
    spellings = _spellings(label) if declared is not None and declared.type.kind is Kind.TEXT else (label,)
    named = Filter(table.label, Operator.IN, spellings)
    found = run(rows_sql(calendar, (table.start, table.end), (named, *whose), contract))
    if not found.rows:
        return _gap(label, table, whose, contract, run)
    if len(found.rows) > 1:
        if not whose and table.entity is not None:
            why = f"'{label}' has other days for each {_words(table.entity)}, and the question names none"
            return Dropped(Drop.MISSING_FILTER, why)
        return Dropped(Drop.MISSING_FILTER, f"{table.object} has more than one period '{label}'{_of(whose)}")
    start, end = found.rows[0]
    if start is None or end is None:
        return Dropped(Drop.NO_PERIOD, f"{table.object} has no first or no last day of '{label}'{_of(whose)}")
    return cell_text(start), cell_text(end)


def _gap(label: str, table: CalendarTable, whose: tuple[Filter, ...], contract: Contract, run: Run) -> Dropped:
    calendar = contract.object_type(table.object)
    if calendar is None:
        raise InternalError(f"the contract has no object type {table.object}")
    known = [row[0] for row in run(rows_sql(calendar, (table.label,), whose, contract)).rows if row[0] is not None]
    listed = ", ".join(cell_text(cell) for cell in known[:_NAMED])
    more = " and others" if len(known) > _NAMED else ""
    held = f"; it has {listed}{more}" if known else ", and no other"
    return Dropped(Drop.NO_PERIOD, f"{table.object} has no period '{label}'{_of(whose)}{held}")


def _whose(table: CalendarTable, plan: SemanticPlan) -> tuple[Filter, ...]:
    """The plan's filters that say whose periods are meant."""
    return tuple(item for item in plan.filters if item.property == table.entity and item.operator in HOLDING)


def _of(whose: Sequence[Filter]) -> str:
    names = [value for item in whose for value in item.values]
    return f" of {' and '.join(names)}" if names else ""


def _spellings(label: str) -> tuple[str, ...]:
    """How a year of a question may stand in the table: `fiscal year 2024` is `2024`, `FY2024` or `FY 2024`."""
    return (label, f"FY{label}", f"FY {label}") if label.isdigit() and len(label) == 4 else (label,)


def _words(name: str) -> str:
    return name.replace("_", " ")
