"""What a statement does to its figures: scaling and rounding leave them what they are, other things do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.referee.aggregates import inner_aggregates, is_aggregate, leaves
from catalog.referee.grain import Grain
from catalog.referee.join_graph import literal_of

SCALES = frozenset({"1", "10", "100", "1000", "1000000", "1000000000", "0.1", "0.01", "0.001", "0.000001"})
"""By what a figure may be multiplied or divided: it stays the same figure, in per cent, thousands or millions."""

_BESIDE = "a metric is not changed by a figure that the statement brings along"
_INSTEAD = "no figure of the statement's own stands in a metric's place"
_CURVES = (exp.Pow, exp.Sqrt, exp.Ln, exp.Log, exp.Exp)
_SUMS = (exp.Add, exp.Sub)
_WHOLE = (exp.IntDiv, exp.Mod)
_DATES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ)


@dataclass(frozen=True, slots=True)
class Change:
    """Where a figure is made another one, and why it is."""

    node: exp.Expr
    message: str
    suggestion: str | None = None
    """The figure as it was."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Answers for one statement."""

    grain: Grain
    _handed: dict[tuple[int, str], bool] = field(default_factory=dict)
    """Whether a column of a query is a figure; else a chain of queries takes twice as long for each."""
    _figures: dict[int, bool] = field(default_factory=dict)
    """The same of each value, by identity; else a long sum is walked from each of its signs."""

    def changes(self, scope: Scope) -> Iterator[Change]:
        """What of a query's outputs changes figures. What only chooses rows or values may hold a figure against any."""
        query = scope.expression
        if not isinstance(query, exp.Select) or _is_asked_only(query):
            return
        for part in query.selects:
            for node in _computing(part.unalias()):
                if (message := self._fault(scope, node)) is not None:
                    yield Change(node, message, self._instead(scope, node))

    def is_figure(self, scope: Scope, value: exp.Expr) -> bool:
        """Whether a value is worked out of an aggregate: of its own query, of an inner one, or of one in brackets."""
        if id(value) not in self._figures:
            self._figures[id(value)] = self._is_figure(scope, value)
        return self._figures[id(value)]

    def _is_figure(self, scope: Scope, value: exp.Expr) -> bool:
        if isinstance(value, exp.Query):
            return any(is_aggregate(inner) for inner in value.walk())
        if isinstance(value, exp.Column):
            source = self.grain.graph(scope).sources.get(value.table)
            return isinstance(source, Scope) and self._hands_on(source, value.name)
        return is_aggregate(value) or any(self.is_figure(scope, child) for child in value.iter_expressions())

    def _hands_on(self, source: Scope, column: str) -> bool:
        place = (id(source.expression), column.lower())
        if place not in self._handed:
            self._handed[place] = any(True for _ in inner_aggregates(source, column))
        return self._handed[place]

    def _instead(self, scope: Scope, node: exp.Expr) -> str | None:
        parts = [*_children(node)]
        figures = [part for part in parts if self.is_figure(scope, part)]
        if len(figures) != 1:
            return None
        below = isinstance(node, exp.Greatest) and isinstance(node.parent, exp.Div) and node.parent.right is node
        text = figures[0].sql(dialect="duckdb")
        return f"NULLIF({text}, 0)" if below else text

    def _fault(self, scope: Scope, node: exp.Expr) -> str | None:
        match node:
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
                return self._arithmetic_fault(scope, node)
            case exp.Coalesce() | exp.Greatest() | exp.Least():
                values = [node.this, *node.expressions]
            case exp.Case():
                values = [branch.args["true"] for branch in node.args["ifs"]]
                values += [default] if (default := node.args.get("default")) is not None else []
            case exp.Nullif():
                values = [node.this, node.expression]
            case _:
                bends = isinstance(node, _CURVES) and self.is_figure(scope, node)
                return "a root, power or logarithm of a metric is another figure" if bends else None
        zero_fits = not isinstance(node, exp.Greatest | exp.Least)
        own = any(_is_own_number(value, zero_fits=zero_fits) for value in values)
        return _INSTEAD if own and any(self.is_figure(scope, value) for value in values) else None

    def _arithmetic_fault(self, scope: Scope, node: exp.Binary) -> str | None:
        for figure, other in ((node.left, node.right), (node.right, node.left)):
            if not self.is_figure(scope, figure):
                continue
            if isinstance(node, _WHOLE):
                return "a whole division leaves out a rest"
            if is_constant(other):
                return None if _keeps(node, figure, literal_of(other)) else _BESIDE
            if isinstance(node, exp.Mul):
                return "a metric multiplied by what the data holds is another figure"
        return None


def is_constant(value: exp.Expr) -> bool:
    """Whether a value is the statement's own: no data enters it, though data may choose it. A date is none."""
    if value.find(exp.Star, exp.Interval) is not None or any(True for _ in leaves(value)):
        return False
    return not any(cast.to.this in _DATES for cast in value.find_all(exp.Cast))


def _is_asked_only(query: exp.Expr) -> bool:
    """Whether a query stands in a condition, where it is held against something and not put out."""
    node = query.parent
    while node is not None and not isinstance(node, exp.Select):
        if isinstance(node, exp.Predicate | exp.Where | exp.Having):
            return True
        node = node.parent
    return False


def _computing(value: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes by which a value is worked out; conditions only choose."""
    yield value
    for child in _children(value):
        yield from _computing(child)


def _children(value: exp.Expr) -> Iterator[exp.Expr]:
    """The parts whose values enter a value."""
    match value:
        case exp.Query() | exp.Predicate() | exp.Connector() | exp.Not():
            return
        case exp.Case():
            yield from (branch.args["true"] for branch in value.args["ifs"])
            if (default := value.args.get("default")) is not None:
                yield default
        case exp.Filter() | exp.Window():
            yield value.this
        case _:
            yield from value.iter_expressions()


def _is_own_number(value: exp.Expr, *, zero_fits: bool) -> bool:
    """Whether a value is a number of the statement's own; zero is what nothing may be counted as."""
    if not is_constant(value) or any(literal.is_string for literal in value.find_all(exp.Literal)):
        return False
    numbers = [literal for literal in value.find_all(exp.Literal) if not literal.is_string]
    return bool(numbers) and not (zero_fits and all(_plain(number.name) == "0" for number in numbers))


def _keeps(above: exp.Expr, node: exp.Expr, number: str | None) -> bool:
    """Whether arithmetic with a literal leaves a figure what it is: scaled, or a ratio held against one."""
    if number is None:
        return False
    if isinstance(above, exp.Mul):
        return _plain(number) in SCALES
    if isinstance(above, exp.Div):
        return above.left is node and _plain(number) in SCALES
    ratio = isinstance(node.unnest(), exp.Div) and _plain(number) == "1"
    return isinstance(above, _SUMS) and (ratio or _plain(number) == "0")


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number
