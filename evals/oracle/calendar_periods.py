"""Periods of the calendar as people name them, by the dates alone."""

from __future__ import annotations

from datetime import date, timedelta

from catalog.periods import Period


def label(period: Period, day: date) -> str:
    """The name of the period that a day lies in."""
    match period:
        case Period.YEAR:
            return f"{day.year:04d}"
        case Period.QUARTER:
            return f"{day.year:04d}-Q{(day.month + 2) // 3}"
        case Period.MONTH:
            return f"{day.year:04d}-{day.month:02d}"
        case Period.WEEK:
            year, week, _ = day.isocalendar()
            return f"{year:04d}-W{week:02d}"
        case Period.DAY:
            return day.isoformat()


def days_of(period: Period, day: date) -> list[date]:
    """Every day of the period that a day lies in, found by walking to both of its ends."""
    name, days = label(period, day), [day]
    while (earlier := _next(days[0], -1)) is not None and label(period, earlier) == name:
        days.insert(0, earlier)
    while (later := _next(days[-1], 1)) is not None and label(period, later) == name:
        days.append(later)
    return days


def day_before(period: Period, day: date) -> date | None:
    """A day of the period before; None before the first of all days."""
    return _next(days_of(period, day)[0], -1)


def _next(day: date, by: int) -> date | None:
    try:
        return day + timedelta(days=by)
    except OverflowError:
        return None
