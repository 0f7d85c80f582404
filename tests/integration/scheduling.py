"""Monitors that come due, and what a store says of their slots, for tests of the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine
from monitors.definition import MonitorDefinition, Schedule
from monitors.evaluation import Evaluation
from tests.integration.worlds import a_contract, rows, some_monitors
from trivet.clock import FixedClock
from worker.claims import SlotKey, claim, hand_out
from worker.due import Refresh
from worker.evaluate import Evaluator, Recorded, scheduled_slot
from worker.planner import Planner
from worker.tables import evaluation, slot
from worker.troubles import Troubles

LEASE = timedelta(seconds=45)
EVERY_MINUTE = Schedule(every=timedelta(minutes=1))


def scheduled_monitors(schedule: Schedule = EVERY_MINUTE) -> list[MonitorDefinition]:
    """The monitors of the worlds, all on one schedule."""
    return [replace(item, schedule=schedule) for item in some_monitors(a_contract())]


@dataclass
class Scheduled:
    """A store, the time, and one planner's view of some monitors."""

    store: sa.Engine
    clock: FixedClock
    monitors: Sequence[MonitorDefinition]
    warehouse: Path
    after_record: Callable[[sa.Connection, Sequence[Evaluation]], object] | None = None
    published: Callable[[], Sequence[Refresh] | None] = lambda: None
    troubles: Troubles = field(default_factory=Troubles)

    @property
    def evaluator(self) -> Evaluator:
        return Evaluator(a_contract(), DuckDBEngine(self.warehouse), self.clock, self.after_record)

    @property
    def planner(self) -> Planner:
        return Planner(self.evaluator, self.store, self.clock, self.published, troubles=self.troubles)

    def plan(self, **later: float) -> list[Recorded]:
        """Lets time pass, and plans."""
        self.clock.instant += timedelta(**later)
        return self.planner.plan(self.monitors)

    def withdraw(self) -> list[Recorded]:
        return self.planner.withdraw(self.monitors, LEASE)

    def give_up(self) -> list[Recorded]:
        return self.planner.give_up(self.monitors)

    def handed_out(self) -> list[SlotKey]:
        with self.store.begin() as connection:
            return [item.key for item in hand_out(connection, self.clock.now(), LEASE)]

    def claim(self, key: SlotKey, owner: str) -> Any:
        (definition,) = (item for item in self.monitors if item.id == key.monitor)
        with self.store.begin() as connection:
            claimed = claim(connection, key, definition, owner, self.clock.now(), LEASE)
        return scheduled_slot(definition, claimed.at, claimed) if claimed is not None else None

    def run(self, keys: Sequence[SlotKey], owner: str = "someone") -> list[Recorded]:
        """Claims and evaluates what is to be had of these slots."""
        claimed = [self.claim(key, owner) for key in keys]
        return list(self.evaluator.evaluate([item for item in claimed if item is not None], self.store))

    def states(self, monitor: str) -> list[tuple[str, str]]:
        """Minute and second of each slot of a monitor, and how far it got."""
        return [(_short(row["scheduled_for"]), row["state"]) for row in self.slots(monitor)]

    def causes(self, monitor: str) -> list[tuple[str, str | None]]:
        """Minute and second of each evaluation of a monitor, and why it was not made."""
        found = sorted(rows(self.store, evaluation), key=lambda row: str(row["scheduled_for"]))
        return [(_short(row["scheduled_for"]), row["cause"]) for row in found if row["monitor"] == monitor]

    def slots(self, monitor: str) -> list[Any]:
        return [row for row in rows(self.store, slot) if row["monitor"] == monitor]


def _short(scheduled_for: str) -> str:
    return datetime.fromisoformat(scheduled_for).strftime("%M:%S")
