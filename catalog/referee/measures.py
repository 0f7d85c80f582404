"""Aggregates of a resolved statement held against the metrics of the contract, both in one normal form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, Metric, PropertyRole
from catalog.datatypes import Kind
from catalog.expressions.tree import (
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Condition,
    Literal,
    Operand,
    PropertyRef,
)
from catalog.metric_records import DerivedMetric
from catalog.referee.aggregates import (
    holds_aggregate,
    inner_aggregates,
    is_distinct,
    is_grouped,
    leaves,
    outputs_of,
    own_aggregates,
)
from catalog.referee.grain import Grain
from catalog.referee.join_graph import literal_of
from catalog.referee.lineage import Source, object_of, origin
from catalog.referee.statement import Statement

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Median: "median",
}  # fmt: skip
_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_COMMUTATIVE = ("+", "*")


@dataclass(frozen=True, slots=True)
class Measured:
    """One aggregate of a statement, and the metrics that it is."""

    scope: Scope
    aggregate: exp.Expr
    metrics: tuple[Metric, ...]
    """Several where the contract has one aggregate under several names, and none of them is said."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Answers for one statement."""

    contract: Contract
    grain: Grain
    _forms: dict[str, list[Metric]] = field(default_factory=dict)
    _handed: dict[tuple[int, str, str, bool], bool] = field(default_factory=dict)
    """Whether a column of a query is a metric; else a chain of set operations takes twice as long for each."""

    def all_of(self, statement: Statement) -> Iterator[Measured]:
        """Every aggregate of every scope."""
        selects = [scope.expression for scope in statement.scopes if isinstance(scope.expression, exp.Select)]
        said = {letters(part.alias_or_name) for select in selects for part in select.selects}
        for scope in statement.scopes:
            if isinstance(scope.expression, exp.Select):
                for aggregate in own_aggregates(scope.expression):
                    yield Measured(scope, aggregate, self.metrics(scope, aggregate, said))

    def metrics(self, scope: Scope, aggregate: exp.Expr, said: set[str]) -> tuple[Metric, ...]:
        """The metrics that an aggregate is: those that its output is named after, else all that are this aggregate.

        Whatever else the statement names after one of them (`said`, in letters alone) may be this figure handed on.
        """
        if not self._forms:
            for metric in self.contract.metrics:
                self._forms.setdefault(form_of(metric), []).append(metric)
        forms = (self._forms[form] for form in self._forms_of(scope, aggregate) if form in self._forms)
        found = next(forms, [])
        named = self._named(scope, aggregate, found) if len(found) > 1 else []
        handed = (
            [metric for metric in found if said & {*map(letters, (metric.name, *metric.synonyms))}] if named else []
        )
        return tuple(dict.fromkeys([*named, *handed])) or tuple(found)

    def _named(self, scope: Scope, aggregate: exp.Expr, metrics: list[Metric]) -> list[Metric]:
        """Those of the metrics whose name an output bears that takes this aggregate, or that a named one is made of."""
        query = scope.expression
        selects = query.selects if isinstance(query, exp.Select) else []
        outputs = [part for part in selects if any(node == aggregate for node in part.walk())]
        names = {letters(part.alias_or_name) for part in outputs}
        said = [item for item in self.contract.every_metric if names & {*map(letters, (item.name, *item.synonyms))}]
        parts = {name for item in said for name in parts_of(item, self.contract)}
        return [metric for metric in metrics if metric.name in parts]

    def is_metric(self, scope: Scope, aggregate: exp.Expr, metric: Metric) -> bool:
        """Whether an aggregate is that metric."""
        return form_of(metric) in self._forms_of(scope, aggregate)

    def is_value(self, scope: Scope, value: exp.Expr, metric: Metric, *, exact: bool = False) -> bool:
        """Whether a value is a metric: its aggregate, rounded once at most, or a sum of such sums, or one handed on.

        An `exact` one is rounded nowhere.
        """
        inner = value.unalias().unnest()
        while isinstance(inner, exp.Round | exp.Window | exp.Filter) or _is_double(inner):
            if isinstance(inner, exp.Window) and _is_running(inner, scope):
                return False
            if exact and isinstance(inner, exp.Round):
                return False
            exact = exact or isinstance(inner, exp.Round)
            inner = inner.this.unnest()
        graph = self.grain.graph(scope)
        if isinstance(inner, exp.Column):
            source = graph.sources.get(inner.table)
            return source is not None and self._hands_on(source, inner.name, metric, exact=exact)
        if type(inner) not in (*_FUNCTIONS, exp.Count):
            return False
        if form_of(metric) in self._forms_of(scope, inner):
            return True
        column = inner.this.unnest() if isinstance(inner, exp.Sum) else None
        if isinstance(column, exp.Sum):  # A window's total of the sums of groups.
            return self.is_value(scope, column, metric, exact=True)
        source = graph.sources.get(column.table) if isinstance(column, exp.Column) else None
        summed = metric.aggregate.function is AggregateFunction.SUM
        handed = source is not None and column is not None and self._hands_on(source, column.name, metric, exact=True)
        return summed and handed

    def counted_otherwise(self, scope: Scope, aggregate: exp.Expr) -> Metric | None:
        """The metric that counts, each once, what a COUNT counts as often as it stands there."""
        if not isinstance(aggregate, exp.Count) or is_distinct(aggregate):
            return None
        known = self.grain.graph(scope).sources
        if isinstance(aggregate.this, exp.Star):
            read = [object_of(source, self.contract) for source in known.values() if isinstance(source, exp.Table)]
            places = [(item.name, "") for item in read if item is not None] if len(read) == len(known) == 1 else []
        else:
            leaf = aggregate.this.unnest()
            source = known.get(leaf.table) if isinstance(leaf, exp.Column) else None
            found = origin(source, leaf.name, self.contract) if source is not None else None
            places = [(found.object_type.name, found.column)] if found is not None else []
        for metric in self.contract.metrics:
            counts = metric.grain and metric.aggregate.function is AggregateFunction.COUNT_DISTINCT
            for name, column in places if counts else ():
                if name == metric.object_type and column in ("", *(key.lower() for key in metric.grain)):
                    return metric
        return None

    def is_count_of_groups(self, scope: Scope, aggregate: exp.Expr) -> bool:
        """Whether COUNT counts the groups or distinct rows of one inner query, which have no metric of their own."""
        known = list(self.grain.graph(scope).sources.values())
        if not isinstance(aggregate, exp.Count) or len(known) != 1 or isinstance(known[0], exp.Table):
            return False
        query = known[0].expression
        if isinstance(query, exp.SetOperation):
            return bool(query.args.get("distinct"))
        return isinstance(query, exp.Select) and (is_grouped(query) or bool(query.args.get("distinct")))

    def is_count_of_values(self, scope: Scope, aggregate: exp.Expr) -> bool:
        """Whether COUNT(DISTINCT ...) counts the values of one property that is no figure."""
        if not (isinstance(aggregate, exp.Count) and is_distinct(aggregate)):
            return False
        found = list(leaves(aggregate))
        if len(found) != 1 or not isinstance(found[0], exp.Column):
            return False
        source = self.grain.graph(scope).sources.get(found[0].table)
        where = origin(source, found[0].name, self.contract) if source is not None else None
        return where is not None and self.is_no_figure(where.object_type.name, where.column)

    def is_sum_of_measures(self, scope: Scope, aggregate: exp.Expr) -> bool:
        """Whether SUM adds up what inner aggregates came to, which are judged where they stand."""
        if not isinstance(aggregate, exp.Sum):
            return False
        if holds_aggregate(aggregate.this):
            return True
        known = self.grain.graph(scope).sources
        found = list(leaves(aggregate))
        return bool(found) and all(
            isinstance(leaf, exp.Column)
            and leaf.table in known
            and any(True for _ in inner_aggregates(known[leaf.table], leaf.name))
            for leaf in found
        )

    def is_no_figure(self, name: str, column: str) -> bool:
        """Whether a property of an object type, in lower case, tells things apart and measures nothing."""
        item = self.contract.object_type(name)
        parts = item.properties if item else ()
        part = next((part for part in parts if part.name.lower() == column), None)
        if part is None:
            return False
        if part.role is not None:
            return part.role is not PropertyRole.FACT
        return part.unit is None and part.type.kind not in (Kind.DECIMAL, Kind.DOUBLE)

    def _hands_on(self, source: Source, column: str, metric: Metric, *, exact: bool) -> bool:
        if isinstance(source, exp.Table):
            return False
        place = (id(source.expression), column.lower(), metric.name, exact)
        if place not in self._handed:
            outputs = outputs_of(source, column.lower())
            self._handed[place] = bool(outputs) and all(
                self.is_value(branch, value, metric, exact=exact) for branch, value in outputs
            )
        return self._handed[place]

    def _forms_of(self, scope: Scope, aggregate: exp.Expr) -> Iterator[str]:
        graph = self.grain.graph(scope)
        if self._counts_rows(aggregate):
            for alias, source in graph.sources.items():
                item = object_of(source, self.contract) if isinstance(source, exp.Table) else None
                if item and alias not in graph.nullable and self.grain.repeater(graph, alias) is None:
                    yield f"count({item.name})"
            return
        if isinstance(aggregate, exp.Count) and isinstance(key := chosen(aggregate.this), exp.Column):
            relation = graph.sources.get(key.table)
            found = origin(relation, key.name, self.contract) if relation is not None else None
            if found is not None and tuple(map(str.lower, found.object_type.primary_key)) == (found.column,):
                yield f"count({found.object_type.name})"
            return
        if isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Distinct):
            listed = aggregate.this.expressions
            if len(listed) == 1 and (argument := self._form(scope, chosen(listed[0]))) is not None:
                yield f"count_distinct({argument})"
            return
        name = _FUNCTIONS.get(type(aggregate))
        if name is None or is_distinct(aggregate):
            return
        argument = self._form(scope, chosen(aggregate.this, zero=isinstance(aggregate, exp.Sum)))
        if argument is not None:
            yield f"{name}({argument})"

    def _counts_rows(self, aggregate: exp.Expr) -> bool:
        """Whether an aggregate counts rows, or those of them that a CASE chooses."""
        if isinstance(aggregate, exp.Count):
            return isinstance(aggregate.this, exp.Star) or isinstance(chosen(aggregate.this), exp.Literal)
        one = chosen(aggregate.this, zero=True) if isinstance(aggregate, exp.Sum) else None
        return one is not None and one is not aggregate.this.unnest() and literal_of(one) == "1"

    def _is_own_type(self, scope: Scope, column: exp.Column, kind: exp.DataType) -> bool:
        source = self.grain.graph(scope).sources.get(column.table)
        found = origin(source, column.name, self.contract) if source is not None else None
        parts = found.object_type.properties if found else ()
        part = next((part for part in parts if found and part.name.lower() == found.column), None)
        wanted = part.type.engine_name if part is not None else None
        return wanted is not None and kind == exp.DataType.build(wanted, dialect="duckdb")

    def _form(self, scope: Scope, value: exp.Expr) -> str | None:
        match value.unnest():
            case exp.Column() as column:
                source = self.grain.graph(scope).sources.get(column.table)
                found = origin(source, column.name, self.contract) if source is not None else None
                return f"{found.object_type.name}.{found.column}" if found else None
            case exp.Cast() as cast if isinstance(column := cast.this.unnest(), exp.Column):
                # A view may hold as text what the contract calls a number: read as its own type it is the property.
                return self._form(scope, column) if self._is_own_type(scope, column, cast.to) else None
            case exp.Literal() as literal if literal.is_number:
                return _number(Decimal(literal.name))
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() as pair:
                left, right = self._form(scope, pair.left), self._form(scope, pair.right)
                return _pair(_SIGNS[type(pair)], left, right) if left and right else None
        return None


def _is_double(value: exp.Expr) -> bool:
    """Whether a value is cast to a double, which changes no more than the engine's own division does."""
    return isinstance(value, exp.Cast) and value.to.this is exp.DType.DOUBLE


def _is_running(window: exp.Window, scope: Scope) -> bool:
    """Whether a window has an order, and so other rows for each of its rows."""
    named = scope.expression.args.get("windows") or []
    same = [other for other in named if other.name.lower() == window.alias.lower()] if window.alias else []
    return bool(window.alias and not same) or any(part.args.get("order") is not None for part in (window, *same))


def letters(name: str) -> str:
    """A name without what only parts its words."""
    return re.sub(r"[^0-9a-z]", "", name.lower())


def parts_of(metric: Metric | DerivedMetric, contract: Contract) -> Iterator[str]:
    """The names of the base metrics that a metric is made of."""
    if isinstance(metric, Metric):
        yield metric.name
        return
    for name in metric.derivation.parts:
        if (part := contract.metric(name)) is not None:
            yield from parts_of(part, contract)


def form_of(metric: Metric) -> str:
    """A metric's normal form."""
    argument = metric.aggregate.argument
    if argument is None:
        return f"count({metric.object_type})"
    return f"{metric.aggregate.function}({_written(argument, metric.object_type)})"


def chosen(value: exp.Expr, *, zero: bool = False) -> exp.Expr:
    """What a CASE without another value takes; an aggregate of that is one over the rows that the CASE chooses."""
    inner = value.unnest()
    if not isinstance(inner, exp.Case) or len(inner.args["ifs"]) != 1:
        return inner
    default = inner.args.get("default")
    nothing = default is None or isinstance(default, exp.Null)
    nothing = nothing or (zero and isinstance(default, exp.Literal) and default.is_number and not float(default.name))
    found: exp.Expr = inner.args["ifs"][0].args["true"]
    return found.unnest() if nothing else inner


def _written(operand: Operand | Condition, name: str) -> str:
    match operand:
        case PropertyRef(column):
            return f"{name}.{column.lower()}"
        case Literal(Decimal() as number):
            return _number(number)
        case Arithmetic(ArithmeticOperator() as sign, left, right):
            return _pair(sign.value, _written(left, name), _written(right, name))
    return "?"


def _number(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _pair(sign: str, left: str, right: str) -> str:
    first, second = sorted((left, right)) if sign in _COMMUTATIVE else (left, right)
    return f"({first} {sign} {second})"
