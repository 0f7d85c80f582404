"""How often the keys of a view repeat, which is the same for all monitors that see all of its rows."""

from __future__ import annotations

from dataclasses import replace

from compiler.dialects.dialect import Dialect
from compiler.plan import MonitorPlan
from compiler.pruning import Relation, select, with_clause
from compiler.quick_rules import QuickRules
from compiler.relations import relation_names, relations_of


def key_counts(plan: MonitorPlan, dialect: Dialect) -> str:
    """One row: distinct keys that repeat, and rows whose key is indeterminate."""
    alone = replace(plan, links=())
    spelled = relation_names(alone)
    keys = plan.scope.object_type.primary_key
    columns = [f"m.{dialect.identifier(key)}" for key in keys]
    number = dialect.identifier("rows")
    selections = [*((column, key) for column, key in zip(columns, keys, strict=True)), ("COUNT(*)", "rows")]
    grouped = f"{spelled[plan.member.relation]} AS m GROUP BY {', '.join(columns)}"
    each = Relation(spelled["repeated"], tuple(selections), grouped)
    own = [f"k.{dialect.identifier(key)}" for key in keys]
    known = " AND ".join(f"{key} IS NOT NULL" for key in own)
    unknown = " OR ".join(f"{key} IS NULL" for key in own)
    counts = [
        (f"COUNT(*) FILTER (WHERE k.{number} > 1 AND {known})", "repeated"),
        (f"COALESCE(SUM(k.{number}) FILTER (WHERE {unknown}), 0)", "without key"),
    ]
    body = f"{select(counts, dialect)} FROM {each.name} AS k"
    return with_clause([*relations_of(alone, dialect, (), QuickRules), each], body, dialect)
