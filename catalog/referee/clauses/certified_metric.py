"""Clause `certified_metric`: what is measured is a metric of the contract, and bears no metric's name if it is not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract, Metric
from catalog.metric_records import EmptyRule
from catalog.referee.aggregates import is_picking, leaves, numbering, values_behind
from catalog.referee.certified import Clause
from catalog.referee.changed_figures import Figures, is_constant
from catalog.referee.derived import Derived
from catalog.referee.grain import Grain
from catalog.referee.lineage import sources
from catalog.referee.measures import Measured, Measures
from catalog.referee.metric_names import misnamed, outputs_of
from catalog.referee.metric_words import certified_sql
from catalog.referee.statement import Objection, Statement


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
        if not found.metrics and not _is_no_measure(found, measures, derived):
            message = f"{type(found.aggregate).__name__.upper()} of that is no metric of the contract"
            return statement.objection(
                Clause.CERTIFIED_METRIC, message, found.aggregate, suggestion=_instead(found, contract)
            )
        if (numbered := _numbered(found, measures)) is not None:
            message = f"{type(found.aggregate).__name__.upper()} of row numbers counts rows, and is no metric"
            return statement.objection(Clause.CERTIFIED_METRIC, message, numbered)
        for metric in found.metrics:
            if (filled := _filled(found.aggregate, metric)) is not None:
                message = f"nothing stands in for '{metric.name}' over no row: its empty_rule is no_data"
                return statement.objection(Clause.CERTIFIED_METRIC, message, filled)
    figures = Figures(measures.grain)
    for scope in statement.scopes:
        for change in figures.changes(scope):
            return statement.objection(
                Clause.CERTIFIED_METRIC, change.message, change.node, suggestion=change.suggestion
            )
    return misnamed(statement, derived)


def metrics_used(statement: Statement, contract: Contract) -> list[str]:
    """The names of the metrics that a resolved statement takes, sorted."""
    measures = Measures(contract, Grain(contract))
    taken = {metric.name for found in measures.all_of(statement) for metric in found.metrics}
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


def _numbered(found: Measured, measures: Measures) -> exp.Expr | None:
    """The aggregate, where it is taken over what an inner query numbered rows by."""
    known = measures.grain.graph(found.scope).sources
    for leaf in leaves(found.aggregate):
        if isinstance(leaf, exp.Column) and leaf.table in known:
            for _, value in values_behind(known[leaf.table], leaf.name):
                if numbering(value) is not None:
                    return found.aggregate
    return None


def _filled(aggregate: exp.Expr, metric: Metric) -> exp.Expr | None:
    """The COALESCE that puts a figure of the statement's own in the place of nothing, where the contract says no."""
    if metric.empty_rule is not EmptyRule.NO_DATA:
        return None
    node = aggregate.parent
    while isinstance(node, exp.Paren | exp.Filter | exp.Window | exp.Round | exp.Cast):
        node = node.parent
    filled = isinstance(node, exp.Coalesce) and all(is_constant(value) for value in node.expressions)
    return node if filled else None


def _instead(found: Measured, contract: Contract) -> str | None:
    """The metrics over what the aggregate reads, as a question says them; those of its own function come first."""
    grain = Grain(contract)
    views = {view for source in sources(found.scope).values() for view in grain.views(source)}
    near = {item.name for item in contract.object_types if item.view.lower() in views}
    own = sorted(
        (metric for metric in contract.metrics if metric.object_type in near),
        key=lambda metric: type(found.aggregate).__name__.lower() not in metric.aggregate.function.value,
    )
    listed = [f"{certified_sql(metric, contract)} AS {metric.name}" for metric in own]
    if isinstance(found.aggregate, exp.Avg):
        listed = [*_means(near, contract), *listed]
    return " or ".join(listed[:5]) or None


def _means(near: set[str], contract: Contract) -> Iterator[str]:
    """The derived metrics over these object types, which an average is most often meant for."""
    for metric in contract.derived_metrics:
        parts = [contract.metric(name) for name in metric.derivation.parts]
        if all(isinstance(part, Metric) and part.object_type in near for part in parts):
            yield f"{certified_sql(metric, contract)} AS {metric.name}"
