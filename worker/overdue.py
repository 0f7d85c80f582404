"""Slots that wait for longer than they should, and the monitors that are overdue by them or by what was never planned.

The one definition, for metrics, the doctor and digests: a slot is late a grace after it *started*, which its delay and
jitter put behind its instant, where nobody works on it and its monitor does not rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from monitors.definition import MonitorDefinition, Schedule
from trivet.clock import utc_text
from trivet.settings import SchedulerSettings
from worker.due import due_slots
from worker.pauses import Pause, pauses_after
from worker.processes import stale_after
from worker.tables import IS_OPEN, SlotState, slot, watermark

_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Overdue:
    """A monitor that waits for longer than it should."""

    monitor: str
    since: str
    """UTC, as stored: the slot that waits or, where none was planned, until when there was a plan."""
    state: SlotState | None
    """How far its oldest slot got; None where it was not even planned."""


@dataclass(frozen=True, slots=True)
class LateSlot:
    """A slot that started long ago, and that nobody works on."""

    monitor: str
    scheduled_for: str
    """Its instant in UTC, as stored."""
    state: SlotState


def late_after(scheduler: SchedulerSettings) -> timedelta:
    """How long after its start a slot may wait: a lease, and the ticks until somebody is given it."""
    return scheduler.lease + stale_after(scheduler.tick)


def late_slots(
    connection: sa.Connection, monitors: Sequence[MonitorDefinition], zone: str, now: datetime, grace: timedelta
) -> list[LateSlot]:
    """The late slots that were planned, the oldest first.

    Args:
        connection: for reading.
        monitors: those that are known; a slot of any other one starts at its instant.
        zone: of schedules that name none.
        now: by the store's clock.
        grace: how long after its start a slot may wait.
    """
    nobody = sa.or_(slot.c.lease_until.is_(None), slot.c.lease_until <= utc_text(now))
    old = slot.c.scheduled_for <= utc_text(now - grace)
    asked = sa.select(slot.c.monitor, slot.c.scheduled_for, slot.c.state).where(IS_OPEN, nobody, old)
    rows = connection.execute(asked.order_by(slot.c.scheduled_for, slot.c.monitor)).all()
    if not rows:
        return []
    schedules = {item.id: item.schedule for item in monitors}
    # While a monitor is paused, its slots are claimed by nobody.
    resting = {item.monitor for item in pauses_after(connection, now) if item.covers(now)}
    return [
        LateSlot(row.monitor, row.scheduled_for, SlotState(row.state))
        for row in rows
        if row.monitor not in resting
        and _start(row.monitor, row.scheduled_for, schedules.get(row.monitor), zone) <= now - grace
    ]


def overdue_monitors(
    connection: sa.Connection, monitors: Sequence[MonitorDefinition], zone: str, now: datetime, grace: timedelta
) -> list[Overdue]:
    """The overdue ones of these monitors, by name.

    Args:
        connection: for reading.
        monitors: all that are known; those that are disabled, or have no schedule or no plan yet, are never overdue.
        zone: of schedules that name none.
        now: by the store's clock.
        grace: how long after its start a slot may wait.
    """
    late: dict[str, LateSlot] = {}
    for item in late_slots(connection, monitors, zone, now, grace):
        late.setdefault(item.monitor, item)
    planned = {row.monitor: row.planned_until for row in connection.execute(sa.select(watermark)).all()}
    pauses = pauses_after(connection, datetime.fromisoformat(min(planned.values()))) if planned else []
    found = []
    for definition in sorted(monitors, key=lambda item: item.id):
        mark = planned.get(definition.id)
        if not definition.enabled or definition.schedule is None or mark is None:
            continue
        if (waiting := late.get(definition.id)) is not None:
            found.append(Overdue(definition.id, waiting.scheduled_for, waiting.state))
        elif _has_unplanned(definition, zone, mark, now, grace, pauses):
            found.append(Overdue(definition.id, mark, None))
    return found


def _has_unplanned(
    definition: MonitorDefinition, zone: str, mark: str, now: datetime, grace: timedelta, pauses: Sequence[Pause]
) -> bool:
    """Whether a slot came due that nobody planned; one that starts in a pause waits for nobody."""
    if definition.schedule is None:
        return False
    own = [item for item in pauses if item.monitor == definition.id]
    if any(item.covers(now) for item in own):
        return False
    place = ZoneInfo(definition.schedule.timezone or zone)
    due = due_slots(definition.schedule, place, datetime.fromisoformat(mark), now - grace, definition.id)
    return any(not any(item.covers(found.starts) for item in own) for found in due.slots)


def _start(monitor: str, scheduled_for: str, schedule: Schedule | None, zone: str) -> datetime:
    """When a slot started; of one that its monitor's schedule has no longer, the latest that it may have been."""
    at = datetime.fromisoformat(scheduled_for)
    if schedule is None or not (schedule.delay or schedule.jitter):
        return at
    latest = at + schedule.delay + schedule.jitter
    place = ZoneInfo(schedule.timezone or zone)
    found = due_slots(schedule, place, at - _MOMENT, latest, monitor).slots
    return next((item.starts for item in found if item.at == at), latest)
