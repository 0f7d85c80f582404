"""A grouped definition to the plan and the relations that the queries stand on."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from catalog.expressions.checking import Scope
from compiler.dialects.dialect import Dialect
from compiler.groups.members import MemberRelations
from compiler.groups.plan import plan_groups
from compiler.groups.rows import RowRelations
from compiler.plan import MonitorPlan, PhysicalColumns
from compiler.pruning import Relation
from monitors.definition import MonitorDefinition
from monitors.grouping import Grouping


def plan_grouped(
    definition: MonitorDefinition,
    grouping: Grouping,
    scope: Scope,
    physical: PhysicalColumns | None,
    at: datetime | None,
    dialect: Dialect,
) -> tuple[MonitorPlan, list[Relation]]:
    """A plan whose members are groups, and the relations that make them.

    Raises:
        LookupError: it depends on the slot's instant, and there is no `at`.
    """
    plan = plan_groups(definition, grouping, scope, physical, at)
    rows = RowRelations(plan, dialect)
    members = MemberRelations(plan, dialect, rows)
    judged = replace(plan.members, measures=members.measures(), physical=physical)
    return judged, [*rows.relations(), *members.relations()]
