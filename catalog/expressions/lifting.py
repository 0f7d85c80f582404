"""Operands that something else has worked out already: a reference takes their place in a condition."""

from __future__ import annotations

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    BaselineRef,
    Between,
    Call,
    Change,
    Comparison,
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
)


def lifted(condition: Condition, kinds: tuple[type[Operand], ...] = (Aggregate, Change, BaselineRef)) -> Condition:
    """The condition with a reference, named by the printed text, in place of each operand of some kinds.

    Of figures: what is asked of a group as of a row.
    """
    match condition:
        case And(items=items, span=span):
            return And(tuple(lifted(item, kinds) for item in items), span)
        case Or(items=items, span=span):
            return Or(tuple(lifted(item, kinds) for item in items), span)
        case Not(item=item, span=span):
            return Not(lifted(item, kinds), span)
        case Comparison(operator, left, right, quantifier, span):
            return Comparison(operator, _lift(left, kinds), _lift(right, kinds), quantifier, span)
        case Between(value, low, high, quantifier, span):
            return Between(_lift(value, kinds), _lift(low, kinds), _lift(high, kinds), quantifier, span)
        case Membership(value, choices, quantifier, span):
            return Membership(_lift(value, kinds), tuple(_lift(item, kinds) for item in choices), quantifier, span)
        case Presence() | Exists():
            return condition


def _lift(operand: Operand, kinds: tuple[type[Operand], ...]) -> Operand:
    if isinstance(operand, kinds):
        return PropertyRef(print_operand(operand), span=operand.span)
    match operand:
        case Arithmetic(operator, left, right, span):
            return Arithmetic(operator, _lift(left, kinds), _lift(right, kinds), span)
        case Call(function, arguments, span):
            return Call(function, tuple(_lift(argument, kinds) for argument in arguments), span)
        case PropertyRef() | Literal() | LinkCount() | Aggregate() | Change() | BaselineRef():
            return operand
