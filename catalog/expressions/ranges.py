"""What values are left to an operand by comparisons with literals: intervals, holes, and a lattice of steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.datatypes import DataType, Kind
from catalog.expressions.tree import ComparisonOperator

Point: TypeAlias = Fraction | str
"""A value on a line: numbers, days, instants and lengths as fractions, text as itself."""

NEGATED = {
    ComparisonOperator.LESS: ComparisonOperator.GREATER_OR_EQUAL,
    ComparisonOperator.LESS_OR_EQUAL: ComparisonOperator.GREATER,
    ComparisonOperator.GREATER: ComparisonOperator.LESS_OR_EQUAL,
    ComparisonOperator.GREATER_OR_EQUAL: ComparisonOperator.LESS,
    ComparisonOperator.EQUAL: ComparisonOperator.NOT_EQUAL,
    ComparisonOperator.NOT_EQUAL: ComparisonOperator.EQUAL,
}
MIRRORED = {
    ComparisonOperator.LESS: ComparisonOperator.GREATER,
    ComparisonOperator.LESS_OR_EQUAL: ComparisonOperator.GREATER_OR_EQUAL,
    ComparisonOperator.GREATER: ComparisonOperator.LESS,
    ComparisonOperator.GREATER_OR_EQUAL: ComparisonOperator.LESS_OR_EQUAL,
    ComparisonOperator.EQUAL: ComparisonOperator.EQUAL,
    ComparisonOperator.NOT_EQUAL: ComparisonOperator.NOT_EQUAL,
}


@dataclass(frozen=True, slots=True)
class Bound:
    """`operator point`."""

    operator: ComparisonOperator
    at: Point


@dataclass(frozen=True, slots=True)
class Domain:
    """What an operand can be at all. None is without an end, or without steps."""

    least: Fraction | None = None
    greatest: Fraction | None = None
    step: Fraction | None = None
    """Every value is a multiple of it."""


ANY = Domain()
ZERO = Fraction(0)
SIGN = Domain(Fraction(-1), Fraction(1), Fraction(1))
"""Of a difference: less, equal, greater."""


def point(value: Decimal | str | bool | date | datetime | timedelta, beside: DataType, zone: ZoneInfo) -> Point | None:
    """Where a literal stands on the line of the operand beside it; None where that cannot be told."""
    match value:
        case bool():
            return Fraction(value)
        case Decimal():
            # Beside a double a literal is first converted to the nearest double.
            return Fraction(float(value)) if beside.kind is Kind.DOUBLE else Fraction(value)
        case str():
            return value
        case datetime():
            return _instant(value, zone)
        case date():
            return Fraction(value.toordinal())
        case timedelta():
            return Fraction(value // timedelta(microseconds=1))


def _instant(wall: datetime, zone: ZoneInfo) -> Fraction | None:
    """Microseconds in UTC: wall times are not in the order of the instants around a change of the clocks."""
    try:
        offset = min(wall.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
        return Fraction((wall - offset - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    except OverflowError:
        return None


def is_empty(domain: Domain, bounds: Iterable[Bound]) -> bool:
    """Whether no value of the domain is within all bounds."""
    low, high = _End(domain.least, True), _End(domain.greatest, True)
    holes: set[Point] = set()
    for bound in bounds:
        match bound.operator:
            case ComparisonOperator.LESS:
                high = high.lower(bound.at, False)
            case ComparisonOperator.LESS_OR_EQUAL:
                high = high.lower(bound.at, True)
            case ComparisonOperator.GREATER:
                low = low.raise_to(bound.at, False)
            case ComparisonOperator.GREATER_OR_EQUAL:
                low = low.raise_to(bound.at, True)
            case ComparisonOperator.EQUAL:
                low, high = low.raise_to(bound.at, True), high.lower(bound.at, True)
            case ComparisonOperator.NOT_EQUAL:
                holes.add(bound.at)
    if domain.step is not None:
        return _has_no_step(domain.step, low, high, holes)
    if low.at is None or high.at is None or low.at != high.at:
        return low.at is not None and high.at is not None and _before(high.at, low.at)
    return not (low.closed and high.closed) or low.at in holes


@dataclass(frozen=True, slots=True)
class _End:
    at: Point | None
    closed: bool

    def lower(self, at: Point, closed: bool) -> _End:
        """The lower of two upper ends."""
        if self.at is None or _before(at, self.at):
            return _End(at, closed)
        return _End(at, self.closed and closed) if at == self.at else self

    def raise_to(self, at: Point, closed: bool) -> _End:
        """The higher of two lower ends."""
        if self.at is None or _before(self.at, at):
            return _End(at, closed)
        return _End(at, self.closed and closed) if at == self.at else self


def _before(left: Point, right: Point) -> bool:
    return left < right  # type: ignore[operator]


def _has_no_step(step: Fraction, low: _End, high: _End, holes: set[Point]) -> bool:
    if not isinstance(low.at, Fraction) or not isinstance(high.at, Fraction):
        return False
    first, last = ceil(low.at / step), floor(high.at / step)
    first += not low.closed and first * step == low.at
    last -= not high.closed and last * step == high.at
    if last - first > len(holes):
        return False
    return all(Fraction(count) * step in holes for count in range(first, last + 1))
