"""What an answer could not take in, and where its rows were read: the statements beside the answer's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from catalog.contract import Contract, Domain, ObjectType, Property, Sensitivity
from catalog.datatypes import Kind
from catalog.metric_records import NullRule
from resolver.drafting import NAMED
from resolver.measuring import bases_of, find_metric
from resolver.outcome import Absence, ResultTable, cell_json
from resolver.plan import Filter, Measure, Operator, SemanticPlan
from resolver.plan_sql import PlanSql, causes_sql, plan_sql
from resolver.running import run_own
from resolver.state import Parts, Weighed
from resolver.vocabulary import Linked
from trivet.canonical import Json
from trivet.verdicts import Cause, Reason, badge

MOST_PLACES = 100
"""Places of provenance that an outcome shows at most."""


def absence_of(winner: Weighed, parts: Parts) -> Absence:
    """The rows that belong to the question and that its answer could not take in.

    Of a plan it is counted by the complement of its own condition. Of SQL that a model wrote nobody
    knows the condition, so every row counts that has no value in a column that the SQL reads.

    Raises:
        EngineFault: a statement cannot be run.
    """
    proposed = winner.candidate.proposed
    if isinstance(proposed, SemanticPlan):
        return _of_plan(proposed, parts)
    return _of_sql(winner.sql or "", parts)


def unknown_entity(plan: SemanticPlan, linked: Linked | None, parts: Parts) -> str | None:
    """The first name that a plan filters by and that no row bears, found by looking it up.

    What the question's words were linked to was found in the data already.

    Raises:
        EngineFault: it cannot be looked up.
    """
    object_type = parts.contract.object_type(plan.object)
    targets = [target for span in linked.spans for target in span.targets] if linked is not None else []
    found = {(target.property, target.value) for target in targets if target.object == plan.object}
    for item in plan.filters:
        declared = object_type.find_property(item.property) if object_type else None
        if declared is None or declared.type.kind is not Kind.TEXT:
            continue
        for value in item.values:
            if (item.property, value) in found:
                continue
            domain = _open_domain(declared, parts.contract)
            # What should exist is an entity, even if no row has it yet.
            if _holds(plan.object, item.property, value, parts):
                continue
            if domain is not None and _holds(domain.object, domain.property, value, parts):
                continue
            listed = f", and neither has its domain {domain}" if domain is not None else ""
            return f"{item.property.replace('_', ' ')} '{value}'{listed}"
    return None


def left_unknown(plan: SemanticPlan, absence: Absence, parts: Parts) -> str | None:
    """Why a metric has no figure, where the contract says that a single row without a value leaves it unknown."""
    metric = find_metric(parts.contract, plan.metric)
    strict = [base for base in bases_of(metric, parts.contract) if base.null_rule is NullRule.UNKNOWN] if metric else []
    lacking = absence.reasons.get(Reason.LEFT_NULL.value)
    if not strict or not lacking:
        return None
    return f"{strict[0].name} is unknown as long as a row has no value, as the contract says, and {lacking} have none"


def _open_domain(declared: Property, contract: Contract) -> Domain | None:
    """The domain of a property, where anybody may ask what it holds."""
    domain = declared.domain
    found = contract.object_type(domain.object) if domain is not None else None
    listed = found.find_property(domain.property) if found is not None and domain is not None else None
    return domain if listed is not None and listed.sensitivity is Sensitivity.NONE else None


def _holds(object_name: str, name: str, value: str, parts: Parts) -> bool:
    """Whether a row has a value."""
    probe = SemanticPlan(object_name, Measure.COUNT, filters=(Filter(name, Operator.EQUAL, (value,)),))
    return _first(run_own(plan_sql(probe, parts.contract).answer, parts.contract, parts.engine)) > 0


def provenance_of(proposed: object, parts: Parts) -> tuple[Mapping[str, Json], ...]:
    """Where the rows of a plan's answer were read; nothing for other proposals.

    Raises:
        EngineFault: it cannot be looked up.
    """
    if not isinstance(proposed, SemanticPlan):
        return ()
    sql = plan_sql(proposed, parts.contract).provenance
    if sql is None:
        return ()
    table = run_own(sql, parts.contract, parts.engine)
    rows = table.rows[:MOST_PLACES]
    return tuple(
        {"of": proposed.object, **dict(zip(table.columns, map(cell_json, row), strict=True))}
        for row in rows
        if any(cell is not None for cell in row)
    )


def _of_plan(plan: SemanticPlan, parts: Parts) -> Absence:
    statements = plan_sql(plan, parts.contract)
    if statements.complement is None or statements.complement_count is None:
        return Absence()
    table = run_own(statements.complement, parts.contract, parts.engine)
    if not table.rows:
        return Absence()
    reasons = Counter(str(row[-2]) for row in table.rows)
    if table.truncated:
        counted = _first(run_own(statements.complement_count, parts.contract, parts.engine))
        reasons = Counter({max(reasons, key=lambda reason: reasons[reason]): counted})
    keys = [" ".join(str(cell) for cell in row[:-2]) for row in table.rows]
    total = sum(reasons.values())
    misread = _misread(plan, statements, parts)
    return Absence(badge(0, total), dict(sorted(reasons.items())), tuple(keys[:NAMED]), misread)


def _misread(plan: SemanticPlan, statements: PlanSql, parts: Parts) -> str | None:
    """What a metric took in although it is no value: its aggregate is the view's, which knows NULL alone."""
    if statements.complement_causes is None:
        return None
    table = run_own(statements.complement_causes, parts.contract, parts.engine)
    left_out = {None, Cause.NULL.value, *_left_out_by_metric(plan, parts.contract)}
    odd = {str(cause): int(str(count)) for cause, count in table.rows if cause not in left_out}
    if not odd:
        return None
    told = ", ".join(f"{count} {cause}" for cause, count in odd.items())
    return f"the view has cells that are no values ({told}), and {plan.metric} as certified cannot leave them out"


def _left_out_by_metric(plan: SemanticPlan, contract: Contract) -> Iterator[str]:
    """What a metric's aggregate leaves out by itself: NaN and infinity, unless a filter or a group takes them in."""
    object_type = contract.object_type(plan.object)
    names = [*(item.property for item in plan.filters), *([plan.by] if plan.by else [])]
    declared = [object_type.find_property(name) for name in names] if object_type else []
    if not any(item is not None and item.type.kind is Kind.DOUBLE for item in declared):
        yield Cause.NOT_FINITE.value


def _of_sql(sql: str, parts: Parts) -> Absence:
    total = 0
    for object_type, declared in _columns_read(sql, parts.contract):
        table = run_own(causes_sql(object_type, declared, parts.contract), parts.contract, parts.engine)
        total += sum(int(str(row[1])) for row in table.rows)
    return Absence(badge(0, total), {Reason.LEFT_NULL.value: total}) if total else Absence()


def _columns_read(sql: str, contract: Contract) -> list[tuple[ObjectType, Property]]:
    """The properties that a certified statement names; one that only shares its name with one counts too."""
    words = set(re.findall(r"\w+", sql.lower()))
    return [
        (object_type, declared)
        for object_type in contract.object_types
        if object_type.view.rpartition(".")[2].lower() in words
        for declared in object_type.properties
        if declared.name.lower() in words and declared.sensitivity is Sensitivity.NONE
    ]


def _first(table: ResultTable) -> int:
    cell: Any = table.rows[0][0]
    return int(cell)
