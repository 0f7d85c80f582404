"""Which slots came due: a pure function of a schedule and two instants.

Intervals are anchored at 1970-01-01T00:00Z and know nothing of daylight saving. A cron line is read on
the wall clock of its zone. A time that the clock skips comes due later by as much as was skipped, and
a time that it shows twice comes due the first time, so that a wall-clock time is never two slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from monitors.definition import Schedule

MOST_SLOTS = 1000
"""Slots that one look finds at most. More at once is a clock that jumped, or an outage that was as long."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_CHANGE = timedelta(hours=25)
"""Longer than any change of an offset so far: Samoa left out a whole day in December 2011."""


@dataclass(frozen=True, slots=True)
class Due:
    """The slots that came due in a stretch of time."""

    slots: tuple[datetime, ...] = ()
    """Oldest first, in the zone that people read them in."""
    cut: bool = False
    """There were more than `MOST_SLOTS`, and the older ones are not here."""


def due_slots(schedule: Schedule, zone: ZoneInfo, after: datetime, until: datetime) -> Due:
    """The slots of `schedule` in (after, until]; none where `until` lies before `after`.

    Args:
        schedule: an interval or a cron line.
        zone: the zone in which a cron line is read, and in which all slots are given.
        after: aware; the slot at this very instant is not due any more.
        until: aware; the slot at this very instant is due.
    """
    if until <= after:
        return Due()
    if schedule.every is not None:
        found = _interval(schedule.every, after, until)
    elif schedule.cron is not None:
        found = _cron(schedule.cron, zone, after, until)
    else:
        found = []
    newest = found[-MOST_SLOTS:]
    return Due(tuple(instant.astimezone(zone) for instant in newest), len(found) > len(newest))


def _interval(every: timedelta, after: datetime, until: datetime) -> list[datetime]:
    last = (until - _EPOCH) // every
    first = max((after - _EPOCH) // every + 1, last - MOST_SLOTS)
    return [_EPOCH + number * every for number in range(first, last + 1)]


def _cron(line: str, zone: ZoneInfo, after: datetime, until: datetime) -> list[datetime]:
    # The wall clock may have changed shortly before either end: its earlier offset has a say there, too.
    start = min(_wall(after, zone), _wall(after, zone, -_LONGEST_CHANGE))
    end = max(_wall(until, zone), _wall(until, zone, -_LONGEST_CHANGE))
    found: set[datetime] = set()
    # Backwards, so that a long stretch costs no more than the slots that are kept of it.
    for wall in CronSim(line, end.replace(microsecond=0) + timedelta(seconds=1), reverse=True):
        if wall < start or len(found) > MOST_SLOTS:
            break
        instant = _instant(wall, zone)
        if after < instant <= until:
            found.add(instant)
    return sorted(found)


def _wall(instant: datetime, zone: ZoneInfo, offset_at: timedelta = timedelta()) -> datetime:
    """What the wall clock shows at `instant`, with the offset in force that much later."""
    offset = (instant + offset_at).astimezone(zone).utcoffset() or timedelta()
    return (instant.astimezone(UTC) + offset).replace(tzinfo=None)


def _instant(wall: datetime, zone: ZoneInfo) -> datetime:
    # PEP 495: `fold=0` is the first of two equal times, and moves a skipped time by what was skipped.
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
