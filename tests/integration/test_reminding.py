"""A daemon reminds by the monitors that are in force: of others nothing is repeated or escalated."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from alerts.recording import apply_all
from alerts.routing import Routing, Target
from alerts.tables import outbox
from catalog.engines.duckdb_engine import DuckDBEngine
from tests.integration.publishing import Processes
from tests.integration.worlds import NOW, a_contract, a_warehouse, some_monitors
from trivet.clock import FixedClock
from worker.evaluate import Evaluator, manual_slots
from worker.in_force import InForce
from worker.reminding import remind
from worker.stores import read_only

MONITOR = "{id: a-own, object: reading, breach_when: value < 0, escalate: [{after: 30m, to: duty}]}"
MONITORS = f"monitors: [{MONITOR}]"
OTHERS = "monitors: [{id: other, object: reading, breach_when: value < 0}]"
ROUTING = Routing({"duty": (Target("duty"),)})


def sent(store: sa.Engine) -> list[tuple[str, str]]:
    with read_only(store).connect() as connection:
        rows = connection.execute(sa.select(outbox.c.event, outbox.c.receiver).order_by(outbox.c.ordinal)).all()
    return [(row.event, row.receiver) for row in rows]


@pytest.mark.parametrize(("in_force", "told"), [(MONITORS, [("escalated", "duty")]), (OTHERS, []), (None, [])])
def test_what_is_in_force_is_escalated_once(
    any_store: sa.Engine, tmp_path: Path, in_force: str | None, told: list[tuple[str, str]]
) -> None:
    contract, warehouse = a_contract(), a_warehouse(tmp_path)
    definitions = some_monitors(contract, MONITORS)
    move = partial(apply_all, routing=ROUTING)
    evaluator = Evaluator(contract, DuckDBEngine(warehouse), FixedClock(NOW), move)
    list(evaluator.evaluate(manual_slots(definitions, contract, NOW), any_store))
    if in_force is not None:
        Processes(any_store, FixedClock(NOW), warehouse).publish(in_force)
    for minutes in (29, 31, 60):
        clock = FixedClock(NOW + timedelta(minutes=minutes))
        remind(any_store, InForce(any_store), ROUTING, clock)
        assert sent(any_store) == (told if minutes > 30 else [])


HOURLY = "monitors: [{id: a-own, object: reading, breach_when: value < 0, notify: [duty], schedule: {every: 1h}}]"


def test_the_alert_of_a_monitor_that_was_removed_ends_at_the_next_tick_and_is_told_once(
    any_store: sa.Engine, tmp_path: Path
) -> None:
    processes = Processes(any_store, FixedClock(NOW), a_warehouse(tmp_path))
    processes.publish(HOURLY)
    processes.run(processes.tick(hours=1))
    move = partial(apply_all, routing=ROUTING)
    contract, known = a_contract(), InForce(any_store)
    judged = Evaluator(contract, DuckDBEngine(processes.warehouse), processes.clock, move)
    list(judged.evaluate(manual_slots(some_monitors(contract, HOURLY), contract, processes.clock.now()), any_store))
    remind(any_store, known, ROUTING, processes.clock)
    assert sent(any_store) == [("fired", "duty")]
    processes.publish(OTHERS)
    for _ in range(2):
        processes.later(minutes=1)
        remind(any_store, known, ROUTING, processes.clock)
        assert sent(any_store) == [("fired", "duty"), ("unwatched", "duty")]
