"""What earlier values come to, by the plainest arithmetic that there is: fractions, and roots of many digits."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_PLENTY = Context(prec=2000, rounding=ROUND_HALF_EVEN)
_TWELVE = Context(prec=12, rounding=ROUND_HALF_EVEN)
_LARGEST = Fraction(1.7976931348623157e308)


def comes_to(statistic: str, values: Sequence[Decimal], *, exact: bool) -> Fraction | None:
    """The statistic of values; None where it is beyond the finite doubles.

    Args:
        statistic: `mean`, `median` or `deviation`.
        values: at least one; of a deviation at least two.
        exact: whether the mean of two middle values stays as it is.
    """
    numbers = [Fraction(value) for value in values]
    if statistic == "median":
        middle = statistics.median(numbers)
        kept = exact or middle in numbers
        return middle if kept else _within(Fraction(_twelve(middle)))
    if statistic == "mean":
        return _within(Fraction(_twelve(statistics.mean(numbers))))
    square = statistics.variance(numbers)
    root = _PLENTY.sqrt(_PLENTY.divide(Decimal(square.numerator), Decimal(square.denominator)))
    return _within(Fraction(_TWELVE.plus(root)))


def _twelve(value: Fraction) -> Decimal:
    return _TWELVE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _within(value: Fraction) -> Fraction | None:
    return value if abs(value) <= _LARGEST else None
