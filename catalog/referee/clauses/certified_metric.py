"""Clause `certified_metric`: what is measured is a metric of the contract, and bears no metric's name if it is not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract, Metric
from catalog.metric_records import EmptyRule
from catalog.referee.aggregates import is_picking, own_nodes
from catalog.referee.certified import Clause
from catalog.referee.derived import Derived
from catalog.referee.grain import Grain
from catalog.referee.join_graph import literal_of
from catalog.referee.measures import Measured, Measures
from catalog.referee.metric_names import misnamed, outputs_of
from catalog.referee.metric_words import certified_sql
from catalog.referee.statement import Objection, Statement

SCALES = frozenset({"1", "10", "100", "1000", "1000000", "1000000000"})
"""By what a figure may be multiplied or divided: it stays the same figure, in per cent, thousands or millions."""


def certified_metric(statement: Statement, contract: Contract) -> Objection | None:
    """Of a contract with metrics, every aggregate is one of them, and what bears a metric's name is it.

    MIN, MAX, BOOL_AND and BOOL_OR give a value that some row has; COUNT(DISTINCT ...) of what is no figure counts
    values, and COUNT over groups counts groups: none of them is a measure. A figure is not added to, and is scaled by
    powers of ten alone. Where the contract says so, nothing stands in for a sum of nothing, and a metric is rounded to
    the digits that are shown. COUNT of what a metric counts at another grain is left to `required_grain`.
    """
    if not contract.metrics:
        return None
    measures = Measures(contract, Grain(contract))
    derived = Derived(contract, measures)
    for found in measures.all_of(statement):
        if found.metric is None and not _is_no_measure(found, measures, derived):
            message = f"{type(found.aggregate).__name__.upper()} of that is no metric of the contract"
            return statement.objection(
                Clause.CERTIFIED_METRIC, message, found.aggregate, suggestion=_instead(found, contract)
            )
        if (changed := _changed(found.aggregate)) is not None:
            message = "a metric is not changed by a figure that the statement brings along"
            return statement.objection(Clause.CERTIFIED_METRIC, message, changed)
        if found.metric is not None and (filled := _filled(found.aggregate, found.metric)) is not None:
            message = f"nothing stands in for '{found.metric.name}' over no row: its empty_rule is no_data"
            return statement.objection(Clause.CERTIFIED_METRIC, message, filled)
    return misnamed(statement, derived)


def metrics_used(statement: Statement, contract: Contract) -> list[str]:
    """The names of the metrics that a resolved statement takes, sorted."""
    measures = Measures(contract, Grain(contract))
    taken = {found.metric.name for found in measures.all_of(statement) if found.metric is not None}
    named = {metric.name.lower(): metric.name for metric in contract.derived_metrics}
    outputs = {output.name.lower() for output in outputs_of(statement)} if named else set()
    return sorted(taken | {named[name] for name in outputs & named.keys()})


def _is_no_measure(found: Measured, measures: Measures, derived: Derived) -> bool:
    return (
        is_picking(found.aggregate)
        or measures.is_count_of_values(found.scope, found.aggregate)
        or measures.is_count_of_groups(found.scope, found.aggregate)
        or measures.is_sum_of_measures(found.scope, found.aggregate)
        or derived.is_mean(found.scope, found.aggregate)
        or measures.counted_otherwise(found.scope, found.aggregate) is not None
    )


def _filled(aggregate: exp.Expr, metric: Metric) -> exp.Expr | None:
    """The COALESCE that puts a figure of the statement's own in the place of nothing, where the contract says no."""
    if metric.empty_rule is not EmptyRule.NO_DATA:
        return None
    node = aggregate.parent
    while isinstance(node, exp.Paren | exp.Filter | exp.Window | exp.Round | exp.Cast):
        node = node.parent
    filled = isinstance(node, exp.Coalesce) and all(_is_constant(value) for value in node.expressions)
    return node if filled else None


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


def _instead(found: Measured, contract: Contract) -> str | None:
    """The metrics over what the aggregate reads, as the contract writes them."""
    tables = [node for node in own_nodes(found.scope.expression) if isinstance(node, exp.Table)]
    views = {f"{table.db}.{table.name}".lower() for table in tables}
    near = {item.name for item in contract.object_types if item.view.lower() in views}
    listed = [f"{metric.name} = {metric.expression}" for metric in contract.metrics if metric.object_type in near]
    if isinstance(found.aggregate, exp.Avg):
        listed = [*_means(near, contract), *listed]
    return ", ".join(listed[:5]) or None


def _means(near: set[str], contract: Contract) -> Iterator[str]:
    """The derived metrics over these object types, which an average is most often meant for."""
    for metric in contract.derived_metrics:
        parts = [contract.metric(name) for name in metric.derivation.parts]
        if all(isinstance(part, Metric) and part.object_type in near for part in parts):
            yield f"{metric.name} = {certified_sql(metric, contract)}"
