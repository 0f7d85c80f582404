"""Types: what a condition means against the contract, and every way in which it means nothing.

`Scope` resolves names; `type_of` gives an operand's type; `check_condition` collects all faults.
The compiler asks the same `type_of`, so that a condition has one meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal

from catalog.datatypes import DOUBLE, MAX_DIGITS, DataType, Kind
from catalog.expressions.operand_types import (
    Fault,
    Scope,
    TypeFault,
    common_decimal,
    compared_types,
    said,
    type_of,
    unit_of,
)
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Arithmetic,
    ArithmeticOperator,
    Atom,
    Between,
    Call,
    Comparing,
    Comparison,
    ComparisonOperator,
    Condition,
    Exists,
    LinkCount,
    Literal,
    Membership,
    Operand,
    Presence,
    PropertyRef,
    Quantifier,
)
from catalog.expressions.units import unit_faults
from catalog.expressions.walking import atom_links, atom_nodes, atoms, nodes, parts, shown_operands

__all__ = [
    "Fault",
    "Scope",
    "TypeFault",
    "check_condition",
    "common_decimal",
    "type_of",
    "unit_of",
]

_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
_BLANKS = " \t\n\v\f\r"
_BLANK = "a blank text is no value; write `is missing`"


def check_condition(condition: Condition, scope: Scope) -> tuple[Fault, ...]:
    """Every fault of a condition over `scope`; empty where it can be compiled."""
    return tuple(fault for atom in atoms(condition) for fault in _atom_faults(atom, scope))


def _atom_faults(atom: Atom, scope: Scope) -> Iterator[Fault]:
    if isinstance(atom, Exists):
        yield from _link_faults(atom, scope)
        return
    if isinstance(atom, Presence):
        yield from _reference_faults(atom.property, scope)
        return
    operands, named = parts(atom), shown_operands(atom)
    broken = [fault for part in named for fault in _named_faults(part, scope)]
    if broken:
        yield from dict.fromkeys(broken)
        return
    if not named:
        yield Fault("compares no property, so data can never decide it", atom.span)
        return
    yield from _quantifier_faults(atom, scope)
    yield from _zero_faults(atom)
    try:
        types = [type_of(operand, scope) for operand in operands]
        yield from unit_faults(operands, scope)
    except TypeFault as error:
        yield error.fault
        return
    for left, right in _compared(atom, list(zip(operands, types, strict=True))):
        yield from _comparison_faults(atom, left, right, scope)
    yield from _bound_faults(atom)
    yield from _blank_argument_faults(atom)


def _zero_faults(atom: Comparing) -> Iterator[Fault]:
    for node in atom_nodes(atom):
        match node:
            case Arithmetic(operator=ArithmeticOperator.DIVIDE, right=Literal(value=Decimal() as value)) if not value:
                yield Fault(f"`{print_operand(node)}` never has a value: it divides by zero", node.span)


def _named_faults(part: PropertyRef | LinkCount, scope: Scope) -> Iterator[Fault]:
    yield from _link_faults(part, scope) if isinstance(part, LinkCount) else _reference_faults(part, scope)


def _link_faults(named: Exists | LinkCount, scope: Scope) -> Iterator[Fault]:
    try:
        scope.require_link(named.link, named.span)
    except TypeFault as error:
        yield error.fault


def _blank_argument_faults(atom: Comparing) -> Iterator[Fault]:
    for node in atom_nodes(atom):
        for argument in node.arguments if isinstance(node, Call) else ():
            if isinstance(argument, Literal) and _is_blank(argument.value):
                yield Fault(_BLANK, argument.span)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip(_BLANKS)


def _reference_faults(ref: PropertyRef, scope: Scope) -> Iterator[Fault]:
    try:
        found = scope.resolve(ref)
    except TypeFault as error:
        yield error.fault
        return
    if found.is_closed:
        hint = "a monitor over it is refused unless the contract says `monitor: masked`"
        yield Fault(f"'{ref}' is {found.sensitivity}; {hint}", ref.span)


def _quantifier_faults(atom: Comparing, scope: Scope) -> Iterator[Fault]:
    names = atom_links(atom)
    if not names and atom.quantifier is Quantifier.ALL:
        yield Fault("all(...) takes exactly one comparison that names a link; this one names none", atom.span)
    links = [link for name in names if (link := scope.link(name)) is not None]
    if len({link.cardinality.is_to_one for link in links}) > 1:
        yield Fault(
            f"compares a to-one link with a to-many link ({', '.join(names)}); write two comparisons",
            atom.span,
        )


def _compared(
    atom: Comparing, typed: list[tuple[Operand, DataType]]
) -> list[tuple[tuple[Operand, DataType], tuple[Operand, DataType]]]:
    first, *others = typed
    return [(first, other) for other in others]


def _comparison_faults(
    atom: Comparing, left: tuple[Operand, DataType], right: tuple[Operand, DataType], scope: Scope
) -> Iterator[Fault]:
    (left_operand, left_type), (right_operand, right_type) = left, right
    both = f"`{print_operand(left_operand)}` is {said(left)} and `{print_operand(right_operand)}` is {said(right)}"
    if left_type.is_number and right_type.is_number:
        exact = DOUBLE not in (left_type, right_type)
        if exact and compared_types(left_operand, right_operand, scope) is None:
            yield Fault(f"{both}: together they need more than {MAX_DIGITS} digits; declare smaller ones", atom.span)
    elif left_type.kind is not right_type.kind:
        yield Fault(f"{both}: they cannot be compared{_type_hint(left, right)}", atom.span)
    elif left_type.kind is Kind.BOOLEAN and not _is_equality(atom):
        yield Fault(f"{both}: true and false have no order; use = or !=", atom.span)
    for operand, other in ((left_operand, right_operand), (right_operand, left_operand)):
        yield from _missing_literal_faults(operand, other, scope)


def _type_hint(left: tuple[Operand, DataType], right: tuple[Operand, DataType]) -> str:
    for (operand, _), (_, wanted) in ((left, right), (right, left)):
        if any(not isinstance(node, Literal | Arithmetic) for node in nodes(operand)):
            continue
        if wanted.kind is Kind.DATE:
            return "; write date(2025, 7, 1)"
        if wanted.kind is Kind.TIMESTAMP:
            return "; write timestamp(2025, 7, 1, 6, 0, 0)"
        if wanted.kind is Kind.DURATION:
            return "; write a duration such as 2d or 15m"
        if wanted.is_number and isinstance(operand, Literal) and isinstance(operand.value, str):
            return "; write the number without quotes"
        if wanted.kind is Kind.TEXT:
            return "; write the text in quotes"
    return ""


def _is_equality(atom: Comparing) -> bool:
    if isinstance(atom, Comparison):
        return atom.operator in (ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL)
    return isinstance(atom, Membership)


def _missing_literal_faults(operand: Operand, other: Operand, scope: Scope) -> Iterator[Fault]:
    if not isinstance(operand, Literal):
        return
    value = operand.value
    if _is_blank(value):
        yield Fault(_BLANK, operand.span)
        return
    marks = scope.resolve(other).missing if isinstance(other, PropertyRef) else ()
    if any(_is_mark(value, mark) for mark in marks):
        text = f"'{value}'" if isinstance(value, str) else print_operand(operand)
        yield Fault(f"{text} marks a missing {other} in the contract; write `{other} is missing`", operand.span)


def _is_mark(value: Decimal | str | bool | date | datetime | timedelta, mark: str) -> bool:
    """Whether a text that means `value` is the mark: `-999.0` stands for the mark `-999`, too."""
    match value:
        case bool():
            return mark == str(value).lower()
        case Decimal():
            return _PLAIN_NUMBER.fullmatch(mark) is not None and Decimal(mark) == value
        case str():
            # In the data, too, blanks at the ends do not count.
            return mark == value.strip(_BLANKS)
        case datetime():
            text = str(value)
            return mark.replace("T", " ") in (text, text.removesuffix(":00"))
        case date():
            return mark == value.isoformat()
        case timedelta():
            return False


def _bound_faults(atom: Comparing) -> Iterator[Fault]:
    if not isinstance(atom, Between):
        return
    match atom.low, atom.high:
        case Literal(value=low), Literal(value=high) if type(low) is type(high) and low > high:  # type: ignore[operator]
            message = f"between {print_operand(atom.low)} and {print_operand(atom.high)} holds nothing"
            yield Fault(f"{message}; bounds are never swapped, write the lower one first", atom.span)
