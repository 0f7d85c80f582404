"""Clause `governed_source`: what comes out is data, not a value that the statement itself brought along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope
from sqlglot.optimizer.simplify import simplify

from catalog.contract import Contract
from catalog.referee.arbitrary_rows import arbitrary_rows
from catalog.referee.certified import Clause
from catalog.referee.lineage import Source, owner, sources
from catalog.referee.statement import Objection, Statement


def governed_source(statement: Statement, contract: Contract) -> Objection | None:
    """Every output column depends on a governed column, or counts governed rows.

    A label that a CASE chooses over a governed column does; a CASE that always chooses the same does not. What is
    worked out of rows is worked out of the same rows each time: no place in an order that is not stated picks them.
    """
    tracer = _Tracer({id(scope.expression): scope for scope in statement.scopes})
    for scope, value in tracer.outputs(statement.tree):
        if not tracer.is_data(value, scope):
            message = "an output column is not read from a governed view"
            return statement.objection(Clause.GOVERNED_SOURCE, message, value.unalias())
    for part, message in arbitrary_rows(statement.tree):
        return statement.objection(Clause.GOVERNED_SOURCE, message, part)
    return None


@dataclass(frozen=True, slots=True)
class _Tracer:
    """Follows values of one statement to where they come from."""

    scopes: dict[int, Scope]
    """The scope of each query, by the query's identity."""
    judged: dict[tuple[int, str], bool] = field(default_factory=dict)
    """Whether a column of a query is data, or with `*` its rows; else a chain of CTEs takes twice as long for each."""

    def outputs(self, query: exp.Expr) -> Iterator[tuple[Scope, exp.Expr]]:
        """Every expression that a query puts out, of each branch, with the scope in which it stands."""
        match query:
            case exp.Select() if id(query) in self.scopes:
                yield from ((self.scopes[id(query)], value) for value in query.selects)
            case exp.SetOperation():
                yield from self.outputs(query.left)
                yield from self.outputs(query.right)
            case exp.Subquery():
                yield from self.outputs(query.this)

    def is_data(self, value: exp.Expr, scope: Scope) -> bool:
        """Whether a value depends on a governed view, and still does without the branches that are never taken."""
        return self._depends(value, scope) and (bool(value.find(exp.Query)) or self._depends(_simplified(value), scope))

    def _depends(self, value: exp.Expr, scope: Scope) -> bool:
        return any(
            self._is_source(node, scope)
            for node in value.walk(prune=lambda node: isinstance(node, exp.Query | exp.Exists))
        )

    def _is_source(self, node: exp.Expr, scope: Scope) -> bool:
        match node:
            case exp.Column():
                found = owner(scope, node.table)
                return found is not None and self._is_governed(found[1], node.name.lower())
            case exp.Count(this=exp.Star()):
                return any(self._reads(source) for source in sources(scope).values())
            case exp.Window() if node.args.get("alias"):
                named = scope.expression.args.get("windows") or []
                return any(self._depends(window, scope) for window in named if window.name == node.alias)
            case exp.Exists():
                return any(table.db for table in node.find_all(exp.Table))
            case exp.Query():
                parts = list(self.outputs(node))
                return bool(parts) and all(self.is_data(part, inner) for inner, part in parts)
        return False

    def _is_governed(self, source: Source, column: str) -> bool:
        if isinstance(source, exp.Table):
            return True
        query = source.expression
        place = (id(query), column)
        if place not in self.judged:
            self.judged[place] = isinstance(query, exp.Query) and self._is_data_column(query, column)
        return self.judged[place]

    def _is_data_column(self, query: exp.Query, column: str) -> bool:
        names = [name.lower() for name in query.named_selects]
        if column not in names:
            return False
        parts = list(self.outputs(query))
        # The branches of a set operation line up by place; where they do by name, every output must be data.
        by_name = any(part.args.get("by_name") for part in query.find_all(exp.SetOperation))
        chosen = parts if by_name else parts[names.index(column) :: len(names)]
        return bool(chosen) and all(self.is_data(part, scope) for scope, part in chosen)

    def _reads(self, source: Source) -> bool:
        """Whether the rows of a source are, at bottom, rows of a governed view."""
        if isinstance(source, exp.Table):
            return True
        place = (id(source.expression), "*")
        if place not in self.judged:
            branches = {id(scope): scope for scope, _ in self.outputs(source.expression)}
            read = (inner for scope in branches.values() for inner in sources(scope).values())
            self.judged[place] = any(self._reads(inner) for inner in read)
        return self.judged[place]


def _simplified(value: exp.Expr) -> exp.Expr:
    """The value without branches that are never taken, and without what comes to the same whatever is read."""
    try:
        simplified = simplify(value.transform(_settled), coalesce_simplification=True, dialect="duckdb")
    except Exception:  # Whatever the simplifier cannot do leaves the value as it is.
        return value
    return simplified if isinstance(simplified, exp.Expr) else value


def _settled(node: exp.Expr) -> exp.Expr:
    """A constant in place of arithmetic or a comparison that has one value for every row with values."""
    match node:
        case exp.Mul() if _is_zero(node.left) or _is_zero(node.right):
            return exp.Literal.number(0)
        case exp.Pow(this=_, expression=power) if _is_zero(power):
            return exp.Literal.number(1)
        case exp.Sub() if _bare(node.left) == _bare(node.right):
            return exp.Literal.number(0)
        case exp.Div() | exp.IntDiv() if _bare(node.left) == _bare(node.right):
            return exp.Literal.number(1)
        case exp.EQ() | exp.GTE() | exp.LTE() if _bare(node.left) == _bare(node.right):
            return exp.true()
        case exp.NEQ() | exp.GT() | exp.LT() if _bare(node.left) == _bare(node.right):
            return exp.false()
    return node


def _bare(value: exp.Expr) -> exp.Expr:
    while isinstance(value, exp.Paren | exp.Cast):
        value = value.this
    return value


def _is_zero(value: exp.Expr) -> bool:
    bare = _bare(value)
    if isinstance(bare, exp.Neg):
        bare = _bare(bare.this)
    return isinstance(bare, exp.Literal) and not bare.is_string and not bare.name.strip("0.")
