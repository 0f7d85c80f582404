"""One definition of late: what metrics count as late slots is what makes the doctor's monitors overdue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from monitors.definition import Schedule
from tests.integration.scheduling import scheduled_monitors
from tests.integration.worlds import NOW
from trivet.clock import utc_text
from worker.overdue import late_slots, overdue_monitors
from worker.pauses import pause_monitor, resume_monitor
from worker.planned_slots import NewSlot, insert_slots, insert_watermarks
from worker.planning import Mark
from worker.tables import SlotState

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
GRACE = timedelta(minutes=2)
HOURLY = Schedule(every=HOUR)
DELAYED = replace(HOURLY, delay=30 * MINUTE)
SPREAD = replace(HOURLY, jitter=40 * MINUTE)


@dataclass(frozen=True)
class Case:
    """A monitor whose slot of the full hour is looked at some time later."""

    schedule: Schedule
    later: timedelta
    late: bool
    paused: tuple[timedelta, timedelta | None] | None = None
    """After the slot's instant: the pause's beginning, and its end if it is over."""


CASES = {
    "within the grace": Case(HOURLY, MINUTE, late=False),
    "after the grace": Case(HOURLY, 3 * MINUTE, late=True),
    "a delay is no lateness": Case(DELAYED, 31 * MINUTE, late=False),
    "after delay and grace": Case(DELAYED, 33 * MINUTE, late=True),
    "before its share of the jitter": Case(SPREAD, 3 * MINUTE, late=False),
    "after the whole jitter": Case(SPREAD, 43 * MINUTE, late=True),
    "its monitor rests": Case(HOURLY, 30 * MINUTE, late=False, paused=(10 * MINUTE, None)),
    "its monitor rested after it started": Case(HOURLY, 30 * MINUTE, late=True, paused=(10 * MINUTE, 20 * MINUTE)),
}


def _paused(connection: sa.Connection, monitor: str, case: Case) -> None:
    if case.paused is not None:
        since, until = case.paused
        pause_monitor(connection, monitor, "ops", "maintenance", NOW + since, NOW + 5 * HOUR)
        if until is not None:
            resume_monitor(connection, monitor, "ops", None, NOW + until)


@pytest.mark.parametrize("name", CASES)
def test_a_slot_is_late_a_grace_after_its_start_unless_its_monitor_rests(any_store: sa.Engine, name: str) -> None:
    case = CASES[name]
    planned, unplanned, _ = scheduled_monitors(case.schedule)
    now = NOW + case.later
    marks = {planned.id: Mark(utc_text(now)), unplanned.id: Mark(utc_text(NOW - MINUTE))}
    with any_store.begin() as connection:
        insert_watermarks(connection, marks)
        insert_slots(connection, [NewSlot(planned, NOW, SlotState.PLANNED)])
        for monitor in marks:
            _paused(connection, monitor, case)
        late = late_slots(connection, [planned, unplanned], "UTC", now, GRACE)
        overdue = overdue_monitors(connection, [planned, unplanned], "UTC", now, GRACE)
    assert [item.monitor for item in late] == [planned.id] * case.late
    assert [item.monitor for item in overdue] == [planned.id, unplanned.id] * case.late


def test_a_slot_that_starts_in_a_pause_that_is_over_makes_no_monitor_overdue(any_store: sa.Engine) -> None:
    (monitor, *_) = scheduled_monitors(HOURLY)
    case = Case(HOURLY, 30 * MINUTE, late=False, paused=(-10 * MINUTE, 5 * MINUTE))
    with any_store.begin() as connection:
        insert_watermarks(connection, {monitor.id: Mark(utc_text(NOW - 20 * MINUTE))})
        _paused(connection, monitor.id, case)
        assert overdue_monitors(connection, [monitor], "UTC", NOW + case.later, GRACE) == []
