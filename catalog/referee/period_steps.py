"""Whether a change is taken against the very period before: the row before may be that of an earlier one."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from catalog.periods import Period
from catalog.referee.join_graph import literal_of
from catalog.referee.measured_rows import Rows

_SPANS = {
    Period.YEAR: {("1", "YEAR"), ("12", "MONTH")},
    Period.QUARTER: {("1", "QUARTER"), ("3", "MONTH")},
    Period.MONTH: {("1", "MONTH")},
    Period.WEEK: {("1", "WEEK"), ("7", "DAY")},
    Period.DAY: {("1", "DAY")},
}
"""How long a period is, in each way of saying it."""


def guarded(value: exp.Expr) -> tuple[exp.Expr, exp.EQ | None]:
    """What a CASE gives where the row before has some value, and that condition; of anything else, the value itself."""
    inner = value.unnest()
    if not isinstance(inner, exp.Case) or inner.this is not None or len(inner.args["ifs"]) != 1:
        return value, None
    default, branch = inner.args.get("default"), inner.args["ifs"][0]
    asked = branch.this.unnest()
    if not isinstance(asked, exp.EQ) or not (default is None or isinstance(default, exp.Null)):
        return value, None
    lagged = any(isinstance(node, exp.Lag) for side in (asked.left, asked.right) for node in side.walk())
    return (branch.args["true"], asked) if lagged and asked.find(exp.Abs) is None else (value, None)


def is_step_back(
    condition: exp.EQ, window: exp.Window, term: Callable[[exp.Expr], str], period: str, by: Period | None
) -> bool:
    """Whether a condition holds the period of the row before, by the same window, to be the one before this row's.

    Args:
        condition: what a change is guarded by.
        window: that of the figure before.
        term: brings a term to the form that `period` has.
        period: by what periods are told apart.
        by: the period in which dates lie; None where the values are the periods.
    """
    sides = (condition.left.unnest(), condition.right.unnest())
    for one, other in (sides, sides[::-1]):
        if isinstance(other, exp.Sub):  # The period before is this one less a span.
            lagged, now, span = one, other.left.unnest(), other.right
        elif isinstance(one, exp.Add):  # The period before and a span are this one.
            lagged, now, span = one.left.unnest(), other, one.right
        else:
            continue
        if _is_before(lagged, window, term, period) and term(now) == period and _is_one_period(now, span, by):
            return True
    return False


def two_at_most(rows: Rows, period: str) -> bool:
    """Whether rows are held to a list of two periods at most, so that none lies between."""
    return any(held.values is not None and len(held.values) <= 2 for held in rows if period in held.columns)


def _is_before(lagged: exp.Expr, window: exp.Window, term: Callable[[exp.Expr], str], period: str) -> bool:
    if not isinstance(lagged, exp.Window) or not isinstance(lagged.this, exp.Lag):
        return False
    step, default = lagged.this.args.get("offset"), lagged.this.args.get("default")
    same = all(_printed(lagged.args.get(name)) == _printed(window.args.get(name)) for name in ("partition_by", "order"))
    one = default is None and (step is None or literal_of(step) == "1")
    return same and one and not lagged.args.get("alias") and term(lagged.this.this) == period


def _printed(part: object) -> str:
    parts = part if isinstance(part, list) else [part]
    return ", ".join(item.sql() for item in parts if isinstance(item, exp.Expr))


def _is_one_period(now: exp.Expr, span: exp.Expr, by: Period | None) -> bool:
    inner = span.unnest()
    if isinstance(inner, exp.Interval) and inner.this is not None:
        unit = str(inner.args.get("unit") or "").upper().rstrip("S")
        return (inner.this.name, unit) in _SPANS[by or Period.DAY]
    whole = by is None or (by is Period.YEAR and isinstance(now, exp.Year | exp.Extract))
    return whole and literal_of(inner) == "1"
