"""Processes that plan by what is published, for tests: planners and publishers on one store, and a clock to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBEngine
from ledger.reading import entries
from tests.integration.scheduling import LEASE
from tests.integration.worlds import CONTRACT, a_contract, some_monitors
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.settings import load_settings
from worker.applying import Applied, Publisher
from worker.claims import SlotKey, claim
from worker.completeness import Entry, Period, Report, completeness
from worker.evaluate import Evaluator, Recorded
from worker.in_force import InForce
from worker.pauses import pause_monitor
from worker.runtime import Runtime
from worker.stores import read_only
from worker.workspace import Workspace


def a_workspace(monitors: str, contract: str = CONTRACT) -> Workspace:
    """A workspace whose files hold these texts."""
    settings, known = load_settings(None, {}), a_contract(contract)
    document = read_yaml(monitors, file="monitors.yaml").document
    assert document is not None
    found = some_monitors(known, monitors)
    return Workspace(Path(), settings.settings, settings, known, found, (), (document,))


@dataclass
class Processes:
    """A store, the time, and daemons that share them; the first is there from the beginning."""

    store: sa.Engine
    clock: FixedClock
    warehouse: Path
    runtimes: list[Runtime] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.planned_until = self.clock.instant
        self.started()

    def started(self) -> Runtime:
        """A new daemon."""

        def evaluator(contract: Contract) -> Evaluator:
            return Evaluator(contract, DuckDBEngine(self.warehouse), self.clock)

        self.runtimes.append(Runtime(self.store, self.clock, LEASE, InForce(self.store), evaluator))
        return self.runtimes[-1]

    def later(self, **later: float) -> None:
        """Lets time pass."""
        self.clock.instant += timedelta(**later)

    def publish(self, monitors: str, contract: str = CONTRACT, by: str = "somebody") -> Applied:
        """Puts these texts in force."""
        self.planned_until = max(self.planned_until, self.clock.instant)
        publisher = Publisher(self.store, self.clock, self.runtimes[0].plan)
        return publisher.publish(a_workspace(monitors, contract), by)

    def tick(self, daemon: int = 0, **later: float) -> list[SlotKey]:
        """Lets time pass and a daemon tick; the slots that are to be run."""
        self.later(**later)
        self.planned_until = max(self.planned_until, self.clock.instant)
        return [key for batch in self.runtimes[daemon].tick().batches for key in batch.keys]

    def run(self, keys: Sequence[SlotKey], daemon: int = 0) -> list[Recorded]:
        """Evaluates what is to be had of these slots."""
        return list(self.runtimes[daemon].evaluate(keys))

    def crash(self, keys: Sequence[SlotKey]) -> None:
        """Begins these slots and never ends them."""
        found = self.runtimes[0].in_force.current()
        assert found is not None
        known = {item.id: item for item in found.monitors}
        for key in keys:
            with self.store.begin() as connection:
                claim(connection, key, known[key.monitor], f"crashed at {self.clock.instant}", self.clock.now(), LEASE)

    def pause(self, monitor: str, duration: timedelta) -> None:
        """Lets a monitor rest."""
        now = self.clock.instant
        with self.store.begin() as connection:
            pause_monitor(connection, monitor, "somebody", "it is tried", now, now + duration)

    def drain(self) -> None:
        """Ends whatever is open, without letting anything more come due that would not be ended as well."""
        for _ in range(20):
            keys = self.tick()
            if not keys:
                return
            self.run(keys)
        raise AssertionError("slots are handed out again and again")

    def entries(self) -> list[Entry]:
        """What the ledger holds."""
        with read_only(self.store).connect() as connection:
            return [Entry(item.seq, item.entry_type, item.payload) for item in entries(connection)]

    def complete(self, until: datetime | None = None, found: Sequence[Entry] | None = None) -> Report:
        """How complete the results are up to an instant; up to that of the last plan if it is absent."""
        last = until or self.planned_until
        period = Period(None, last, max(last, self.planned_until), timedelta())
        return completeness(self.entries() if found is None else found, period)
