"""Where a statement puts amounts of two units together: added, compared, or one in the place of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.aggregates import output_names, outputs_of, own_nodes
from catalog.referee.lineage import Source, origin, owner
from catalog.units import Conversion, NotConverted, convert

_COUNT = "a count"
"""In place of a unit, of what counts rows or values."""
_KEEPING = (
    exp.Paren, exp.Neg, exp.Abs, exp.Round, exp.Ceil, exp.Floor, exp.Trunc, exp.Cast, exp.Window, exp.Filter, exp.Sum,
    exp.Avg, exp.Min, exp.Max, exp.Median, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Nullif, exp.Distinct,
)  # fmt: skip
"""What gives values of the unit that it takes."""
_PAIRS = (
    exp.Add, exp.Sub, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two values of different units in one place."""

    node: exp.Expr
    message: str
    suggestion: str | None = None
    """How one is brought to the unit of the other, where that can be said."""


@dataclass(frozen=True, slots=True)
class Units:
    """Answers for one statement. What is multiplied or divided is of a unit that nobody states."""

    contract: Contract
    _handed: dict[tuple[int, str], str | None] = field(default_factory=dict)
    """The unit of a column of a query; else a chain of queries takes twice as long for each."""
    _units: dict[int, str | None] = field(default_factory=dict)
    """The same of each value, by identity; else a long sum is walked from each of its signs."""

    def meetings(self, scope: Scope) -> Iterator[Meeting]:
        """Where a query puts values of two units together."""
        if isinstance(scope.expression, exp.SetOperation):
            yield from self._branch_meetings(scope)
            return
        for node in own_nodes(scope.expression):
            values = _together(node)
            known = [(value, unit) for value in values if (unit := self.unit(scope, value)) is not None]
            for value, unit in known[1:]:
                if (found := _meeting(node, known[0], (value, unit))) is not None:
                    yield found

    def unit(self, scope: Scope, value: exp.Expr) -> str | None:
        """The unit of a value; None where it has none or nobody states it."""
        if id(value) not in self._units:
            self._units[id(value)] = self._unit(scope, value)
        return self._units[id(value)]

    def _unit(self, scope: Scope, value: exp.Expr) -> str | None:
        match value:
            case exp.Column():
                owned = owner(scope, value.table)
                return self._of_column(owned[1], value.name) if owned is not None else None
            case exp.Count():
                return _COUNT
            case exp.Distinct() if len(value.expressions) == 1:
                return self.unit(scope, value.expressions[0])
            case exp.Subquery() | exp.Select():
                return self._of_query(scope, value.unnest())
        if isinstance(value, _KEEPING):
            return self.unit(scope, value.this) if isinstance(value.this, exp.Expr) else None
        if isinstance(value, exp.Add | exp.Sub | exp.Coalesce | exp.Greatest | exp.Least | exp.Case):
            return next((unit for part in _together(value) if (unit := self.unit(scope, part)) is not None), None)
        return None

    def _of_column(self, source: Source, column: str) -> str | None:
        found = origin(source, column, self.contract)
        if found is not None:
            parts = (part for part in found.object_type.properties if part.name.lower() == found.column)
            return next((part.unit for part in parts), None)
        if isinstance(source, exp.Table):
            return None
        place = (id(source.expression), column.lower())
        if place not in self._handed:
            self._handed[place] = None
            units = (self.unit(branch, value.unalias()) for branch, value in outputs_of(source, column.lower()))
            self._handed[place] = next((unit for unit in units if unit is not None), None)
        return self._handed[place]

    def _of_query(self, scope: Scope, query: exp.Expr) -> str | None:
        inner = next((item for item in scope.subquery_scopes if item.expression is query), None)
        if inner is None or not isinstance(query, exp.Select) or len(query.selects) != 1:
            return None
        return self.unit(inner, query.selects[0].unalias())

    def _branch_meetings(self, scope: Scope) -> Iterator[Meeting]:
        for name in dict.fromkeys(output_names(scope.expression)):
            known = []
            for branch, value in outputs_of(scope, name):
                if (unit := self.unit(branch, value.unalias())) is not None:
                    known.append((value.unalias(), unit))
            for value, unit in known[1:]:
                if (found := _meeting(value, known[0], (value, unit))) is not None:
                    yield found


def _together(node: exp.Expr) -> list[exp.Expr]:
    """The values that a node puts together as amounts of one kind."""
    match node:
        case exp.Coalesce() | exp.Greatest() | exp.Least() | exp.In():
            return [node.this, *node.expressions]
        case exp.Between():
            return [node.this, node.args["low"], node.args["high"]]
        case exp.Case():
            default = node.args.get("default")
            return [*(branch.args["true"] for branch in node.args["ifs"]), *([default] if default else [])]
    return [node.left, node.right] if isinstance(node, _PAIRS) else []


def _meeting(node: exp.Expr, first: tuple[exp.Expr, str], other: tuple[exp.Expr, str]) -> Meeting | None:
    (value, unit), (far, against) = first, other
    if unit == against:
        return None
    if _COUNT in (unit, against):
        return Meeting(node, f"it puts {unit} and {against} together, which are not amounts of one kind")
    way = convert(unit, against)
    if isinstance(way, NotConverted):
        return Meeting(node, f"it puts {unit} and {against} together: {way.reason}")
    if way == Conversion(Fraction(1)):
        return None
    message = f"it puts {unit} and {against} together, which SQL does not convert"
    if way.offset or not way.is_terminating:
        return Meeting(node, message)
    larger = way.factor >= 1
    shown, factor = (value, way.factor) if larger else (far, 1 / way.factor)
    text = f"{shown.sql(dialect='duckdb')} * {float(factor):g}, which is in {against if larger else unit}"
    return Meeting(node, message, text)
