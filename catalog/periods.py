"""Calendar periods by which rows are grouped: each is named by its first day."""

from __future__ import annotations

from datetime import date, timedelta
from enum import StrEnum


class Period(StrEnum):
    """Periods of the calendar, from the longest."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    """Monday to Sunday (ISO 8601)."""
    DAY = "day"


_MONTHS = {Period.YEAR: 12, Period.QUARTER: 3, Period.MONTH: 1}
_DAYS = {Period.WEEK: 7, Period.DAY: 1}
_INSIDE = {
    Period.YEAR: (Period.QUARTER, Period.MONTH, Period.DAY),
    Period.QUARTER: (Period.MONTH, Period.DAY),
    Period.MONTH: (Period.DAY,),
    Period.WEEK: (Period.DAY,),
    Period.DAY: (),
}


def first_day(period: Period, day: date) -> date:
    """The first day of the period that `day` lies in."""
    if period in _MONTHS:
        months = _MONTHS[period]
        return date(day.year, (day.month - 1) // months * months + 1, 1)
    return day - timedelta(days=day.weekday()) if period is Period.WEEK else day


def shifted(period: Period, first: date, by: int) -> date:
    """The first day of the period that lies `by` periods after the one that begins on `first`.

    Raises:
        OverflowError: it is outside of the years 1 to 9999.
    """
    if period in _DAYS:
        return first + timedelta(days=_DAYS[period] * by)
    month = first.year * 12 + first.month - 1 + by * _MONTHS[period]
    if not 12 <= month < 120_000:
        raise OverflowError(f"no calendar has the {period} {by} after {first}")
    return date(month // 12, month % 12 + 1, 1)


def parts_of(period: Period) -> tuple[Period, ...]:
    """The periods of which whole ones make up `period`; weeks fit into no other."""
    return _INSIDE[period]
