"""A monitor in words: the lines that its links, units and clock add."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from catalog.expressions.groups import GroupKey
from catalog.periods import Period
from compiler.words import explain_monitor
from monitors.definition import MonitorDefinition
from monitors.grouping import Coverage, DayRange, Expectation, Grouping, LastPeriods
from tests.unit.test_condition_checking import CONTRACT, parsed


def explained(condition: str, strict: bool = False) -> list[str]:
    return explain_monitor(MonitorDefinition("m", "pay", parsed(condition), strict=strict), CONTRACT)


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        ("hours > minutes_worked", "A value in minute is one in hour times 1/60."),
        ("minutes_worked + hours > 3", "A value in hour is one in minute times 60."),
        ("room > governed_by.limit", "A value in degF is one in degC times 5/9 and plus -160/9."),
        ("hourly_rate < governed_by.yearly", "A value in AUD/year is one in AUD/hour times 1/8766."),
        ("age(paid) > 3d", "Now and today are those of the slot that is evaluated."),
        (
            "exists(shifts)",
            "  exists(shifts) is decided by the matching rows, whatever they hold; false without one.",
        ),
        ("count(shifts) > 1", "  count(shifts) is the number of matching rows, whatever they hold; 0 without one."),
    ],
)
def test_what_a_condition_does_beside_comparing_is_said(condition: str, line: str) -> None:
    assert line in explained(condition)
    assert line not in explained("hours > 3")


def test_a_link_that_is_only_asked_for_is_not_said_to_be_compared() -> None:
    missing = "  No row: right_missing. Rows, none with a usable value: right_null."
    assert missing in explained("hours > shifts.hours")
    assert missing not in explained("exists(shifts) or count(shifts) > 3")


BY_MONTH = (GroupKey("classification"), GroupKey("paid", Period.MONTH))
YEAR = DayRange(date(2024, 1, 1), date(2024, 12, 31))


def grouped(condition: str, grouping: Grouping, *, where: str | None = None, strict: bool = False) -> list[str]:
    narrowed = parsed(where) if where is not None else None
    definition = MonitorDefinition("m", "pay", parsed(condition), narrowed, grouping, strict=strict)
    return explain_monitor(definition, CONTRACT)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (
            grouped("count() < 3", Grouping(BY_MONTH), where="hours > 1"),
            "Population: the rows of ontology.pay where hours > 1, grouped by classification, month of paid.",
        ),
        (grouped("count() < 3", Grouping(())), "Population: one group, of every row of ontology.pay."),
        (
            grouped("avg(hours) < 3", Grouping(BY_MONTH, Expectation("rate", ("classification",), YEAR))),
            "Expected:   each classification of ontology.rate in each month from 2024-01-01 to 2024-12-31, "
            "whether or not there is a row.",
        ),
        (
            grouped("avg(hours) < 3", Grouping(BY_MONTH[1:], Expectation(None, (), LastPeriods(3, current=False)))),
            "Expected:   a member in each of the 3 months before that of the slot, whether or not there is a row.",
        ),
        (
            grouped("avg(hours) < 3", Grouping(BY_MONTH, min_coverage=Coverage(Decimal("0.80"), Period.DAY))),
            "  insufficient: none, or in less than a share of 0.8 of the month's days any of them is determinate.",
        ),
        (
            grouped("avg(hours) < 3", Grouping(BY_MONTH, min_count=5, min_coverage=Coverage(Decimal("0.5")))),
            "  insufficient: fewer than 5, or less than a share of 0.5 of them is determinate.",
        ),
        (
            grouped("avg(hours) < 3", Grouping(()), strict=True),
            "strict: a figure that meets a row for which it is not determinate is insufficient.",
        ),
        (grouped("avg(hours) < 3", Grouping(())), "  left_missing: over no row there is no other figure."),
        (
            grouped("change(count()) < 3", Grouping(BY_MONTH)),
            "  A change is this period less the one before; without that one it is insufficient.",
        ),
        (
            grouped("avg(hourly_rate) < governed_by.yearly", Grouping(BY_MONTH)),
            "A value in AUD/year is one in AUD/hour times 1/8766.",
        ),
    ],
)
def test_what_makes_groups_and_their_figures_is_said(lines: list[str], line: str) -> None:
    assert line in lines
    assert line not in grouped("count() < 3", Grouping(BY_MONTH))


def test_of_counts_alone_nothing_is_said_that_they_do_not_need() -> None:
    lines = grouped("count() < 3", Grouping(()))
    assert not [line for line in lines if "insufficient" in line or "left_missing" in line]
