"""Aggregates of a resolved statement: which there are, and which values they are taken over."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.lineage import Origin, Source, origin, sources

# Not sqlglot's own class of aggregates, which holds LAG and FIRST_VALUE too.
_KINDS = (
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.PercentileCont, exp.PercentileDisc,
    exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr, exp.LogicalAnd, exp.LogicalOr,
    exp.GroupConcat,
)  # fmt: skip
_NUMBERING = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
_PICKING = (exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node makes one value of many rows."""
    return isinstance(node, _KINDS)


def is_picking(node: exp.Expr) -> bool:
    """Whether an aggregate gives a value that some row has, so that a repeated row changes nothing."""
    return isinstance(node, _PICKING)


def is_distinct(aggregate: exp.Expr) -> bool:
    """Whether an aggregate takes each value once."""
    return isinstance(aggregate.this, exp.Distinct)


def own_nodes(query: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of a query itself, and of no query inside it."""
    return query.walk(prune=lambda node: isinstance(node, exp.Query) and node is not query)


def own_aggregates(query: exp.Expr) -> list[exp.Expr]:
    """The aggregates that a query itself takes, in any of its clauses."""
    return [node for node in own_nodes(query) if is_aggregate(node)]


def holds_aggregate(value: exp.Expr) -> bool:
    """Whether a value is worked out of an aggregate of its own query."""
    return any(is_aggregate(node) for node in own_nodes(value))


def leaves(value: exp.Expr) -> Iterator[exp.Column | exp.Query]:
    """The columns and subqueries whose values enter a value; what only chooses between values does not."""
    match value:
        case exp.Column() | exp.Query():
            yield value
        case exp.Case():
            for branch in value.args["ifs"]:
                yield from leaves(branch.args["true"])
            if (default := value.args.get("default")) is not None:
                yield from leaves(default)
        case exp.Filter() | exp.Window():
            yield from leaves(value.this)
        case _:
            for child in value.iter_expressions():
                yield from leaves(child)


def output_of(query: exp.Expr, column: str) -> exp.Expr | None:
    """What a SELECT puts out under a name; None where that is not told."""
    if not isinstance(query, exp.Select):
        return None
    named = [part for part in query.selects if part.alias_or_name.lower() == column.lower()]
    return named[0].unalias() if len(named) == 1 else None


def output_names(query: exp.Expr) -> list[str]:
    """The names of what a query puts out, in lower case and in their order."""
    return [name.lower() for name in query.named_selects] if isinstance(query, exp.Query) else []


def branches(source: Scope) -> list[Scope]:
    """The scopes of a set operation's SELECTs, in their order; of a SELECT itself alone."""
    inner = source.set_operation_scopes or []
    return [found for branch in inner for found in branches(branch)] if inner else [source]


def outputs_of(source: Scope, column: str) -> list[tuple[Scope, exp.Expr]]:
    """What each branch of a query puts out at the place of a name, in lower case; nothing where that is not told."""
    names, found = output_names(source.expression), list[tuple[Scope, exp.Expr]]()
    if names.count(column) != 1:
        return []
    for branch in branches(source):
        query = branch.expression
        if not isinstance(query, exp.Select) or len(query.selects) != len(names):
            return []
        found.append((branch, query.selects[names.index(column)]))
    return found


def is_grouped(query: exp.Select) -> bool:
    """Whether the rows of a SELECT are groups."""
    return bool(query.args.get("group")) or any(
        is_aggregate(node) and not _in_window(node, query) for node in own_nodes(query)
    )


def _in_window(node: exp.Expr, query: exp.Expr) -> bool:
    parent = node.parent
    if isinstance(parent, exp.Filter):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node and parent is not query


def inner_aggregates(source: Source, column: str) -> Iterator[exp.Expr]:
    """The aggregates that a column of a query is worked out of, however often it was handed on."""
    for _, value in values_behind(source, column):
        yield from (node for node in own_nodes(value) if is_aggregate(node))
        for leaf in leaves(value):
            if isinstance(leaf, exp.Query):
                yield from (node for node in leaf.walk() if is_aggregate(node))


def values_behind(source: Source, column: str) -> Iterator[tuple[Scope, exp.Expr]]:
    """What each query puts out that a column is worked out of, however often it was handed on; nothing of a view."""
    waiting, seen = [(source, column)], set[tuple[int, str]]()
    while waiting:
        here, name = waiting.pop()
        if isinstance(here, exp.Table) or (id(here.expression), name.lower()) in seen:
            continue
        seen.add((id(here.expression), name.lower()))
        for branch in branches(here):
            value = output_of(branch.expression, name) if branch is here else _output_at(here, branch, name)
            if value is None:
                continue
            yield branch, value
            known = sources(branch)
            for leaf in leaves(value):
                if isinstance(leaf, exp.Column) and leaf.table in known:
                    waiting.append((known[leaf.table], leaf.name))


def properties_behind(source: Source, column: str, contract: Contract) -> Iterator[Origin]:
    """The properties by which the values of a column are told apart, also where they only choose between others."""
    if (found := origin(source, column, contract)) is not None:
        yield found
        return
    for branch, value in values_behind(source, column):
        known = sources(branch)
        for inner in value.find_all(exp.Column) if not holds_aggregate(value) else ():
            table = known.get(inner.table)
            place = origin(table, inner.name, contract) if table is not None else None
            if place is not None:
                yield place


def numbering(value: exp.Expr) -> exp.Expr | None:
    """The first function in a value that numbers rows, so that an extreme of it counts them."""
    return next((node for node in own_nodes(value) if isinstance(node, _NUMBERING)), None)


def roundings(aggregate: exp.Expr) -> Iterator[exp.Expr]:
    """What rounds an aggregate in its own query, innermost first."""
    node = aggregate.parent
    while node is not None and not isinstance(node, exp.Alias | exp.Query) and not is_aggregate(node):
        whole = isinstance(node, exp.Cast) and node.to.this in exp.DataType.INTEGER_TYPES
        if whole or isinstance(node, exp.Round | exp.Ceil | exp.Floor | exp.Trunc):
            yield node
        node = node.parent


def _output_at(source: Scope, branch: Scope, column: str) -> exp.Expr | None:
    """What a branch puts out in the place of a set operation's column."""
    names = output_names(source.expression)
    selects = branch.expression.selects if isinstance(branch.expression, exp.Select) else []
    if names.count(column.lower()) != 1 or len(names) != len(selects):
        return None
    found: exp.Expr = selects[names.index(column.lower())]
    return found.unalias()
