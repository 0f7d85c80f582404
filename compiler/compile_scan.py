"""`compile_scan` and `compile_held`: several monitors to one pass, and each to queries over what the pass leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest

from catalog.contract import Contract, ObjectType
from catalog.engines.port import HeldName
from catalog.expressions.checking import Scope
from catalog.referee.certified import CertifiedQuery, Purpose
from catalog.referee.certify import certified_or_fault
from compiler.compile import DIALECTS, certified_member_query, object_type_of
from compiler.compiled import CompiledScan, HeldMonitor
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.held import unsettled_type, with_held
from compiler.keys import key_counts
from compiler.marks import MarkNames
from compiler.plan import MonitorPlan, PhysicalColumns, plan_monitor
from compiler.queries import Queries
from compiler.scan import ROWS, Scan
from monitors.definition import MonitorDefinition


def compile_scan(
    definitions: Sequence[MonitorDefinition],
    contract: Contract,
    physical: PhysicalColumns,
    dialect_name: str = DuckDBDialect.name,
    clocks: Sequence[datetime | None] = (),
) -> CompiledScan:
    """Compiles monitors of one object type, each of them once, to one pass over its view.

    `clocks` are the instants of those whose conditions look at the clock, in the order of the definitions.
    """
    object_type = object_type_of(definitions[0], contract)
    dialect = DIALECTS[dialect_name]()
    plans = [
        plan_monitor(definition, Scope(contract, object_type), physical, at)
        for definition, at in zip_longest(definitions, clocks)
    ]
    scan = Scan(plans, dialect)
    ids = tuple(definition.id for definition in definitions)
    beside = with_held(contract, unsettled_type(object_type, ids), scan.tally_columns())

    def certified(sql: str, against: Contract = beside) -> CertifiedQuery:
        return certified_or_fault(sql, against, Purpose.MONITOR, dialect.name)

    return CompiledScan(
        monitors=ids,
        tally=certified(scan.tally(), contract),
        settled=certified(scan.settled_counts()),
        unsettled=certified(scan.unsettled()),
        marked=certified(scan.unsettled_counts()),
        keys=certified(key_counts(plans[0], dialect), contract),
    )


def compile_held(
    definition: MonitorDefinition,
    contract: Contract,
    physical: PhysicalColumns,
    dialect_name: str = DuckDBDialect.name,
    at: datetime | None = None,
) -> HeldMonitor:
    """Compiles one monitor to its readable queries over the rows that a scan left to it."""
    object_type = object_type_of(definition, contract)
    dialect = DIALECTS[dialect_name]()
    held = unsettled_type(object_type, [definition.id])
    beside = with_held(contract, held)
    columns = {**physical, HeldName.UNSETTLED.value: physical[object_type.view]}
    plan = plan_monitor(definition, Scope(beside, held), columns, at)
    marks = MarkNames(definition.id)

    def marked(mark: str) -> Queries:
        narrowed: MonitorPlan = replace(plan, member=replace(plan.member, flag=mark))
        return Queries(narrowed, dialect)

    return HeldMonitor(
        breach=certified_member_query(marked(marks.breach).breach(), beside, dialect),
        no_data=certified_member_query(marked(marks.undecided).no_data(), beside, dialect),
        population=certified_or_fault(marked(marks.left).population(), beside, Purpose.MONITOR, dialect.name),
    )


def compile_row_count(
    object_type: ObjectType, contract: Contract, dialect_name: str = DuckDBDialect.name
) -> CertifiedQuery:
    """One number: the rows of a view."""
    sql = f"SELECT COUNT(*) AS {DIALECTS[dialect_name]().identifier(ROWS)} FROM {object_type.view} AS v"
    return certified_or_fault(sql, contract, Purpose.MONITOR, dialect_name)
