"""The tree of an expression: small, frozen, equal by meaning (positions do not count)."""

from __future__ import annotations

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


class Function(StrEnum):
    """The closed list of functions of one row. Each is unknown where an argument is indeterminate."""

    LOWER = "lower"
    """Text with the ASCII letters in lower case; engines differ on all others."""
    UPPER = "upper"
    """Text with the ASCII letters in upper case."""
    TRIM = "trim"
    """Text without ASCII blanks at its ends."""
    LENGTH = "length"
    """Code points of a text."""
    STARTS_WITH = "starts_with"
    """Whether a text begins with another."""
    ENDS_WITH = "ends_with"
    """Whether a text ends with another."""
    CONTAINS = "contains"
    """Whether a text has another inside it."""
    YEAR = "year"
    """Year of a date, or of an instant in the contract's time zone; so the next five."""
    QUARTER = "quarter"
    """1 to 4."""
    MONTH = "month"
    """1 to 12."""
    DAY = "day"
    """1 to 31."""
    WEEKDAY = "weekday"
    """1, Monday, to 7 (ISO 8601)."""
    DAY_OF = "day_of"
    """The date of an instant."""
    NOW = "now"
    """The slot's own instant: the only clock of the language."""
    TODAY = "today"
    """The date of the slot's instant in the contract's time zone."""
    AGE = "age"
    """`today()` less a date, or `now()` less an instant."""
    DAYS = "days"
    """A duration counted in days: a double to 12 significant digits, as a division gives; so the next three."""
    HOURS = "hours"
    """In hours."""
    MINUTES = "minutes"
    """In minutes."""
    SECONDS = "seconds"
    """In seconds."""
    ABS = "abs"
    """A number or duration without its sign."""


CLOCKS = frozenset({Function.NOW, Function.TODAY, Function.AGE})
"""Functions that look at the slot's own instant."""
TESTS = frozenset({Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS})
"""Functions that stand alone, as a comparison with `true`."""


class AggregateFunction(StrEnum):
    """What a group's rows come to. Indeterminate inputs never enter."""

    COUNT = "count"
    """Rows of the group; 0 over none."""
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"
    """The middle value; of an even number of values, the mean of the middle two."""
    SHARE = "share"
    """Rows that satisfy a condition, over the rows for which it is decided."""
    COUNT_DISTINCT = "count_distinct"
    NULL_SHARE = "null_share"
    """Rows in which the operand is indeterminate, over all rows."""


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
    is_percent: bool = field(default=False, compare=False)
    """Whether it was written as `5%`, which is 0.05."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right`."""

    operator: ArithmeticOperator
    left: Operand
    right: Operand
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one row."""

    function: Function
    arguments: tuple[Operand, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LinkCount:
    """`count(link)`: how many rows match the member."""

    link: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One figure of a group's rows."""

    function: AggregateFunction
    argument: Operand | Condition | None
    """An operand of one row; a condition for `share`; None for `count()`."""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """`change(x)`: the figure less the one before, so a rise is positive; `relative_change(x)` over its size."""

    operand: Operand
    relative: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BaselineRef:
    """`baseline.name`: what a figure of the group came to in earlier evaluations, as the monitor's file says."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


Operand: TypeAlias = PropertyRef | Literal | Arithmetic | Call | LinkCount | Aggregate | Change | BaselineRef


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
class Exists:
    """`exists(link)`: whether any row matches the member."""

    link: str
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
Test: TypeAlias = Presence | Exists  # What is asked of the rows themselves, not of values.
Atom: TypeAlias = Comparing | Test
Condition: TypeAlias = Atom | And | Or | Not
Deciding: TypeAlias = Comparing | Exists
"""What can be unknown; a presence test never is."""
