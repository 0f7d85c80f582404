"""Whole worlds of groups: keys that are blank, periods, expectations, figures of all kinds, and links from groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from catalog.contract import Contract, LinkType, ObjectType, Property
from catalog.datatypes import DATE, Kind
from catalog.expressions.aggregates import figure_faults, figure_type, figure_unit
from catalog.expressions.checking import Scope
from catalog.expressions.groups import GroupKey, check_group_condition
from catalog.expressions.printing import print_condition, print_operand
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Change,
    Comparison,
    ComparisonOperator,
    Condition,
    Literal,
    Operand,
    Presence,
    PropertyRef,
)
from catalog.periods import Period, parts_of
from evals.oracle.evaluation import Table
from evals.oracle.grouped_conditions import swap
from evals.proving.pools import SLOTS
from monitors.grouping import Coverage, DayRange, Expectation, Grouping, LastPeriods
from tests.oracle.schemas import MEMBER, schemas, tables
from tests.oracle.trees import conditions

_DEPTHS = st.sampled_from([1, 1, 2, 2, 3])
_NO_KEYS = (Kind.DOUBLE, Kind.DURATION)
_SHARES = tuple(Decimal(text) for text in ("0.5", "0.75", "1", "0.3333", "0"))
_DAYS = (date(2024, 6, 10), date(2024, 12, 31), date(2025, 7, 1), date(2025, 7, 15), date(2026, 1, 1))
_ON = ("2025-06-30", "2025-07-01", "2025-07-15", "2025-08-02", "2024-07-01", "2026-07-01", None, "TBC", "9999-12-31")


@dataclass(frozen=True, slots=True)
class GroupedWorld:
    """All that an evaluation of a grouped monitor looks at."""

    contract: Contract
    object_name: str
    grouping: Grouping
    where: Condition | None
    breach_when: Condition
    strict: bool
    tables: Mapping[str, Table]
    at: datetime

    def __str__(self) -> str:
        where = "" if self.where is None else f" where {print_condition(self.where)}"
        strict = " strict" if self.strict else ""
        return f"{self.grouping}\nbreach_when {print_condition(self.breach_when)}{where}{strict} at {self.at}"


@st.composite
def grouped_worlds(draw: st.DrawFn) -> GroupedWorld:
    """Worlds of at most eight rows a table, whose grouping and conditions have no fault."""
    schema = draw(schemas())
    member = schema.contract.object_type(MEMBER)
    assert member is not None
    scope = Scope(schema.contract, member)
    grouping = draw(_groupings(schema.contract, member))
    filled = draw(tables(schema))
    return GroupedWorld(
        contract=schema.contract,
        object_name=MEMBER,
        grouping=grouping,
        where=draw(st.one_of(st.none(), st.none(), conditions(scope, depth=2))),
        breach_when=draw(_breaches(scope, grouping)),
        strict=draw(st.sampled_from([False, False, False, True])),
        tables={**filled, member.view: draw(_near_days(filled[member.view]))},
        at=draw(st.sampled_from(SLOTS)),
    )


@st.composite
def _near_days(draw: st.DrawFn, table: Table) -> Table:
    """The table with days that lie in periods one after the other."""
    return replace(table, rows=[{**row, "on": draw(st.sampled_from(_ON))} for row in table.rows])


@st.composite
def _groupings(draw: st.DrawFn, contract: Contract, member: ObjectType) -> Grouping:
    names = [item.name for item in member.properties if item.type.kind not in _NO_KEYS and item.name != "id"]
    linked = [name for name in names if name.startswith("key_")]
    plain = draw(st.lists(st.sampled_from([*linked * 3, *names]), max_size=2, unique=True))
    keys = [GroupKey(name) for name in plain]
    period = draw(st.sampled_from([None, *Period]))
    if period is not None and "on" not in plain:
        keys.insert(draw(st.integers(0, len(keys))), GroupKey("on", period))
    expected = _expectations(contract, member, keys) if keys else st.none()
    expect = draw(st.one_of(st.none(), expected))
    return Grouping(
        keys=tuple(keys),
        expect=expect,
        min_count=draw(st.sampled_from([1, 1, 2, 3])),
        min_coverage=draw(_coverages(keys)),
        as_of_slot=draw(st.booleans()),
    )


@st.composite
def _expectations(
    draw: st.DrawFn, contract: Contract, member: ObjectType, keys: Sequence[GroupKey]
) -> Expectation | None:
    wanted = [member.find_property(key.property) for key in keys if key.period is None]
    types = [item.type.kind for item in wanted if item is not None]
    choices = []
    for source in contract.object_types:
        named = [[item.name for item in source.properties if item.type.kind is kind] for kind in types]
        if all(named):
            choices.append((source.name, named))
    if types and not choices:
        return None
    periods = draw(_periods()) if len(types) < len(keys) else None
    if not types:
        return Expectation(None, (), periods)
    name, named = draw(st.sampled_from(choices))
    return Expectation(name, tuple(draw(st.sampled_from(part)) for part in named), periods)


@st.composite
def _periods(draw: st.DrawFn) -> DayRange | LastPeriods:
    if draw(st.booleans()):
        return LastPeriods(draw(st.integers(1, 3)), draw(st.booleans()))
    first, last = sorted([draw(st.sampled_from(_DAYS)), draw(st.sampled_from(_DAYS))])
    return DayRange(first, last)


@st.composite
def _coverages(draw: st.DrawFn, keys: Sequence[GroupKey]) -> Coverage | None:
    share = draw(st.sampled_from(_SHARES))
    periods = [part for key in keys if key.period is not None for part in parts_of(key.period)]
    shape = draw(st.sampled_from(["none", "none", "rows", "periods"]))
    if shape == "none" or (shape == "periods" and not periods):
        return None
    # So many parts are rarely covered that a smaller share decides more.
    return Coverage(share) if shape == "rows" else Coverage(share / 100, draw(st.sampled_from(periods)))


@st.composite
def _breaches(draw: st.DrawFn, scope: Scope, grouping: Grouping) -> Condition:
    """A condition over the groups: made over properties, then with a figure in place of most of them."""
    figures = draw(st.lists(_figures(scope, grouping), min_size=1, max_size=3, unique_by=print_operand))
    groups = _groups(scope, grouping, figures)
    named = {print_operand(figure): figure for figure in figures}

    def figure_of(node: Any) -> Operand | None:
        return named.get(node.name) if isinstance(node, PropertyRef) and node.link is None else None

    made = conditions(groups, draw(_DEPTHS)).map(lambda condition: swap(swap(condition, _compared), figure_of))
    return draw(made.filter(lambda tree: check_group_condition(tree, grouping.keys, scope) == ()))


def _compared(node: Any) -> Condition | None:
    """A figure or key is never asked whether it is present, so it is set beside itself."""
    if isinstance(node, Presence) and node.property.link is None:
        return Comparison(ComparisonOperator.EQUAL, node.property, node.property)
    return None


def _groups(scope: Scope, grouping: Grouping, figures: Sequence[Aggregate | Change]) -> Scope:
    keys = [
        Property(key.property, DATE if key.period else found.type)
        for key in grouping.keys
        if (found := scope.object_type.find_property(key.property)) is not None
    ]
    properties = [
        *keys,
        *(Property(print_operand(item), figure_type(item, scope), unit=figure_unit(item, scope)) for item in figures),
    ]
    links = tuple(link for link in scope.contract.link_types if _fits(link, scope, grouping))
    contract = replace(scope.contract, link_types=links)
    return Scope(contract, replace(scope.object_type, properties=tuple(properties)))


def _fits(link: LinkType, scope: Scope, grouping: Grouping) -> bool:
    plain = {key.property for key in grouping.keys if key.period is None}
    if not set(link.source_keys) <= plain:
        return False
    if link.as_of is None or grouping.as_of_slot or link.as_of.date in plain:
        return True
    day = scope.object_type.find_property(link.as_of.date)
    return GroupKey(link.as_of.date, Period.DAY) in grouping.keys and day is not None and day.type == DATE


@st.composite
def _figures(draw: st.DrawFn, scope: Scope, grouping: Grouping) -> Aggregate | Change:
    def is_sound(figure: Aggregate | Change) -> bool:
        return not [*figure_faults(figure, scope, over_time=True)]

    kinds = ["aggregate", "aggregate", "change"] if grouping.period else ["aggregate"]
    if draw(st.sampled_from(kinds)) == "change":
        return draw(_changes(scope).filter(is_sound))
    return draw(_aggregates(scope).filter(is_sound))


@st.composite
def _changes(draw: st.DrawFn, scope: Scope) -> Change:
    return Change(draw(_aggregates(scope)), draw(st.booleans()))


@st.composite
def _aggregates(draw: st.DrawFn, scope: Scope) -> Aggregate:
    function = draw(st.sampled_from(AggregateFunction))
    if function is AggregateFunction.COUNT:
        return Aggregate(function, None)
    if function is AggregateFunction.SHARE:
        return Aggregate(function, draw(conditions(scope, depth=2)))
    return Aggregate(function, draw(_operands(scope)))


@st.composite
def _operands(draw: st.DrawFn, scope: Scope) -> Operand:
    names = [item.name for item in scope.object_type.properties]
    ref = PropertyRef(draw(st.sampled_from([*names, "x", "y", "order", "x", "y"])))
    if draw(st.integers(0, 3)):
        return ref
    other: Operand = PropertyRef(draw(st.sampled_from(names)))
    right = draw(st.sampled_from([other, Literal(Decimal(2)), Literal(Decimal("0.3"))]))
    return Arithmetic(draw(st.sampled_from(ArithmeticOperator)), ref, right)
