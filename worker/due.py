"""Which slots came due: a pure function of a schedule and two instants.

A slot is named by its *instant*, which decides what it is judged for. It *starts*, which is when it is
due, at its instant or later: after the schedule's delay, and after its share of the jitter. Starts keep
the order of instants, so that no slot overtakes another.

Intervals are anchored at 1970-01-01T00:00Z and know nothing of daylight saving. A cron line is read on
the wall clock of its zone, by the schedule's rules for times that the clock leaves out or shows twice;
no instant is two slots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias
from zoneinfo import ZoneInfo

from cronsim import CronSim

from monitors.definition import Schedule
from trivet.clock import utc_text
from trivet.scheduling import Ambiguous, Nonexistent

MOST_SLOTS = 1000
"""Slots that one look finds at most. More at once is a clock that jumped, or an outage that was as long."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_CHANGE = timedelta(hours=25)
"""Longer than any change of an offset so far: Samoa left out a whole day in December 2011."""
_Rules: TypeAlias = tuple[Nonexistent, Ambiguous]
_NEARBY = 64
"""More times than a change of the clock by less than an hour can bring out of their order."""
_LOOKS_AHEAD = (timedelta(minutes=5), timedelta(hours=1), timedelta(days=2))


@dataclass(frozen=True, slots=True)
class DueSlot:
    """One slot that came due."""

    at: datetime
    """Its instant, in the zone that people read it in."""
    starts: datetime
    """When it came due."""


@dataclass(frozen=True, slots=True)
class Due:
    """The slots that came due in a stretch of time."""

    slots: tuple[DueSlot, ...] = ()
    """Oldest first."""
    cut: bool = False
    """There were more than `MOST_SLOTS`, and the older ones are not here."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """One warehouse that was published."""

    name: str
    """Sorts by time, and no other has it."""
    at: datetime
    """The instant of its slot: when it began to be built."""
    published: datetime
    """When it became the one that is read, as far as that is known."""


def due_refreshes(known: Sequence[Refresh], seen: str, zone: ZoneInfo) -> Due:
    """A slot for each warehouse that was published since one was seen.

    Args:
        known: those that are still there, oldest first; the last one is the one that is read.
        seen: the name of the one that was read at the last look; empty where there was none.
        zone: the zone in which slots are given.
    """
    if not known or known[-1].name == seen:
        return Due()
    later = [item for item in known[:-1] if seen and item.name > seen]
    return Due(tuple(DueSlot(item.at.astimezone(zone), item.published) for item in (*later, known[-1])))


def due_slots(schedule: Schedule, zone: ZoneInfo, after: datetime, until: datetime, monitor: str = "") -> Due:
    """The slots of `schedule` that start in (after, until]; none where `until` lies before `after`.

    A schedule after refreshes has none: what was published is no matter of time; see `due_refreshes`.

    Args:
        schedule: an interval or a cron line.
        zone: the zone in which a cron line is read, and in which all slots are given.
        after: aware; the slot that starts at this very instant is not due any more.
        until: aware; the slot that starts at this very instant is due.
        monitor: whose slots these are: jitter gives each monitor other starts.
    """
    if until <= after:
        return Due()
    low, high = after - schedule.delay, until - schedule.delay
    if schedule.jitter:
        # Of the instants up to `low` the last one, and no other, may start after it.
        before = _instants(schedule, zone, low - schedule.jitter, low, _NEARBY)[-1:]
        instants = [*before, *_instants(schedule, zone, low, high, MOST_SLOTS + 2)]
        found = list(_spread(schedule, monitor, instants, _next_instant(schedule, zone, high)))
        found = [(at, start) for at, start in found if after < start <= until]
    else:
        found = [(at, at + schedule.delay) for at in _instants(schedule, zone, low, high, MOST_SLOTS + 1)]
    newest = found[-MOST_SLOTS:]
    slots = tuple(DueSlot(at.astimezone(zone), start) for at, start in newest)
    return Due(slots, len(found) > len(newest))


def _spread(
    schedule: Schedule, monitor: str, instants: Sequence[datetime], following: datetime | None
) -> Iterator[tuple[datetime, datetime]]:
    """Each instant with its start. The same slot has the same start whoever looks, and whenever."""
    for at, then in pairwise([*instants, following]):
        if at is not None:
            room = schedule.jitter if then is None else min(schedule.jitter, then - at)
            digest = hashlib.sha256(f"{monitor}\n{utc_text(at)}".encode()).digest()
            share = int.from_bytes(digest[:4], "big")
            microseconds = (room // timedelta(microseconds=1) * share) >> 32
            yield at, at + schedule.delay + timedelta(microseconds=microseconds)


def _next_instant(schedule: Schedule, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first instant after `after`, as far as the jitter reaches; None where there is none so soon."""
    low = after
    for reach in _LOOKS_AHEAD:
        high = after + min(reach, schedule.jitter)
        if found := _instants(schedule, zone, low, high, MOST_SLOTS * 2):
            return found[0]
        low = high
    return None


def _instants(schedule: Schedule, zone: ZoneInfo, after: datetime, until: datetime, most: int) -> Sequence[datetime]:
    """The instants in (after, until] in their order; of very many the newest, and at least `most`."""
    if schedule.every is not None:
        return _interval(schedule.every, after, until, most)
    if schedule.cron is not None:
        rules = (schedule.nonexistent, schedule.ambiguous)
        return _cron(schedule.cron, rules, zone, after.astimezone(UTC), until.astimezone(UTC), most)
    return ()


def _interval(every: timedelta, after: datetime, until: datetime, most: int) -> list[datetime]:
    last = (until - _EPOCH) // every
    first = max((after - _EPOCH) // every + 1, last - most + 1)
    return [_EPOCH + number * every for number in range(first, last + 1)]


# Of many monitors that are planned together, most share their line with others.
@lru_cache(maxsize=512)
def _cron(
    line: str, rules: _Rules, zone: ZoneInfo, after: datetime, until: datetime, most: int
) -> tuple[datetime, ...]:
    # The wall clock may change shortly before or after either end: that other offset has a say there, too.
    shifts = (-_LONGEST_CHANGE, timedelta(), _LONGEST_CHANGE)
    start = min(_wall(after, zone, shift) for shift in shifts)
    end = max(_wall(until, zone, shift) for shift in shifts)
    found: set[datetime] = set()
    # Backwards, so that a long stretch costs no more than the slots that are kept of it.
    for wall in CronSim(line, end.replace(microsecond=0) + timedelta(seconds=1), reverse=True):
        if wall < start or len(found) >= most:
            break
        found.update(at for at in _shown(wall, zone, *rules) if after < at <= until)
    return tuple(sorted(found))


def _wall(instant: datetime, zone: ZoneInfo, offset_at: timedelta) -> datetime:
    """What the wall clock shows at `instant`, with the offset in force that much later."""
    offset = (instant + offset_at).astimezone(zone).utcoffset() or timedelta()
    return (instant.astimezone(UTC) + offset).replace(tzinfo=None)


def _shown(wall: datetime, zone: ZoneInfo, nonexistent: Nonexistent, ambiguous: Ambiguous) -> Iterator[datetime]:
    """The instants at which a wall-clock time comes due: one, or by the schedule's rules none or two."""
    # PEP 495: of two equal times `fold=0` is the first. A time that is left out is moved later by as much with
    # `fold=0`, and earlier with `fold=1`.
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if second < first:
        if nonexistent is Nonexistent.SHIFT_FORWARD:
            yield first
        return
    if second == first or ambiguous is not Ambiguous.SECOND:
        yield first
    if second > first and ambiguous is not Ambiguous.FIRST:
        yield second
