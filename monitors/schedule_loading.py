"""A monitor's schedule from its file: what its keys may say together, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from monitors.cron import cron_fault
from monitors.definition import Schedule
from monitors.document import MonitorModel, ScheduleModel
from trivet.clock import is_time_zone
from trivet.documents import Document, Path
from trivet.findings import Finding

_LONGEST_DELAY = timedelta(days=366)
_LONGEST_JITTER = timedelta(days=1)
_KEYS = ("catch_up", "delay", "jitter", "dst")


def schedule_findings(document: Document, path: Path, model: MonitorModel) -> Iterator[Finding]:
    """Everything that is wrong with when a monitor comes due.

    Args:
        document: the monitor's file.
        path: where the monitor stands in it.
        model: the monitor as it was written.
    """
    schedule = model.schedule
    if schedule is None:
        for name in _KEYS:
            if document.has((*path, name)) and not document.has((*path, "schedule")):
                message = "there is no schedule that this could change; add one, or remove this key"
                yield document.finding((*path, name), message, key=True)
        return
    yield from _due_findings(document, (*path, "schedule"), schedule)
    yield from _unused_findings(document, path, schedule)
    if model.delay > _LONGEST_DELAY:
        yield document.finding((*path, "delay"), "expected at most 366d")
    if model.jitter > _LONGEST_JITTER:
        yield document.finding((*path, "jitter"), "expected at most 1d")


def schedule_of(model: MonitorModel) -> Schedule | None:
    """The schedule that a monitor without fault has."""
    schedule = model.schedule
    if schedule is None:
        return None
    return Schedule(
        every=schedule.every,
        cron=schedule.cron,
        timezone=schedule.timezone,
        after_refresh=schedule.after is not None,
        delay=model.delay,
        jitter=model.jitter,
        nonexistent=model.dst.nonexistent,
        ambiguous=model.dst.ambiguous,
        catch_up=model.catch_up,
    )


def _due_findings(document: Document, place: Path, schedule: ScheduleModel) -> Iterator[Finding]:
    if [schedule.every, schedule.cron, schedule.after].count(None) != 2:
        yield document.finding(place, 'expected one of `every: 15m`, `cron: "0 6 * * *"` and `after: refresh`')
    if schedule.every is not None and not schedule.every:
        yield document.finding((*place, "every"), "expected at least one second, such as 15m")
    if schedule.cron is not None and (fault := cron_fault(schedule.cron)):
        yield document.finding((*place, "cron"), fault)
    if schedule.timezone is None:
        return
    if schedule.cron is None and (schedule.every is not None or schedule.after is not None):
        what = "an interval" if schedule.every is not None else "a refresh"
        yield document.finding((*place, "timezone"), f"{what} has no time zone; remove this key", key=True)
    elif not is_time_zone(schedule.timezone):
        message = f"'{schedule.timezone}' is no time zone; use an IANA name such as Australia/Sydney"
        yield document.finding((*place, "timezone"), message)


def _unused_findings(document: Document, path: Path, schedule: ScheduleModel) -> Iterator[Finding]:
    """Keys that would say nothing, and so are mistakes."""
    if schedule.after is not None:
        for name in ("delay", "jitter"):
            if document.has((*path, name)):
                message = "a refresh is due as soon as it is published; remove this key"
                yield document.finding((*path, name), message, key=True)
    if schedule.cron is None and document.has((*path, "dst")):
        message = "only a cron line is read on a clock that changes; remove this key"
        yield document.finding((*path, "dst"), message, key=True)
