"""The functions of one row: what each takes and gives. `docs/reference/expressions.md` is written from it."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.datatypes import BOOLEAN, DATE, DOUBLE, DURATION, INTEGER, TEXT, TIMESTAMP, DataType, Kind
from catalog.expressions.tree import Function

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)

NEVER = "never"
"""Unknown only where an argument is indeterminate."""
_OUTSIDE_YEARS = "of a timestamp: `overflow` where the local date is outside the years 1 to 9999"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, what it gives, and when it fails although its arguments have values."""

    takes: tuple[tuple[Kind, ...], ...]
    """The kinds that each argument may have."""
    gives: DataType | None
    """None where the result has the type of the only argument."""
    meaning: str
    fails: str
    example: str
    """Over literals alone, so that tests can evaluate it."""
    value: str
    """What the example comes to, as a literal."""

    @property
    def said(self) -> str:
        """The arguments in words: `a text, a text`; empty where it takes none."""
        return ", ".join(f"a {_words(kinds)}" for kinds in self.takes)


def _words(kinds: tuple[Kind, ...]) -> str:
    named = ["number", *(kind for kind in kinds if kind not in _NUMBERS)] if kinds[0] in _NUMBERS else [*kinds]
    return " or ".join(named)


def _text(meaning: str, gives: DataType, example: str, value: str) -> Signature:
    return Signature(((Kind.TEXT,),), gives, meaning, NEVER, example, value)


def _test(meaning: str, example: str, value: str) -> Signature:
    return Signature(((Kind.TEXT,), (Kind.TEXT,)), BOOLEAN, meaning, NEVER, example, value)


def _part(meaning: str, example: str, value: str) -> Signature:
    return Signature((_MOMENTS,), INTEGER, meaning, _OUTSIDE_YEARS, example, value)


def _length(unit: str, example: str, value: str) -> Signature:
    meaning = f"the duration in {unit}, rounded to 12 significant digits as a division is"
    return Signature(((Kind.DURATION,),), DOUBLE, meaning, NEVER, example, value)


SIGNATURES: dict[Function, Signature] = {
    Function.LOWER: _text(
        "the text with the ASCII letters in lower case; others stay", TEXT, "lower('DDSO É')", "'ddso É'"
    ),
    Function.UPPER: _text(
        "the text with the ASCII letters in upper case; others stay", TEXT, "upper('ddso é')", "'DDSO é'"
    ),
    Function.TRIM: _text("the text without ASCII blanks at its ends", TEXT, "trim(' DDSO 1 ')", "'DDSO 1'"),
    Function.LENGTH: _text("how many code points it has, blanks at its ends included", INTEGER, "length('DDSO')", "4"),
    Function.STARTS_WITH: _test("whether the first text begins with the second", "starts_with('DDSO 1', 'DD')", "true"),
    Function.ENDS_WITH: _test("whether the first text ends with the second", "ends_with('DDSO 1', '2')", "false"),
    Function.CONTAINS: _test("whether the second text stands in the first", "contains('DDSO 1', 'SO')", "true"),
    Function.YEAR: _part("the year", "year(date(2025, 7, 1))", "2025"),
    Function.QUARTER: _part("the quarter, 1 to 4", "quarter(date(2025, 7, 1))", "3"),
    Function.MONTH: _part("the month, 1 to 12", "month(date(2025, 7, 1))", "7"),
    Function.DAY: _part("the day of the month, 1 to 31", "day(date(2025, 7, 1))", "1"),
    Function.WEEKDAY: _part("the day of the week, 1 (Monday) to 7", "weekday(date(2025, 7, 1))", "2"),
    Function.DAY_OF: Signature(
        ((Kind.TIMESTAMP,),),
        DATE,
        "the local date",
        _OUTSIDE_YEARS.removeprefix("of a timestamp: "),
        "day_of(timestamp(2025, 7, 1, 23, 30))",
        "date(2025, 7, 1)",
    ),
    Function.NOW: Signature((), TIMESTAMP, "the instant of the slot that is evaluated", NEVER, "now()", "now()"),
    Function.TODAY: Signature((), DATE, "the local date of that instant", NEVER, "today()", "day_of(now())"),
    Function.AGE: Signature(
        (_MOMENTS,),
        DURATION,
        "`today()` less a date, `now()` less a timestamp; below zero for what is still to come",
        NEVER,
        "age(date(2025, 7, 1))",
        "today() - date(2025, 7, 1)",
    ),
    Function.DAYS: _length("days", "days(36h)", "1.5"),
    Function.HOURS: _length("hours", "hours(90m)", "1.5"),
    Function.MINUTES: _length("minutes", "minutes(2h)", "120"),
    Function.SECONDS: _length("seconds", "seconds(2h)", "7200"),
    Function.ABS: Signature(
        ((*_NUMBERS, Kind.DURATION),),
        None,
        "the value without its sign, in its own unit",
        "`overflow` of the least integer and of the least duration",
        "abs(-2.5)",
        "2.5",
    ),
}
"""Every function. The order is that of the reference page."""


def argument_fault(function: Function, types: tuple[DataType, ...]) -> str | None:
    """What is wrong with a function's arguments, as the end of a message; None where nothing is."""
    signature = SIGNATURES[function]
    if len(types) != len(signature.takes):
        return f"takes {signature.said or 'nothing'}"
    for given, kinds in zip(types, signature.takes, strict=True):
        if given.kind not in kinds:
            return f"takes {signature.said}, not a {'number' if given.is_number else given}"
    return None


def result_type(function: Function, types: tuple[DataType, ...]) -> DataType:
    """The type of a function's result; `argument_fault` found nothing."""
    signature = SIGNATURES[function]
    return types[0] if signature.gives is None else signature.gives
