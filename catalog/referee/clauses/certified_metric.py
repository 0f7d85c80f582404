"""Clause `certified_metric`: what is measured is a metric of the contract, and bears no metric's name if it is not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.aggregates import is_picking, own_nodes
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.join_graph import literal_of
from catalog.referee.measures import Measured, Measures
from catalog.referee.statement import Objection, Statement

SCALES = frozenset({"1", "10", "100", "1000", "1000000", "1000000000"})
"""By what a figure may be multiplied or divided: it stays the same figure, in per cent, thousands or millions."""


def certified_metric(statement: Statement, contract: Contract) -> Objection | None:
    """Of a contract with metrics, every aggregate is one of them, and what bears a metric's name is it.

    MIN, MAX, BOOL_AND and BOOL_OR give a value that some row has; COUNT(DISTINCT ...) of what is no figure counts
    values, and COUNT over groups counts groups: none of them is a measure. A figure is not added to, and is scaled by
    powers of ten alone.
    """
    if not contract.metrics:
        return None
    measures = Measures(contract, Grain(contract))
    for found in measures.all_of(statement):
        if found.metric is None and not _is_no_measure(found, measures):
            message = f"{type(found.aggregate).__name__.upper()} of that is no metric of the contract"
            return statement.objection(
                Clause.CERTIFIED_METRIC, message, found.aggregate, suggestion=_instead(found, contract)
            )
        if (changed := _changed(found.aggregate)) is not None:
            message = "a metric is not changed by a figure that the statement brings along"
            return statement.objection(Clause.CERTIFIED_METRIC, message, changed)
    return _misnamed(statement, measures)


def metrics_used(statement: Statement, contract: Contract) -> list[str]:
    """The names of the metrics that a resolved statement takes, sorted."""
    measures = Measures(contract, Grain(contract))
    return sorted({found.metric.name for found in measures.all_of(statement) if found.metric is not None})


def _is_no_measure(found: Measured, measures: Measures) -> bool:
    return (
        is_picking(found.aggregate)
        or measures.is_count_of_values(found.scope, found.aggregate)
        or measures.is_count_of_groups(found.scope, found.aggregate)
        or measures.is_sum_of_measures(found.scope, found.aggregate)
    )


def _changed(aggregate: exp.Expr) -> exp.Expr | None:
    """The arithmetic that puts a figure of the statement's own to an aggregate."""
    node = aggregate
    while node.parent is not None and not isinstance(node.parent, exp.Query | exp.Alias):
        above = node.parent
        if isinstance(above, exp.Filter | exp.Window) and above.this is not node:
            return None
        if isinstance(above, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod):
            other = above.right if above.left is node else above.left
            if _is_constant(other) and not _keeps(above, node, literal_of(other)):
                return above
        node = above
    return None


def _is_constant(value: exp.Expr) -> bool:
    return value.find(exp.Column, exp.Query, exp.Star, exp.Interval) is None


def _keeps(above: exp.Expr, node: exp.Expr, number: str | None) -> bool:
    """Whether arithmetic with a literal leaves a figure what it is: scaled, or a ratio held against one."""
    if number is None:
        return False
    if isinstance(above, exp.Mul | exp.Div):
        return _plain(number) in SCALES
    ratio = isinstance(node.unnest(), exp.Div) and _plain(number) == "1"
    return isinstance(above, exp.Add | exp.Sub) and (ratio or _plain(number) == "0")


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def _misnamed(statement: Statement, measures: Measures) -> Objection | None:
    named = {metric.name.lower(): metric for metric in measures.contract.metrics}
    columns = {part.lower() for item in measures.contract.object_types for part in item.columns}
    for scope, part in _outputs(statement):
        metric = named.get(part.alias_or_name.lower())
        if metric is None or metric.name.lower() in columns:
            continue
        if not measures.is_value(scope, part, metric):
            message = (
                f"it bears the name of metric '{metric.name}', which is {metric.expression} of {metric.object_type}"
            )
            return statement.objection(Clause.CERTIFIED_METRIC, message, part)
    return None


def _outputs(statement: Statement) -> Iterator[tuple[Scope, exp.Expr]]:
    for scope in statement.scopes:
        if isinstance(scope.expression, exp.Select):
            yield from ((scope, part) for part in scope.expression.selects)


def _instead(found: Measured, contract: Contract) -> str | None:
    """The metrics over what the aggregate reads, as the contract writes them."""
    tables = [node for node in own_nodes(found.scope.expression) if isinstance(node, exp.Table)]
    views = {f"{table.db}.{table.name}".lower() for table in tables}
    near = {item.name for item in contract.object_types if item.view.lower() in views}
    listed = [f"{metric.name} = {metric.expression}" for metric in contract.metrics if metric.object_type in near]
    return ", ".join(listed[:5]) or None
