"""Of processes that share a store one plans at a time, and none waits for another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.integration.publishing import LEASE, Processes
from tests.integration.worlds import NOW
from trivet.clock import FixedClock
from worker.stores import planning_turn, read_only
from worker.tables import slot
from worker.turns import Turns

MONITORS = "monitors: [{id: m, object: reading, breach_when: value < 0, schedule: {every: 1h}}]"


def a_daemon(store: sa.Engine, tmp_path: Path, passed: list[float]) -> Processes:
    """One for which time passes as the list says; it has published a monitor."""
    found = Processes(store, FixedClock(NOW), tmp_path / "none.duckdb")
    found.runtimes[0] = replace(
        found.runtimes[0],
        turns=Turns(lambda: passed[-1]),
        life_sign=Sign(),  # type: ignore[arg-type]
    )
    found.publish(MONITORS)
    return found


def planned(store: sa.Engine) -> int:
    """How many slots were ever planned."""
    with read_only(store).connect() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(slot)).scalar_one())


class Sign:
    """Counts the ticks after which it was told that all is well."""

    def __init__(self) -> None:
        self.sent = 0

    def after_tick(self) -> None:
        self.sent += 1


@pytest.mark.slow
def test_while_another_process_plans_this_one_only_hands_out_what_is_planned(
    postgres_store: sa.Engine, tmp_path: Path
) -> None:
    passed = [0.0]
    processes = a_daemon(postgres_store, tmp_path, passed)
    (runtime,) = processes.runtimes
    assert isinstance(runtime.life_sign, Sign)
    found = runtime.in_force.current()
    assert found is not None
    with planning_turn(postgres_store) as other:
        assert other
        assert processes.tick(hours=1) == []
        # The other one has planned, and did not come to hand out.
        runtime.plan(found)
        assert [key.monitor for key in processes.tick()] == ["m"]
        assert runtime.life_sign.sent == 0, "it saw nobody plan, so it does not say that all is well"
    processes.tick(hours=1)
    assert (planned(postgres_store), runtime.life_sign.sent) == (2, 1)


@pytest.mark.slow
def test_a_process_that_never_ends_its_turn_is_not_waited_for(postgres_store: sa.Engine, tmp_path: Path) -> None:
    passed = [0.0]
    processes = a_daemon(postgres_store, tmp_path, passed)
    with planning_turn(postgres_store):
        processes.tick(hours=1)
        passed.append(LEASE.total_seconds() - 1)
        processes.tick()
        assert planned(postgres_store) == 0
        passed.append(LEASE.total_seconds())
        processes.tick()
        assert planned(postgres_store) == 1
    # The turn was free: whoever is refused next waits for as long again.
    processes.tick()
    with planning_turn(postgres_store):
        processes.tick(hours=1)
    assert planned(postgres_store) == 1


def test_on_sqlite_the_one_daemon_plans(tmp_path: Path, sqlite_store: sa.Engine) -> None:
    processes = a_daemon(sqlite_store, tmp_path, [0.0])
    with planning_turn(sqlite_store):
        assert [key.monitor for key in processes.tick(hours=1)] == ["m"]
    assert planned(sqlite_store) == 1
