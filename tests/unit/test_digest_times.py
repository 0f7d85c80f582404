"""When a daily digest comes due: on the wall clock, also on the days on which that is changed."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from trivet.digest_settings import DigestSettings
from worker.digesting import due_digest


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


CASES = [
    # at, zone, now, day, due
    ("07:30", "UTC", "2026-12-01T07:29:59", "2026-11-30", "2026-11-30T07:30"),
    ("07:30", "UTC", "2026-12-01T07:30:00", "2026-12-01", "2026-12-01T07:30"),
    ("07:30", "UTC", "2026-12-01T23:59:59", "2026-12-01", "2026-12-01T07:30"),
    ("00:00", "UTC", "2026-12-01T00:00:00", "2026-12-01", "2026-12-01T00:00"),
    ("07:30", "Australia/Sydney", "2026-11-30T20:30:00", "2026-12-01", "2026-11-30T20:30"),
    # Of Berlin, 2026-03-29: from 02:00 to 03:00 there is no time, so it comes an hour later on the wall clock.
    ("02:30", "Europe/Berlin", "2026-03-29T01:29:59", "2026-03-28", "2026-03-28T01:30"),
    ("02:30", "Europe/Berlin", "2026-03-29T01:30:00", "2026-03-29", "2026-03-29T01:30"),
    ("02:30", "Europe/Berlin", "2026-03-30T00:30:00", "2026-03-30", "2026-03-30T00:30"),
    # 2026-10-25: from 02:00 to 03:00 the clock goes twice, and the first counts.
    ("02:30", "Europe/Berlin", "2026-10-25T00:30:00", "2026-10-25", "2026-10-25T00:30"),
    ("02:30", "Europe/Berlin", "2026-10-25T01:30:00", "2026-10-25", "2026-10-25T00:30"),
    ("02:30", "Europe/Berlin", "2026-10-26T01:30:00", "2026-10-26", "2026-10-26T01:30"),
    # Of Samoa, the 30th of December 2011 was left out: the day after has one digest, not two.
    ("07:30", "Pacific/Apia", "2011-12-30T17:29:59", "2011-12-29", "2011-12-29T17:30"),
    ("07:30", "Pacific/Apia", "2011-12-30T17:30:00", "2011-12-31", "2011-12-30T17:30"),
]


@pytest.mark.parametrize(("at", "zone", "now", "day", "due"), CASES)
def test_the_last_digest_that_came_due(at: str, zone: str, now: str, day: str, due: str) -> None:
    found = due_digest(DigestSettings(at=at, receiver="payroll"), ZoneInfo(zone), instant(now))
    assert found is not None
    assert (found.day.isoformat(), found.due) == (day, instant(due))
