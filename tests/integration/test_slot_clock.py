"""The only clock of a condition is the instant of its slot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.engines.duckdb_engine import DuckDBEngine
from compiler.compile import compile_monitor
from monitors.definition import MonitorDefinition
from tests.integration.worlds import NOW, a_contract, a_warehouse, some_monitors
from trivet.clock import FixedClock
from worker import judging
from worker.evaluate import Evaluator, manual_slots

CONTRACT = """\
contract: {id: world, version: 1.0.0}
calendar: {time_zone: Australia/Sydney}
object_types:
  - name: reading
    view: ontology.reading
    primary_key: [id]
    properties:
      - {name: id, type: text}
      - {name: taken, type: date}
"""
MONITORS = """\
monitors:
  - {id: late, object: reading, breach_when: age(taken) > 2d}
  - {id: old, object: reading, breach_when: "taken < date(2026, 11, 29)"}
"""
WORLD = """\
CREATE SCHEMA ontology;
CREATE TABLE ontology.reading (id VARCHAR, taken DATE);
INSERT INTO ontology.reading VALUES ('R1', DATE '2026-11-28'), ('R2', DATE '2026-11-30'), ('R3', NULL);
"""
KNOWN = a_contract(CONTRACT)


def monitor(name: str) -> MonitorDefinition:
    return next(item for item in some_monitors(KNOWN, MONITORS) if item.id == name)


def breached(folder: Path, name: str, at: datetime) -> tuple[list[str | None], str | None]:
    """The members that breached at a slot, and the hash of the queries that were run."""
    evaluator = Evaluator(KNOWN, DuckDBEngine(folder / "warehouse.duckdb"), FixedClock(NOW))
    (recorded,) = evaluator.evaluate(manual_slots([monitor(name)], KNOWN, at), None)
    made = recorded.evaluation
    return [member.key["id"] for member in made.breached], made.queries_hash


def test_the_age_of_a_value_is_that_at_the_slot_in_the_contracts_time_zone(tmp_path: Path) -> None:
    a_warehouse(tmp_path, world=WORLD)
    midnight = datetime(2026, 11, 30, 13, tzinfo=UTC)
    assert breached(tmp_path, "late", midnight - timedelta(microseconds=1))[0] == []
    assert breached(tmp_path, "late", midnight)[0] == ["R1"]
    assert breached(tmp_path, "late", midnight + timedelta(days=2))[0] == ["R1", "R2"]


def test_the_hash_of_the_queries_tells_slots_apart_only_where_a_clock_does(tmp_path: Path) -> None:
    a_warehouse(tmp_path, world=WORLD)
    later = NOW + timedelta(days=1)
    assert breached(tmp_path, "late", NOW)[1] != breached(tmp_path, "late", later)[1]
    assert breached(tmp_path, "old", NOW)[1] == breached(tmp_path, "old", later)[1]


def test_a_monitor_without_a_clock_is_compiled_once_for_all_slots(tmp_path: Path) -> None:
    a_warehouse(tmp_path, world=WORLD)
    for name, misses in (("old", 1), ("late", 3)):
        judging.compiled_monitor.cache_clear()
        for hours in range(3):
            breached(tmp_path, name, NOW + timedelta(hours=hours))
        assert judging.compiled_monitor.cache_info().misses == misses


def test_a_condition_with_a_clock_is_never_compiled_without_an_instant() -> None:
    with pytest.raises(LookupError, match="none was given"):
        compile_monitor(monitor("late"), KNOWN)
    assert "2026" in compile_monitor(monitor("late"), KNOWN, at=NOW).breach.query.sql
