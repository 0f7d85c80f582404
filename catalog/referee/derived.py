"""Values of a resolved statement held against the derived metrics of the contract, as normalised trees."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, Metric
from catalog.expressions.tree import AggregateFunction
from catalog.metric_records import DerivationKind, DerivedMetric, EmptyRule, MetricDisplay
from catalog.periods import Period
from catalog.referee.aggregates import is_aggregate, leaves, output_of, outputs_of
from catalog.referee.join_graph import literal_of
from catalog.referee.lineage import Source
from catalog.referee.measured_rows import Rows, bare, rows_of, rows_within, term_text
from catalog.referee.measures import Measures
from catalog.referee.period_gaps import has_gap
from catalog.referee.period_steps import guarded, is_step_back, two_at_most

Places = tuple["Place", ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a derived metric is taken: equal places make parts of one figure."""

    object_type: str
    scope: int
    """The query in which it is taken, by identity."""
    own: Rows
    """What holds the rows of that query."""
    within: Rows
    """What holds the rows of queries that it reads."""
    groups: frozenset[str]
    """By what it is told apart."""
    choice: str
    """Filter, window and CASE of its own."""


@dataclass(frozen=True, slots=True)
class Derived:
    """Answers for one statement."""

    contract: Contract
    measures: Measures
    _handed: dict[tuple[int, str, str], bool] = field(default_factory=dict)
    """Whether a column of a query is a metric; else a chain of set operations takes twice as long for each."""

    def is_value(self, scope: Scope, value: exp.Expr, metric: DerivedMetric) -> bool:
        """Whether a value is a derived metric, rounded at most at its end, or one that an inner query hands on."""
        inner = _bare(value.unalias())
        if isinstance(inner, exp.Column):
            source = self.measures.grain.graph(scope).sources.get(inner.table)
            return source is not None and self._hands_on(source, inner.name, metric)
        return self.places(scope, rounded_off(inner, metric.display), metric) is not None

    def is_mean(self, scope: Scope, aggregate: exp.Expr) -> bool:
        """Whether an aggregate is a certified mean of what periods come to."""
        means = (item for item in self.contract.derived_metrics if _kind(item) is DerivationKind.MEAN_PER_PERIOD)
        return any(self.places(scope, aggregate, metric) is not None for metric in means)

    def places(self, scope: Scope, value: exp.Expr, metric: Metric | DerivedMetric) -> Places | None:
        """Where the aggregates of a value stand that is that metric, unrounded; None if it is not."""
        inner = _exact(value)
        if isinstance(metric, Metric):
            return self._of_base(scope, inner, metric)
        match metric.derivation.kind:
            case DerivationKind.RATIO | DerivationKind.SHARE:
                pair = divided(inner, never_negative=metric.derivation.non_negative)
                return self._pair(scope, pair, metric)
            case DerivationKind.DIFFERENCE:
                pair = (inner.left, inner.right) if isinstance(inner, exp.Sub) else None
                return self._pair(scope, pair, metric)
            case DerivationKind.PERIOD_OVER_PERIOD:
                return self._over_periods(scope, inner, metric)
            case DerivationKind.MEAN_PER_PERIOD:
                return self._mean(scope, inner, metric)

    def _pair(self, scope: Scope, pair: tuple[exp.Expr, exp.Expr] | None, metric: DerivedMetric) -> Places | None:
        if pair is None:
            return None
        found: list[Place] = []
        for value, name in zip(pair, metric.derivation.parts, strict=True):
            part = self.contract.metric(name)
            places = self.places(scope, value, part) if part is not None else None
            if places is None:
                return None
            found += places
        return tuple(found) if all(self._fit(found[0], other) for other in found[1:]) else None

    def _fit(self, one: Place, other: Place) -> bool:
        """Whether two parts are taken over the same: the same choice of rows, told apart by the same."""
        if one.choice != other.choice or {*map(bare, one.groups)} != {*map(bare, other.groups)}:
            return False
        if one.scope == other.scope:
            return one.within == other.within
        here, there = one.own | one.within, other.own | other.within
        return self._choose_groups(here - there, one) and self._choose_groups(there - here, other)

    def _choose_groups(self, alone: Rows, place: Place) -> bool:
        """Whether conditions that one part alone has choose groups and no rows in them: by a group for each row."""
        own = self.contract.object_type(place.object_type)
        if not alone or own is None:
            return not alone
        keys = {name.lower() for name in own.primary_key}
        names = {item.name.lower() for item in own.properties}
        by_row = keys <= {bare(term) for term in place.groups}
        return by_row and all(held.columns and held.columns <= names for held in alone)

    def _of_base(self, scope: Scope, value: exp.Expr, metric: Metric) -> Places | None:
        if metric.empty_rule is EmptyRule.ZERO and isinstance(value, exp.Coalesce) and _is_zero(value.expressions):
            value = _exact(value.this)
        if isinstance(value, exp.Column):
            return self._handed_on(scope, value, metric)
        if isinstance(value, exp.Subquery | exp.Select):
            return self._alone(scope, value, metric)
        choices: list[str] = []
        while isinstance(value, exp.Window | exp.Filter):
            choices.append(self._words(scope, value))
            value = value.this.unnest()
        if not is_aggregate(value):
            return None
        if self.measures.is_metric(scope, value, metric):
            choices += [self._words(scope, case) for case in value.find_all(exp.Case)]
            read = {leaf.table for leaf in leaves(value) if isinstance(leaf, exp.Column)}
            return (self._place(metric.object_type, scope, read, choices),)
        return self._summed_up(scope, value, metric, choices)

    def _summed_up(self, scope: Scope, value: exp.Expr, metric: Metric, choices: list[str]) -> Places | None:
        """A sum of sums, of which an inner query hands on the parts."""
        column = value.this.unnest() if isinstance(value, exp.Sum) else None
        if metric.aggregate.function is not AggregateFunction.SUM or not isinstance(column, exp.Column):
            return None
        places = self._handed_on(scope, column, metric)
        return self._around(scope, places, {column.table}, choices) if places else None

    def _place(self, name: str, scope: Scope, read: set[str], choices: list[str]) -> Place:
        grain = self.measures.grain
        read = read or set(grain.graph(scope).sources)  # COUNT(*) counts what they all make.
        own, within = rows_of(scope, grain, read), rows_within(scope, grain, read)
        return Place(name, id(scope.expression), own, within, self._groups(scope), " ".join(choices))

    def _around(self, scope: Scope, places: Places, read: set[str], choices: list[str]) -> Places | None:
        """Places of what an inner query hands on, once it is taken together in this one."""
        if any(place.choice for place in places):
            return None
        outer = self._place("", scope, read, choices)
        return tuple(
            replace(outer, object_type=place.object_type, within=outer.within | place.own | place.within)
            for place in places
        )

    def _handed_on(self, scope: Scope, column: exp.Column, metric: Metric) -> Places | None:
        source = self.measures.grain.graph(scope).sources.get(column.table)
        query = source.expression if isinstance(source, Scope) else None
        found = output_of(query, column.name) if query is not None else None
        return self.places(source, found, metric) if found is not None and isinstance(source, Scope) else None

    def _alone(self, scope: Scope, value: exp.Expr, metric: Metric) -> Places | None:
        """A figure in brackets of its own, which depends on nothing outside of them."""
        query = value.unnest()
        inner = next((item for item in scope.subquery_scopes if item.expression is query), None)
        if inner is None or inner.external_columns or not isinstance(query, exp.Select) or len(query.selects) != 1:
            return None
        return self.places(inner, query.selects[0].unalias(), metric)

    def _over_periods(self, scope: Scope, value: exp.Expr, metric: DerivedMetric) -> Places | None:
        of = self.contract.metric(metric.derivation.parts[0])
        if not isinstance(of, Metric):
            return None
        given, guard = guarded(value)
        value = _exact(given)
        if not metric.derivation.relative:
            pair = (value.left, value.right) if isinstance(value, exp.Sub) else None
            return self._change(scope, pair[0], pair[1], metric, of, guard) if pair else None
        pair = divided(value, never_negative=True)
        change = pair[0].unnest() if pair else None
        if pair is None or not isinstance(change, exp.Sub):
            return None
        below, size = _exact(change.right), _exact(pair[1])
        if isinstance(size, exp.Abs):
            size = _exact(size.this)
        elif not metric.derivation.non_negative:
            return None
        return self._change(scope, change.left, change.right, metric, of, guard) if size == below else None

    def _change(
        self,
        scope: Scope,
        now: exp.Expr,
        before: exp.Expr,
        metric: DerivedMetric,
        of: Metric,
        guard: exp.EQ | None,
    ) -> Places | None:
        places, lag = self._of_base(scope, _exact(now), of), _exact(before)
        window = lag if isinstance(lag, exp.Window) and isinstance(lag.this, exp.Lag) else None
        if places is None or len(places) != 1 or window is None or _exact(window.this.this) != _exact(now):
            return None
        step, default = window.this.args.get("offset"), window.this.args.get("default")
        if default is not None or (step is not None and literal_of(step) != "1") or window.args.get("alias"):
            return None
        period = self._period(metric, of)
        order = window.args["order"].expressions if window.args.get("order") else []
        parted = {self._term(scope, term) for term in window.args.get("partition_by") or ()}
        if len(order) != 1 or order[0].args.get("desc") or self._term(scope, order[0].this) != period:
            return None
        (place,) = places
        apart = period in place.groups and parted == place.groups - {period} and not place.choice
        here = place.scope == id(scope.expression)
        whole = here or not rows_of(scope, self.measures.grain, list(self.measures.grain.graph(scope).sources))
        if guard is not None:
            follows = is_step_back(guard, window, partial(self._term, scope), period, metric.derivation.by)
        else:
            name = str(metric.derivation.period).lower()
            by_value = metric.derivation.by in (None, Period.DAY)
            follows = by_value and two_at_most(place.own | place.within, name) and not _skips(place, name)
        return places if apart and whole and follows else None

    def _mean(self, scope: Scope, value: exp.Expr, metric: DerivedMetric) -> Places | None:
        of = self.contract.metric(metric.derivation.parts[0])
        column = _exact(value.this) if isinstance(value, exp.Avg) else None
        if not isinstance(column, exp.Column) or not isinstance(of, Metric):
            return None
        places = self._handed_on(scope, column, of)
        if places is None or len(places) != 1 or places[0].choice:
            return None
        period, groups = self._period(metric, of), self._groups(scope)
        found = self._around(scope, places, {column.table}, [])
        fits = period in places[0].groups and groups == places[0].groups - {period}
        held = {item for place in found or () for item in place.own | place.within}
        whole = all(item.columns or item.text.startswith("join ") for item in held)
        return found if fits and whole else None

    def _period(self, metric: DerivedMetric, of: Metric) -> str:
        derivation = metric.derivation
        name = f"{of.object_type}.{derivation.period}".lower()
        return f"{derivation.by} of {name}" if derivation.by not in (None, Period.DAY) else name

    def _groups(self, scope: Scope) -> frozenset[str]:
        group = scope.expression.args.get("group")
        if group is None:
            return frozenset()
        terms = [part for parts in group.args.values() if isinstance(parts, list) for part in parts]
        return frozenset(self._term(scope, term) for term in terms)

    def _term(self, scope: Scope, term: exp.Expr) -> str:
        return term_text(scope, term, self.measures.grain)

    def _words(self, scope: Scope, value: exp.Expr) -> str:
        """Filter, window or CASE as text, whatever it is taken over."""
        match value:
            case exp.Filter():
                return f"of {self._term(scope, value.expression.this)}"
            case exp.Window():
                parts = [*(value.args.get("partition_by") or ()), value.args.get("order"), value.args.get("spec")]
                shown = [self._term(scope, part) for part in parts if part is not None]
                return f"over {', '.join(shown)} {value.args.get('alias') or ''}"
            case _:
                return f"of {self._term(scope, value.args['ifs'][0].this)}"

    def _hands_on(self, source: Source, column: str, metric: DerivedMetric) -> bool:
        if isinstance(source, exp.Table):
            return False
        place = (id(source.expression), column.lower(), metric.name)
        if place not in self._handed:
            outputs = outputs_of(source, column.lower())
            self._handed[place] = bool(outputs) and all(
                self.is_value(branch, value, metric) for branch, value in outputs
            )
        return self._handed[place]


def divided(value: exp.Expr, *, never_negative: bool) -> tuple[exp.Expr, exp.Expr] | None:
    """What is divided by what, where the division has no value over zero: by NULLIF, or by a CASE around it."""
    inner = _exact(value)
    if isinstance(inner, exp.Div):
        below = _exact(inner.right)
        guarded = isinstance(below, exp.Nullif) and literal_of(below.expression) in _ZEROS
        return (inner.left, below.this) if guarded else None
    if not isinstance(inner, exp.Case) or inner.this is not None or len(inner.args["ifs"]) != 1:
        return None
    branch, default = inner.args["ifs"][0], inner.args.get("default")
    asked, taken = branch.this.unnest(), branch.args["true"]
    empty = default is None or isinstance(default, exp.Null)
    if isinstance(asked, exp.EQ) and isinstance(taken, exp.Null) and default is not None:
        quotient = _exact(default)
    elif (isinstance(asked, exp.NEQ) or (never_negative and isinstance(asked, exp.GT))) and empty:
        quotient = _exact(taken)
    else:
        return None
    if literal_of(asked.right) not in _ZEROS or not isinstance(quotient, exp.Div):
        return None
    return (quotient.left, quotient.right) if _exact(quotient.right) == _exact(asked.left) else None


def rounded_off(value: exp.Expr, display: MetricDisplay | None) -> exp.Expr:
    """What is rounded at the end, where it is rounded to the digits that are shown."""
    inner = _bare(value)
    if not isinstance(inner, exp.Round):
        return inner
    digits = literal_of(inner.args["decimals"]) if inner.args.get("decimals") is not None else "0"
    return inner.this if may_round(digits, display) else inner


def may_round(digits: str | None, display: MetricDisplay | None) -> bool:
    """Whether a metric may be rounded to so many digits after the point."""
    if digits is None or not digits.isdigit():
        return False
    if display is None:
        return True
    return int(digits) == display.round if display.round is not None else int(digits) >= (display.scale or 0)


_ZEROS = ("0", "0.0")


def _is_zero(values: list[exp.Expr]) -> bool:
    return len(values) == 1 and literal_of(values[0]) in _ZEROS


def _bare(value: exp.Expr) -> exp.Expr:
    while isinstance(value, exp.Paren):
        value = value.this
    return value


def _exact(value: exp.Expr) -> exp.Expr:
    """A value without brackets, and without casts that a division does anyway."""
    while isinstance(value, exp.Paren) or (isinstance(value, exp.Cast) and value.to.this is exp.DType.DOUBLE):
        value = value.this
    return value


def _kind(metric: DerivedMetric) -> DerivationKind:
    return metric.derivation.kind


def _skips(place: Place, period: str) -> bool:
    """Whether something leaves out periods between others, so that the one before is not the one of the row before."""
    for held in place.own | place.within:
        if period in held.columns:
            listed = held.values is not None and not has_gap(held.values)
            if not (listed or held.is_range):
                return True
        elif not held.columns and not held.text.startswith("join "):
            return True
    return False
