"""A grouped definition to the plan and the relations that the queries stand on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from catalog.expressions.checking import Scope
from catalog.expressions.tree import Aggregate
from compiler.compiled import HeldBaselines
from compiler.dialects.dialect import Dialect
from compiler.groups.measured import MeasuredSql, held_baselines, measured_aggregates
from compiler.groups.members import MemberRelations
from compiler.groups.plan import plan_groups
from compiler.groups.rows import RowRelations
from compiler.plan import MonitorPlan, PhysicalColumns
from compiler.pruning import Relation
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


def plan_grouped(
    definition: MonitorDefinition,
    grouping: Grouping,
    scope: Scope,
    physical: PhysicalColumns | None,
    at: datetime | None,
    dialect: Dialect,
) -> GroupedMonitor:
    """A plan whose members are groups, the relations that make them, and what is recorded of each.

    Raises:
        LookupError: it depends on the slot's instant, and there is no `at`.
    """
    plan = plan_groups(definition, grouping, scope, physical, at)
    rows = RowRelations(plan, dialect)
    members = MemberRelations(plan, dialect, rows)
    judged = replace(plan.members, measures=members.measures(), physical=physical)
    relations = [*rows.relations(), *members.relations()]
    if not definition.baselines:
        return GroupedMonitor(judged, relations)
    up_to_reasons = relations[: [item.name for item in relations].index(plan.spelled["reasoned"]) + 1]
    measured = MeasuredSql(plan, dialect).select(up_to_reasons)
    return GroupedMonitor(judged, relations, measured, measured_aggregates(plan), held_baselines(plan))
