"""Whether every slot that came due has exactly one result: from the entries of a ledger alone. Pure.

What was due follows from the publications, and what became of it from the evaluations with trigger `schedule`. The
entries may come from a store or from an export.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ledger.entries import EntryType
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.verdicts import Trigger
from worker.publication import Publication, UnreadablePublication, read_publication
from worker.set_backs import read_set_backs
from worker.timetable import Timetable

TYPES = (EntryType.EVALUATION, EntryType.PUBLICATION, EntryType.CLOCK_SET_BACK)
"""The entries that are looked at; others may be left out."""
GRACE = timedelta(minutes=5)
"""How long a slot may be without a result: longer than three leases and a query, with their default settings."""


class Entry(NamedTuple):
    """What is looked at of an entry."""

    seq: int
    entry_type: str
    payload: str


@dataclass(frozen=True, slots=True)
class Period:
    """What is asked for."""

    since: datetime | None
    """The first instant; the first publication if None."""
    until: datetime | None
    """The last instant; that of `as_of` if None."""
    as_of: datetime | None
    """When the entries were read; when the last of them was written if None. What came due shortly before may be
    without a result still."""
    grace: timedelta = GRACE
    """What "shortly" is."""

    def bounds(self) -> tuple[datetime, datetime, datetime]:
        """The three instants, once all are known."""
        if self.since is None or self.until is None or self.as_of is None:
            raise LookupError("a period without an end cannot be looked at")
        return self.since, self.until, self.as_of


@dataclass(slots=True)
class MonitorReport:
    """One monitor's slots in the period. Instants are in UTC, oldest first."""

    monitor: str
    due: int = 0
    ended: int = 0
    """Due, with exactly one result."""
    covered: int = 0
    """Due, and ended by an evaluation that stands for many."""
    open: int = 0
    """Due, and without a result that may still come."""
    missing: list[datetime] = field(default_factory=list)
    """Due, and without a result."""
    doubled: list[datetime] = field(default_factory=list)
    """With more than one result."""
    unexpected: list[datetime] = field(default_factory=list)
    """With a result, and not due."""
    ahead: int = 0
    """Ended by a clock that ran ahead, and not due any more by what was published once it was right again."""
    unjudged: int = 0
    """From before the first publication, or due by refreshes: nothing tells whether they were due."""

    @property
    def is_clean(self) -> bool:
        """Whether every slot has its one result, or may still get it."""
        return not (self.missing or self.doubled or self.unexpected)

    def to_json(self) -> dict[str, Json]:
        """As the command shows it."""
        counts: dict[str, Json] = {
            "monitor": self.monitor,
            "due": self.due,
            "ended": self.ended,
            "covered": self.covered,
            "open": self.open,
            "ahead": self.ahead,
            "unjudged": self.unjudged,
        }
        faults = {"missing": self.missing, "doubled": self.doubled, "unexpected": self.unexpected}
        return {**counts, **{name: [utc_text(at) for at in found] for name, found in faults.items()}}


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    since: datetime | None
    until: datetime | None
    """None, as `since`, where nothing was ever published."""
    monitors: tuple[MonitorReport, ...]
    faults: tuple[str, ...] = ()
    """Why some of it cannot be said."""
    last_result: datetime | None = None
    """The latest slot that has a result."""

    @property
    def is_clean(self) -> bool:
        """Whether every slot of every monitor has its one result, or may still get it."""
        return not self.faults and all(item.is_clean for item in self.monitors)


@dataclass(slots=True)
class _Monitor:
    """What the entries say of one monitor."""

    timetable: Timetable
    results: dict[datetime, list[int]] = field(default_factory=dict)
    """By slot, the entries of its results."""
    covered: list[tuple[datetime, datetime]] = field(default_factory=list)
    """Between each of these, both left out, a slot without a result has ended."""


class _Reader:
    """Takes in entries, in their order."""

    def __init__(self) -> None:
        self.monitors: dict[str, _Monitor] = {}
        self.faults: list[str] = []
        self.first: Publication | None = None
        self.written: datetime | None = None
        """When the last of these was."""
        self._last: Publication | None = None

    def read(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.entry_type not in TYPES:
                continue
            try:
                payload = json.loads(entry.payload)
                if entry.entry_type == EntryType.PUBLICATION:
                    self._publication(read_publication(entry.seq, payload))
                elif entry.entry_type == EntryType.CLOCK_SET_BACK:
                    for found in read_set_backs(payload):
                        self._of(found.monitor).timetable.set_back(found)
                elif payload["trigger"] == Trigger.SCHEDULE:
                    self._evaluation(entry.seq, payload)
            except UnreadablePublication as error:
                self.faults.append(f"entry {entry.seq}: {error}")
            except (ValueError, KeyError, TypeError, RecursionError):
                self.faults.append(f"entry {entry.seq} is damaged; run `trivet ledger verify`")

    def _publication(self, found: Publication) -> None:
        expected = self._last.seq if self._last is not None else None
        if found.previous != expected:
            named = f"entry {found.previous}" if found.previous is not None else "none"
            there = f"entry {expected}" if expected is not None else "none"
            told = f"the publication at entry {found.seq} names {named} as the one before it, and here that is {there}"
            self.faults.append(told)
        self._last = found
        self._written(_instant(found.published_at))
        self.first = self.first or found
        for name in found.planned_until:
            self._of(name).timetable.add(found)

    def _evaluation(self, seq: int, payload: Mapping[str, Any]) -> None:
        monitor, at = self._of(payload["monitor_id"]), _instant(payload["scheduled_for"])
        monitor.results.setdefault(at, []).append(seq)
        self._written(_instant(payload["finished_at"]))
        if payload.get("covers_after") is not None:
            monitor.covered.append((_instant(payload["covers_after"]), at))

    def _written(self, instant: datetime) -> None:
        self.written = max(self.written or instant, instant)

    def _of(self, monitor: str) -> _Monitor:
        return self.monitors.setdefault(monitor, _Monitor(Timetable(monitor)))


def completeness(entries: Iterable[Entry], period: Period) -> Report:
    """Compares what was due in a period with what became of it.

    Args:
        entries: the publications and evaluations of a ledger from its beginning, in their order; others are passed by.
        period: what is asked for.
    """
    reader = _Reader()
    reader.read(entries)
    faults = list(reader.faults)
    results = [at for found in reader.monitors.values() for at in found.results]
    if reader.first is None and results:
        faults.append("nothing here says what was due: there is no publication; run `trivet apply`")
    starts = [found.timetable.begins for found in reader.monitors.values()]
    since = period.since or min([start for start in starts if start is not None], default=None)
    as_of = period.as_of or reader.written
    if since is None or as_of is None:
        return Report(None, None, (), tuple(faults), max(results, default=None))
    until = min(period.until or as_of, as_of)
    wanted = Period(since, until, as_of, period.grace)
    reports = [_report(name, found, wanted, reader.first) for name, found in sorted(reader.monitors.items())]
    found = tuple(item for item in reports if item.due or item.unjudged or item.ahead or not item.is_clean)
    return Report(since, until, found, tuple(faults), max(results, default=None))


def _report(name: str, monitor: _Monitor, period: Period, first: Publication | None) -> MonitorReport:
    since, until, as_of = period.bounds()
    young = as_of - period.grace
    due = {slot.at.astimezone(UTC): slot.starts for slot in monitor.timetable.due(since, until, as_of)}
    report = MonitorReport(name, len(due))
    for at in sorted(due.keys() - monitor.results.keys()):
        if any(after < due[at] and at < before for after, before in monitor.covered):
            report.covered += 1
        elif due[at] > young:
            report.open += 1
        else:
            report.missing.append(at)
    for at, entries in sorted(monitor.results.items()):
        if not since <= at <= until:
            continue
        if len(entries) > 1:
            report.doubled.append(at)
        if at in due:
            report.ended += len(entries) == 1
        elif _is_unjudged(monitor, at, entries, first):
            report.unjudged += 1
        elif monitor.timetable.was_due_ahead(at):
            report.ahead += 1
        else:
            report.unexpected.append(at)
    return report


def _is_unjudged(monitor: _Monitor, at: datetime, entries: Sequence[int], first: Publication | None) -> bool:
    """Whether a slot belongs to the time before there were publications, or to a refresh."""
    if first is None or entries[-1] < first.seq:
        return True
    if all(monitor.timetable.may_follow_a_refresh(at, seq) for seq in entries):
        return True
    begins = monitor.timetable.begins
    return begins is not None and at <= begins <= _instant(first.published_at)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
