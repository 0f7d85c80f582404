"""Where the columns of a resolved statement come from: through aliases, CTEs and subqueries to governed views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, ObjectType
from catalog.referee.statement import Statement

Source = exp.Table | Scope
"""What an alias means: a governed view, or a query of the statement itself."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The property that a column is, where it is one as it stands and not worked out of some."""

    object_type: ObjectType
    reading: int
    """Which reading of the view, by identity: one that is joined with itself is read twice."""
    column: str
    """In lower case."""


def items(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT reads, in the order in which it is joined."""
    start = select.args.get("from_")
    joined = [join.this for join in select.args.get("joins") or []]
    return [start.this, *joined] if start else joined


def sources(scope: Scope) -> dict[str, Source]:
    """What each alias of a scope's own FROM means. A CTE in reach that is not read is none of them."""
    if not isinstance(scope.expression, exp.Select):
        return {}
    names = [item.alias_or_name for item in items(scope.expression)]
    found = {name: scope.sources.get(name) for name in names}
    return {name: source for name, source in found.items() if isinstance(source, exp.Table | Scope)}


def owner(scope: Scope, alias: str) -> tuple[Scope, Source] | None:
    """The scope whose FROM `alias` stands in, this one or one around it, and what it means there."""
    inside: Scope | None = scope
    while inside is not None:
        known = sources(inside)
        if alias in known:
            return inside, known[alias]
        inside = inside.parent
    return None


def own_columns(scope: Scope) -> Iterator[exp.Column]:
    """The columns that stand in a scope's query itself, and in no query inside it."""
    query = scope.expression
    for node in query.walk(prune=lambda node: isinstance(node, exp.Query) and node is not query):
        if isinstance(node, exp.Column):
            yield node


def object_of(table: exp.Table, contract: Contract) -> ObjectType | None:
    """The object type whose governed view a table is."""
    view = f"{table.db}.{table.name}".lower()
    return next((item for item in contract.object_types if item.view.lower() == view), None)


def origin(source: Source, column: str, contract: Contract) -> Origin | None:
    """The property that `column` of `source` is; None where it is worked out, or comes from a set operation."""
    if isinstance(source, exp.Table):
        item = object_of(source, contract)
        return Origin(item, id(source), column.lower()) if item else None
    query = source.expression
    if not isinstance(query, exp.Select):
        return None
    named = [part for part in query.selects if part.alias_or_name.lower() == column.lower()]
    inner = named[0].unalias() if len(named) == 1 else None
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Column):
        return None
    found = sources(source).get(inner.table)
    return origin(found, inner.name, contract) if found is not None else None


def columns_read(statement: Statement, contract: Contract) -> dict[tuple[str, str], exp.Column]:
    """View and column, in lower case, of every governed column in any clause of any scope, with its first mention."""
    found: dict[tuple[str, str], exp.Column] = {}
    for scope in statement.scopes:
        for column in scope.columns:
            owned = owner(scope, column.table)
            if owned is not None and isinstance(owned[1], exp.Table):
                table = owned[1]
                found.setdefault((f"{table.db}.{table.name}".lower(), column.name.lower()), column)
    return found
