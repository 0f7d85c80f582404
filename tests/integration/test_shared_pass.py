"""Monitors of one view share a pass, and what one of them meets is never another's fault."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.engines.port import EngineFault, HeldName, QueryTimeout
from catalog.referee.certified import CertifiedQuery
from monitors.evaluation import Counts, NotMade
from tests.integration.store import migrated_store
from tests.integration.worlds import (
    BADGES,
    NOW,
    a_contract,
    a_warehouse,
    assert_verifies,
    badges,
    evaluate,
    rows,
    some_monitors,
)
from trivet.clock import FixedClock
from trivet.errors import InternalError
from trivet.verdicts import NotMadeReason
from worker.evaluate import Evaluator, manual_slots
from worker.judging import UNMASKED, judge
from worker.scanning import judge_many
from worker.tables import evaluation, member

LARGE = "INSERT INTO raw.reading SELECT 'X' || i, 'north', CAST(i AS VARCHAR), 'x.csv', i FROM range(5, 100) AS t(i)"
REPEATED = "INSERT INTO raw.reading SELECT * FROM raw.reading WHERE id IN ('R1', 'R2')"


class WatchedSnapshot:
    """A snapshot that tells what is held, and fails where it is told to."""

    def __init__(self, opened: DuckDBSnapshot, held: list[str], faults: dict[str, Exception]) -> None:
        self._opened = opened
        self._held = held
        self._faults = faults
        self._streamed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)

    def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
        self._held.append(name.name)
        if fault := self._faults.pop(f"{name.name} {self._held.count(name.name)}", None):
            raise fault
        self._opened.hold(name, query, timeout)

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        self._streamed += 1
        if fault := self._faults.pop(f"members {self._streamed}", None):
            raise fault
        return self._opened.stream(query, timeout)


class WatchedEngine(DuckDBEngine):
    """An engine over such snapshots."""

    def __init__(self, path: Path, faults: dict[str, Exception] | None = None) -> None:
        super().__init__(path)
        self.opened = 0
        self.held: list[str] = []
        self._faults = faults or {}

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[Any]:
        self.opened += 1
        with super().snapshot(longest) as opened:
            yield WatchedSnapshot(opened, self.held, self._faults)


def recorded(store: sa.Engine) -> list[tuple[object, ...]]:
    """What the store holds of each evaluation but for its own id and times."""
    kept = ("monitor", "verdict", "population", "breach", "no_data", "compliant", "partial", "duplicate_keys")
    kept += ("no_data_reasons", "queries_hash")
    ids = {row["evaluation_id"]: row["monitor"] for row in rows(store, evaluation)}
    members = [
        (ids[row["evaluation_id"]], *(row[name] for name in ("ordinal", "member_key", "reason", "causes", "operands")))
        for row in rows(store, member)
    ]
    return sorted([*(tuple(row[name] for name in kept) for row in rows(store, evaluation)), *members], key=repr)


def test_monitors_that_are_due_together_are_judged_in_one_pass(tmp_path: Path) -> None:
    engine = WatchedEngine(a_warehouse(tmp_path))
    assert badges(evaluate(engine, None)) == BADGES
    assert (engine.opened, engine.held) == (1, ["TALLY", "UNSETTLED"])


def test_a_monitor_alone_over_a_small_view_runs_the_readable_queries(tmp_path: Path) -> None:
    engine = WatchedEngine(a_warehouse(tmp_path))
    alone = "monitors: [{id: b-linked, object: reading, breach_when: value < held_to.least}]"
    assert badges(evaluate(engine, None, monitors=alone)) == {"b-linked": BADGES["b-linked"]}
    assert (engine.opened, engine.held) == (1, [])


def test_groups_are_made_once_for_all_queries(tmp_path: Path) -> None:
    grouped = "monitors: [{id: m, object: reading, group_by: [site], breach_when: count() < 3}]"
    engine = WatchedEngine(a_warehouse(tmp_path))
    found = evaluate(engine, None, monitors=grouped)["m"].outcome
    assert (engine.opened, engine.held) == (1, ["GROUPS"])
    assert isinstance(found, Counts)
    assert found.population == found.breach + found.no_data + found.compliant > 0


@pytest.mark.parametrize("small_view", [1, 1_000_000])
@pytest.mark.parametrize("changes", [(), (LARGE,), (REPEATED,), ("DELETE FROM raw.reading",)])
def test_whichever_plan_runs_the_store_holds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_view: int, changes: tuple[str, ...]
) -> None:
    file = a_warehouse(tmp_path, *changes)
    stores = []
    for name, scans in (("pass", True), ("pair", False)):
        folder = tmp_path / name
        folder.mkdir()
        stores.append(migrated_store(folder))
        monkeypatch.setattr("worker.scanning.SMALL_VIEW", small_view)
        monkeypatch.setattr(DuckDBSnapshot, "can_hold", scans)
        evaluate(file, stores[-1])
        assert_verifies(stores[-1], 3)
    assert recorded(stores[0]) == recorded(stores[1])
    assert len(rows(stores[0], evaluation)) == 3


FAULTS = [EngineFault("the disk is on fire"), QueryTimeout("Interrupted!"), InternalError("a fault of ours")]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("place", ["TALLY 1", "UNSETTLED 1"])
def test_where_the_pass_fails_each_monitor_is_judged_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str, fault: Exception
) -> None:
    engine = WatchedEngine(a_warehouse(tmp_path), {place: fault})
    with caplog.at_level(logging.WARNING):
        assert badges(evaluate(engine, None)) == BADGES
    assert engine.opened == 2
    assert engine.held == ["TALLY", "UNSETTLED"][: 1 if place == "TALLY 1" else 2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_where_one_monitor_fails_the_others_stay_together(tmp_path: Path, fault: Exception) -> None:
    # The first monitor asks for its breached and for its undecided members, so the third question is the second one's.
    engine = WatchedEngine(a_warehouse(tmp_path), {"members 3": fault})
    assert badges(evaluate(engine, None)) == BADGES
    # The first was judged in the pass; the others are judged one by one on a fresh snapshot.
    assert engine.opened == 2
    assert engine.held == ["TALLY", "UNSETTLED"]


def test_a_view_that_only_one_of_them_reads_is_that_one_s_fault(tmp_path: Path) -> None:
    engine = WatchedEngine(a_warehouse(tmp_path, "DROP VIEW ontology.floor"))
    found = evaluate(engine, None)
    outcome = found.pop("b-linked").outcome
    assert isinstance(outcome, NotMade)
    assert outcome.reason is NotMadeReason.VIEW_MISSING
    assert badges(found) == {name: BADGES[name] for name in found}
    assert (engine.opened, engine.held[:1]) == (1, ["TALLY"])


def test_a_monitor_that_is_due_twice_is_judged_twice(tmp_path: Path) -> None:
    file, contract = a_warehouse(tmp_path), a_contract()
    slots = manual_slots([*some_monitors(contract), *some_monitors(contract)], contract, NOW)
    made = [item.evaluation for item in Evaluator(contract, DuckDBEngine(file), FixedClock(NOW)).evaluate(slots, None)]
    assert sorted(item.badge for item in made) == sorted([*BADGES.values()] * 2)


def test_keys_that_repeat_outside_of_the_population_are_not_counted(tmp_path: Path) -> None:
    file = a_warehouse(tmp_path, REPEATED)
    monitors = (
        "monitors:\n  - {id: all, object: reading, breach_when: value < 0}\n"
        "  - {id: north, object: reading, where: value > 0, breach_when: value < 6}\n"
    )
    found = {name: made.outcome for name, made in evaluate(file, None, monitors=monitors).items()}
    counted = {name: outcome.duplicate_keys for name, outcome in found.items() if isinstance(outcome, Counts)}
    assert counted == {"all": 2, "north": 1}


def test_the_time_of_a_pass_is_that_of_the_monitor_that_may_take_least(tmp_path: Path) -> None:
    limits = {"a-own": timedelta(seconds=50), "b-linked": timedelta(seconds=40)}
    asked: list[timedelta] = []

    class Snapshot(WatchedSnapshot):
        def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
            asked.append(timeout)
            super().hold(name, query, timeout)

    contract = a_contract()
    definitions = [replace(item, timeout=limits.get(item.id, item.timeout)) for item in some_monitors(contract)]
    with DuckDBEngine(a_warehouse(tmp_path)).snapshot() as opened:
        snapshot: Any = Snapshot(opened, [], {})
        judged = list(judge_many([(item, NOW) for item in definitions], contract, snapshot, lambda: UNMASKED))
        alone = [judge(item, contract, opened, NOW) for item in definitions]
    assert [item and item.outcome for item in judged] == [item.outcome for item in alone]
    assert timedelta(seconds=39) < asked[0] <= timedelta(seconds=40)
