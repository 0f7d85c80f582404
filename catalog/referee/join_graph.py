"""How the relations of one SELECT hang together, once clause `certified_join` has let it pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.referee.lineage import Source, sources

Place = tuple[str, str]
"""An alias, and a column of it in lower case."""

_REJECTS_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Like, exp.ILike)


@dataclass(frozen=True, slots=True)
class Edge:
    """One join: two aliases, and the pairs of columns that it holds equal."""

    first: str
    second: str
    """The one that is joined to what stands before it."""
    keys: tuple[tuple[str, str], ...]
    is_inner: bool

    def other(self, alias: str) -> tuple[str, frozenset[str]]:
        """The alias at the other end, and its columns."""
        if alias == self.first:
            return self.second, frozenset(there for _, there in self.keys)
        return self.first, frozenset(here for here, _ in self.keys)


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """A tree, since each join meets exactly one relation before it."""

    sources: dict[str, Source]
    edges: tuple[Edge, ...]
    fixed: frozenset[Place]
    """Columns that the statement holds equal to one literal."""
    nullable: frozenset[str]
    """Aliases in whose place an outer join may put a row of nulls."""

    def edges_of(self, alias: str) -> Iterator[Edge]:
        """The joins that an alias takes part in."""
        return (edge for edge in self.edges if alias in (edge.first, edge.second))

    def same_as(self, place: Place) -> Iterator[Place]:
        """A column, and those that joins hold equal to it in every row."""
        yield place
        for edge in self.edges:
            for here, there in edge.keys if edge.is_inner else ():
                if (edge.first, here) == place:
                    yield (edge.second, there)
                elif (edge.second, there) == place:
                    yield (edge.first, here)


def join_graph(scope: Scope) -> JoinGraph:
    """The join graph of a scope's own SELECT."""
    known = sources(scope)
    select = scope.expression
    edges: list[Edge] = []
    fixed: set[Place] = set()
    nullable: set[str] = set()
    before = [name for name in known if known][:1]
    for join in select.args.get("joins") or []:
        alias, side = join.this.alias_or_name, join.side.upper()
        keys: dict[str, list[tuple[str, str]]] = {}
        for part in conjuncts(join.args.get("on")):
            if (pair := _equal(part, alias)) is not None:
                keys.setdefault(pair[0], []).append(pair[1])
            elif side in ("", "LEFT") and (place := held(part)) is not None and (not side or place[0] == alias):
                fixed.add(place)
        edges += [Edge(first, alias, tuple(pairs), not side) for first, pairs in keys.items()]
        nullable |= {alias} if side in ("LEFT", "FULL") else set()
        nullable |= set(before) if side in ("RIGHT", "FULL") else set()
        before.append(alias)
    where = select.args.get("where")
    for part in conjuncts(where.this if where else None):
        if (place := held(part)) is not None:
            fixed.add(place)
        nullable -= _never_null(part)
    return JoinGraph(known, tuple(edges), frozenset(fixed), frozenset(nullable))


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold."""
    if condition is None:
        return
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from conjuncts(inner.left)
        yield from conjuncts(inner.right)
    else:
        yield inner


def literal_of(value: exp.Expr) -> str | None:
    """The text of a literal, typed (`DATE '2024-01-01'`) and signed or not; None of anything else."""
    inner = value.unnest()
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Literal | exp.RawString):
        inner = inner.this
    if isinstance(inner, exp.Neg) and isinstance(inner.this, exp.Literal):
        return f"-{inner.this.name}"
    return inner.name if isinstance(inner, exp.Literal | exp.RawString) else None


def held(part: exp.Expr) -> Place | None:
    """The column that a condition holds equal to a literal."""
    sides: list[tuple[exp.Expr, exp.Expr]] = []
    if isinstance(part, exp.EQ):
        sides = [(part.left.unnest(), part.right), (part.right.unnest(), part.left)]
    elif isinstance(part, exp.In) and len(part.expressions) == 1 and not part.args.get("query"):
        sides = [(part.this.unnest(), part.expressions[0])]
    for column, value in sides:
        if isinstance(column, exp.Column) and literal_of(value) is not None:
            return column.table, column.name.lower()
    return None


def _equal(part: exp.Expr, alias: str) -> tuple[str, tuple[str, str]] | None:
    if not isinstance(part, exp.EQ):
        return None
    left, right = part.left.unnest(), part.right.unnest()
    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)) or left.table == right.table:
        return None
    near, far = (right, left) if left.table == alias else (left, right)
    return near.table, (near.name.lower(), far.name.lower())


def _never_null(part: exp.Expr) -> set[str]:
    """The aliases that a condition leaves no row of nulls of."""
    if isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Is):
        part = part.this.unnest()
        plain = isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Null)
        return {part.this.table} if plain else set()
    sides = (part.args.get("this"), part.args.get("expression")) if isinstance(part, _REJECTS_NULL) else ()
    return {side.table for side in sides if isinstance(side, exp.Column)}
