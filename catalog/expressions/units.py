"""What stands beside each other in different units: brought to one, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from catalog.expressions.operand_types import Fault, Scope, conversion_between, unit_of
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Arithmetic,
    ArithmeticOperator,
    Condition,
    Exists,
    Literal,
    Operand,
    Presence,
    PropertyRef,
)
from catalog.expressions.walking import atom_nodes, atoms, nodes, parts
from catalog.units import NotConverted, convert


def unit_faults(operands: tuple[Operand, ...], scope: Scope) -> Iterator[Fault]:
    """Every sum and comparison of what stands in units that do not convert."""
    for operand in operands:
        for node in nodes(operand):
            if isinstance(node, Arithmetic) and _is_sum(node):
                yield from _sum_faults(node, scope)
    yield from _percent_faults(operands, scope)
    first, *others = operands
    united = [other for other in others if unit_of(other, scope) is not None]
    if unit_of(first, scope) is None and united:
        # What has no unit takes the one that it stands beside, and cannot take two.
        yield from (_two_units_fault(united[0], other, scope) for other in _in_another(united, scope))
        return
    for other in united:
        yield from _pair_faults(first, other, scope)


def _percent_faults(operands: tuple[Operand, ...], scope: Scope) -> Iterator[Fault]:
    """Every `5%` beside what has a unit: 0.05 of that unit is hardly meant, least of all of per cent."""
    sums = [node for operand in operands for node in nodes(operand) if _is_sum(node)]
    for sides in (operands, *((node.left, node.right) for node in sums if isinstance(node, Arithmetic))):
        united = next((side for side in sides if unit_of(side, scope) is not None), None)
        for side in sides if united is not None else ():
            if united is not None and isinstance(side, Literal) and side.is_percent:
                message = f"a per cent is a plain number, and `{print_operand(united)}` is in {unit_of(united, scope)}"
                yield Fault(f"{message}; write the number in that unit", side.span)


def _is_sum(node: Operand) -> bool:
    return isinstance(node, Arithmetic) and node.operator in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT)


def _in_another(united: list[Operand], scope: Scope) -> list[Operand]:
    return [other for other in united[1:] if unit_of(other, scope) != unit_of(united[0], scope)]


def _two_units_fault(first: Operand, other: Operand, scope: Scope) -> Fault:
    here, there = unit_of(first, scope), unit_of(other, scope)
    both = f"`{print_operand(first)}` is in {here} and `{print_operand(other)}` in {there}"
    return Fault(f"{both}: what is compared with both has no unit; write them in one", other.span)


def _pair_faults(first: Operand, other: Operand, scope: Scope) -> Iterator[Fault]:
    here, there = unit_of(first, scope), unit_of(other, scope)
    if here is None or there is None:
        return
    found = convert(there, here)
    both = f"`{print_operand(first)}` is in {here} and `{print_operand(other)}` in {there}"
    if isinstance(found, NotConverted):
        yield Fault(f"{both}: {found.reason}", other.span)
    elif found.offset and not (isinstance(first, PropertyRef) and isinstance(other, PropertyRef)):
        # A difference of two temperatures is no temperature: its zero is another one.
        yield Fault(f"{both}: their zeros differ, so only properties as they stand are converted", other.span)


def _sum_faults(node: Arithmetic, scope: Scope) -> Iterator[Fault]:
    here, there = unit_of(node.left, scope), unit_of(node.right, scope)
    if here is None or there is None:
        return
    found = convert(there, here)
    if isinstance(found, NotConverted):
        yield Fault(f"`{print_operand(node)}` adds {here} and {there}: {found.reason}", node.span)
    elif (conversion := conversion_between(node.right, node.left, scope)) is not None and conversion.offset:
        yield Fault(f"`{print_operand(node)}` adds {here} and {there}: their zeros differ", node.span)


def unit_conversions(condition: Condition, scope: Scope) -> tuple[str, ...]:
    """Each conversion that a condition without a fault makes, in words."""
    pairs: list[tuple[Operand, Operand]] = []
    for atom in atoms(condition):
        for node in atom_nodes(atom):
            if isinstance(node, Arithmetic) and node.operator in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT):
                pairs.append((node.left, node.right))
        if not isinstance(atom, Presence | Exists):
            first, *others = parts(atom)
            pairs += [(first, other) for other in others]
    said = (_said(first, other, scope) for first, other in pairs)
    return tuple(dict.fromkeys(text for text in said if text is not None))


def _said(first: Operand, other: Operand, scope: Scope) -> str | None:
    conversion = conversion_between(other, first, scope)
    if conversion is None:
        return None
    offset = f" and plus {_number(conversion.offset)}" if conversion.offset else ""
    there, here = unit_of(other, scope), unit_of(first, scope)
    return f"A value in {there} is one in {here} times {_number(conversion.factor)}{offset}."


def _number(value: Fraction) -> str:
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{decimal:f}" if Fraction(decimal) == value else str(value)
