"""The units that generated worlds use, each by its size and zero in a unit of its dimension. No library is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from catalog.expressions.tree import Arithmetic, ArithmeticOperator, Call, Function, Literal, Operand, PropertyRef


@dataclass(frozen=True, slots=True)
class _Unit:
    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)


_HOUR, _WEEK = Fraction(3600), Fraction(604800)
_UNITS = {
    "cm": _Unit("length", Fraction(1, 100)),
    "m": _Unit("length", Fraction(1)),
    "km": _Unit("length", Fraction(1000)),
    "mile": _Unit("length", Fraction(1609344, 1000)),
    "second": _Unit("time", Fraction(1)),
    "minute": _Unit("time", Fraction(60)),
    "hour": _Unit("time", _HOUR),
    "week": _Unit("time", _WEEK),
    "AUD/hour": _Unit("AUD in time", 1 / _HOUR),
    "AUD/week": _Unit("AUD in time", 1 / _WEEK),
    "percent": _Unit("ratio", Fraction(1, 100)),
    "ppm": _Unit("ratio", Fraction(1, 1_000_000)),
    "degC": _Unit("temperature", Fraction(1), Fraction(27315, 100)),
    "degF": _Unit("temperature", Fraction(5, 9), Fraction(45967, 180)),
    "NTU": _Unit("NTU", Fraction(1)),
}
FAMILIES = (
    ("cm", "m", "km", "mile"),
    ("second", "minute", "hour", "week"),
    ("AUD/hour", "AUD/week"),
    ("percent", "ppm"),
    ("degC", "degF"),
    ("NTU",),
)
"""Units that convert into each other."""


@dataclass(frozen=True, slots=True)
class Change:
    """`value * factor + offset`."""

    factor: Fraction
    offset: Fraction

    @property
    def is_decimal(self) -> bool:
        """Whether the factor has finitely many digits: its denominator has no prime but 2 and 5."""
        return 10**60 % self.factor.denominator == 0


ChangeUnits: TypeAlias = Callable[[str | None, str | None], Change | None]
"""How a value in the first unit becomes one in the second; None where nothing is to be done."""


class UnknownUnit(LookupError):
    """A unit of which no size is known here."""


def change(of: str | None, to: str | None) -> Change | None:
    """How a value in one unit becomes one in another; None where nothing is to be done.

    Raises:
        UnknownUnit: they differ, and one of them is not among the units of this module.
    """
    if of is None or to is None or of == to:
        return None
    for unit in (of, to):
        if unit not in _UNITS:
            raise UnknownUnit(unit)
    here, there = _UNITS[of], _UNITS[to]
    assert here.dimension == there.dimension
    factor = here.size / there.size
    return Change(factor, (here.zero - there.zero) / there.size)


def unit_of(operand: Operand, declared: Mapping[PropertyRef, str | None]) -> str | None:
    """The unit of an operand, by the units of the properties."""
    match operand:
        case PropertyRef():
            return declared.get(operand)
        case Call(function=Function.ABS, arguments=(argument,)):
            return unit_of(argument, declared)
        case Arithmetic(operator=ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT, left=left, right=right):
            return unit_of(left, declared) or unit_of(right, declared)
        case Arithmetic(left=left, right=Literal()):
            return unit_of(left, declared)
        case Arithmetic(operator=ArithmeticOperator.MULTIPLY, left=Literal(), right=right):
            return unit_of(right, declared)
        case _:
            return None
