"""The years of the contract's calendar as days."""

from __future__ import annotations

from datetime import date, timedelta

from catalog.contract import Calendar


def calendar_year(year: int) -> tuple[date, date]:
    """First and last day of a calendar year."""
    return date(year, 1, 1), date(year, 12, 31)


def fiscal_year(year: int, calendar: Calendar) -> tuple[date, date]:
    """First and last day of the fiscal year that the calendar labels `year`."""
    month = calendar.fiscal_year_start_month
    first = year - 1 if month > 1 and calendar.fiscal_year_label == "end_year" else year
    return date(first, month, 1), date(first + 1, month, 1) - timedelta(days=1)
