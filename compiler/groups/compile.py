"""A grouped definition to the plan and the relations that the queries stand on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from catalog.engines.port import HeldName
from catalog.expressions.checking import Scope
from catalog.expressions.tree import Aggregate
from compiler.compiled import HeldBaselines
from compiler.determinacy import PropertyRules
from compiler.dialects.dialect import Dialect
from compiler.groups.measured import MeasuredSql, held_baselines, measured_aggregates
from compiler.groups.members import MemberRelations
from compiler.groups.plan import plan_groups
from compiler.groups.rows import RowRelations
from compiler.plan import MonitorPlan, PhysicalColumns
from compiler.pruning import Relation, select, with_clause
from monitors.definition import MonitorDefinition
from monitors.grouping import Grouping


@dataclass(frozen=True, slots=True)
class GroupedMonitor:
    """A grouped monitor before its queries are written."""

    plan: MonitorPlan
    members: list[Relation]
    """The relations of the groups."""
    measured: str | None = None
    """The query of what is recorded of each group; None without baselines."""
    measures: tuple[Aggregate, ...] = ()
    """The figures that it gives, in its order."""
    held: HeldBaselines | None = None
    groups: str = ""
    """Where the groups are to be held: the query of what is held, and the relations above begin with that."""
    columns: tuple[str, ...] = ()
    """Of what is held."""


def plan_grouped(
    definition: MonitorDefinition,
    grouping: Grouping,
    scope: Scope,
    physical: PhysicalColumns | None,
    at: datetime | None,
    dialect: Dialect,
    *,
    hold: type[PropertyRules] | None = None,
) -> GroupedMonitor:
    """A plan whose members are groups, the relations that make them, and what is recorded of each.

    Args:
        definition: the monitor.
        grouping: how it groups.
        scope: what its condition may name.
        physical: physical column types of the views.
        at: the slot's instant.
        dialect: how the queries are spelled.
        hold: by which form of the type rules the views are read where the groups are made once and held; where it is
            absent, each query makes them.

    Raises:
        LookupError: it depends on the slot's instant, and there is no `at`.
    """
    plan = plan_groups(definition, grouping, scope, physical, at)
    rows = RowRelations(plan, dialect, hold or PropertyRules)
    members = MemberRelations(plan, dialect, rows)
    judged = replace(plan.members, measures=members.measures(), physical=physical)
    relations = [*rows.relations(), *members.relations()]
    # Up to here nothing looks at another group, or at what earlier evaluations came to.
    made = 1 + [item.name for item in relations].index(plan.spelled["reasoned"])
    grouped = GroupedMonitor(judged, relations)
    if hold is not None:
        grouped = _held(judged, relations[:made], relations[made:], dialect)
        made = 1
    if not definition.baselines:
        return grouped
    measured = MeasuredSql(plan, dialect).select(grouped.members[:made])
    return replace(grouped, measured=measured, measures=measured_aggregates(plan), held=held_baselines(plan))


def _held(plan: MonitorPlan, making: list[Relation], rest: list[Relation], dialect: Dialect) -> GroupedMonitor:
    last = making[-1]
    columns = tuple(name for _, name in last.selections)
    passed_on = tuple((f"g.{dialect.identifier(name)}", name) for name in columns)
    groups = with_clause(making, f"{select(passed_on, dialect)} FROM {last.name} AS g", dialect)
    held = Relation(last.name, passed_on, f"{HeldName.GROUPS} AS g")
    return GroupedMonitor(plan, [held, *rest], groups=groups, columns=columns)
