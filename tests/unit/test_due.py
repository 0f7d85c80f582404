"""Which slots come due: written tables for the hard days, and laws for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from monitors.definition import Schedule
from tests.unit.minute_by_minute import walked
from trivet.scheduling import Ambiguous, Nonexistent
from worker.due import MOST_SLOTS, Due, Refresh, due_refreshes, due_slots

NEW_YORK = "America/New_York"
CASES = Path(__file__).parents[1] / "cases" / "due"
NONEXISTENT = {item.value: Schedule(nonexistent=item) for item in Nonexistent}
AMBIGUOUS = {item.value: Schedule(ambiguous=item) for item in Ambiguous}
ZONES = ("UTC", "Europe/London", NEW_YORK, "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca")


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def found(schedule: Schedule, zone: str, after: str, until: str) -> list[str]:
    due = due_slots(schedule, ZoneInfo(zone), instant(after), instant(until))
    return [slot.at.isoformat(timespec="minutes") for slot in due.slots]


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


ORDINARY_DAYS = {
    "each day": (
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
    "looked at within the hour that New York shows twice": (
        "*/30 * * * *", NEW_YORK, "2026-11-01T01:10-04:00", "2026-11-01T01:10-05:00",
        ["2026-11-01T01:30-04:00"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("day", ORDINARY_DAYS)
def test_a_cron_line_comes_due_as_written(day: str) -> None:
    line, zone, after, until, expected = ORDINARY_DAYS[day]
    assert found(Schedule(cron=line), zone, after, until) == expected


def changed_days() -> Iterator[Any]:
    """Each day on which a clock changes, each line, and each rule."""
    for case in yaml.safe_load((CASES / "daylight_saving.yaml").read_text("utf-8")):
        rules = AMBIGUOUS if "autumn" in case["place"] else NONEXISTENT
        for line, expected in case["lines"].items():
            assert set(expected) in ({"any"}, set(rules))
            for rule, schedule in rules.items():
                slots = expected.get(rule, expected.get("any"))
                yield pytest.param(case, line, schedule, slots, id=f"{case['place']}: {line}: {rule}")


@pytest.mark.parametrize(("case", "line", "rules", "expected"), [*changed_days()])
def test_a_cron_line_comes_due_as_written_where_the_clock_changes(
    case: Any, line: str, rules: Schedule, expected: list[str]
) -> None:
    assert found(replace(rules, cron=line), case["zone"], str(case["after"]), str(case["until"])) == expected


@pytest.mark.parametrize("schedule", [Schedule(every=timedelta(minutes=1)), Schedule(cron="* * * * *")])
def test_a_jump_of_years_yields_a_bounded_number_of_slots_and_says_so(schedule: Schedule) -> None:
    until = instant("2026-11-30T06:00+00:00")
    due = due_slots(schedule, ZoneInfo("UTC"), until - timedelta(days=4000), until)
    assert (due.cut, len(due.slots), due.slots[-1].at) == (True, MOST_SLOTS, until)
    assert due.slots[0].at == until - timedelta(minutes=MOST_SLOTS - 1)
    whole = due_slots(schedule, ZoneInfo("UTC"), until - timedelta(minutes=MOST_SLOTS), until)
    assert (whole.cut, whole.slots) == (False, due.slots)


@pytest.mark.parametrize("schedule", [Schedule(), Schedule(after_refresh=True)])
def test_what_is_no_matter_of_time_is_never_due(schedule: Schedule) -> None:
    assert found(schedule, "UTC", "2026-11-30T00:00+00:00", "2027-11-30T00:00+00:00") == []


def test_a_delay_moves_the_start_and_not_the_instant() -> None:
    schedule = Schedule(cron="0 6 * * *", delay=timedelta(hours=2))
    assert found(schedule, "UTC", "2026-11-30T06:00+00:00", "2026-11-30T07:59+00:00") == []
    assert found(schedule, "UTC", "2026-11-30T07:59+00:00", "2026-11-30T08:00+00:00") == ["2026-11-30T06:00+00:00"]
    (slot,) = due_slots(schedule, ZoneInfo("UTC"), instant("2026-11-30T00:00Z"), instant("2026-12-01T00:00Z")).slots
    assert slot.starts - slot.at == schedule.delay


def test_jitter_spreads_the_starts_of_monitors_and_of_slots() -> None:
    schedule = Schedule(every=timedelta(hours=1), jitter=timedelta(minutes=10))
    begin = instant("2026-11-30T00:00Z")
    starts = set()
    for number in range(50):
        slots = due_slots(schedule, ZoneInfo("UTC"), begin, begin + timedelta(days=1), f"monitor-{number}").slots
        offsets = {slot.starts - slot.at for slot in slots}
        assert all(timedelta() <= offset < schedule.jitter for offset in offsets)
        assert len(offsets) > 20
        starts |= offsets
    assert min(starts) < timedelta(minutes=1)
    assert max(starts) > timedelta(minutes=9)


def test_jitter_never_reaches_the_next_slot() -> None:
    schedule = Schedule(cron="* * * * *", jitter=timedelta(days=1))
    begin = instant("2026-11-30T00:00Z")
    slots = due_slots(schedule, ZoneInfo("UTC"), begin, begin + timedelta(hours=2), "m").slots
    assert len(slots) == 120
    assert all(later.at - earlier.at == timedelta(minutes=1) for earlier, later in pairwise(slots))
    assert all(timedelta() <= slot.starts - slot.at < timedelta(minutes=1) for slot in slots)


def a_refresh(name: str, hour: int) -> Refresh:
    at = datetime(2026, 11, 30, hour, tzinfo=UTC)
    return Refresh(name, at, at + timedelta(minutes=5))


@pytest.mark.parametrize(
    ("known", "seen", "expected"),
    [
        ("", "", []),
        ("a", "a", []),
        ("a", "", [1]),
        ("ab", "a", [2]),
        ("abcd", "b", [3, 4]),
        ("abcd", "", [4]),
        ("bcd", "a", [2, 3, 4]),
        ("abc", "d", [3]),
    ],
)
def test_each_warehouse_that_was_published_since_the_last_look_is_due_once(
    known: str, seen: str, expected: list[int]
) -> None:
    published = [a_refresh(name, "abcd".index(name) + 1) for name in known]
    due = due_refreshes(published, seen, ZoneInfo("UTC"))
    assert [slot.at.hour for slot in due.slots] == expected
    assert all(slot.starts - slot.at == timedelta(minutes=5) for slot in due.slots)
    assert not due.cut


instants = st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1)).map(lambda wall: wall.replace(tzinfo=UTC))
changes = st.sampled_from(
    [instant(text) for text in ("2026-03-08T07:00Z", "2026-11-01T06:00Z", "2026-10-25T01:00Z", "2011-12-30T10:00Z")]
    + [instant(text) for text in ("2026-10-03T15:30Z", "2026-04-04T15:00Z", "2026-03-29T01:00Z")]
)
near_changes = st.builds(lambda at, minutes: at + timedelta(minutes=minutes), changes, st.integers(-200, 200))
zones = st.sampled_from(ZONES)
minutes = st.sets(st.integers(0, 59), min_size=1, max_size=3)
hours = st.sets(st.integers(0, 23), min_size=1, max_size=6)
durations = st.sampled_from([0, 1, 90, 600, 7200, 86_400]).map(lambda seconds: timedelta(seconds=seconds))
lines = st.builds(lambda minute, hour: f"{_listed(minute)} {_listed(hour)} * * *", minutes, st.none() | hours)
shifts = st.builds(
    Schedule,
    delay=durations,
    jitter=durations,
    nonexistent=st.sampled_from(Nonexistent),
    ambiguous=st.sampled_from(Ambiguous),
)
schedules = st.one_of(
    st.builds(lambda rules, line: replace(rules, cron=line), shifts, lines),
    st.builds(
        lambda rules, seconds: replace(rules, every=timedelta(seconds=seconds)), shifts, st.integers(60, 5_000_000)
    ),
)


def _listed(numbers: set[int] | None) -> str:
    return "*" if numbers is None else ",".join(map(str, sorted(numbers)))


@given(schedules, zones, instants | near_changes, st.lists(st.integers(0, 50_000), min_size=1, max_size=6))
@example(
    Schedule(every=timedelta(minutes=1), delay=timedelta(seconds=90)),
    "Europe/London",
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    [90],
)
def test_looking_often_finds_what_looking_once_finds(
    schedule: Schedule, zone: str, begin: datetime, steps: list[int]
) -> None:
    looks = [begin]
    for step in steps:
        looks.append(looks[-1] + timedelta(seconds=step))
    once = due_slots(schedule, ZoneInfo(zone), looks[0], looks[-1], "m")
    often = [
        slot
        for after, until in pairwise(looks)
        for slot in due_slots(schedule, ZoneInfo(zone), after, until, "m").slots
    ]
    # Times of one zone compare by the wall clock, which shows an hour twice in autumn.
    found = [slot.at.astimezone(UTC) for slot in often]
    assert found == sorted(set(found))
    assert [slot.starts for slot in often] == sorted(slot.starts for slot in often)
    assert all(looks[0] < slot.starts <= looks[-1] for slot in often)
    if not once.cut:
        assert often == list(once.slots)


@given(
    lines,
    zones,
    instants | near_changes,
    st.integers(1, 24 * 60),
    st.sampled_from(Nonexistent),
    st.sampled_from(Ambiguous),
)
def test_a_cron_line_agrees_with_a_walk_over_every_minute(
    line: str, zone: str, begin: datetime, length: int, nonexistent: Nonexistent, ambiguous: Ambiguous
) -> None:
    until = begin + timedelta(minutes=length)
    schedule = Schedule(cron=line, nonexistent=nonexistent, ambiguous=ambiguous)
    due = due_slots(schedule, ZoneInfo(zone), begin, until)
    assert [slot.at.astimezone(UTC) for slot in due.slots] == walked(
        line, ZoneInfo(zone), begin, until, nonexistent, ambiguous
    )
