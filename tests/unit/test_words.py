"""A monitor in words: the lines that its links, units and clock add."""

from __future__ import annotations

import pytest

from compiler.words import explain_monitor
from monitors.definition import MonitorDefinition
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
