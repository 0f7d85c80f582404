"""The planner: from definitions and watermarks to slots in the store. It runs nothing itself.

A scheduler only wakes it. What is due follows from the stored watermark, so a tick that comes late,
twice or not at all loses no slot and doubles none, and any number of planners are as good as one.
Of the slots that came due since the last look only the latest is to be run; each older one, and each
planned one that nobody began in time, is recorded as not evaluated, with its cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation
from trivet.clock import Clock, utc_text
from trivet.verdicts import SlotCause
from worker import claims
from worker.due import MOST_SLOTS, due_slots
from worker.evaluate import Evaluator, Recorded, scheduled_slot
from worker.tables import SlotState, watermark

_PER_TRANSACTION = 20
"""Monitors that are planned together: few, so that no transaction holds the store for long."""
_PASSED_OVER_PER_TRANSACTION = 200
"""After so many slots that were passed over the other monitors are left to the next transaction: after an outage each
may have a thousand, and whoever records an evaluation waits for the planner meanwhile."""
_MISSED = "nothing was running when it came due"
_WAITED = "nobody began it before the next slot came due"
_OVERRUN = "the evaluation before it was still running when the next slot came due"
_JUMPED = f"more than {MOST_SLOTS} slots came due at once: the clock jumped, or nothing was running for as long"
_CRASHED = f"it was begun {claims.MOST_ATTEMPTS} times, and the process ended each time before a result was there"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one monitor's slots come to."""

    definition: MonitorDefinition
    run: datetime | None = None
    skipped: tuple[datetime, ...] = ()
    """Slots that were never planned."""
    cause: SlotCause = SlotCause.MISSED
    """Of the skipped ones."""
    message: str = _MISSED
    not_shown_after: str | None = None
    """Where even the skipped ones are too many to be written: what was passed over begins after this instant."""


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the monitors of one workspace."""

    evaluator: Evaluator
    store: sa.Engine
    clock: Clock
    """The store's: all planners must agree on the time."""

    def plan(self, monitors: Sequence[MonitorDefinition]) -> list[Recorded]:
        """Writes down every slot that came due, and gives those that were passed over.

        The first look at a monitor starts its watermark: nothing before it is due.
        """
        recorded: list[Recorded] = []
        waiting = sorted(monitors, key=lambda definition: definition.id)
        while waiting:
            with self.store.begin() as connection:
                planned, passed_over = self._plan_some(connection, waiting[:_PER_TRANSACTION])
            recorded += passed_over
            waiting = waiting[planned:]
        return recorded

    def give_up(self, monitors: Sequence[MonitorDefinition]) -> list[Recorded]:
        """Ends the slots that were begun too often, and gives them."""
        known = {definition.id: definition for definition in monitors}
        now = self.clock.now()
        with self.store.begin() as connection:
            given_up = []
            for item in claims.spent_slots(connection, now):
                definition = known.get(item.key.monitor)
                if definition is not None and claims.quarantine(connection, definition, item.at, now):
                    given_up.append(self._not_evaluated(definition, item.at, SlotCause.CRASHED, _CRASHED))
            return [self.evaluator.write(connection, made) for made in given_up]

    def _plan_some(
        self, connection: sa.Connection, monitors: Sequence[MonitorDefinition]
    ) -> tuple[int, list[Recorded]]:
        """Plans the first of the monitors, at least one, and says how many."""
        now = self.clock.now()
        marks = _watermarks(connection, [definition.id for definition in monitors])
        planned: list[str] = []
        passed_over: list[Evaluation] = []
        for definition in monitors:
            if len(passed_over) >= _PASSED_OVER_PER_TRANSACTION:
                break
            planned.append(definition.id)
            if definition.id in marks:
                passed_over += self._write_slots(connection, self._plan_one(definition, marks[definition.id], now), now)
            elif definition.enabled and definition.schedule is not None:
                claims.insert_watermark(connection, definition.id, now)
        _move_watermarks(connection, planned, now)
        return len(planned), [self.evaluator.write(connection, made) for made in passed_over]

    def _plan_one(self, definition: MonitorDefinition, mark: str, now: datetime) -> _Plan:
        if not definition.enabled or definition.schedule is None:
            return _Plan(definition)
        zone = definition.schedule.timezone or self.evaluator.contract.calendar.time_zone
        due = due_slots(definition.schedule, ZoneInfo(zone), datetime.fromisoformat(mark), now)
        if not due.slots:
            return _Plan(definition)
        skipped, latest = due.slots[:-1], due.slots[-1]
        if due.cut:
            return _Plan(definition, latest, skipped, SlotCause.CLOCK_JUMP, _JUMPED, not_shown_after=mark)
        return _Plan(definition, latest, skipped)

    def _write_slots(self, connection: sa.Connection, plan: _Plan, now: datetime) -> Iterator[Evaluation]:
        if plan.run is None:
            return
        definition = plan.definition
        overrun = claims.is_running(connection, definition.id, now)
        cause, message = (SlotCause.OVERRUN, _OVERRUN) if overrun else (SlotCause.MISSED, _WAITED)
        for at in claims.waiting_slots(connection, definition.id, plan.run):
            if claims.pass_over(connection, definition, at):
                yield self._not_evaluated(definition, at, cause, message)
        for number, at in enumerate(plan.skipped):
            if claims.insert_slot(connection, definition, at, SlotState.DONE):
                untold = plan.not_shown_after if number == 0 else None
                told = f"{plan.message}; so were all slots before it, after {untold}" if untold else plan.message
                yield self._not_evaluated(definition, at, plan.cause, told)
        claims.insert_slot(connection, definition, plan.run, SlotState.PLANNED)

    def _not_evaluated(self, definition: MonitorDefinition, at: datetime, cause: SlotCause, message: str) -> Evaluation:
        return self.evaluator.not_evaluated(scheduled_slot(definition, at), cause, message)


def _watermarks(connection: sa.Connection, monitors: Sequence[str]) -> dict[str, str]:
    """The watermarks of some monitors, locked until the transaction ends."""
    statement = sa.select(watermark).where(watermark.c.monitor.in_(monitors)).order_by(watermark.c.monitor)
    return {row.monitor: row.planned_until for row in connection.execute(statement.with_for_update())}


def _move_watermarks(connection: sa.Connection, monitors: Sequence[str], now: datetime) -> None:
    """Moves watermarks forward; a clock that went back leaves them where they are."""
    until = utc_text(now)
    behind = sa.and_(watermark.c.monitor.in_(monitors), watermark.c.planned_until < until)
    connection.execute(sa.update(watermark).where(behind).values(planned_until=until))
