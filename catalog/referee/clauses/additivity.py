"""Clause `additivity`: nothing is summed that has no sum."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Additivity, Contract, Property, PropertyRole
from catalog.metric_times import time_keys
from catalog.referee.aggregates import (
    holds_aggregate,
    inner_aggregates,
    is_aggregate,
    is_distinct,
    is_picking,
    leaves,
    own_aggregates,
    own_nodes,
    roundings,
)
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain
from catalog.referee.join_graph import JoinGraph, join_graph
from catalog.referee.lineage import Origin, origin
from catalog.referee.measures import Measures
from catalog.referee.meeting_units import Units
from catalog.referee.statement import Objection, Statement
from catalog.referee.summed import Added, Sums


def additivity(statement: Statement, contract: Contract) -> Objection | None:
    """No sum of rates, none of balances over time, no sum or average of identifiers, averages or distinct counts.

    What a metric says of itself counts as what a property does. Amounts of two units are not put together either: not
    added, not compared, and not one in the place of the other.
    """
    grain = Grain(contract)
    measures, sums = Measures(contract, grain), Sums(grain)
    for scope in statement.scopes:
        if not isinstance(scope.expression, exp.Select):
            continue
        graph = join_graph(scope)
        for aggregate in own_aggregates(scope.expression):
            if is_picking(aggregate) or isinstance(aggregate, exp.Count | exp.CountIf | exp.GroupConcat):
                continue
            fault = _reaggregated(aggregate, graph) or _summed(aggregate, graph, contract)
            fault = fault or _over_time(aggregate, scope, sums, contract)
            fault = fault or _measured(aggregate, scope, sums, measures) or _extremes(aggregate, graph, contract)
            if fault is not None:
                return statement.objection(Clause.ADDITIVITY, fault, aggregate)
    units = Units(contract)
    for scope in statement.scopes:
        for found in units.meetings(scope):
            return statement.objection(Clause.ADDITIVITY, found.message, found.node, suggestion=found.suggestion)
    return None


def _reaggregated(aggregate: exp.Expr, graph: JoinGraph) -> str | None:
    name = type(aggregate).__name__.upper()
    for inner in _inner(aggregate, graph):
        if _divides(inner):
            return f"{name} of a ratio says nothing about the rows; divide the sums instead"
        if any(True for _ in roundings(inner)):
            return f"{name} of rounded figures adds up what rounding left out; round once, at the end"
        if not (is_picking(inner) or isinstance(inner, exp.Sum | exp.Count | exp.CountIf)) or is_distinct(inner):
            words = type(inner).__name__.upper() + ("(DISTINCT)" if is_distinct(inner) else "")
            return f"{name} of {words} says nothing about the rows; take it over the rows themselves"
    return None


def _extremes(aggregate: exp.Expr, graph: JoinGraph, contract: Contract) -> str | None:
    """An extreme of each row is that row's value: summed, it would be a measure that no metric certifies."""
    name = type(aggregate).__name__.upper()
    for inner in _inner(aggregate, graph) if contract.metrics else ():
        if is_picking(inner):
            words = type(inner).__name__.upper()
            return f"{name} of {words} is a measure of its own, and no metric of the contract"
    return None


def _inner(aggregate: exp.Expr, graph: JoinGraph) -> Iterator[exp.Expr]:
    for part in aggregate.iter_expressions():
        if holds_aggregate(part):
            yield from (node for node in own_nodes(part) if is_aggregate(node))
    for leaf in leaves(aggregate):
        if isinstance(leaf, exp.Query):
            yield from (node for node in leaf.walk() if is_aggregate(node))
        elif leaf.table in graph.sources:
            yield from inner_aggregates(graph.sources[leaf.table], leaf.name)


def _divides(inner: exp.Expr) -> bool:
    """Whether a division stands between an aggregate and the column that it becomes."""
    node = inner.parent
    while node is not None and not isinstance(node, exp.Alias | exp.Query) and not is_aggregate(node):
        if isinstance(node, exp.Div | exp.IntDiv) and any(is_aggregate(part) for part in own_nodes(node.right)):
            return True
        node = node.parent
    return False


def _summed(aggregate: exp.Expr, graph: JoinGraph, contract: Contract) -> str | None:
    name = type(aggregate).__name__.upper()
    for leaf in leaves(aggregate):
        source = graph.sources.get(leaf.table) if isinstance(leaf, exp.Column) else None
        if source is None or not isinstance(leaf, exp.Column):
            continue
        found = origin(source, leaf.name, contract)
        part = _property(found)
        if found is None or part is None:
            continue
        if part.role is PropertyRole.IDENTIFIER:
            return f"'{part.name}' tells things apart; a {name} of it means nothing"
        if not isinstance(aggregate, exp.Sum):
            continue
        if part.additivity is Additivity.NON_ADDITIVE:
            return f"'{part.name}' is non_additive: it has no sum"
    return None


def _over_time(aggregate: exp.Expr, scope: Scope, sums: Sums, contract: Contract) -> str | None:
    """Which balance is added up over time, where it stands or through what hands it on."""
    for found in sums.added(scope, aggregate) if isinstance(aggregate, exp.Sum) else ():
        part = next((part for part in found.object_type.properties if part.name.lower() == found.column), None)
        if part is not None and part.additivity is Additivity.SEMI_ADDITIVE and not _at_one_time(found, contract):
            return f"'{part.name}' is semi_additive: {_one_time(found, contract)}"
    return None


def _measured(aggregate: exp.Expr, scope: Scope, sums: Sums, measures: Measures) -> str | None:
    """Why a metric has no such sum."""
    strict = [item for item in measures.contract.metrics if item.additivity not in (None, Additivity.ADDITIVE)]
    for metric in strict if isinstance(aggregate, exp.Sum) else ():
        again = not measures.is_metric(scope, aggregate, metric)
        if again and not measures.is_value(scope, aggregate, metric):
            continue
        if metric.additivity is Additivity.NON_ADDITIVE and again:
            return f"metric '{metric.name}' is non_additive: what groups come to is not summed again"
        if metric.additivity is Additivity.SEMI_ADDITIVE:
            added = [found for found in sums.added(scope, aggregate) if found.object_type.name == metric.object_type]
            late = next((found for found in added if not _at_one_time(found, measures.contract)), None)
            if late is not None:
                return f"metric '{metric.name}' is semi_additive: {_one_time(late, measures.contract)}"
    return None


def _one_time(found: Added, contract: Contract) -> str:
    """What is to be done, so that it is summed at one time."""
    times = [name for name in sorted(time_keys(found.object_type, contract)) if name.lower() not in found.held]
    named = " and ".join(times)
    return f"group by {named}, or hold it to one literal" if times else "it is not summed where no key is a date"


def _at_one_time(found: Added, contract: Contract) -> bool:
    """Whether what is added up is of one time: every key that tells times apart has one value."""
    times = {name.lower() for name in time_keys(found.object_type, contract)}
    return bool(times) and times <= found.held


def _property(found: Origin | None) -> Property | None:
    parts = found.object_type.properties if found else ()
    return next((part for part in parts if found and part.name.lower() == found.column), None)
