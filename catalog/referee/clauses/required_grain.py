"""Clause `required_grain`: a metric is told apart by the dimensions that it has, and by no others."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract, Metric
from catalog.referee.aggregates import properties_behind
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.lineage import Source, origin
from catalog.referee.measures import Measured, Measures
from catalog.referee.metric_words import certified_sql
from catalog.referee.statement import Objection, Statement

Told = tuple[exp.Column, Source | None]
"""A column by which values are told apart, and its relation."""


def required_grain(statement: Statement, contract: Contract) -> Objection | None:
    """Of a metric that names `allowed_dimensions`, groups and windows use these properties alone.

    What hands a key to a correlated subquery groups by it too, and so do several choices of rows beside each other. Of
    a metric that names a `grain`, no group is finer than that, and what it counts is counted once each.
    """
    if not any(metric.allowed_dimensions or metric.grain for metric in contract.metrics):
        return None
    measures = Measures(contract, Grain(contract))
    every = list(measures.all_of(statement))
    beside = _beside(every)
    for found in every:
        if not found.metrics:
            if (metric := measures.counted_otherwise(found.scope, found.aggregate)) is not None:
                message = f"metric '{metric.name}' counts each {', '.join(metric.grain)} once"
                instead = certified_sql(metric, contract)
                return statement.objection(Clause.REQUIRED_GRAIN, message, found.aggregate, suggestion=instead)
            continue
        for metric in found.metrics:
            columns = [
                *_columns(found, measures),
                *(_choices(found, measures) if (id(found.scope), metric.name) in beside else ()),
            ]
            objection = _outside_dimensions(statement, columns, metric, measures)
            objection = objection or _below_grain(statement, columns, metric, measures)
            if objection is not None:
                return objection
    return None


def _outside_dimensions(
    statement: Statement, columns: list[Told], metric: Metric, measures: Measures
) -> Objection | None:
    if not metric.allowed_dimensions:
        return None
    allowed = {name.lower() for name in metric.allowed_dimensions}
    for column, source in columns:
        place = origin(source, column.name, measures.contract) if source is not None else None
        if place is None or place.column not in allowed:
            named = ", ".join(metric.allowed_dimensions)
            message = f"metric '{metric.name}' is told apart by {named} alone"
            return statement.objection(Clause.REQUIRED_GRAIN, message, column)
    return None


def _below_grain(statement: Statement, columns: list[Told], metric: Metric, measures: Measures) -> Objection | None:
    item = measures.contract.object_type(metric.object_type) if metric.grain else None
    if item is None:
        return None
    finer = {key.lower() for key in item.primary_key} - {key.lower() for key in metric.grain}
    for column, source in columns:
        for place in properties_behind(source, column.name, measures.contract) if source is not None else ():
            if place.object_type.name == item.name and place.column in finer:
                message = f"metric '{metric.name}' has the grain of {', '.join(metric.grain)}; {place.column} is finer"
                return statement.objection(Clause.REQUIRED_GRAIN, message, column)
    return None


def _beside(every: list[Measured]) -> set[tuple[int, str]]:
    """The queries, by identity, that take a metric, by name, over more than one choice of rows."""
    first: dict[tuple[int, str], str] = {}
    found = set()
    for measured in every:
        text = _choice_text(measured.aggregate)
        for metric in measured.metrics:
            place = (id(measured.scope), metric.name)
            if first.setdefault(place, text) != text:
                found.add(place)
    return found


def _choices(found: Measured, measures: Measures) -> Iterator[Told]:
    """What tells apart several figures of one metric that stand beside each other: by what each chooses its rows."""
    graph = measures.grain.graph(found.scope)
    for condition in _conditions(found.aggregate):
        for column in condition.find_all(exp.Column):
            source = graph.sources.get(column.table)
            place = origin(source, column.name, measures.contract) if source is not None else None
            if place is None or measures.is_no_figure(place.object_type.name, place.column):
                yield column, source


def _choice_text(aggregate: exp.Expr) -> str:
    return " ".join(condition.sql() for condition in _conditions(aggregate))


def _conditions(aggregate: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions by which an aggregate chooses rows of its own: those of FILTER and CASE."""
    for case in aggregate.find_all(exp.Case):
        yield from (branch.this for branch in case.args["ifs"])
    if isinstance(aggregate.parent, exp.Filter):
        yield aggregate.parent.expression


def _columns(found: Measured, measures: Measures) -> Iterator[Told]:
    """The columns by which the values of an aggregate are told apart, and the relation of each."""
    graph = measures.grain.graph(found.scope)
    for term in _terms(found):
        for column in term.find_all(exp.Column):
            if (column.table, column.name.lower()) not in graph.fixed:  # One value tells nothing apart.
                yield column, graph.sources.get(column.table)


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
