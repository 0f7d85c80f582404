"""Monitors whose slots came due and have no evaluation, though there was time enough for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from monitors.definition import MonitorDefinition
from trivet.clock import utc_text
from worker.due import due_slots
from worker.tables import SlotState, slot, watermark


@dataclass(frozen=True, slots=True)
class Overdue:
    """A monitor that waits for longer than it should."""

    monitor: str
    since: str
    """UTC, as stored: the slot that waits or, where none was planned, until when there was a plan."""
    state: SlotState | None
    """How far its oldest slot got; None where it was not even planned."""


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
    # With its delay and jitter a slot starts later than at its instant, and so long it waits for nobody.
    starts_within = {item.id: item.schedule.delay + item.schedule.jitter for item in monitors if item.schedule}
    waiting = {
        item.monitor: item
        for item in _waiting(connection, now, grace)
        if datetime.fromisoformat(item.since) + starts_within.get(item.monitor, timedelta()) <= now - grace
    }
    planned = {row.monitor: row.planned_until for row in connection.execute(sa.select(watermark)).all()}
    found = []
    for definition in sorted(monitors, key=lambda item: item.id):
        mark = planned.get(definition.id)
        if not definition.enabled or definition.schedule is None or mark is None:
            continue
        if definition.id in waiting:
            found.append(waiting[definition.id])
            continue
        place = ZoneInfo(definition.schedule.timezone or zone)
        if due_slots(definition.schedule, place, datetime.fromisoformat(mark), now - grace, definition.id).slots:
            found.append(Overdue(definition.id, mark, None))
    return found


def _waiting(connection: sa.Connection, now: datetime, grace: timedelta) -> Iterator[Overdue]:
    """The slots that wait, or that nobody works on any more, the oldest last."""
    is_open = slot.c.state.in_([SlotState.PLANNED.value, SlotState.RUNNING.value])
    nobody = sa.or_(slot.c.lease_until.is_(None), slot.c.lease_until <= utc_text(now))
    old = slot.c.scheduled_for <= utc_text(now - grace)
    asked = sa.select(slot.c.monitor, slot.c.scheduled_for, slot.c.state).where(is_open, nobody, old)
    for row in connection.execute(asked.order_by(slot.c.scheduled_for.desc())).all():
        yield Overdue(row.monitor, row.scheduled_for, SlotState(row.state))
