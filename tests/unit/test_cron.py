"""Which cron lines are accepted. What is said of the others stands in `tests/cases/bad/monitors/cron.yaml`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.cron import cron_fault


@pytest.mark.parametrize(
    "line",
    [
        "0 6 * * *",
        "*/15 * * * *",
        "0 6 * * MON-FRI",
        "0 6 1,15 * *",
        "0 0 29 2 *",
        "0  6 * * *",
        "5 4 * JAN SUN",
        "0 6 L * *",
    ],
)
def test_a_line_that_names_instants_is_accepted(line: str) -> None:
    assert cron_fault(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "* * * *",
        "* * * * * *",
        "@hourly",
        "60 * * * *",
        "* 24 * * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 1",
        "* * * * SUNDAY",
        "0 0 31 FEB *",
        "a b c d e",
        "*/0 * * * *",
        "1-0 * * * *",
        "* * * * ;",
    ],
)
def test_any_other_line_has_a_fault(line: str) -> None:
    assert cron_fault(line)


@given(st.text(st.sampled_from("0123456789*/-,LW# MONFRIJAN?\u0661"), max_size=24))
def test_no_line_crashes_the_reader(line: str) -> None:
    fault = cron_fault(line)
    assert fault is None or fault
