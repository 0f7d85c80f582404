"""Which rows a statement leaves to chance: those of a place in an order that it does not state."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.referee.aggregates import is_aggregate, own_nodes

_ORDERED = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue)


def arbitrary_rows(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """What of a statement takes other rows, or puts them in other places, each time that it is run.

    Where a statement itself ends after some rows, it is looked at, and nothing is worked out of them.
    """
    for node in tree.walk():
        if isinstance(node, exp.Limit | exp.Offset):
            query = node.parent
            if isinstance(query, exp.Query) and _is_read(query) and not _has_order(query) and not _is_one_row(query):
                yield node, "LIMIT without ORDER BY takes any rows, and something is worked out of them"
        elif isinstance(node, exp.Window):
            if (message := _window_fault(node)) is not None:
                yield node, message
        elif isinstance(node, exp.Distinct) and node.args.get("on") is not None and not _is_chosen(node):
            yield node, "DISTINCT ON takes any row of each; ORDER BY says which, after what it is distinct on"


def _is_read(query: exp.Query) -> bool:
    """Whether other parts of the statement read what a query gives; EXISTS only asks whether there is any."""
    node: exp.Expr = query
    while isinstance(node.parent, exp.SetOperation | exp.Paren) or (
        isinstance(node.parent, exp.Subquery) and not node.parent.alias
    ):
        node = node.parent
    around = node.parent
    if isinstance(around, exp.Subquery) and isinstance(around.parent, exp.From) and _is_plain(around.parent.parent):
        select = around.parent.parent
        return isinstance(select, exp.Query) and _is_read(select)
    return around is not None and not isinstance(around, exp.Exists)


def _is_plain(select: exp.Expr | None) -> bool:
    """Whether a query shows what it reads, and works nothing out of it."""
    asked = ("where", "group", "having", "joins", "distinct", "qualify", "windows")
    if not isinstance(select, exp.Select) or any(select.args.get(name) for name in asked):
        return False
    return not any(is_aggregate(node) or isinstance(node, exp.Window | exp.Query) for node in _own(select))


def _own(select: exp.Select) -> Iterator[exp.Expr]:
    for part in select.selects:
        yield from part.walk()


def _has_order(query: exp.Query) -> bool:
    inner: exp.Expr | None = query
    while isinstance(inner, exp.Subquery):
        if inner.args.get("order") is not None:
            return True
        inner = inner.this
    return inner is not None and inner.args.get("order") is not None


def _is_one_row(query: exp.Query) -> bool:
    """Whether a query gives one row anyhow."""
    inner = query.unnest()
    grouped = inner.args.get("group") is not None
    return isinstance(inner, exp.Select) and not grouped and any(is_aggregate(node) for node in own_nodes(inner))


def _window_fault(window: exp.Window) -> str | None:
    parts = [window, *_named(window)]
    if any(part.args.get("order") is not None for part in parts):
        return None
    called = window.this
    if isinstance(called, exp.IgnoreNulls | exp.RespectNulls):
        called = called.this
    if isinstance(called, _ORDERED):
        return f"{called.sql_name()} without ORDER BY takes rows in any order"
    if any(part.args.get("spec") is not None for part in parts):
        return "a frame of rows without ORDER BY takes any rows"
    return None


def _named(window: exp.Window) -> Iterator[exp.Expr]:
    select = window.find_ancestor(exp.Select)
    for other in (select.args.get("windows") or ()) if select is not None else ():
        if window.alias and other.name.lower() == window.alias.lower():
            yield other


def _is_chosen(distinct: exp.Distinct) -> bool:
    """Whether it is said which row of each is taken, or nothing else is put out."""
    on, query = distinct.args["on"], distinct.parent
    terms = [term.unnest() for term in (on.expressions if isinstance(on, exp.Tuple) else [on])]
    if not isinstance(query, exp.Select):
        return False
    order = query.args.get("order")
    ordered = [item.this.unnest() for item in order.expressions] if order is not None else []
    return any(term not in terms for term in ordered) or all(part.unalias().unnest() in terms for part in query.selects)
