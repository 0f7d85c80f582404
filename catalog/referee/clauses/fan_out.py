"""Clause `fan_out`: no aggregate takes a row more often than it is there."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.aggregates import (
    holds_aggregate,
    is_distinct,
    is_picking,
    leaves,
    numbering,
    own_aggregates,
    values_behind,
)
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.lineage import object_of
from catalog.referee.statement import Objection, Statement


def fan_out(statement: Statement, contract: Contract) -> Objection | None:
    """What an aggregate is taken over stands once in the rows of its query, by the joins of this very statement.

    MIN, MAX, BOOL_AND, BOOL_OR and COUNT(DISTINCT ...) are not changed by a repeated row. SUM(DISTINCT) and its like
    repair nothing, since they also drop rows that happen to hold equal values.
    """
    grain = Grain(contract)
    for scope in statement.scopes:
        if not isinstance(scope.expression, exp.Select):
            continue
        for aggregate in own_aggregates(scope.expression):
            if (objection := _objection(statement, scope, aggregate, grain)) is not None:
                return objection
    return None


def _objection(statement: Statement, scope: Scope, aggregate: exp.Expr, grain: Grain) -> Objection | None:
    name = type(aggregate).__name__.upper()
    if is_picking(aggregate):
        return _numbered_objection(statement, scope, aggregate, grain)
    if is_distinct(aggregate):
        if isinstance(aggregate, exp.Count | exp.GroupConcat):
            return None
        message = f"{name}(DISTINCT) drops rows that happen to hold equal values"
        return statement.objection(Clause.FAN_OUT, message, aggregate)
    parts = list(aggregate.iter_expressions())
    if any(holds_aggregate(part) for part in parts):
        # A window over groups: the aggregate inside is judged, and groups do not repeat what they are made of.
        if all(grain.extremes_once(scope, part) for part in parts):
            return None
        message = f"{name} is taken over extremes of rows that stand in several groups"
        return statement.objection(Clause.FAN_OUT, message, aggregate)
    value = aggregate.this if isinstance(aggregate, exp.Count) else exp.Tuple(expressions=[p.copy() for p in parts])
    found: str | bool
    if isinstance(value, exp.Star) or not any(True for _ in leaves(value)):
        found = grain.joined_rows_once(scope)
    else:
        found = grain.value_once(scope, value)
    if found is True and _fills_gaps(scope, aggregate, grain):
        message = f"{name} takes the rows of nulls that an outer join puts in for values"
        return statement.objection(Clause.FAN_OUT, message, aggregate)
    if found is True:
        return None
    counts_rows = isinstance(aggregate, exp.Count) and isinstance(value, exp.Star)
    if counts_rows and (kept := _counted(scope, grain)) is not None:
        message = "COUNT(*) also counts the rows that an outer join puts in where it finds none"
        return statement.objection(Clause.FAN_OUT, message, aggregate, suggestion=f"COUNT({kept})")
    by = f", which '{found}' repeats" if isinstance(found, str) else ", which may stand there more than once"
    message = f"{name} is taken over rows{by}"
    return statement.objection(Clause.FAN_OUT, message, aggregate, suggestion=_instead(scope, aggregate, grain))


def _numbered_objection(statement: Statement, scope: Scope, aggregate: exp.Expr, grain: Grain) -> Objection | None:
    """An extreme of row numbers is a count of the rows that were numbered."""
    known = grain.graph(scope).sources
    for leaf in leaves(aggregate):
        if not isinstance(leaf, exp.Column) or leaf.table not in known:
            continue
        for inner, value in values_behind(known[leaf.table], leaf.name):
            if numbering(value) is not None and not grain.joined_rows_once(inner):
                message = f"{type(aggregate).__name__.upper()} of row numbers counts rows that a join repeats"
                return statement.objection(Clause.FAN_OUT, message, aggregate)
    return None


def _fills_gaps(scope: Scope, aggregate: exp.Expr, grain: Grain) -> bool:
    """Whether nulls of an outer join enter as values; a sum may take them for zero."""
    nullable = grain.graph(scope).nullable
    if not any(isinstance(leaf, exp.Column) and leaf.table in nullable for leaf in leaves(aggregate)):
        return False
    for node in aggregate.walk():
        fallbacks: list[exp.Expr] = []
        if isinstance(node, exp.Greatest | exp.Least):
            fallbacks = [value for value in (node.this, *node.expressions) if not any(True for _ in leaves(value))]
        elif isinstance(node, exp.Coalesce):
            fallbacks = node.expressions
        elif isinstance(node, exp.Case) and (default := node.args.get("default")) is not None:
            fallbacks = [default]
        elif isinstance(node, exp.Concat | exp.ConcatWs | exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
            return True
        for fallback in fallbacks:
            zero = isinstance(fallback, exp.Literal) and fallback.is_number and float(fallback.name) == 0
            if not (isinstance(fallback, exp.Null) or (zero and isinstance(aggregate, exp.Sum))):
                return True
    return False


def _counted(scope: Scope, grain: Grain) -> str | None:
    """The key of the relation whose rows stand there once, where an outer join may have found none of it."""
    graph = grain.graph(scope)
    for alias in sorted(graph.nullable):
        source = graph.sources[alias]
        item = object_of(source, grain.contract) if isinstance(source, exp.Table) else None
        if item is not None and len(item.primary_key) == 1 and grain.repeater(graph, alias) is None:
            return f"{alias}.{item.primary_key[0]}"
    return None


def _instead(scope: Scope, aggregate: exp.Expr, grain: Grain) -> str | None:
    """COUNT has a certified way: to count the keys of what is meant."""
    if not isinstance(aggregate, exp.Count):
        return None
    column = aggregate.this
    source = grain.graph(scope).sources.get(column.table) if isinstance(column, exp.Column) else None
    item = object_of(source, grain.contract) if isinstance(source, exp.Table) else None
    if item is None or len(item.primary_key) != 1:
        return None
    return f"COUNT(DISTINCT {column.table}.{item.primary_key[0]})"
