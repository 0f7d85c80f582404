"""Figures of a group from their determinate inputs, exact in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import Any, TypeAlias

from catalog.datatypes import DataType
from catalog.expressions.tree import AggregateFunction
from evals.oracle.outcomes import Determinate, Duration, Indeterminate, Instant, Value
from evals.oracle.texts import GREATEST_INTEGER, LEAST_INTEGER
from trivet.verdicts import Cause

Figure: TypeAlias = Determinate | Indeterminate

_EXACT = Context(prec=200)
_MOST_DIGITS = 38
_OVERFLOW = Indeterminate(Cause.OVERFLOW)


def aggregate(function: AggregateFunction, inputs: Sequence[Value], of: DataType | None) -> Figure:
    """What a function makes of at least one input of the type `of`; `share` and the like take truths."""
    match function:
        case AggregateFunction.COUNT:
            return Determinate(len(inputs))
        case AggregateFunction.COUNT_DISTINCT:
            return Determinate(len(set(inputs)))
        case AggregateFunction.SHARE | AggregateFunction.NULL_SHARE:
            return _quotient(float(sum(value is True for value in inputs)), len(inputs))
        case AggregateFunction.MIN:
            return Determinate(min(inputs, key=_ordered))
        case AggregateFunction.MAX:
            return Determinate(max(inputs, key=_ordered))
        case AggregateFunction.MEDIAN:
            return _median(sorted(inputs, key=_ordered), of)
        case AggregateFunction.SUM:
            return _bounded(_total(inputs))
        case AggregateFunction.AVG:
            return _average(inputs)


def _average(inputs: Sequence[Value]) -> Figure:
    match _total(inputs):
        case int() as total:
            # The sum of integers is no figure of its own here, so it may be of any size.
            return _quotient(float(total), len(inputs))
        case float() as total:
            return _quotient(total, len(inputs))
        case Decimal() as total if isinstance(_bounded(total), Determinate):
            return _quotient(float(total), len(inputs))
        case _:
            return _OVERFLOW


def _ordered(value: Value) -> Any:
    return value


def _twelve(number: float) -> float:
    return float(format(number, ".11e"))


def _quotient(above: float, below: int) -> Figure:
    return Determinate(_twelve(above / below))


def _total(inputs: Sequence[Value]) -> int | float | Decimal | Duration | None:
    """The sum, in no particular order; None where doubles leave their range."""
    if isinstance(inputs[0], float):
        try:
            math.fsum(abs(value) for value in inputs if isinstance(value, float))
            return math.fsum(value for value in inputs if isinstance(value, float))
        except OverflowError:
            return None
    if isinstance(inputs[0], Decimal):
        total = Decimal(0).scaleb(int(inputs[0].as_tuple().exponent))
        for value in inputs:
            total = _EXACT.add(total, value if isinstance(value, Decimal) else Decimal(0))
        return total
    if isinstance(inputs[0], Duration):
        return Duration(sum(value.microseconds for value in inputs if isinstance(value, Duration)))
    return sum(value for value in inputs if isinstance(value, int))


def _bounded(total: int | float | Decimal | Duration | None) -> Figure:
    match total:
        case None:
            return _OVERFLOW
        case float():
            return Determinate(_twelve(total))
        case Decimal():
            return Determinate(total) if len(total.as_tuple().digits) <= _MOST_DIGITS else _OVERFLOW
        case Duration(microseconds=size) | (int() as size):
            return Determinate(total) if LEAST_INTEGER <= size <= GREATEST_INTEGER else _OVERFLOW


def _median(inputs: Sequence[Value], of: DataType | None) -> Figure:
    lower, upper = inputs[(len(inputs) - 1) // 2], inputs[len(inputs) // 2]
    digits = of.exact_digits if of is not None else None
    if digits is not None and sum(digits) < _MOST_DIGITS:
        both = _EXACT.add(_decimal(lower), _decimal(upper))
        return Determinate(_EXACT.multiply(both, Decimal("0.5")))
    low, high = _float(lower), _float(upper)
    if lower == upper:
        return Determinate(low)
    return Determinate(_twelve((low + high) / 2)) if math.isfinite(low + high) else _OVERFLOW


def _decimal(value: Value) -> Decimal:
    assert isinstance(value, int | Decimal)
    return Decimal(value)


def _float(value: Value) -> float:
    assert isinstance(value, int | float | Decimal)
    return float(value)


def change(now: Value, before: Value, *, relative: bool) -> Figure:
    """What lies between two figures; or how much that is of the size of the earlier one."""
    difference = _difference(now, before, rounded=not relative)
    if not relative:
        return difference
    if _float(before) == 0:
        return Indeterminate(Cause.DIVISION_BY_ZERO)
    if not isinstance(difference, Determinate):
        return difference
    quotient = _float(difference.value) / abs(_float(before))
    return Determinate(_twelve(quotient)) if math.isfinite(quotient) else _OVERFLOW


def _difference(now: Value, before: Value, *, rounded: bool) -> Figure:
    match now, before:
        case float(), float():
            if not math.isfinite(now - before):
                return _OVERFLOW
            return Determinate(_twelve(now - before) if rounded else now - before)
        case Decimal(), Decimal():
            return _bounded(_EXACT.subtract(now, before))
        case Duration(), Duration():
            return _bounded(Duration(now.microseconds - before.microseconds))
        case Instant(), Instant():
            return _bounded(Duration(now.microseconds - before.microseconds))
        case int(), int():
            return _bounded(now - before)
        case date(), date():
            return Determinate(Duration((now - before) // timedelta(microseconds=1)))
    raise TypeError(f"{now!r} - {before!r} has no meaning")


def is_enough(inputs: int, over: int, share: Decimal) -> bool:
    """Whether so many inputs are a share of what they are taken over."""
    return inputs >= _EXACT.multiply(share, Decimal(over))
