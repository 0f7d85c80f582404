"""Types: what a condition means against the contract, and every way in which it means nothing.

`Scope` resolves names; `type_of` gives an operand's type; `check_condition` collects all faults.
The compiler asks the same `type_of`, so that a condition has one meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from catalog.contract import Contract, LinkType, ObjectType, Property, Sensitivity
from catalog.datatypes import (
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    INTEGER,
    MAX_DIGITS,
    TEXT,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    Atom,
    Between,
    Call,
    Change,
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
    Span,
    atom_links,
    atoms,
    parts,
    references,
)
from trivet.findings import did_you_mean

_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a part of an expression, and where."""

    message: str
    span: Span


class TypeFault(Exception):
    """An operand that has no type. Caught inside this module; `check_condition` returns it as a value."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.fault = Fault(message, span)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a condition over one object type can use."""

    contract: Contract
    object_type: ObjectType

    def link(self, name: str) -> LinkType | None:
        """The link of that name that starts at this object type."""
        return self.contract.link(self.object_type.name, name)

    def target(self, link: LinkType) -> ObjectType:
        """The object type at the far side of a link of the same contract."""
        target = self.contract.object_type(link.target)
        if target is None:
            raise LookupError(f"link {link.name} ends at {link.target}, which the contract does not have")
        return target

    def resolve(self, ref: PropertyRef) -> Property:
        """The property that `ref` names.

        Raises:
            TypeFault: there is none; the message names the nearest.
        """
        owner = self.object_type
        if ref.link is not None:
            link = self.link(ref.link)
            if link is None:
                known = [item.name for item in self.contract.links_from(owner.name)]
                raise TypeFault(f"{owner.name} has no link '{ref.link}'{did_you_mean(ref.link, known)}", ref.span)
            owner = self.target(link)
        found = owner.find_property(ref.name)
        if found is None:
            names = [item.name for item in owner.properties]
            if ref.link is None and self.link(ref.name) is not None:
                raise TypeFault(f"'{ref.name}' is a link; name one of its properties: {ref.name}.property", ref.span)
            raise TypeFault(f"{owner.name} has no property '{ref.name}'{did_you_mean(ref.name, names)}", ref.span)
        return found


def literal_type(value: Decimal | str | bool | date | datetime | timedelta) -> DataType:
    """The smallest type that holds a literal exactly."""
    match value:
        case bool():
            return BOOLEAN
        case Decimal():
            _, digits, exponent = value.as_tuple()
            scale = max(0, -int(exponent))
            whole = max(1, len(digits) + int(exponent))
            return decimal(min(MAX_DIGITS, whole + scale), scale)
        case str():
            return TEXT
        case datetime():
            return TIMESTAMP
        case date():
            return DATE
        case timedelta():
            return DURATION


def type_of(operand: Operand, scope: Scope) -> DataType:
    """The type of an operand.

    Raises:
        TypeFault: it names something unknown, or its arithmetic has no meaning.
    """
    match operand:
        case PropertyRef():
            return scope.resolve(operand).type
        case Literal(value=value):
            return literal_type(value)
        case Arithmetic(operator=operator, left=left, right=right):
            return _arithmetic_type(operator, type_of(left, scope), type_of(right, scope), operand)
        case Call() | LinkCount():
            raise TypeFault(f"`{print_operand(operand)}` cannot be evaluated yet", operand.span)
        case Aggregate() | Change():
            raise TypeFault(f"`{print_operand(operand)}` needs a monitor with group_by", operand.span)


def _arithmetic_type(operator: ArithmeticOperator, left: DataType, right: DataType, at: Arithmetic) -> DataType:
    if left.is_number and right.is_number:
        if operator is ArithmeticOperator.DIVIDE or DOUBLE in (left, right):
            return DOUBLE
        return _exact_type(operator, left, right, at)
    kinds = (left.kind, operator, right.kind)
    plus, minus = ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT
    match kinds:
        case (Kind.DATE, ArithmeticOperator.SUBTRACT, Kind.DATE):
            return DURATION
        case (Kind.TIMESTAMP, ArithmeticOperator.SUBTRACT, Kind.TIMESTAMP):
            return DURATION
        case (Kind.DURATION, _, Kind.DURATION) if operator in (plus, minus):
            return DURATION
        case (Kind.TIMESTAMP, _, Kind.DURATION) if operator in (plus, minus):
            return TIMESTAMP
        case (Kind.DATE, _, Kind.DURATION) if operator in (plus, minus):
            if isinstance(at.right, Literal) and isinstance(at.right.value, timedelta) and not at.right.value.seconds:
                return DATE
            raise TypeFault("a date moves by whole days only: write a duration such as 14d", at.span)
    said = f"{_said((at.left, left))} {operator} {_said((at.right, right))}"
    raise TypeFault(f"{said} has no meaning in `{print_operand(at)}`", at.span)


def _exact_type(operator: ArithmeticOperator, left: DataType, right: DataType, at: Arithmetic) -> DataType:
    if left == right == INTEGER:
        return INTEGER
    (left_whole, left_scale), (right_whole, right_scale) = _digits(left), _digits(right)
    if operator is ArithmeticOperator.MULTIPLY:
        whole, scale = left_whole + right_whole, left_scale + right_scale
    else:
        whole, scale = max(left_whole, right_whole) + 1, max(left_scale, right_scale)
    # Sides of a sum are brought to one scale first; factors keep theirs.
    widest = scale if operator is ArithmeticOperator.MULTIPLY else max(left_whole, right_whole) + scale
    if widest > MAX_DIGITS:
        raise TypeFault(
            f"`{print_operand(at)}` needs more than {MAX_DIGITS} digits to be exact; declare smaller decimals",
            at.span,
        )
    return decimal(min(MAX_DIGITS, whole + scale), scale)


def _digits(of: DataType) -> tuple[int, int]:
    digits = of.exact_digits
    if digits is None:
        raise LookupError(f"{of} is not exact")
    return digits


def common_decimal(types: tuple[DataType, ...]) -> DataType | None:
    """The decimal in which exact operands compare without loss; None where 38 digits do not suffice."""
    whole = max(_digits(item)[0] for item in types)
    scale = max(_digits(item)[1] for item in types)
    return decimal(whole + scale, scale) if whole + scale <= MAX_DIGITS else None


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
        case Call() | LinkCount() | Aggregate() | Change():
            return None


def check_condition(condition: Condition, scope: Scope) -> tuple[Fault, ...]:
    """Every fault of a condition over `scope`; empty where it can be compiled."""
    return tuple(fault for atom in atoms(condition) for fault in _atom_faults(atom, scope))


def _atom_faults(atom: Atom, scope: Scope) -> Iterator[Fault]:
    if isinstance(atom, Exists):
        yield Fault(f"`exists({atom.link})` cannot be evaluated yet", atom.span)
        return
    if isinstance(atom, Presence):
        yield from _reference_faults(atom.property, scope)
        return
    operands = parts(atom)
    named = [ref for operand in operands for ref in references(operand)]
    broken = [fault for ref in named for fault in _reference_faults(ref, scope)]
    if broken:
        yield from dict.fromkeys(broken)
        return
    if not named:
        yield Fault("compares no property, so data can never decide it", atom.span)
        return
    yield from _quantifier_faults(atom, scope)
    try:
        types = [type_of(operand, scope) for operand in operands]
        yield from _unit_faults(operands, scope)
    except TypeFault as error:
        yield error.fault
        return
    for left, right in _compared(atom, list(zip(operands, types, strict=True))):
        yield from _comparison_faults(atom, left, right, scope)
    yield from _bound_faults(atom)


def _reference_faults(ref: PropertyRef, scope: Scope) -> Iterator[Fault]:
    try:
        found = scope.resolve(ref)
    except TypeFault as error:
        yield error.fault
        return
    if found.sensitivity is not Sensitivity.NONE:
        yield Fault(f"'{ref}' is {found.sensitivity}; a monitor over a sensitive property is refused", ref.span)


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
    both = f"`{print_operand(left_operand)}` is {_said(left)} and `{print_operand(right_operand)}` is {_said(right)}"
    if left_type.is_number and right_type.is_number:
        if DOUBLE not in (left_type, right_type) and common_decimal((left_type, right_type)) is None:
            yield Fault(f"{both}: together they need more than {MAX_DIGITS} digits; declare smaller ones", atom.span)
    elif left_type.kind is not right_type.kind:
        yield Fault(f"{both}: they cannot be compared{_type_hint(left, right)}", atom.span)
    elif left_type.kind is Kind.BOOLEAN and not _is_equality(atom):
        yield Fault(f"{both}: true and false have no order; use = or !=", atom.span)
    for operand, other in ((left_operand, right_operand), (right_operand, left_operand)):
        yield from _missing_literal_faults(operand, other, scope)


def _said(typed: tuple[Operand, DataType]) -> str:
    operand, data_type = typed
    if isinstance(operand, Literal) and data_type.is_number:
        return "a number"
    return str(data_type)


def _type_hint(left: tuple[Operand, DataType], right: tuple[Operand, DataType]) -> str:
    for (operand, _), (_, wanted) in ((left, right), (right, left)):
        if not isinstance(operand, Literal):
            continue
        if wanted.kind is Kind.DATE:
            return "; write date(2025, 7, 1)"
        if wanted.kind is Kind.TIMESTAMP:
            return "; write timestamp(2025, 7, 1, 6, 0, 0)"
        if wanted.kind is Kind.DURATION:
            return "; write a duration such as 2d or 15m"
        if wanted.is_number:
            return "; write the number without quotes"
        if wanted.kind is Kind.TEXT:
            return "; write the text in quotes"
    return ""


def _is_equality(atom: Comparing) -> bool:
    if isinstance(atom, Comparison):
        return atom.operator in (ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL)
    return isinstance(atom, Membership)


def _missing_literal_faults(operand: Operand, other: Operand, scope: Scope) -> Iterator[Fault]:
    if not isinstance(operand, Literal) or not isinstance(other, PropertyRef):
        return
    marks = scope.resolve(other).missing
    value = operand.value
    if isinstance(value, str) and not value.strip(" \t\n\v\f\r"):
        yield Fault("a blank text is no value; write `is missing`", operand.span)
    elif any(_is_mark(value, mark) for mark in marks):
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
            return mark == value
        case datetime():
            text = str(value)
            return mark.replace("T", " ") in (text, text.removesuffix(":00"))
        case date():
            return mark == value.isoformat()
        case timedelta():
            return False


def _unit_faults(operands: tuple[Operand, ...], scope: Scope) -> Iterator[Fault]:
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


def _bound_faults(atom: Comparing) -> Iterator[Fault]:
    if not isinstance(atom, Between):
        return
    match atom.low, atom.high:
        case Literal(value=low), Literal(value=high) if type(low) is type(high) and low > high:  # type: ignore[operator]
            message = f"between {print_operand(atom.low)} and {print_operand(atom.high)} holds nothing"
            yield Fault(f"{message}; bounds are never swapped, write the lower one first", atom.span)
