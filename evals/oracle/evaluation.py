"""The oracle: what a monitor over one object type must answer. It shares no code with the compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from catalog.contract import Contract, LinkType, ObjectType, Property
from catalog.expressions.tree import Condition, PropertyRef
from evals.oracle.comparisons import Decision, Situation, Unknown
from evals.oracle.conditions import decide
from evals.oracle.linking import Outcomes, key_of, match_rows
from evals.oracle.operands import Place
from evals.oracle.outcomes import value_of
from evals.oracle.showing import shown as shown_value
from evals.oracle.units import ChangeUnits, change
from evals.oracle.values import read_property, text_of
from trivet.verdicts import Cause, Reason, Verdict

SLOT = datetime(2025, 7, 15, 6, 30, tzinfo=UTC)
"""The instant at which most cases are judged."""

_PRECEDENCE = list(Reason)


@dataclass(frozen=True, slots=True)
class Table:
    """What a warehouse holds for one governed view."""

    columns: Mapping[str, str]
    """DuckDB type text by column name, such as `VARCHAR` or `DECIMAL(12,4)`."""
    rows: Sequence[Mapping[str, object]]
    """Cells by column name, as Python values of the column's type. `VARCHAR` cells are text. In a `DATE`,
    `TIMESTAMP` or `TIMESTAMPTZ` column the text `infinity` or `-infinity` stands for that value."""


@dataclass(frozen=True, slots=True)
class OracleMember:
    """One member of the population."""

    row: int
    """Place of its row in the table, from 0."""
    key: tuple[str | None, ...]
    """The primary key as people read it: its values, or the texts that are none."""
    verdict: Verdict
    reason: Reason | None
    """Set exactly where the verdict is `no_data`."""
    causes: Mapping[str, Sequence[Cause]]
    """By operand, sorted; empty where the verdict is not `no_data`."""
    partial: bool
    """Decided although some matching row was indeterminate."""


@dataclass(frozen=True, slots=True)
class OracleResult:
    """Every member of the population in the order of its rows, and the counts."""

    members: tuple[OracleMember, ...]
    population: int
    breach: int
    no_data: int
    compliant: int
    partial: int
    duplicate_keys: int
    """Keys that repeat in the population, plus its rows with an indeterminate key."""


def judge(
    contract: Contract,
    object_name: str,
    breach_when: Condition,
    where: Condition | None,
    strict: bool,
    tables: Mapping[str, Table],
    at: datetime = SLOT,
    change_units: ChangeUnits = change,
) -> OracleResult:
    """The verdict of every member.

    Args:
        contract: Names the object type, its links and the time zone.
        object_name: The object type whose rows are watched.
        breach_when: The condition that makes a member a breach; `check_condition` finds no fault in it.
        where: Narrows the population; None takes every row.
        strict: Whether an indeterminate matching row makes its comparison unknown.
        tables: What the warehouse holds, by the name of the view.
        at: The slot's instant, with an offset.
        change_units: How values in one unit become values in another.
    """
    of = object_type_of(contract, object_name)
    rows = read_table(of, contract, tables)
    far_sides = [
        (link, read_table(object_type_of(contract, link.target), contract, tables))
        for link in contract.links_from(object_name)
    ]
    key_properties = [item for name in of.primary_key if (item := of.find_property(name)) is not None]
    members, keys = [], []
    place = Place(ZoneInfo(contract.calendar.time_zone), at, units_of(of, contract), change_units)
    for index, own in enumerate(rows):
        situation = situation_of(own, far_sides, place, strict)
        scope = None if where is None else decide(where, situation)
        if scope is not None and scope.truth is False:
            continue
        shown = tuple(_shown(item, own, tables[of.view].rows[index]) for item in key_properties)
        members.append(_judge_member(index, shown, scope, decide(breach_when, situation)))
        keys.append(key_of(own, of.primary_key))
    verdicts = Counter(member.verdict for member in members)
    return OracleResult(
        members=tuple(members),
        population=len(members),
        breach=verdicts[Verdict.BREACH],
        no_data=verdicts[Verdict.NO_DATA],
        compliant=verdicts[Verdict.COMPLIANT],
        partial=sum(member.partial for member in members),
        duplicate_keys=_count_duplicates(keys),
    )


def object_type_of(contract: Contract, name: str) -> ObjectType:
    """The object type of that name."""
    found = contract.object_type(name)
    if found is None:
        raise LookupError(f"the contract has no object type {name}")
    return found


def units_of(of: ObjectType, contract: Contract) -> dict[PropertyRef, str | None]:
    """The unit of every property that a condition over the object type can name."""
    own = {PropertyRef(item.name): item.unit for item in of.properties}
    linked = {
        PropertyRef(item.name, link.name): item.unit
        for link in contract.links_from(of.name)
        for item in object_type_of(contract, link.target).properties
    }
    return {**own, **linked}


def read_table(of: ObjectType, contract: Contract, tables: Mapping[str, Table]) -> list[Outcomes]:
    """What each property of each row turns out to be."""
    table, zone = tables[of.view], ZoneInfo(contract.calendar.time_zone)
    return [{item.name: read_property(item, row, table.columns, zone) for item in of.properties} for row in table.rows]


def situation_of(
    own: Outcomes, far_sides: Sequence[tuple[LinkType, Sequence[Outcomes]]], place: Place, strict: bool
) -> Situation:
    """A row and everything that its conditions can look at."""
    links = {link.name: match_rows(link, own, linked) for link, linked in far_sides}
    return Situation(own, links, place, strict)


def _shown(item: Property, own: Outcomes, row: Mapping[str, object]) -> str | None:
    value = value_of(own[item.name])
    text = None if value is None else shown_value(value)
    cell = row[item.raw or item.name]
    return text if text is not None or cell is None else text_of(cell)


def _judge_member(index: int, key: tuple[str | None, ...], scope: Decision | None, decision: Decision) -> OracleMember:
    if scope is not None and scope.truth is None:
        causes = merged_causes(scope.counting)
        return OracleMember(index, key, Verdict.NO_DATA, Reason.SCOPE_UNKNOWN, causes, partial=False)
    if decision.truth is None:
        reason = min((unknown.reason for unknown in decision.counting), key=_PRECEDENCE.index)
        return OracleMember(index, key, Verdict.NO_DATA, reason, merged_causes(decision.counting), partial=False)
    verdict = Verdict.BREACH if decision.truth else Verdict.COMPLIANT
    partial = decision.partial or (scope is not None and scope.partial)
    return OracleMember(index, key, verdict, None, {}, partial)


def merged_causes(counting: Sequence[Unknown]) -> dict[str, list[Cause]]:
    """The causes of each operand, sorted."""
    merged: dict[str, set[Cause]] = {}
    for unknown in counting:
        for operand, causes in unknown.causes.items():
            merged.setdefault(operand, set()).update(causes)
    return {operand: sorted(causes) for operand, causes in sorted(merged.items())}


def _count_duplicates(keys: Sequence[tuple[object, ...] | None]) -> int:
    found = Counter(key for key in keys if key is not None)
    return sum(count > 1 for count in found.values()) + sum(key is None for key in keys)
