"""What an operand can be at all, whatever the data: an integer has no fractions, and a month has no 13."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from catalog.contract import Property
from catalog.datatypes import DataType, Kind
from catalog.expressions.operand_types import Scope
from catalog.expressions.ranges import ANY, Domain
from catalog.expressions.tree import (
    TESTS,
    Aggregate,
    AggregateFunction,
    BaselineRef,
    Call,
    Change,
    Function,
    LinkCount,
    Operand,
    PropertyRef,
)
from catalog.expressions.walking import nodes

_LAST = Fraction(2**63 - 1)
_ONE = Fraction(1)
_INTEGER = Domain(-_LAST - 1, _LAST, _ONE)
_BOOLEAN = Domain(Fraction(0), _ONE, _ONE)
_DATE = Domain(Fraction(date.min.toordinal()), Fraction(date.max.toordinal()), _ONE)
_CALLS = {
    # A blank text is no value, so a value has at least one character.
    Function.LENGTH: Domain(_ONE, _LAST, _ONE),
    Function.YEAR: Domain(_ONE, Fraction(9999), _ONE),
    Function.QUARTER: Domain(_ONE, Fraction(4), _ONE),
    Function.MONTH: Domain(_ONE, Fraction(12), _ONE),
    Function.DAY: Domain(_ONE, Fraction(31), _ONE),
    Function.WEEKDAY: Domain(_ONE, Fraction(7), _ONE),
    Function.DAY_OF: _DATE,
    Function.ABS: Domain(Fraction(0)),
    **dict.fromkeys(TESTS, _BOOLEAN),
}


_SHARE = Domain(Fraction(0), _ONE)
_FIGURES = {
    AggregateFunction.COUNT: Domain(Fraction(0), _LAST, _ONE),
    # Without any input it is undecided, and not 0.
    AggregateFunction.COUNT_DISTINCT: Domain(_ONE, _LAST, _ONE),
    AggregateFunction.SHARE: _SHARE,
    AggregateFunction.NULL_SHARE: _SHARE,
}


def domain_of(operand: Operand, scope: Scope) -> Domain:
    """Every value that a decided operand can have."""
    match operand:
        case PropertyRef():
            return _property_domain(scope.resolve(operand))
        case LinkCount():
            return Domain(Fraction(0), _LAST, _ONE)
        case Call(function=function):
            return _CALLS.get(function, ANY)
        case _:
            return ANY


def can_be(operand: Operand, value: Fraction | str) -> bool:
    """Whether an operand can be equal to a value, as far as a function's result is of a kind of its own."""
    if not isinstance(operand, Call) or not isinstance(value, str):
        return True
    match operand.function:
        case Function.LOWER:
            return not any("A" <= letter <= "Z" for letter in value)
        case Function.UPPER:
            return not any("a" <= letter <= "z" for letter in value)
        case Function.TRIM:
            return value == value.strip(" \t\n\v\f\r")
        case _:
            return True


def _property_domain(declared: Property) -> Domain:
    # A figure of a group is a property under its printed text, as no other property is named.
    function, is_figure, _ = declared.name.partition("(")
    if is_figure and function in _FIGURES:
        return _FIGURES[AggregateFunction(function)]
    # A bound decides wherever its interval does, and that can lie beyond all values of the type.
    return ANY if declared.censored is not None else _type_domain(declared.type)


def _type_domain(of: DataType) -> Domain:
    match of.kind:
        case Kind.INTEGER:
            return _INTEGER
        case Kind.BOOLEAN:
            return _BOOLEAN
        case Kind.DATE:
            return _DATE
        case Kind.DECIMAL if of.precision is not None and of.scale is not None:
            step = Fraction(1, 10**of.scale)
            greatest = (10**of.precision - 1) * step
            return Domain(-greatest, greatest, step)
        case _:
            return ANY


def is_followed(operand: Operand) -> bool:
    """Whether an operand has one value in each row; figures of groups are not followed."""
    return not any(isinstance(node, Aggregate | Change | BaselineRef) for node in nodes(operand))


def is_value(operand: Operand, scope: Scope) -> bool:
    """Whether an operand that decides anything is a value, and never a bound."""
    return all(scope.resolve(node).censored is None for node in nodes(operand) if isinstance(node, PropertyRef))
