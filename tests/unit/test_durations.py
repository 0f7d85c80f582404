"""Durations: one number, one unit, and the spelling that reads back to the same duration."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivet.durations import DURATION_PATTERN, duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0s", timedelta(0)),
        ("5s", timedelta(seconds=5)),
        ("15m", timedelta(minutes=15)),
        ("1h", timedelta(hours=1)),
        ("8d", timedelta(days=8)),
        ("2w", timedelta(days=14)),
        ("90m", timedelta(hours=1, minutes=30)),
    ],
)
def test_a_whole_number_and_a_unit_is_a_duration(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "s",
        "-5s",
        "+5s",
        "05s",
        "1.5h",
        "5 s",
        " 5s",
        "5s\n",
        "5S",
        "1M",
        "1y",
        "5ms",
        "1h30m",
        "PT5S",
        "\u0665s",
    ],
)
def test_any_other_text_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["999999999w", "9" * 12 + "s", "9" * 100_000 + "s"])
def test_a_duration_too_long_to_hold_is_none_and_not_an_error(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(seconds=90), "90s"),
        (timedelta(seconds=120), "2m"),
        (timedelta(hours=36), "36h"),
        (timedelta(days=7), "1w"),
        (timedelta(days=8), "8d"),
    ],
)
def test_the_largest_unit_that_fits_spells_a_duration(duration: timedelta, text: str) -> None:
    assert duration_text(duration) == text


@pytest.mark.parametrize("duration", [timedelta(seconds=-1), timedelta(microseconds=1)])
def test_what_cannot_be_spelt_is_refused(duration: timedelta) -> None:
    with pytest.raises(ValueError, match="no spelling in whole seconds"):
        duration_text(duration)


@given(st.integers(0, 10**9))
def test_every_spelling_reads_back_to_the_same_duration(seconds: int) -> None:
    text = duration_text(timedelta(seconds=seconds))
    assert parse_duration(text) == timedelta(seconds=seconds)
    assert re.search(DURATION_PATTERN, text)


@given(st.text("0123456789smhdw -+.", max_size=6))
def test_what_parses_is_what_the_published_pattern_accepts(text: str) -> None:
    assert (parse_duration(text) is not None) == bool(re.search(DURATION_PATTERN, text))
