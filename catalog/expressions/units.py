"""Units: what unit an operand is in, and which may stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.expressions.operand_types import Fault, Scope
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Change,
    Function,
    LinkCount,
    Literal,
    Operand,
    PropertyRef,
)


def unit_of(operand: Operand, scope: Scope) -> str | None:
    """The unit of an operand; None where it has none or arithmetic makes another one of it."""
    match operand:
        case PropertyRef():
            return scope.resolve(operand).unit
        case Literal():
            return None
        case Arithmetic(operator=operator, left=left, right=right):
            units = (unit_of(left, scope), unit_of(right, scope))
            if operator in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT):
                return units[0] or units[1]
            if isinstance(right, Literal):
                return units[0]
            if isinstance(left, Literal) and operator is ArithmeticOperator.MULTIPLY:
                return units[1]
            return None
        case Call(function=Function.ABS, arguments=(argument,)):
            return unit_of(argument, scope)
        case Call() | LinkCount() | Aggregate() | Change():
            return None


def unit_faults(operands: tuple[Operand, ...], scope: Scope) -> Iterator[Fault]:
    """Every sum and comparison of what stands in different units."""
    for operand in operands:
        yield from _sum_unit_faults(operand, scope)
    united = [(operand, unit) for operand in operands if (unit := unit_of(operand, scope)) is not None]
    for operand, unit in united[1:]:
        if unit != united[0][1]:
            yield Fault(
                f"`{print_operand(united[0][0])}` is in {united[0][1]} and `{print_operand(operand)}` in {unit}: "
                "they are compared only in one unit",
                operand.span,
            )


def _sum_unit_faults(operand: Operand, scope: Scope) -> Iterator[Fault]:
    if not isinstance(operand, Arithmetic):
        return
    yield from _sum_unit_faults(operand.left, scope)
    yield from _sum_unit_faults(operand.right, scope)
    left, right = unit_of(operand.left, scope), unit_of(operand.right, scope)
    adds = operand.operator in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT)
    if adds and left and right and left != right:
        yield Fault(
            f"`{print_operand(operand)}` adds {left} and {right}: they are added only in one unit",
            operand.span,
        )
