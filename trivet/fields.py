"""Field types of what a YAML file may hold: each takes a text as written and decides what it means.

Nothing is coerced: `no` is no boolean, `012` no integer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from trivet.documents import Scalar, shown
from trivet.durations import DURATION_PATTERN, duration_text, parse_duration
from trivet.faults import expected, refused
from trivet.sizes import SIZE_PATTERN

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Between:
    """A number written plainly, within inclusive bounds: `Annotated[int, Between(1, 64)]`, or a `Decimal`."""

    low: int = -(2**53) + 1
    high: int = 2**53 - 1

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """`source` is `int` or `Decimal`."""
        inner = core_schema.int_schema() if source is int else core_schema.decimal_schema()
        read = partial(self._read, _INTEGERS if source is int else _NUMBERS)
        return core_schema.no_info_before_validator_function(read, inner)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """What editors complete and check by."""
        kind = "integer" if schema["schema"]["type"] == "int" else "number"
        bounds = {"minimum": self.low, "maximum": self.high}
        return {"type": kind} | {name: bound for name, bound in bounds.items() if abs(bound) < 2**53 - 1}

    def _read(self, kind: _NumberKind, value: object) -> Any:
        number = kind.parse(value)
        what = f"{kind.noun} {self._range(kind.example if number is None else '')}"
        if number is None or not self.low <= number <= self.high:
            raise expected(what)
        return _unquoted(value, number, what)

    def _range(self, example: str) -> str:
        low, high = self.low > Between().low, self.high < Between().high
        if low and high:
            return f"from {self.low} to {self.high}"
        if low or high:
            return f"of at least {self.low}" if low else f"of at most {self.high}"
        return f"such as {example}" if example else "within 2**53 - 1"


@dataclass(frozen=True, slots=True)
class _NumberKind:
    noun: str
    example: str
    pattern: re.Pattern[str]
    type: Callable[[Any], Any]

    def parse(self, value: object) -> Any:
        if isinstance(value, str):
            return self.type(value) if self.pattern.fullmatch(value) else None
        return value if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else None


_INTEGERS = _NumberKind("an integer", "5", re.compile(r"-?(0|[1-9][0-9]{0,15})"), int)
_NUMBERS = _NumberKind("a number", "0.8", re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?"), Decimal)


def _unquoted(value: object, meaning: T, what: str) -> T:
    """`meaning`, unless `value` was quoted: who quotes a number or a boolean means a text."""
    if isinstance(value, Scalar) and value.quoted:
        raise expected(what, found=f"'{shown(value)}' in quotes", advice="remove the quotes")
    return meaning


def _read_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else ""
    if text in _FLAGS:
        return _unquoted(value, _FLAGS[text], "true or false")
    meant = _FLAGS.get(_FLAG_WORDS.get(text.lower(), text.lower()))
    advice = "" if meant is None else f"write {str(meant).lower()}"
    raise expected("true or false", advice=advice)


_FLAGS = {"true": True, "false": False}
_FLAG_WORDS = {"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}


def _text_reader(*, lines: bool) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise expected("text")
        # The last line end of a `|` or `>` block comes from the notation and says nothing.
        text = str(value).rstrip("\n") if lines else str(value).removesuffix("\n")
        if not text.strip():
            raise expected("text", found="only blanks" if text else "an empty text")
        if not lines and "\n" in text:
            raise expected("text on one line", found="several lines")
        for char in text.translate({10: None, 9: None}) if lines else text:
            if unicodedata.category(char) in _CONTROLS or char in _DIRECTION_MARKS:
                raise refused(f"the control character U+{ord(char):04X} is not accepted; remove it")
        if not unicodedata.is_normalized("NFC", text):
            raise refused("the text is not in Unicode's composed form (NFC); type its accented letters anew")
        return text

    return read


_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
# Marks that make a text read otherwise than it is ("Trojan Source", CVE-2021-42574).
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _pattern_reader(pattern: str, what: str) -> Callable[[object], str]:
    compiled = re.compile(pattern.strip("^$"))

    def read(value: object) -> str:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise expected(what)
        return str(value)

    return read


def _read_duration(value: object) -> timedelta:
    duration = parse_duration(value) if isinstance(value, str) else value
    if not isinstance(duration, timedelta):
        raise expected("a duration such as 15m")
    return duration


def _read_day(value: object) -> date:
    what = "a date such as 2024-12-31"
    if not isinstance(value, str) or not re.fullmatch(_DAY.strip("^$"), value):
        raise expected(what)
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise expected(what, advice="the calendar has no such day") from None


def _text_schema(**more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **more})


_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,62}$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_SLUG = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"

Integer = Annotated[int, Between()]
"""`-?(0|[1-9][0-9]*)`, at most 2**53 - 1 either way; bounds: `Annotated[int, Between(1, 64)]`."""
Number = Annotated[Decimal, Between()]
"""An exact decimal such as `0.8`; bounds: `Annotated[Decimal, Between(0, 1)]`."""
Flag = Annotated[bool, BeforeValidator(_read_flag)]
"""`true` or `false`, and no other word."""
Text = Annotated[str, BeforeValidator(_text_reader(lines=False)), _text_schema(minLength=1)]
"""One line, not blank, NFC, without control characters. Never coerced: `title: 012` is the text `012`."""
Prose = Annotated[str, BeforeValidator(_text_reader(lines=True)), _text_schema(minLength=1)]
"""As `Text`, of any number of lines, and with tabs; line ends at its end are dropped."""
Name = Annotated[
    str,
    BeforeValidator(_pattern_reader(_NAME, "a name such as pay_date (letters, digits and _, at most 63)")),
    _text_schema(pattern=_NAME),
]
"""An identifier, as views, properties and links have them."""
Slug = Annotated[
    str,
    BeforeValidator(_pattern_reader(_SLUG, "a name such as pay-floor (letters, digits, - _ . and at most 63)")),
    _text_schema(pattern=_SLUG),
]
"""A name that people and URLs share, as monitors and receivers have them."""
DurationText = Annotated[
    timedelta,
    BeforeValidator(_read_duration),
    PlainSerializer(duration_text, return_type=str, when_used="json"),
    _text_schema(pattern=DURATION_PATTERN),
]
"""A whole number and a unit: `5s`, `15m`, `1h`, `8d`, `2w`."""
SizeText = Annotated[
    str,
    BeforeValidator(_pattern_reader(SIZE_PATTERN, "a size such as 512MB or 2GB")),
    _text_schema(pattern=SIZE_PATTERN),
]
"""A whole number and a unit, MB, GB or TB; `trivet.sizes` reads it."""
Day = Annotated[date, BeforeValidator(_read_day), _text_schema(format="date")]
"""A day of the calendar, `2024-12-31`."""
