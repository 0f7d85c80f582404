"""The clock that is passed in, and instants as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivet.clock import FixedClock, SystemClock, is_time_zone, utc_text


def test_a_fixed_clock_stands_still_until_it_is_moved() -> None:
    clock = FixedClock(datetime(2026, 11, 30, 6, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2026, 11, 30, 6, tzinfo=UTC)
    clock.instant += timedelta(hours=1)
    assert clock.now() == datetime(2026, 11, 30, 7, tzinfo=UTC)


def test_the_clock_of_the_machine_tells_utc_and_goes_on() -> None:
    first, second = SystemClock().now(), SystemClock().now()
    assert first.utcoffset() == timedelta(0)
    assert first <= second


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 11, 30, 6, tzinfo=UTC), "2026-11-30T06:00:00.000000Z"),
        (datetime(2026, 11, 30, 6, 0, 0, 1, tzinfo=UTC), "2026-11-30T06:00:00.000001Z"),
        (datetime(2026, 11, 30, 6, tzinfo=timezone(timedelta(hours=11))), "2026-11-29T19:00:00.000000Z"),
        (datetime(987, 1, 2, tzinfo=UTC), "0987-01-02T00:00:00.000000Z"),
    ],
)
def test_an_instant_has_one_text_whatever_its_zone(instant: datetime, text: str) -> None:
    assert utc_text(instant) == text


OFFSETS = st.timedeltas(-timedelta(hours=23), timedelta(hours=23))
INSTANTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.builds(timezone, OFFSETS))


@given(INSTANTS, INSTANTS)
def test_texts_sort_as_instants_do_and_read_back(first: datetime, second: datetime) -> None:
    assert (utc_text(first) < utc_text(second)) == (first < second)
    assert datetime.fromisoformat(utc_text(first)) == first


def test_an_instant_without_a_zone_has_no_text() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        utc_text(datetime(2026, 11, 30))


@pytest.mark.parametrize("name", ["UTC", "Australia/Sydney", "America/Argentina/Buenos_Aires"])
def test_a_time_zone_is_known_by_its_iana_name(name: str) -> None:
    assert is_time_zone(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "Sydney",
        "Australia",
        "Australia/Sidney",
        "+10:00",
        "../../etc/passwd",
        "/etc/localtime",
        "UTC\x00",
        "U" * 300,
    ],
)
def test_anything_else_is_no_time_zone(name: str) -> None:
    assert not is_time_zone(name)
