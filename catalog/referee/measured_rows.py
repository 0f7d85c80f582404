"""To which rows an aggregate of a resolved statement is held, and by what it is told apart, in one normal form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.referee.aggregates import output_of
from catalog.referee.grain import Grain, listed_literals
from catalog.referee.join_graph import conjuncts
from catalog.referee.lineage import origin, sources

_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_ENDS = ("limit", "offset", "distinct", "qualify")


@dataclass(frozen=True, slots=True)
class Held:
    """One condition on rows. Names of views play no part, so that it can be compared across them."""

    text: str
    columns: frozenset[str] = frozenset()
    """Of properties alone; empty where it asks something else."""
    values: frozenset[str] | None = None
    """The literals that it lists; None where it is no list."""
    is_range: bool = False
    """Whether it leaves out nothing between two values that it lets through."""


Rows = frozenset[Held]


def rows_of(scope: Scope, grain: Grain, read: Collection[str]) -> Rows:
    """What holds the rows of a SELECT, seen from what it takes out of some of its relations."""
    select, found = scope.expression, set[Held]()
    where, having = select.args.get("where"), select.args.get("having")
    parts = list(conjuncts(where.this if where else None))
    for join in select.args.get("joins") or []:
        parts += conjuncts(join.args.get("on"))
    found |= {_held(scope, part, grain) for part in parts if not _is_key(part)}
    if having is not None:
        found.add(Held(f"having {term_text(scope, having.this, grain)}"))
    graph = grain.graph(scope)
    reached = [grain.reach(graph, alias) for alias in read if alias in graph.sources]
    for alias, source in graph.sources.items():
        if alias in read:
            continue
        if isinstance(source, Scope):
            found.add(Held(f"join {source.expression.sql()}"))
        elif not all(alias in near for near in reached):
            found.add(Held(f"join {source.db}.{source.name}".lower()))
    return frozenset(found)


def rows_within(scope: Scope, grain: Grain, read: Collection[str], seen: set[int] | None = None) -> Rows:
    """What holds the rows of the queries behind some relations of a SELECT; `seen` are those looked at before."""
    found, seen = set[Held](), set() if seen is None else seen
    for alias, source in sources(scope).items():
        if alias not in read or not isinstance(source, Scope) or id(source.expression) in seen:
            continue
        seen.add(id(source.expression))
        query = source.expression
        if not isinstance(query, exp.Select):
            found.add(Held(query.sql()))
            continue
        found |= {Held(f"{key} {part.sql()}") for key in _ENDS if isinstance(part := query.args.get(key), exp.Expr)}
        everything = list(sources(source))
        found |= rows_of(source, grain, everything) | rows_within(source, grain, everything, seen)
    return frozenset(found)


def term_text(scope: Scope, term: exp.Expr, grain: Grain) -> str:
    """A term in one form: columns by the properties that they are, periods as `month of orders.day`."""
    inner = term.unnest()
    if isinstance(inner, exp.Cast) and inner.to.this is exp.DType.DATE:
        return term_text(scope, inner.this, grain)
    if isinstance(inner, exp.Column):
        return _column_text(scope, inner, grain)
    if (period := _period_of(inner)) is not None:
        of = term_text(scope, period[1], grain)
        return of if period[0] == "day" else f"{period[0]} of {of}"
    return " ".join(_words(scope, inner, grain))


def _words(scope: Scope, value: exp.Expr, grain: Grain) -> Iterator[str]:
    copied = value.copy()
    for column in list(copied.find_all(exp.Column)):
        column.replace(exp.to_identifier(_column_text(scope, column, grain), quoted=True))
    yield copied.sql(dialect="duckdb")


def bare(text: str) -> str:
    """A term without the names of object types."""
    return re.sub(r"\b\w+\.(?=\w)", "", text)


def _column_text(scope: Scope, column: exp.Column, grain: Grain) -> str:
    source = sources(scope).get(column.table)
    if source is None:
        return f"?{column.name.lower()}"
    found = origin(source, column.name, grain.contract)
    if found is not None:
        return f"{found.object_type.name}.{found.column}".lower()
    inner = output_of(source.expression, column.name) if isinstance(source, Scope) else None
    # What is worked out otherwise is followed no further: it could double with each query on the way.
    if isinstance(source, Scope) and inner is not None and _is_followed(inner.unnest()):
        return term_text(source, inner, grain)
    return f"?{id(source.expression) if isinstance(source, Scope) else ''}.{column.name.lower()}"


def _is_followed(value: exp.Expr) -> bool:
    plain = isinstance(value, exp.Cast) and value.to.this is exp.DType.DATE
    return isinstance(value, exp.Column) or plain or _period_of(value) is not None


def _period_of(value: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The period in which a date lies, where a value is the first day of it, or its year."""
    if isinstance(value, exp.DateTrunc | exp.TimestampTrunc) and value.args.get("unit") is not None:
        return value.args["unit"].name.lower(), value.this
    if isinstance(value, exp.Year):
        return "year", value.this
    if isinstance(value, exp.Extract) and value.this.name.lower() == "year":
        return "year", value.expression
    return None


def _held(scope: Scope, part: exp.Expr, grain: Grain) -> Held:
    columns = list(part.find_all(exp.Column))
    texts = [_column_text(scope, column, grain) for column in columns]
    plain = bool(texts) and all(re.fullmatch(r"\w+\.\w+", text) for text in texts) and part.find(exp.Query) is None
    listed = listed_literals(part)
    names = frozenset(bare(text) for text in texts) if plain else frozenset[str]()
    if listed is not None and plain:
        (name,) = names
        return Held(f"{name} in {sorted(listed[1])}", names, frozenset(listed[1]))
    return Held(bare(term_text(scope, part, grain)), names, is_range=isinstance(part, _RANGES))


def _is_key(part: exp.Expr) -> bool:
    """Whether a condition holds two columns equal, as a join does."""
    sides = (part.left.unnest(), part.right.unnest()) if isinstance(part, exp.EQ) else ()
    return len(sides) == 2 and all(isinstance(side, exp.Column) for side in sides)
