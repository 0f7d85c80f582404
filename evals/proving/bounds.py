"""The values at which a monitor's conditions turn: what a property would have to be for a bound to be met exactly.

A bound is undone step by step: from `age(day) > 45d` the day 45 days before the slot, from `rate * 2 < 50` the rate 25.
Of two properties in one comparison, one gets an ordinary value, and what the other must be then is its bound. Nothing
here decides a verdict, so what is not undone costs only that fewer generated cells lie near a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.expressions.tree import (
    TESTS,
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    ArithmeticOperator,
    Atom,
    Between,
    Call,
    Change,
    Comparison,
    Condition,
    Exists,
    Function,
    LinkCount,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
)
from catalog.expressions.walking import atom_nodes, atoms, parts
from catalog.units import NotConverted, convert
from evals.oracle.units import unit_of

Scalar: TypeAlias = Decimal | str | bool | date | datetime | timedelta
"""A value as conditions write it."""

_COUNTED = {
    Function.DAYS: timedelta(days=1),
    Function.HOURS: timedelta(hours=1),
    Function.MINUTES: timedelta(minutes=1),
    Function.SECONDS: timedelta(seconds=1),
}
_SAME = (Function.LOWER, Function.UPPER, Function.TRIM)
_NO_BOUND = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT, AggregateFunction.NULL_SHARE)
_SAMPLES: tuple[Scalar, ...] = (
    Decimal(2),
    Decimal("2.5"),
    date(2025, 7, 1),
    datetime(2025, 7, 1),
    timedelta(days=1),
)
_MONDAY = date(2025, 7, 7)
_LONGEST = 1000
"""Letters of a text that is made to have a length."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a condition looks at beside its operands."""

    at: datetime
    """The slot's instant."""
    zone: ZoneInfo
    """The contract's."""
    units: Mapping[PropertyRef, str | None] = field(default_factory=dict)
    """Of the properties."""

    def in_unit_of(self, first: Operand, other: Operand, value: Scalar) -> Scalar:
        """A value of the second operand, in the unit of the first."""
        here, there = unit_of(first, self.units), unit_of(other, self.units)
        if here is None or there is None or here == there or not isinstance(value, Decimal):
            return value
        conversion = convert(there, here)
        if isinstance(conversion, NotConverted):
            return value
        changed = Fraction(value) * conversion.factor + conversion.offset
        return Decimal(changed.numerator) / Decimal(changed.denominator)


def bounds_of(condition: Condition, near: Surroundings) -> Iterator[tuple[PropertyRef, Scalar]]:
    """Every property of a condition, of a row or a group, with a value at which one of its comparisons turns."""
    for atom in atoms(condition):
        yield from _of_atom(atom, near)
        for node in atom_nodes(atom):
            if isinstance(node, Aggregate) and (inner := _condition_of(node)) is not None:
                yield from bounds_of(inner, near)


def _condition_of(node: Aggregate) -> Condition | None:
    match node.argument:
        case Comparison() | Between() | Membership() | Presence() | Exists() | And() | Or() | Not() as condition:
            return condition
    return None


def _of_atom(atom: Atom, near: Surroundings) -> Iterator[tuple[PropertyRef, Scalar]]:
    match atom:
        case Presence() | Exists():
            return
        case Comparison(left=Call(function=function, arguments=(one, other))) if function in TESTS:
            for text, tested in ((other, one), (one, other)):
                if isinstance(text, Literal):
                    yield from _undone(tested, text.value, near)
        case Comparison() | Between() | Membership():
            first, *others = parts(atom)
            for other in others:
                for beside, operand in ((other, first), (first, other)):
                    yield from _undone(operand, _constant(beside, near), near)
                yield from _met(first, other, near)


def _met(first: Operand, other: Operand, near: Surroundings) -> Iterator[tuple[PropertyRef, Scalar]]:
    """Values with which two sides come to the same, where both have properties."""
    if _constant(first, near) is not None or _constant(other, near) is not None:
        return
    for sample in _SAMPLES:
        value = _constant(other, near, sample)
        if value is not None:
            yield from _undone(first, near.in_unit_of(first, other, value), near)
            yield from _undone(other, value, near)


def _constant(operand: Operand, near: Surroundings, properties: Scalar | None = None) -> Scalar | None:
    """What an operand comes to where every property has one value; None without that value, and where it fails."""
    match operand:
        case PropertyRef():
            return properties
        case Literal(value=value):
            return value
        case Call(function=Function.NOW):
            return near.at
        case Call(function=Function.TODAY):
            return near.at.astimezone(near.zone).date()
        case Arithmetic(operator=operator, left=left, right=right):
            values = _constant(left, near, properties), _constant(right, near, properties)
            return None if None in values else _calculated(operator, *values)
    return None


def _calculated(operator: ArithmeticOperator, left: object, right: object) -> Scalar | None:
    made: object = None
    try:
        match operator:
            case ArithmeticOperator.ADD:
                made = left + right  # type: ignore[operator]
            case ArithmeticOperator.SUBTRACT:
                made = left - right  # type: ignore[operator]
            case ArithmeticOperator.MULTIPLY:
                made = left * right  # type: ignore[operator]
            case ArithmeticOperator.DIVIDE:
                made = left / right  # type: ignore[operator]
    except (ArithmeticError, TypeError):
        return None
    return made if isinstance(made, Decimal | str | bool | date | timedelta) else None


def _undone(operand: Operand, value: Scalar | None, near: Surroundings) -> Iterator[tuple[PropertyRef, Scalar]]:
    """The properties of an operand, each with a value that makes the operand that value."""
    if value is None:
        return
    match operand:
        case PropertyRef():
            yield operand, value
        case Arithmetic(operator=operator, left=left, right=right):
            there, here = _constant(right, near), _constant(left, near)
            if here is not None:
                yield from _undone(right, _second(operator, value, here), near)
            else:
                # Beside another property, which is now and then 0 or 1, it is the value itself.
                first = value if there is None else _calculated(_INVERSE[operator], value, there)
                yield from _undone(left, first, near)
        case Call(function=function, arguments=(argument,)):
            for inner in _argument(function, value, near):
                yield from _undone(argument, inner, near)
        case Aggregate(function=function, argument=argument) if function not in _NO_BOUND:
            if argument is not None and _condition_of(operand) is None:
                yield from _undone(argument, value, near)  # type: ignore[arg-type]
        case Change(operand=inner_operand):
            yield from _undone(inner_operand, value, near)
        case Call() | Aggregate() | Literal() | LinkCount():
            return


_INVERSE = {
    ArithmeticOperator.ADD: ArithmeticOperator.SUBTRACT,
    ArithmeticOperator.SUBTRACT: ArithmeticOperator.ADD,
    ArithmeticOperator.MULTIPLY: ArithmeticOperator.DIVIDE,
    ArithmeticOperator.DIVIDE: ArithmeticOperator.MULTIPLY,
}


def _second(operator: ArithmeticOperator, value: Scalar, first: Scalar) -> Scalar | None:
    """What must stand behind the operator, where `first` stands before it and `value` comes of it."""
    if operator in (ArithmeticOperator.SUBTRACT, ArithmeticOperator.DIVIDE):
        return _calculated(operator, first, value)
    return _calculated(_INVERSE[operator], value, first)


def _argument(function: Function, value: Scalar, near: Surroundings) -> Iterator[Scalar | None]:
    """Arguments of which a function of one argument makes a value."""
    if function in _SAME:
        yield value
    elif function in _COUNTED and isinstance(value, Decimal):
        yield _length(float(value), _COUNTED[function])
    elif function is Function.ABS and isinstance(value, Decimal | timedelta):
        yield from (value, -value)
    elif function is Function.AGE:
        yield _calculated(ArithmeticOperator.SUBTRACT, near.at.astimezone(near.zone).date(), value)
        yield _calculated(ArithmeticOperator.SUBTRACT, near.at, value)
    elif function is Function.DAY_OF and isinstance(value, date):
        yield datetime.combine(value, time(12))
    elif isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) < _LONGEST * 10:
        yield from _of_number(function, int(value))


def _length(number: float, each: timedelta) -> timedelta | None:
    try:
        return number * each
    except OverflowError:
        return None


def _of_number(function: Function, number: int) -> Iterator[Scalar]:
    try:
        match function:
            case Function.LENGTH:
                yield "a" * min(number, _LONGEST)
            case Function.YEAR:
                yield from (date(number, 1, 1), date(number, 12, 31))
            case Function.QUARTER:
                yield date(2025, number * 3, 15)
            case Function.MONTH:
                yield date(2025, number, 15)
            case Function.DAY:
                yield date(2025, 7, number)
            case Function.WEEKDAY if 1 <= number <= 7:
                yield _MONDAY + timedelta(days=number - 1)
    except ValueError:
        return
