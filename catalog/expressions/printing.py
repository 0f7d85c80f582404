"""Tree to text: the canonical spelling of a condition, which parses back to the same tree."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from catalog.expressions.baselines import BASELINE
from catalog.expressions.tree import (
    TESTS,
    Aggregate,
    And,
    Arithmetic,
    ArithmeticOperator,
    BaselineRef,
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
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
    Quantifier,
)

_UNITS = (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def print_condition(condition: Condition) -> str:
    """The canonical text of a condition."""
    match condition:
        case Or(items=items):
            return " or ".join(_inside(item, Or) for item in items)
        case And(items=items):
            return " and ".join(_inside(item, And, Or) for item in items)
        case Not(item=item):
            return f"not {_inside(item, And, Or)}"
        case Presence(property=ref, present=present):
            return f"{ref} is {'present' if present else 'missing'}"
        case Exists(link=link):
            return f"exists({link})"
        case Comparison() | Between() | Membership():
            text = _comparing(condition)
            return f"all({text})" if condition.quantifier is Quantifier.ALL else text


def _inside(condition: Condition, *bracketed: type) -> str:
    text = print_condition(condition)
    return f"({text})" if isinstance(condition, bracketed) else text


def _comparing(atom: Comparing) -> str:
    match atom:
        case Comparison(
            operator=ComparisonOperator.EQUAL, left=Call(function=function) as test, right=Literal(value=True)
        ) if function in TESTS:
            return print_operand(test)
        case Comparison(operator=operator, left=left, right=right):
            return f"{print_operand(left)} {operator} {print_operand(right)}"
        case Between(value=value, low=low, high=high):
            return f"{print_operand(value)} between {print_operand(low)} and {print_operand(high)}"
        case Membership(value=value, choices=choices):
            return f"{print_operand(value)} in ({', '.join(print_operand(choice) for choice in choices)})"


def print_operand(operand: Operand) -> str:
    """The canonical text of an operand."""
    match operand:
        case PropertyRef():
            return str(operand)
        case Literal(value=value):
            return _literal(value)
        case Arithmetic(operator=operator, left=left, right=right):
            low = (ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT)
            bracket_left = operator not in low and isinstance(left, Arithmetic) and left.operator in low
            bracket_right = isinstance(right, Arithmetic) and (operator not in low or right.operator in low)
            left_text = f"({print_operand(left)})" if bracket_left else print_operand(left)
            right_text = f"({print_operand(right)})" if bracket_right else print_operand(right)
            return f"{left_text} {operator} {right_text}"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(print_operand(argument) for argument in arguments)})"
        case LinkCount(link=link):
            return f"count({link})"
        case BaselineRef(name=name):
            return f"{BASELINE}.{name}"
        case Aggregate(function=function, argument=argument):
            return f"{function}({_argument(argument)})"
        case Change(operand=inner, relative=relative):
            return f"{'relative_change' if relative else 'change'}({print_operand(inner)})"


def _argument(argument: Operand | Condition | None) -> str:
    match argument:
        case None:
            return ""
        case Comparison() | Between() | Membership() | Presence() | Exists() | And() | Or() | Not():
            return print_condition(argument)
        case _:
            return print_operand(argument)


def _literal(value: Decimal | str | bool | date | datetime | timedelta) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case str():
            return f"'{value}'" if '"' in value else f'"{value}"'
        case datetime():
            clock = (value.hour, value.minute, value.second)
            return f"timestamp({', '.join(str(part) for part in (value.year, value.month, value.day, *clock))})"
        case date():
            return f"date({value.year}, {value.month}, {value.day})"
        case timedelta():
            seconds = value.days * 86400 + value.seconds
            if not seconds:
                return "0s"
            unit, size = next((pair for pair in _UNITS if seconds % pair[1] == 0), ("s", 1))
            return f"{seconds // size}{unit}"
