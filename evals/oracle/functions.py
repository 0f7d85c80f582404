"""The functions of one row, in plain Python: a value, or `overflow`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from catalog.expressions.tree import Function
from evals.oracle.outcomes import Determinate, Duration, Indeterminate, Instant, Value
from evals.oracle.texts import GREATEST_INTEGER, at_offset, trim
from trivet.verdicts import Cause

_LETTERS = [(chr(code), chr(code).upper()) for code in range(ord("a"), ord("z") + 1)]
_TO_UPPER = {ord(small): large for small, large in _LETTERS}
_TO_LOWER = {ord(large): small for small, large in _LETTERS}
_SECOND = 1_000_000
_UNITS = {
    Function.DAYS: 86_400 * _SECOND,
    Function.HOURS: 3_600 * _SECOND,
    Function.MINUTES: 60 * _SECOND,
    Function.SECONDS: _SECOND,
}


def call_function(
    function: Function, values: Sequence[Value], zone: ZoneInfo, at: datetime
) -> Determinate | Indeterminate:
    """What a function gives for values, in a time zone and at the slot's instant."""
    match function, *values:
        case Function.NOW, *_:
            return Determinate(_instant_of(at))
        case Function.TODAY, *_:
            return Determinate(at.astimezone(zone).date())
        case Function.AGE, Instant() as moment:
            return Determinate(Duration(_instant_of(at).microseconds - moment.microseconds))
        case Function.AGE, date() as day:
            return Determinate(Duration((at.astimezone(zone).date() - day) // timedelta(microseconds=1)))
        case ((Function.STARTS_WITH | Function.ENDS_WITH | Function.CONTAINS), str() as text, str() as other):
            return Determinate(_test(function, text, other))
        case _, str() as text:
            return Determinate(_change(function, text))
        case ((Function.DAYS | Function.HOURS | Function.MINUTES | Function.SECONDS), Duration() as length):
            return Determinate(float(format(float(length.microseconds) / float(_UNITS[function]), ".11e")))
        case Function.ABS, Duration() as length:
            size = abs(length.microseconds)
            return Determinate(Duration(size)) if size <= GREATEST_INTEGER else _overflow()
        case Function.ABS, int() as number:
            return Determinate(abs(number)) if abs(number) <= GREATEST_INTEGER else _overflow()
        case Function.ABS, Decimal() as number:
            return Determinate(number.copy_abs())
        case Function.ABS, float() as number:
            return Determinate(abs(number))
        case _, (date() | Instant()) as moment:
            local = _local_day(moment, zone) if isinstance(moment, Instant) else moment
            return _overflow() if local is None else Determinate(_part(function, local))
    raise TypeError(f"{function} of {values!r} has no meaning")


def _overflow() -> Indeterminate:
    return Indeterminate(Cause.OVERFLOW)


def _instant_of(at: datetime) -> Instant:
    return at_offset(at.astimezone(UTC), 0)


def _test(function: Function, text: str, other: str) -> bool:
    if function is Function.STARTS_WITH:
        return text.startswith(other)
    return text.endswith(other) if function is Function.ENDS_WITH else other in text


def _change(function: Function, text: str) -> Value:
    match function:
        case Function.LOWER:
            return text.translate(_TO_LOWER)
        case Function.UPPER:
            return text.translate(_TO_UPPER)
        case Function.TRIM:
            return trim(text)
        case Function.LENGTH:
            return len(text)
    raise TypeError(f"{function} takes no text")


def _local_day(moment: Instant, zone: ZoneInfo) -> date | None:
    """The date on the wall; None outside of the years 1 to 9999."""
    try:
        utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment.microseconds)
        return utc.astimezone(zone).date()
    except OverflowError:
        return None


def _part(function: Function, day: date) -> Value:
    match function:
        case Function.YEAR:
            return day.year
        case Function.QUARTER:
            return (day.month + 2) // 3
        case Function.MONTH:
            return day.month
        case Function.DAY:
            return day.day
        case Function.WEEKDAY:
            return day.isoweekday()
        case Function.DAY_OF:
            return day
    raise TypeError(f"{function} is no part of a date")
