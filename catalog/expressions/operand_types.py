"""Names and types: what a name of a condition stands for, and what type and unit an operand has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, lcm

from catalog.contract import Contract, LinkType, ObjectType, Property
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
from catalog.expressions.baselines import BaselineRule
from catalog.expressions.functions import argument_fault, result_type
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    BaselineRef,
    Call,
    Change,
    Function,
    LinkCount,
    Literal,
    Operand,
    PropertyRef,
    Span,
)
from catalog.units import Conversion, NotConverted, convert
from trivet.findings import did_you_mean


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
    baselines: tuple[BaselineRule, ...] = ()
    """Those of the monitor whose condition it is."""

    def baseline(self, ref: BaselineRef) -> BaselineRule:
        """The rule that `ref` names.

        Raises:
            TypeFault: there is none; the message names the nearest.
        """
        found = next((rule for rule in self.baselines if rule.name == ref.name), None)
        if found is None:
            names = [rule.name for rule in self.baselines]
            hint = did_you_mean(ref.name, names) or "; declare it under `baselines`"
            raise TypeFault(f"the monitor has no baseline '{ref.name}'{hint}", ref.span)
        return found

    def link(self, name: str) -> LinkType | None:
        """The link of that name that starts at this object type."""
        return self.contract.link(self.object_type.name, name)

    def require_link(self, name: str, span: Span) -> LinkType:
        """The link of that name.

        Raises:
            TypeFault: there is none; the message names the nearest.
        """
        link = self.link(name)
        if link is None:
            known = [item.name for item in self.contract.links_from(self.object_type.name)]
            raise TypeFault(f"{self.object_type.name} has no link '{name}'{did_you_mean(name, known)}", span)
        return link

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
            owner = self.target(self.require_link(ref.link, ref.span))
        found = owner.find_property(ref.name)
        if found is None:
            names = [item.name for item in owner.properties]
            if ref.link is None and self.link(ref.name) is not None:
                raise TypeFault(f"'{ref.name}' is a link; name one of its properties: {ref.name}.property", ref.span)
            if ref.link is None and ref.name.lower() == "null":
                raise TypeFault("there is no NULL; write `is missing` or `is present`", ref.span)
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
            right_type = type_of(right, scope)
            if (conversion := sum_conversion(operand, scope)) is not None:
                right_type = _converted_type(right_type, conversion, operand)
            return _arithmetic_type(operator, type_of(left, scope), right_type, operand)
        case Call():
            return _call_type(operand, scope)
        case LinkCount(link=link):
            scope.require_link(link, operand.span)
            return INTEGER
        case Aggregate() | Change() | BaselineRef():
            raise TypeFault(f"`{print_operand(operand)}` needs a monitor with group_by", operand.span)


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
        case Call() | LinkCount() | Aggregate() | Change() | BaselineRef():
            return None


def conversion_between(of: Operand, to: Operand, scope: Scope) -> Conversion | None:
    """How a value of `of` is brought to the unit of `to`; None where their units need none, or have none."""
    units = unit_of(of, scope), unit_of(to, scope)
    if units[0] is None or units[1] is None or units[0] == units[1]:
        return None
    found = convert(units[0], units[1])
    return None if isinstance(found, NotConverted) or found == Conversion(Fraction(1)) else found


def sum_conversion(node: Arithmetic, scope: Scope) -> Conversion | None:
    """How the right side of a sum or difference is brought to the unit of the left one, if it has to be."""
    if node.operator not in (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT):
        return None
    return conversion_between(node.right, node.left, scope)


def _converted_type(of: DataType, conversion: Conversion, at: Arithmetic) -> DataType:
    """Exact where the factor is a decimal; else it is as after a division."""
    if of == DOUBLE or not conversion.is_terminating:
        return DOUBLE
    whole, scale = _digits(of)
    whole += len(str(ceil(conversion.factor)))
    scale += decimal_digits(conversion.factor)
    if whole + scale > MAX_DIGITS:
        raise _too_many_digits(at)
    return decimal(whole + scale, scale)


def decimal_digits(number: Fraction) -> int:
    """Digits after the point of a terminating decimal."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    return digits


def scaled(of: DataType, factor: int, addend: int) -> DataType | None:
    """The decimal that holds `value * factor + addend` of every value of an exact type; None where none does."""
    whole, scale = _digits(of)
    whole += len(str(factor)) if factor != 1 else 0
    whole = max(whole, len(str(abs(addend)))) + 1 if addend else whole
    return decimal(whole + scale, scale) if whole + scale <= MAX_DIGITS else None


def whole_factors(conversion: Conversion) -> tuple[int, int, int]:
    """The conversion of `x` without a fraction: a value of `to` is equal where its `k`-fold is `m * x + n`; k, m, n."""
    common = lcm(conversion.factor.denominator, conversion.offset.denominator)
    return common, int(conversion.factor * common), int(conversion.offset * common)


def compared_types(left: Operand, right: Operand, scope: Scope) -> DataType | None:
    """The decimal in which two exact operands, brought to one unit, compare; None where 38 digits do not suffice."""
    types = type_of(left, scope), type_of(right, scope)
    if (conversion := conversion_between(right, left, scope)) is None:
        return common_decimal(types)
    common, factor, addend = whole_factors(conversion)
    wide = scaled(types[0], common, 0), scaled(types[1], factor, addend)
    return None if wide[0] is None or wide[1] is None else common_decimal((wide[0], wide[1]))


def _call_type(call: Call, scope: Scope) -> DataType:
    types = tuple(type_of(argument, scope) for argument in call.arguments)
    wrong = argument_fault(call.function, types)
    if wrong is not None:
        raise TypeFault(f"`{call.function}` {wrong}: `{print_operand(call)}`", call.span)
    return result_type(call.function, types)


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
    both = f"{said((at.left, left))} {operator} {said((at.right, right))}"
    raise TypeFault(f"{both} has no meaning in `{print_operand(at)}`", at.span)


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
        raise _too_many_digits(at)
    return decimal(min(MAX_DIGITS, whole + scale), scale)


def _too_many_digits(at: Arithmetic) -> TypeFault:
    return TypeFault(
        f"`{print_operand(at)}` needs more than {MAX_DIGITS} digits to be exact; declare smaller decimals", at.span
    )


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


def said(typed: tuple[Operand, DataType]) -> str:
    """The type of an operand in words: a literal's own digits say nothing."""
    operand, data_type = typed
    if isinstance(operand, Literal) and data_type.is_number:
        return "a number"
    return str(data_type)
