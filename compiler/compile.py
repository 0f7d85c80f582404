"""`compile_monitor`: a definition to three certified queries; `compile_groups`: to three over groups that are held."""

from __future__ import annotations

from datetime import datetime

from catalog.contract import Contract, ObjectType
from catalog.expressions.checking import Scope
from catalog.referee.certified import Purpose
from catalog.referee.certify import certified_or_fault
from compiler.compiled import CompiledMonitor, HeldGroups, MeasuredQuery, MemberQuery
from compiler.dialects.dialect import Dialect
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.groups.compile import GroupedMonitor, plan_grouped
from compiler.held import with_baselines, with_groups
from compiler.plan import PhysicalColumns, plan_monitor
from compiler.queries import MemberSelect, Queries
from compiler.quick_rules import QuickRules
from monitors.definition import MonitorDefinition

DIALECTS: dict[str, type[Dialect]] = {DuckDBDialect.name: DuckDBDialect}
"""Every dialect that monitors compile to, by its name."""


def compile_monitor(
    definition: MonitorDefinition,
    contract: Contract,
    physical: PhysicalColumns | None = None,
    dialect_name: str = DuckDBDialect.name,
    at: datetime | None = None,
) -> CompiledMonitor:
    """Compiles a definition that loading found no fault with.

    Args:
        definition: the monitor.
        contract: the contract that it was checked against.
        physical: physical column types of the views, by which needless casts are left out; without
            them every column is read through its text, which gives the same verdicts.
        dialect_name: a key of `DIALECTS`.
        at: the slot's instant, with an offset, which `now()`, `today()` and `age(...)` look at.

    Raises:
        LookupError: a condition looks at the clock, and there is no `at`.
    """
    dialect = DIALECTS[dialect_name]()
    grouped = _planned(definition, contract, physical, at, dialect)
    queries = Queries(grouped.plan, dialect, grouped.members)
    seen = contract if grouped.held is None else with_baselines(contract, grouped.held.columns)
    return CompiledMonitor(
        definition=definition,
        plan=grouped.plan,
        breach=certified_member_query(queries.breach(), seen, dialect),
        no_data=certified_member_query(queries.no_data(), seen, dialect),
        population=certified_or_fault(queries.population(), seen, Purpose.MONITOR, dialect.name),
        measured=_measured_query(definition, grouped, contract, dialect),
    )


def compile_others(
    definition: MonitorDefinition,
    contract: Contract,
    physical: PhysicalColumns | None = None,
    dialect_name: str = DuckDBDialect.name,
    at: datetime | None = None,
) -> MemberQuery:
    """Compiles the query of every member that does not breach, each `source_stale`.

    It runs beside the others of a monitor, whose baselines are held then.

    Raises:
        LookupError: as `compile_monitor` does.
    """
    dialect = DIALECTS[dialect_name]()
    grouped = _planned(definition, contract, physical, at, dialect)
    seen = contract if grouped.held is None else with_baselines(contract, grouped.held.columns)
    return certified_member_query(Queries(grouped.plan, dialect, grouped.members).others(), seen, dialect)


def _planned(
    definition: MonitorDefinition,
    contract: Contract,
    physical: PhysicalColumns | None,
    at: datetime | None,
    dialect: Dialect,
) -> GroupedMonitor:
    scope = Scope(contract, object_type_of(definition, contract), definition.baselines)
    if definition.grouping is None:
        return GroupedMonitor(plan_monitor(definition, scope, physical, at), [])
    return plan_grouped(definition, definition.grouping, scope, physical, at, dialect)


def compile_groups(
    definition: MonitorDefinition,
    contract: Contract,
    physical: PhysicalColumns | None = None,
    dialect_name: str = DuckDBDialect.name,
    at: datetime | None = None,
) -> HeldGroups:
    """Compiles a grouped monitor to one query that makes its groups, and its readable queries over what they are.

    Raises:
        LookupError: it is not grouped; or as `compile_monitor` does.
    """
    if definition.grouping is None:
        raise LookupError(f"monitor {definition.id} has no groups")
    dialect = DIALECTS[dialect_name]()
    scope = Scope(contract, object_type_of(definition, contract), definition.baselines)
    grouped = plan_grouped(definition, definition.grouping, scope, physical, at, dialect, hold=QuickRules)
    queries = Queries(grouped.plan, dialect, grouped.members)
    seen = with_groups(contract, grouped.columns)
    beside = seen if grouped.held is None else with_baselines(seen, grouped.held.columns)
    return HeldGroups(
        groups=certified_or_fault(grouped.groups, contract, Purpose.MONITOR, dialect.name),
        breach=certified_member_query(queries.breach(), beside, dialect),
        no_data=certified_member_query(queries.no_data(), beside, dialect),
        population=certified_or_fault(queries.population(), beside, Purpose.MONITOR, dialect.name),
        measured=_measured_query(definition, grouped, seen, dialect),
    )


def _measured_query(
    definition: MonitorDefinition, grouped: GroupedMonitor, contract: Contract, dialect: Dialect
) -> MeasuredQuery | None:
    if grouped.measured is None or grouped.held is None or definition.grouping is None:
        return None
    query = certified_or_fault(grouped.measured, contract, Purpose.MONITOR, dialect.name)
    keys = tuple(key.property for key in definition.grouping.keys)
    return MeasuredQuery(query, keys, grouped.measures, grouped.held)


def certified_member_query(select: MemberSelect, contract: Contract, dialect: Dialect) -> MemberQuery:
    """A query with one row per member, certified."""
    return MemberQuery(certified_or_fault(select.sql, contract, Purpose.MONITOR, dialect.name), select.columns)


def object_type_of(definition: MonitorDefinition, contract: Contract) -> ObjectType:
    """The object type that a monitor watches.

    Raises:
        LookupError: the contract has none of that name, which loading finds.
    """
    object_type = contract.object_type(definition.object)
    if object_type is None:
        raise LookupError(f"the contract has no object type {definition.object}")
    return object_type
