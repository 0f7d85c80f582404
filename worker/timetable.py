"""When each monitor was due, by the publications of a ledger alone. Pure.

A publication says of each monitor up to which instant it was planned by the one before. After that instant the newer
schedule counts, whatever the earlier ones said of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from monitors.definition import Schedule
from worker.due import DueSlot, due_slots
from worker.publication import Publication
from worker.set_backs import SetBack

_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Rule:
    """What one publication says of one monitor."""

    seq: int
    """Of the publication's entry."""
    after: datetime
    """It counts for slots after this instant."""
    schedule: Schedule | None
    """None where nothing is due."""
    zone: ZoneInfo
    monitor: str

    def due(self, after: datetime, until: datetime) -> Iterator[DueSlot]:
        """The slots that start in (after, until], oldest first."""
        if self.schedule is not None:
            yield from _all_slots(self.schedule, self.zone, after, until, self.monitor)

    def is_due(self, instant: datetime) -> bool:
        """Whether there is a slot of this instant, whenever it starts."""
        return any(slot.at == instant for slot in self.due(instant - _MOMENT, instant + self.longest_wait))

    @property
    def longest_wait(self) -> timedelta:
        """How long after its instant a slot starts at the latest."""
        return self.schedule.delay + self.schedule.jitter if self.schedule is not None else timedelta()


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A stretch of time over which slots were planned by a clock that ran ahead."""

    until: datetime
    """Its beginning: up to here all is as it was."""
    was: datetime
    """Its end."""
    rules: tuple[_Rule, ...]
    """What was known then."""


class Timetable:
    """The schedules of one monitor, one after the other."""

    def __init__(self, monitor: str) -> None:
        self._monitor = monitor
        self._rules: list[_Rule] = []
        self._ahead: list[_Ahead] = []

    def add(self, publication: Publication) -> None:
        """Takes in what a publication, later than all before, says of the monitor.

        Raises:
            UnreadablePublication: this version cannot read the schedule.
        """
        published = publication.content.monitors.get(self._monitor)
        schedule = published.schedule() if published is not None else None
        until = publication.planned_until.get(self._monitor)
        if until is None and schedule is None:
            return
        zone = schedule.timezone if schedule is not None and schedule.timezone else publication.content.time_zone
        after = datetime.fromisoformat(until or publication.published_at)
        rule = _Rule(publication.seq, after, schedule, ZoneInfo(zone), self._monitor)
        if self._rules and self._rules[-1].after <= after:
            last = self._rules[-1]
            if (last.schedule, last.zone) == (rule.schedule, rule.zone):
                return
        self._rules.append(rule)

    def set_back(self, found: SetBack) -> None:
        """Takes in that the monitor is planned again from an instant on, since the clock had run ahead."""
        if self._rules:
            until, was = datetime.fromisoformat(found.planned_until), datetime.fromisoformat(found.was)
            self._ahead.append(_Ahead(until, was, tuple(self._rules)))
            self._rules.append(replace(self._rules[-1], after=until))

    @property
    def begins(self) -> datetime | None:
        """Before this instant nothing is known."""
        return min((rule.after for rule in self._rules), default=None)

    def due(self, since: datetime, until: datetime, as_of: datetime) -> Iterator[DueSlot]:
        """The slots from `since` to `until`, both included, that start up to `as_of`; some may come twice."""
        for rule, end in self._with_ends():
            latest = min(as_of, until + rule.longest_wait, end or as_of)
            for slot in rule.due(max(rule.after, since - _MOMENT), latest):
                if since <= slot.at <= until:
                    yield slot

    def may_follow_a_refresh(self, instant: datetime, seq: int) -> bool:
        """Whether a slot may have come due by a refresh, of which no publication tells, before an entry was written."""
        return any(
            rule.schedule is not None and rule.schedule.after_refresh and (end is None or instant <= end)
            for rule, end in self._with_ends()
            if rule.seq < seq
        )

    def _with_ends(self) -> Iterator[tuple[_Rule, datetime | None]]:
        """Each rule, and the instant up to which it counts; None where no later one takes its place."""
        for number, rule in enumerate(self._rules):
            yield rule, min((later.after for later in self._rules[number + 1 :]), default=None)

    def was_due_ahead(self, instant: datetime) -> bool:
        """Whether a slot was due while the clock ran ahead, by what was in force then."""
        return any(
            rule.is_due(instant)
            for item in self._ahead
            for rule in item.rules
            if item.until < instant + rule.longest_wait and instant <= item.was
        )


def _all_slots(schedule: Schedule, zone: ZoneInfo, after: datetime, until: datetime, monitor: str) -> Iterator[DueSlot]:
    """As `due_slots` has them, however many there are: it gives the latest of very many only."""
    waiting = [(after, until)]
    while waiting:
        low, high = waiting.pop()
        found = due_slots(schedule, zone, low, high, monitor)
        if found.cut:
            middle = low + (high - low) / 2
            waiting += [(middle, high), (low, middle)]
        else:
            yield from found.slots
