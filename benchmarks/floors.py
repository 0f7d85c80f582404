"""What reading the data costs that a monitor needs: the floor that its cost is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.governed import contract
from catalog.expressions.checking import Scope
from compiler.compile import object_type_of
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.plan import PhysicalColumns, plan_monitor
from compiler.pruning import with_clause
from compiler.quick_rules import QuickRules
from compiler.relations import relation_names, relations_of
from monitors.definition import MonitorDefinition

_DIALECT = DuckDBDialect()


def reading(definition: MonitorDefinition, physical: PhysicalColumns) -> str:
    """Scan, type rule, and hash of each key, on the columns that a monitor reads of its own view."""
    plan = plan_monitor(definition, Scope(contract(), object_type_of(definition, contract())), physical)
    keys = [plan.scope.object_type.primary_key, *(link.link.source_keys for link in plan.links)]
    hashed = {name for key in keys for name in key}
    values = [item.name for item in plan.member.properties if item.name not in hashed]
    # Half of the hashes are odd, so the sum cannot be known before they are.
    selections = [f"COUNT({_column(name)})" for name in values]
    selections += [f"SUM(HASH({', '.join(map(_column, key))}) % 2)" for key in keys]
    return _over_members(definition, physical, selections)


def type_rule(definition: MonitorDefinition, column: str, physical: PhysicalColumns) -> str:
    """The type rule on one column that a monitor reads, and nothing else."""
    return _over_members(definition, physical, [f"COUNT({_column(column)})"])


def bare_cast(view: str, column: str, physical_type: str) -> str:
    """The engine's own cast of a column, which is no type rule: it would read `1_000` as 1000."""
    return f"SELECT COUNT(TRY_CAST({column} AS {physical_type})) FROM {view}"


def _over_members(definition: MonitorDefinition, physical: PhysicalColumns, selections: Sequence[str]) -> str:
    plan = plan_monitor(definition, Scope(contract(), object_type_of(definition, contract())), physical)
    alone = replace(plan, links=())
    member = relation_names(alone)[alone.member.relation]
    body = f"SELECT {', '.join(selections)} FROM {member} AS m"
    return with_clause(relations_of(alone, _DIALECT, kind=QuickRules), body, _DIALECT)


def _column(name: str) -> str:
    return f"m.{_DIALECT.identifier(name)}"
