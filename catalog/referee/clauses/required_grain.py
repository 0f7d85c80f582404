"""Clause `required_grain`: a metric is told apart by the dimensions that it has, and by no others."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.lineage import Origin, origin
from catalog.referee.measures import Measured, Measures
from catalog.referee.metric_words import certified_sql
from catalog.referee.statement import Objection, Statement


def required_grain(statement: Statement, contract: Contract) -> Objection | None:
    """Of a metric that names `allowed_dimensions`, groups and windows use these properties alone.

    What hands a key to a correlated subquery groups by it too. Of a metric that names a `grain`, no group is finer
    than that, and what it counts is counted once each.
    """
    if not any(metric.allowed_dimensions or metric.grain for metric in contract.metrics):
        return None
    measures = Measures(contract, Grain(contract))
    for found in measures.all_of(statement):
        if found.metric is None:
            if (metric := measures.counted_otherwise(found.scope, found.aggregate)) is not None:
                message = f"metric '{metric.name}' counts each {', '.join(metric.grain)} once"
                instead = certified_sql(metric, contract)
                return statement.objection(Clause.REQUIRED_GRAIN, message, found.aggregate, suggestion=instead)
            continue
        objection = _outside_dimensions(statement, found, measures) or _below_grain(statement, found, measures)
        if objection is not None:
            return objection
    return None


def _outside_dimensions(statement: Statement, found: Measured, measures: Measures) -> Objection | None:
    metric = found.metric
    if metric is None or not metric.allowed_dimensions:
        return None
    allowed = {name.lower() for name in metric.allowed_dimensions}
    for column, place in _columns(found, measures):
        if place is None or place.column not in allowed:
            named = ", ".join(metric.allowed_dimensions)
            message = f"metric '{metric.name}' is told apart by {named} alone"
            return statement.objection(Clause.REQUIRED_GRAIN, message, column)
    return None


def _below_grain(statement: Statement, found: Measured, measures: Measures) -> Objection | None:
    metric = found.metric
    item = measures.contract.object_type(metric.object_type) if metric is not None and metric.grain else None
    if metric is None or item is None:
        return None
    finer = {key.lower() for key in item.primary_key} - {key.lower() for key in metric.grain}
    for column, place in _columns(found, measures):
        if place is not None and place.object_type.name == item.name and place.column in finer:
            message = f"metric '{metric.name}' has the grain of {', '.join(metric.grain)}; {place.column} is finer"
            return statement.objection(Clause.REQUIRED_GRAIN, message, column)
    return None


def _columns(found: Measured, measures: Measures) -> Iterator[tuple[exp.Column, Origin | None]]:
    graph = measures.grain.graph(found.scope)
    for term in _terms(found):
        for column in term.find_all(exp.Column):
            source = graph.sources.get(column.table)
            yield column, origin(source, column.name, measures.contract) if source is not None else None


def _terms(found: Measured) -> Iterator[exp.Expr]:
    """What tells the values of an aggregate apart."""
    group = found.scope.expression.args.get("group")
    yield from group.expressions if group else ()
    node = found.aggregate.parent
    while isinstance(node, exp.Filter | exp.Paren):
        node = node.parent
    if isinstance(node, exp.Window):
        yield from node.args.get("partition_by") or ()
        order = node.args.get("order")
        yield from order.expressions if order else ()
    where = found.scope.expression.args.get("where")
    known = set(found.scope.selected_sources)
    for pair in where.find_all(exp.EQ) if where else ():
        inside = [side for side in (pair.left, pair.right) if isinstance(side, exp.Column) and side.table in known]
        outside = [side for side in (pair.left, pair.right) if isinstance(side, exp.Column) and side.table not in known]
        if inside and outside:
            yield from inside
