"""A grouped definition as two plans: one of its rows, and one of the groups as if they were rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from catalog.contract import LinkType, ObjectType, Property
from catalog.datatypes import BOOLEAN, DATE, TIMESTAMP, DataType, Kind
from catalog.expressions.aggregates import Figure, aggregates_of, figures_of
from catalog.expressions.checking import Scope
from catalog.expressions.groups import GroupKey, group_type
from catalog.expressions.lifting import lifted
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    Comparison,
    ComparisonOperator,
    Condition,
    Literal,
    PropertyRef,
)
from catalog.expressions.walking import atoms, references, shown_operands
from compiler import names
from compiler.plan import MonitorPlan, PhysicalColumns, RelationPlan, plan_monitor, relation_plan
from compiler.relations import STEPS, names_of, relation_names
from monitors.definition import MonitorDefinition
from monitors.grouping import DayRange, Grouping
from trivet.verdicts import Reason

ROW = "row"
"""Relation of the rows that are grouped."""
EXPECTED = "expected"
"""Relation of the rows that name expected members."""
GROUP_STEPS = ("keyed", "periods", "gathered", "grouped", "figured", "reasoned", "changed")
"""The relations between rows and groups."""
KEY = "group key"
"""Property of a group: true, and unknown of the one member that holds all rows without a key."""
SLOT_DATE = "slot date"
SLOT_INSTANT = "slot instant"


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Everything that the queries of one grouped monitor are made from."""

    grouping: Grouping
    where: Condition | None
    figures: tuple[Figure, ...]
    aggregates: tuple[Aggregate, ...]
    """Those that figures are, those that they are changes of, and those that are recorded."""
    rows: MonitorPlan
    """Reads the rows; its condition holds `where` and whatever a share is taken of."""
    members: MonitorPlan
    """Judges the groups; its condition names figures as properties."""
    expected: RelationPlan | None
    days: DayRange | None
    """The days whose periods are expected."""
    spelled: dict[str, str]
    """Name in the SQL of each relation between rows and groups."""

    @property
    def strict(self) -> bool:
        """Whether one indeterminate input is too much."""
        return self.rows.definition.strict

    @property
    def expected_keys(self) -> list[tuple[str, str]]:
        """Each key that expected rows name, with the operand under which its cause stands."""
        expect = self.grouping.expect
        return [(name, f"{expect.object}.{name}") for name in expect.keys] if expect is not None else []

    def key_type(self, key: GroupKey) -> DataType:
        """The type in which the groups hold a key: of decimals that of rows or of expected members, the finer one."""
        own, expect = self.members.scope.resolve(PropertyRef(key.property)).type, self.grouping.expect
        expected = None
        if expect is not None and expect.object is not None and key.period is None:
            plain = [item for item in self.grouping.keys if item.period is None]
            source = self.rows.scope.contract.object_type(expect.object)
            expected = source.find_property(expect.keys[plain.index(key)]) if source is not None else None
        return own if expected is None else max(own, expected.type, key=lambda of: of.scale or 0)


def plan_groups(
    definition: MonitorDefinition,
    grouping: Grouping,
    scope: Scope,
    physical: PhysicalColumns | None,
    at: datetime | None,
) -> GroupPlan:
    """The plan of a grouped definition that loading found no fault with.

    Raises:
        LookupError: it depends on the slot's instant, and there is no `at`.
    """
    figures, aggregates = figures_of(definition.breach_when), aggregates_in(definition)
    rows = _plan_rows(definition, grouping, scope, physical, at)
    expect, period = grouping.expect, grouping.period
    expected, days = None, None
    if expect is not None and expect.object is not None:
        source = scope.contract.object_type(expect.object)
        if source is None:
            raise LookupError(f"the contract has no object type {expect.object}")
        expected = relation_plan(EXPECTED, source, expect.keys)
    if expect is not None and expect.periods is not None and period is not None and period.period is not None:
        days = expect.days(period.period, at, ZoneInfo(scope.contract.calendar.time_zone))
    spelled, taken = _spelled(rows)
    members = _plan_members(definition, grouping, scope, at, frozenset(taken))
    return GroupPlan(grouping, definition.where, figures, aggregates, rows, members, expected, days, spelled)


def aggregates_in(definition: MonitorDefinition) -> tuple[Aggregate, ...]:
    """The aggregates of the condition, those inside changes, and those that baselines are taken of, each once."""
    return tuple(dict.fromkeys([*aggregates_of(definition.breach_when), *(rule.of for rule in definition.baselines)]))


def _plan_rows(
    definition: MonitorDefinition,
    grouping: Grouping,
    scope: Scope,
    physical: PhysicalColumns | None,
    at: datetime | None,
) -> MonitorPlan:
    shares = [condition for aggregate in aggregates_in(definition) for condition in _condition(aggregate)]
    asked = And((*([definition.where] if definition.where is not None else []), *shares))
    plan = plan_monitor(replace(definition, breach_when=asked, where=None, baselines=()), scope, physical, at)
    named = [key.property for key in grouping.keys]
    for aggregate in aggregates_in(definition):
        named += [ref.name for ref in references(aggregate) if ref.link is None]
    member = relation_plan(ROW, scope.object_type, [*(item.name for item in plan.member.properties), *named])
    links = tuple(replace(item, far=replace(item.far, relation=f"{ROW}_{item.far.relation}")) for item in plan.links)
    return replace(plan, member=member, links=links)


def _condition(aggregate: Aggregate) -> Iterable[Condition]:
    """What a share is taken of."""
    match aggregate:
        case Aggregate(AggregateFunction.SHARE, argument) if argument is not None:
            # `share` takes a condition, and no other aggregate does.
            yield argument  # type: ignore[misc]


def _spelled(rows: MonitorPlan) -> tuple[dict[str, str], set[str]]:
    """The names of the relations between rows and groups, and every name that is taken then."""
    of_rows = relation_names(rows)
    views = {item.view.rpartition(".")[2] for item in rows.scope.contract.object_types}
    taken = {name for spelled in of_rows.values() for name in names_of(spelled)} | views
    taken -= {of_rows[step] for step in STEPS if step != "counted"}
    found: dict[str, str] = {}
    for wanted in (*GROUP_STEPS, f"{ROW}_compared", EXPECTED):
        found[wanted] = names.free_relation(wanted, taken)
        taken |= names_of(found[wanted])
    return found, taken


def _plan_members(
    definition: MonitorDefinition, grouping: Grouping, scope: Scope, at: datetime | None, taken: frozenset[str]
) -> MonitorPlan:
    groups = group_type(definition.breach_when, grouping.keys, scope)
    added = [Property(SLOT_DATE, DATE), Property(SLOT_INSTANT, TIMESTAMP)] if grouping.as_of_slot else []
    added += [Property(KEY, BOOLEAN)] if grouping.keys else []
    groups = replace(groups, properties=(*groups.properties, *added))
    condition = lifted(definition.breach_when)
    known = Comparison(ComparisonOperator.EQUAL, PropertyRef(KEY), Literal(True)) if grouping.keys else None
    judged = replace(definition, breach_when=condition, where=known, grouping=None, baselines=())
    contract = scope.contract
    if grouping.as_of_slot:
        links = tuple(_on_the_slot(link, scope.object_type) for link in contract.link_types)
        contract = replace(contract, link_types=links)
    plan = plan_monitor(judged, Scope(contract, groups), None, at)
    return replace(
        plan,
        operands=tuple(dict.fromkeys(shown for atom in atoms(condition) for shown in shown_operands(atom))),
        scope_reason=Reason.LEFT_NULL,
        taken=taken,
    )


def _on_the_slot(link: LinkType, rows: ObjectType) -> LinkType:
    if link.source != rows.name or link.as_of is None:
        return link
    date = rows.find_property(link.as_of.date)
    name = SLOT_DATE if date is None or date.type.kind is Kind.DATE else SLOT_INSTANT
    return replace(link, as_of=replace(link.as_of, date=name))
