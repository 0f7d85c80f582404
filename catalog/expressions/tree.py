"""The tree of an expression: small, frozen, equal by meaning (positions do not count)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Offsets of the first character and of the one behind the last, in the expression's own text."""

NOWHERE: Span = (0, 0)


class ArithmeticOperator(StrEnum):
    """The four operations."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class ComparisonOperator(StrEnum):
    """The six comparisons."""

    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    EQUAL = "="
    NOT_EQUAL = "!="


class Quantifier(StrEnum):
    """How a comparison over linked rows is decided."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class PropertyRef:
    """`hourly_rate`, or `governed_by.min_hourly_rate` with a link."""

    name: str
    link: str | None = None
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"{self.link}.{self.name}" if self.link else self.name


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written in the expression. A number is a `Decimal`, exactly as written."""

    value: Decimal | str | bool | date | datetime | timedelta
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right`."""

    operator: ArithmeticOperator
    left: Operand
    right: Operand
    span: Span = field(default=NOWHERE, compare=False)


Operand: TypeAlias = PropertyRef | Literal | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, quantified where it names a link."""

    operator: ComparisonOperator
    left: Operand
    right: Operand
    quantifier: Quantifier = Quantifier.ANY
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Between:
    """`value between low and high`, bounds included and never swapped."""

    value: Operand
    low: Operand
    high: Operand
    quantifier: Quantifier = Quantifier.ANY
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """`value in (choice, ...)`."""

    value: Operand
    choices: tuple[Operand, ...]
    quantifier: Quantifier = Quantifier.ANY
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Presence:
    """`property is present`, or `is missing`. Never unknown."""

    property: PropertyRef
    present: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """Strong Kleene conjunction of two or more conditions."""

    items: tuple[Condition, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Strong Kleene disjunction of two or more conditions."""

    items: tuple[Condition, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Strong Kleene negation. It is never pushed through a quantifier."""

    item: Condition
    span: Span = field(default=NOWHERE, compare=False)


Comparing: TypeAlias = Comparison | Between | Membership
Condition: TypeAlias = Comparing | Presence | And | Or | Not


def parts(atom: Comparing) -> tuple[Operand, ...]:
    """The operands of a comparison, in the order of the text."""
    match atom:
        case Comparison(left=left, right=right):
            return left, right
        case Between(value=value, low=low, high=high):
            return value, low, high
        case Membership(value=value, choices=choices):
            return value, *choices


def references(operand: Operand) -> Iterator[PropertyRef]:
    """Every property that an operand names, in the order of the text, repeats included."""
    match operand:
        case PropertyRef():
            yield operand
        case Arithmetic(left=left, right=right):
            yield from references(left)
            yield from references(right)
        case Literal():
            return


def atom_references(atom: Comparing | Presence) -> tuple[PropertyRef, ...]:
    """Every property that an atom names, each once, in the order of the text."""
    if isinstance(atom, Presence):
        return (atom.property,)
    return tuple(dict.fromkeys(ref for part in parts(atom) for ref in references(part)))


def atom_links(atom: Comparing | Presence) -> tuple[str, ...]:
    """Every link that an atom names, each once, in the order of the text."""
    return tuple(dict.fromkeys(ref.link for ref in atom_references(atom) if ref.link is not None))


def atoms(condition: Condition) -> Iterator[Comparing | Presence]:
    """The comparisons and presence tests of a condition, in the order of the text."""
    match condition:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from atoms(item)
        case Not(item=item):
            yield from atoms(item)
        case Comparison() | Between() | Membership() | Presence():
            yield condition


def condition_references(condition: Condition) -> tuple[PropertyRef, ...]:
    """Every property that a condition names, each once, in the order of the text."""
    return tuple(dict.fromkeys(ref for atom in atoms(condition) for ref in atom_references(atom)))
