"""Clause `required_grain`: a metric is told apart by the dimensions that it has, and by no others."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.lineage import origin
from catalog.referee.measures import Measured, Measures
from catalog.referee.statement import Objection, Statement


def required_grain(statement: Statement, contract: Contract) -> Objection | None:
    """Of a metric that names `allowed_dimensions`, groups and windows use these properties alone.

    What hands a key to a correlated subquery groups by it too.
    """
    if not any(metric.allowed_dimensions for metric in contract.metrics):
        return None
    measures = Measures(contract, Grain(contract))
    for found in measures.all_of(statement):
        if found.metric is None or not found.metric.allowed_dimensions:
            continue
        allowed = {name.lower() for name in found.metric.allowed_dimensions}
        graph = measures.grain.graph(found.scope)
        for term in _terms(found):
            for column in term.find_all(exp.Column):
                source = graph.sources.get(column.table)
                place = origin(source, column.name, contract) if source is not None else None
                if place is None or place.column not in allowed:
                    named = ", ".join(found.metric.allowed_dimensions)
                    message = f"metric '{found.metric.name}' is told apart by {named} alone"
                    return statement.objection(Clause.REQUIRED_GRAIN, message, column)
    return None


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
