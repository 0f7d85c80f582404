"""What earlier values come to: exact arithmetic over the recorded texts, rounded once.

An auditor who has the recorded values gets the same number, on any machine: no float is involved.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import isqrt

from catalog.expressions.baselines import BaselineRule, Statistic
from catalog.expressions.printing import print_operand
from trivet.canonical import Json
from trivet.verdicts import Reason

DIGITS = 12
"""Significant digits of a mean and of a deviation, and of the mean of two middle values that are not exact."""
_LARGEST = Fraction((2**53 - 1) * 2**971)
"""The largest finite double."""


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """What one figure of one group came to in one evaluation, as it is recorded for those that look back."""

    measure: str
    """The figure as printed."""
    measure_hash: str
    """Hash of what decides its values."""
    key: str
    """The group, as `group_key` writes it."""
    value: str | None
    """Exact; None where the figure has none."""
    reason: Reason | None
    """Why it has none."""


def group_key(names: Sequence[str], texts: Sequence[str]) -> str:
    """A group's key as one text: JSON in ASCII, so that keys which Unicode composes differently stay apart."""
    return json.dumps(dict(zip(names, texts, strict=True)), sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What a baseline of one evaluation looked back on."""

    rule: BaselineRule
    measure_hash: str
    """Hash of what decides the recorded values."""
    evaluations: tuple[str, ...]
    """Ids of the evaluations whose values were taken, the latest slot first; the same for every group."""

    def to_json(self) -> dict[str, Json]:
        """As the ledger and an evaluation document hold it."""
        return {**rule_json(self.rule), "measure_hash": self.measure_hash, "evaluations": list(self.evaluations)}


def rule_json(rule: BaselineRule) -> dict[str, Json]:
    """A rule as canonical JSON values; its name is the key that it stands under."""
    return {
        "of": print_operand(rule.of),
        "statistic": rule.statistic.value,
        "last": rule.last,
        "weekday": "same" if rule.same_weekday else "any",
        "min_history": rule.min_history,
    }


def statistic_of(statistic: Statistic, values: Sequence[Decimal], *, exact: bool) -> Decimal | None:
    """What values come to; None where that is beyond the finite doubles, and so no value at all.

    Args:
        statistic: which one.
        values: as they were recorded, at least `statistic.needs` of them.
        exact: whether the mean of two middle values is exact, as of integers and decimals, or rounded as of doubles.
    """
    numbers = [Fraction(value) for value in values]
    match statistic:
        case Statistic.MEAN:
            return _rounded(sum(numbers, Fraction(0)) / len(numbers))
        case Statistic.MEDIAN:
            return _median(sorted(values), exact=exact)
        case Statistic.DEVIATION:
            mean = sum(numbers, Fraction(0)) / len(numbers)
            variance = sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / (len(numbers) - 1)
            return _rounded_root(variance)


def _median(values: Sequence[Decimal], *, exact: bool) -> Decimal | None:
    lower, upper = values[(len(values) - 1) // 2], values[len(values) // 2]
    if lower == upper:
        return lower if lower else Decimal(0)
    middle = (Fraction(lower) + Fraction(upper)) / 2
    return _terminating(middle) if exact else _rounded(middle)


def _terminating(value: Fraction) -> Decimal:
    """A fraction whose denominator divides a power of ten, digit by digit."""
    scale = 0
    while (value * 10**scale).denominator != 1:
        scale += 1
    whole = int(value * 10**scale)
    return Decimal((int(whole < 0), tuple(int(digit) for digit in str(abs(whole))), -scale))


def _rounded(value: Fraction) -> Decimal | None:
    """A fraction to so many significant digits, half to even."""
    above, below = abs(value.numerator), value.denominator
    shift = _shift(above, below)
    whole, rest = divmod(above * 10**shift, below) if shift >= 0 else divmod(above, below * 10**-shift)
    return _held(whole, rest != 0, shift, negative=value < 0)


def _rounded_root(square: Fraction) -> Decimal | None:
    """The square root of a fraction to so many significant digits, half to even."""
    above, below = square.numerator, square.denominator
    # Twice the shift of the root is that of the square; an even one leaves the root a whole number of digits.
    shift = _shift(above, below)
    shift += shift % 2
    over, under = (above * 10**shift, below) if shift >= 0 else (above, below * 10**-shift)
    root = isqrt(over // under)
    return _held(root, root * root * under != over, shift // 2, negative=False)


def _shift(above: int, below: int) -> int:
    """By how many places a quotient moves so that its whole part has more than twice the digits that are kept."""
    return 2 * DIGITS + 6 - (len(str(above)) - len(str(below)))


def _held(whole: int, more: bool, shift: int, *, negative: bool) -> Decimal | None:
    # What was cut off shows as one more digit, so that a half is told from more than a half.
    digits = tuple(int(digit) for digit in f"{whole}{int(more)}")
    found = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN).create_decimal(Decimal((int(negative), digits, -shift - 1)))
    return None if abs(Fraction(found)) > _LARGEST else found.normalize(Context(prec=DIGITS))
