"""What one operand can turn out to be: a value, a bound, or nothing with a cause."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from trivet.verdicts import Cause


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time, in microseconds since 1970-01-01T00:00:00Z."""

    microseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in microseconds."""

    microseconds: int


Value: TypeAlias = str | bool | int | Decimal | float | date | Instant | Duration
"""One Python type for each declared type; a `Decimal` keeps its declared scale as its exponent."""


@dataclass(frozen=True, slots=True)
class Determinate:
    """A value of the declared type."""

    value: Value


@dataclass(frozen=True, slots=True)
class Censored:
    """A bound and not a value."""

    side: str
    """`<`, `<=`, `>` or `>=`."""
    limit: Value
    non_negative: bool
    """Whether zero bounds the other end of `<` and `<=`."""


@dataclass(frozen=True, slots=True)
class Indeterminate:
    """No value, and why."""

    cause: Cause


Outcome: TypeAlias = Determinate | Censored | Indeterminate


def cause_of(outcome: Outcome) -> Cause | None:
    """Why the outcome is no value; None where it is one."""
    match outcome:
        case Determinate():
            return None
        case Censored():
            return Cause.CENSORED
        case Indeterminate(cause=cause):
            return cause


def value_of(outcome: Outcome) -> Value | None:
    """The value, where there is one."""
    return outcome.value if isinstance(outcome, Determinate) else None
