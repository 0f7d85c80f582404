"""Arithmetic and comparison over outcomes: exact, per member, and unknown rather than wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    ComparisonOperator,
    LinkCount,
    Literal,
    Operand,
    PropertyRef,
)
from catalog.expressions.walking import nodes
from evals.oracle.functions import call_function
from evals.oracle.outcomes import Censored, Determinate, Duration, Indeterminate, Instant, Outcome, Value
from evals.oracle.texts import GREATEST_INTEGER, LEAST_INTEGER, at_offset
from evals.oracle.units import Change, ChangeUnits, change, unit_of
from evals.oracle.values import duration, instant
from trivet.verdicts import Cause

_End: TypeAlias = Value | Fraction
Lookup = Callable[[PropertyRef | LinkCount], Outcome]


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a condition is judged."""

    zone: ZoneInfo
    at: datetime
    """The slot's instant, with an offset."""
    units: Mapping[PropertyRef, str | None] = field(default_factory=dict)
    """The unit of every property that a condition can name."""
    change_units: ChangeUnits = change


_EXACT = Context(prec=200)
_MAX_DIGITS = 38
_DAY = 86_400_000_000
_FIRST_INSTANT = at_offset(datetime(1, 1, 1), 0).microseconds
_LAST_INSTANT = at_offset(datetime(9999, 12, 31, 23, 59, 59, 999999), 0).microseconds


def evaluate(operand: Operand, lookup: Lookup, place: Place) -> Outcome | None:
    """What an operand comes to; None where a calculation has no value to work on or fails."""
    match operand:
        case PropertyRef() | LinkCount():
            return lookup(operand)
        case Literal():
            return Determinate(_literal_value(operand, place.zone))
        case Arithmetic() | Call():
            applied = _apply(operand, lookup, place)
            return applied if isinstance(applied, Determinate) else None
    raise TypeError(f"{operand} has no value in one row")


def failures(operand: Operand, lookup: Lookup, place: Place) -> Iterator[tuple[str, Cause]]:
    """Every calculation that fails although all it works on has a value, as printed, with the cause."""
    for node in nodes(operand):
        if isinstance(node, Arithmetic | Call):
            applied = _apply(node, lookup, place)
            if isinstance(applied, Indeterminate):
                yield print_operand(node), applied.cause


def _apply(node: Arithmetic | Call, lookup: Lookup, place: Place) -> Determinate | Indeterminate | None:
    inner = node.arguments if isinstance(node, Call) else (node.left, node.right)
    values = []
    for item in inner:
        outcome = evaluate(item, lookup, place)
        if not isinstance(outcome, Determinate):
            return None
        values.append(outcome.value)
    if isinstance(node, Call):
        return call_function(node.function, values, place.zone, place.at)
    left, right = values[0], values[1]
    if node.operator in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT):
        changed = place.change_units(unit_of(node.right, place.units), unit_of(node.left, place.units))
        if changed is not None:
            converted = _in_other_unit(right, changed)
            return _overflow() if converted is None else calculate(node.operator, left, converted)
    return calculate(node.operator, left, right)


def _in_other_unit(value: Value, changed: Change) -> Value | None:
    """What is added, in the unit of the other side; None beyond the doubles."""
    assert isinstance(value, int | Decimal | float)
    if isinstance(value, float) or not changed.is_decimal:
        converted = _changed_double(float(value), changed)
        return converted if math.isfinite(converted) else None
    digits = next(count for count in range(60) if (changed.factor * 10**count).denominator == 1)
    factor = Decimal(int(changed.factor * 10**digits)).scaleb(-digits, context=_EXACT)
    return _EXACT.multiply(Decimal(value), factor)


def _changed_double(value: float, changed: Change) -> float:
    moved = value * float(changed.factor)
    return float(format(moved + float(changed.offset) if changed.offset else moved, ".11e"))


def _literal_value(literal: Literal, zone: ZoneInfo) -> Value:
    match literal.value:
        case bool() | str():
            return literal.value
        case Decimal() as number:
            exponent = number.as_tuple().exponent
            return number.quantize(Decimal(1), context=_EXACT) if int(exponent) > 0 else number
        case datetime() as moment:
            return instant(moment, zone)
        case date() as day:
            return day
        case timedelta() as length:
            return duration(length)


def calculate(operator: ArithmeticOperator, left: Value, right: Value) -> Determinate | Indeterminate:
    """`left operator right`, or why it fails: `division_by_zero` or `overflow`."""
    match left, right:
        case (int() | float() | Decimal(), int() | float() | Decimal()):
            return _calculate_number(operator, left, right)
        case date(), date():
            return Determinate(Duration((left - right) // timedelta(microseconds=1)))
        case date(), Duration():
            return _move_date(left, _signed(operator, right))
        case Instant(), Instant():
            return Determinate(Duration(left.microseconds - right.microseconds))
        case Instant(), Duration():
            moved = left.microseconds + _signed(operator, right)
            return Determinate(Instant(moved)) if _FIRST_INSTANT <= moved <= _LAST_INSTANT else _overflow()
        case Duration(), Duration():
            total = left.microseconds + _signed(operator, right)
            return Determinate(Duration(total)) if LEAST_INTEGER <= total <= GREATEST_INTEGER else _overflow()
    raise TypeError(f"{left!r} {operator} {right!r} has no meaning")


def _overflow() -> Indeterminate:
    return Indeterminate(Cause.OVERFLOW)


def _signed(operator: ArithmeticOperator, length: Duration) -> int:
    return -length.microseconds if operator is ArithmeticOperator.SUBTRACT else length.microseconds


def _move_date(day: date, microseconds: int) -> Determinate | Indeterminate:
    try:
        return Determinate(day + timedelta(days=microseconds // _DAY))
    except OverflowError:
        return _overflow()


def _calculate_number(
    operator: ArithmeticOperator, left: int | float | Decimal, right: int | float | Decimal
) -> Determinate | Indeterminate:
    if operator is ArithmeticOperator.DIVIDE:
        return _divide(float(left), float(right))
    if isinstance(left, float) or isinstance(right, float):
        inexact = _operate_floats(operator, float(left), float(right))
        return Determinate(inexact) if math.isfinite(inexact) else _overflow()
    exact = _operate_exactly(operator, Decimal(left), Decimal(right))
    if isinstance(left, int) and isinstance(right, int):
        return Determinate(int(exact)) if LEAST_INTEGER <= exact <= GREATEST_INTEGER else _overflow()
    return Determinate(exact) if len(exact.as_tuple().digits) <= _MAX_DIGITS else _overflow()


def _divide(left: float, right: float) -> Determinate | Indeterminate:
    if right == 0:
        return Indeterminate(Cause.DIVISION_BY_ZERO)
    quotient = left / right
    return Determinate(float(format(quotient, ".11e"))) if math.isfinite(quotient) else _overflow()


def _operate_floats(operator: ArithmeticOperator, left: float, right: float) -> float:
    match operator:
        case ArithmeticOperator.ADD:
            return left + right
        case ArithmeticOperator.SUBTRACT:
            return left - right
        case ArithmeticOperator.MULTIPLY:
            return left * right
        case ArithmeticOperator.DIVIDE:
            raise ValueError("a division is not done here")


def _operate_exactly(operator: ArithmeticOperator, left: Decimal, right: Decimal) -> Decimal:
    # The context is wide enough to round nothing, and keeps the scale that the law gives each result.
    match operator:
        case ArithmeticOperator.ADD:
            return _EXACT.add(left, right)
        case ArithmeticOperator.SUBTRACT:
            return _EXACT.subtract(left, right)
        case ArithmeticOperator.MULTIPLY:
            return _EXACT.multiply(left, right)
        case ArithmeticOperator.DIVIDE:
            raise ValueError("a division is not done here")


@dataclass(frozen=True, slots=True)
class _Interval:
    """Where a value can lie. An end that is None is open and without bound."""

    low: _End | None
    low_closed: bool
    high: _End | None
    high_closed: bool

    def mapped(self, function: Callable[[_End], _End]) -> _Interval:
        """The interval with a rising function of both ends."""
        low, high = (None if end is None else function(end) for end in (self.low, self.high))
        return _Interval(low, self.low_closed, high, self.high_closed)

    @property
    def is_point(self) -> bool:
        return self.low is not None and self.low_closed and self.high_closed and self.low == self.high

    @property
    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        closed = self.low_closed and self.high_closed
        return _before(self.high, self.low) or (self.low == self.high and not closed)


def _before(left: _End, right: _End) -> bool:
    return left < right  # type: ignore[operator]


def compare(
    operator: ComparisonOperator, left: Outcome | None, right: Outcome | None, changed: Change | None = None
) -> bool | None:
    """Whether the comparison holds for all values that the sides can have, or for none; else None.

    `changed` brings the right side to the unit of the left one.
    """
    if left is None or right is None or isinstance(left, Indeterminate) or isinstance(right, Indeterminate):
        return None
    doubled = any(isinstance(_bound_of(side), float) for side in (left, right))
    near, far = _interval(left, doubled), _interval(right, doubled)
    if changed is not None:
        near, far = _in_one_unit(near, far, changed, doubled)
    if near.is_empty or far.is_empty:
        return None
    match operator:
        case ComparisonOperator.LESS:
            return _less(near, far)
        case ComparisonOperator.LESS_OR_EQUAL:
            return _negated(_less(far, near))
        case ComparisonOperator.GREATER:
            return _less(far, near)
        case ComparisonOperator.GREATER_OR_EQUAL:
            return _negated(_less(near, far))
        case ComparisonOperator.EQUAL:
            return _equal(near, far)
        case ComparisonOperator.NOT_EQUAL:
            return _negated(_equal(near, far))


def _in_one_unit(near: _Interval, far: _Interval, changed: Change, doubled: bool) -> tuple[_Interval, _Interval]:
    if not doubled:
        exact = near.mapped(lambda end: _fraction(end))
        return exact, far.mapped(lambda end: _fraction(end) * changed.factor + changed.offset)
    if changed.factor <= 1:
        return near, far.mapped(lambda end: _changed_double(_double(end), changed))
    back = Change(1 / changed.factor, -changed.offset / changed.factor)
    return near.mapped(lambda end: _changed_double(_double(end), back)), far


def _fraction(end: _End) -> Fraction:
    assert isinstance(end, int | Decimal | Fraction)
    return Fraction(end)


def _double(end: _End) -> float:
    assert isinstance(end, int | float)
    return float(end)


def _bound_of(outcome: Determinate | Censored) -> Value:
    return outcome.limit if isinstance(outcome, Censored) else outcome.value


def _interval(outcome: Determinate | Censored, doubled: bool) -> _Interval:
    bound = _bound_of(outcome)
    zero: Value = Duration(0) if isinstance(bound, Duration) else 0
    if doubled and isinstance(bound, int | Decimal):
        bound = float(bound)
    if isinstance(outcome, Determinate):
        return _Interval(bound, True, bound, True)
    closed = len(outcome.side) == 2
    if outcome.side.startswith("<"):
        return _Interval(zero if outcome.non_negative else None, outcome.non_negative, bound, closed)
    return _Interval(bound, closed, None, False)


def _less(left: _Interval, right: _Interval) -> bool | None:
    if left.high is not None and right.low is not None:
        apart = left.high == right.low and not (left.high_closed and right.low_closed)
        if _before(left.high, right.low) or apart:
            return True
    if left.low is not None and right.high is not None and not _before(left.low, right.high):
        return False
    return None


def _equal(left: _Interval, right: _Interval) -> bool | None:
    if left.is_point and right.is_point:
        return left.low == right.low
    disjoint = _less(left, right) is True or _less(right, left) is True
    return False if disjoint else None


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth
