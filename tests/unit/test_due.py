"""Which slots come due: written tables for the hard days, and laws for all others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.definition import Schedule
from worker.due import MOST_SLOTS, Due, due_slots

LONDON, NEW_YORK = "Europe/London", "America/New_York"
ZONES = ("UTC", LONDON, NEW_YORK, "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca")


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def found(schedule: Schedule, zone: str, after: str, until: str) -> list[str]:
    due = due_slots(schedule, ZoneInfo(zone), instant(after), instant(until))
    return [slot.isoformat(timespec="minutes") for slot in due.slots]


def test_an_interval_is_anchored_in_utc_whatever_the_zone() -> None:
    schedule = Schedule(every=timedelta(hours=7))
    expected = ["2026-11-30T02:00+00:00", "2026-11-30T09:00+00:00"]
    assert found(schedule, "UTC", "2026-11-30T00:00+00:00", "2026-11-30T12:00+00:00") == expected
    shown = found(schedule, "Australia/Sydney", "2026-11-30T00:00+00:00", "2026-11-30T12:00+00:00")
    assert shown == ["2026-11-30T13:00+11:00", "2026-11-30T20:00+11:00"]
    assert [instant(text).timestamp() % (7 * 3600) for text in expected] == [0, 0]


@pytest.mark.parametrize("schedule", [Schedule(every=timedelta(minutes=15)), Schedule(cron="*/15 * * * *")])
def test_the_end_of_the_stretch_is_due_and_its_beginning_is_not(schedule: Schedule) -> None:
    assert found(schedule, "UTC", "2026-11-30T06:00+00:00", "2026-11-30T06:30+00:00") == [
        "2026-11-30T06:15+00:00",
        "2026-11-30T06:30+00:00",
    ]
    assert found(schedule, "UTC", "2026-11-30T05:59:59.999999+00:00", "2026-11-30T06:00+00:00") != []
    assert found(schedule, "UTC", "2026-11-30T06:00+00:00", "2026-11-30T06:14:59.999999+00:00") == []


@pytest.mark.parametrize("schedule", [Schedule(every=timedelta(minutes=15)), Schedule(cron="*/15 * * * *")])
def test_nothing_comes_due_while_the_clock_goes_backwards(schedule: Schedule) -> None:
    now = instant("2026-11-30T06:00+00:00")
    assert due_slots(schedule, ZoneInfo("UTC"), now, now - timedelta(hours=1)) == Due()
    assert due_slots(schedule, ZoneInfo("UTC"), now, now) == Due()


# Each: cron line, zone, the stretch, and what comes due in it.
HARD_DAYS = {
    "an ordinary day": (
        "0 6 * * *", "Australia/Sydney", "2026-11-29T00:00+11:00", "2026-11-30T12:00+11:00",
        ["2026-11-29T06:00+11:00", "2026-11-30T06:00+11:00"],
    ),
    "only on week days": (
        "0 6 * * MON-FRI", "UTC", "2026-11-27T12:00+00:00", "2026-12-01T12:00+00:00",
        ["2026-11-30T06:00+00:00", "2026-12-01T06:00+00:00"],
    ),
    "the last day of each month": (
        "0 0 L * *", "UTC", "2028-01-31T12:00+00:00", "2028-04-01T00:00+00:00",
        ["2028-02-29T00:00+00:00", "2028-03-31T00:00+00:00"],
    ),
    "New York in spring skips 02:30": (
        "30 2 * * *", NEW_YORK, "2026-03-07T12:00-05:00", "2026-03-09T12:00-04:00",
        ["2026-03-08T03:30-04:00", "2026-03-09T02:30-04:00"],
    ),
    "New York in spring has no slot twice": (
        "*/30 * * * *", NEW_YORK, "2026-03-08T01:00-05:00", "2026-03-08T04:00-04:00",
        ["2026-03-08T01:30-05:00", "2026-03-08T03:00-04:00", "2026-03-08T03:30-04:00", "2026-03-08T04:00-04:00"],
    ),
    "New York in autumn shows 01:30 twice": (
        "30 1 * * *", NEW_YORK, "2026-10-31T12:00-04:00", "2026-11-02T12:00-05:00",
        ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"],
    ),
    "New York in autumn, looked at within the second hour": (
        "*/30 * * * *", NEW_YORK, "2026-11-01T01:10-04:00", "2026-11-01T01:10-05:00",
        ["2026-11-01T01:30-04:00"],
    ),
    "London in spring skips 01:00": (
        "0 1 * * *", LONDON, "2026-03-28T12:00+00:00", "2026-03-29T12:00+01:00",
        ["2026-03-29T02:00+01:00"],
    ),
    "London in autumn shows 01:00 twice": (
        "0 1 * * *", LONDON, "2026-10-24T12:00+01:00", "2026-10-25T12:00+00:00",
        ["2026-10-25T01:00+01:00"],
    ),
    "Lord Howe changes by half an hour in spring": (
        "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00+10:30", "2026-10-04T12:00+11:00",
        ["2026-10-04T02:45+11:00"],
    ),
    "Lord Howe changes by half an hour in autumn": (
        "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00+11:00", "2026-04-05T12:00+10:30",
        ["2026-04-05T01:45+11:00"],
    ),
    "Apia had no 30 December 2011": (
        "0 9 * * *", "Pacific/Apia", "2011-12-29T00:00-10:00", "2012-01-01T00:00+14:00",
        ["2011-12-29T09:00-10:00", "2011-12-31T09:00+14:00"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("day", HARD_DAYS)
def test_a_cron_line_comes_due_as_written(day: str) -> None:
    line, zone, after, until, expected = HARD_DAYS[day]
    assert found(Schedule(cron=line), zone, after, until) == expected


@pytest.mark.parametrize("schedule", [Schedule(every=timedelta(minutes=1)), Schedule(cron="* * * * *")])
def test_a_jump_of_years_yields_a_bounded_number_of_slots_and_says_so(schedule: Schedule) -> None:
    until = instant("2026-11-30T06:00+00:00")
    due = due_slots(schedule, ZoneInfo("UTC"), until - timedelta(days=4000), until)
    assert (due.cut, len(due.slots), due.slots[-1]) == (True, MOST_SLOTS, until)
    assert due.slots[0] == until - timedelta(minutes=MOST_SLOTS - 1)
    whole = due_slots(schedule, ZoneInfo("UTC"), until - timedelta(minutes=MOST_SLOTS), until)
    assert (whole.cut, whole.slots) == (False, due.slots)


def test_a_schedule_of_nothing_is_never_due() -> None:
    assert found(Schedule(), "UTC", "2026-11-30T00:00+00:00", "2027-11-30T00:00+00:00") == []


instants = st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1)).map(lambda wall: wall.replace(tzinfo=UTC))
zones = st.sampled_from(ZONES)
minutes = st.sets(st.integers(0, 59), min_size=1, max_size=3)
hours = st.sets(st.integers(0, 23), min_size=1, max_size=6)
schedules = st.one_of(
    st.integers(60, 5_000_000).map(lambda seconds: Schedule(every=timedelta(seconds=seconds))),
    st.builds(
        lambda minute, hour: Schedule(cron=f"{_listed(minute)} {_listed(hour)} * * *"), minutes, st.none() | hours
    ),
)


def _listed(numbers: set[int] | None) -> str:
    return "*" if numbers is None else ",".join(map(str, sorted(numbers)))


@given(schedules, zones, instants, st.lists(st.integers(0, 100_000), min_size=1, max_size=6))
def test_looking_often_finds_what_looking_once_finds(
    schedule: Schedule, zone: str, begin: datetime, steps: list[int]
) -> None:
    looks = [begin]
    for step in steps:
        looks.append(looks[-1] + timedelta(seconds=step))
    once = due_slots(schedule, ZoneInfo(zone), looks[0], looks[-1])
    often = [
        slot for after, until in pairwise(looks) for slot in due_slots(schedule, ZoneInfo(zone), after, until).slots
    ]
    assert often == sorted(set(often))
    if not once.cut:
        assert often == list(once.slots)


@given(minutes, hours, zones, instants, st.integers(1, 4 * 24 * 60))
def test_a_cron_line_agrees_with_a_walk_over_every_minute(
    minute: set[int], hour: set[int], zone: str, begin: datetime, length: int
) -> None:
    until = begin + timedelta(minutes=length)
    due = due_slots(Schedule(cron=f"{_listed(minute)} {_listed(hour)} * * *"), ZoneInfo(zone), begin, until)
    # Every wall-clock minute of some days around, whether the clock showed it or not.
    walls = (datetime(begin.year, begin.month, begin.day) + timedelta(minutes=n) for n in range(-3 * 1440, 9 * 1440))
    matching = (wall.replace(tzinfo=ZoneInfo(zone)) for wall in walls if wall.minute in minute and wall.hour in hour)
    expected = {at for wall in matching if begin < (at := wall.astimezone(UTC)) <= until}
    assert [slot.astimezone(UTC) for slot in due.slots] == sorted(expected)[-MOST_SLOTS:]
