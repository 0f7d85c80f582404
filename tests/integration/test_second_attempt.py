"""A warehouse that cannot be read for a moment is read a second time, once, and both attempts are written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.engines.port import EngineFault, Snapshot, WarehouseUnsteady
from catalog.referee.certified import CertifiedQuery
from ledger.entries import EntryType
from ledger.reading import entries
from monitors.evaluation import Evaluation, NotMade
from tests.integration.test_evaluator import written_by_another_process
from tests.integration.worlds import BADGES, NOW, a_contract, a_warehouse, some_monitors
from trivet.clock import FixedClock
from trivet.verdicts import NotMadeReason
from worker.evaluate import RETRY_AFTER, Evaluator, manual_slots
from worker.stores import read_only


@dataclass
class Failing:
    """DuckDB, but for as many of its queries, and openings, as are to fail first."""

    file: Path
    queries: int = 0
    openings: int = 0
    fault: type[EngineFault] = WarehouseUnsteady
    opened: int = 0
    pauses: list[timedelta] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._engine = DuckDBEngine(self.file)
        self.name, self.version = self._engine.name, self._engine.version

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[Snapshot]:
        self.opened += 1
        if self.openings:
            self.openings -= 1
            raise self.fault("it is being written")
        with self._engine.snapshot(longest) as snapshot, pytest.MonkeyPatch.context() as patch:
            for name in ("stream", "hold"):
                patch.setattr(type(snapshot), name, self._failing(getattr(type(snapshot), name)))
            yield snapshot

    def _failing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*args: Any) -> Any:
            if self.queries:
                self.queries -= 1
                raise self.fault("it was being written")
            return real(*args)

        return asked

    def evaluate(self, monitor: str | None = None, store: sa.Engine | None = None) -> dict[str, Evaluation]:
        contract = a_contract()
        chosen = [item for item in some_monitors(contract) if monitor in (None, item.id)]
        evaluator = Evaluator(contract, self, FixedClock(NOW), pause=self.pauses.append)
        made = list(evaluator.evaluate(manual_slots(chosen, contract, NOW), store))
        assert [item.evaluation.definition.id for item in made] == [item.id for item in chosen]
        return {item.evaluation.definition.id: item.evaluation for item in made}


# Alone, a monitor is asked in one pass first and readably then, and what fails then is its first attempt.
ONE_ATTEMPT = 2


def test_a_query_that_fails_as_it_might_not_again_is_asked_again_after_a_pause(tmp_path: Path) -> None:
    engine = Failing(a_warehouse(tmp_path), queries=ONE_ATTEMPT)
    made = engine.evaluate("a-own")["a-own"]
    assert made.badge == BADGES["a-own"]
    assert made.first_attempt is not None
    assert made.first_attempt.reason is NotMadeReason.ENGINE_ERROR
    assert engine.pauses == [RETRY_AFTER]


def test_a_second_attempt_that_fails_is_the_last(tmp_path: Path) -> None:
    engine = Failing(a_warehouse(tmp_path), queries=1000)
    made = engine.evaluate()
    assert {item.outcome.reason for item in made.values() if isinstance(item.outcome, NotMade)} == {"engine_error"}
    assert all(item.first_attempt is not None for item in made.values())
    assert engine.pauses == [RETRY_AFTER], "one for the batch"
    assert engine.opened < 20


def test_a_batch_whose_warehouse_cannot_be_opened_for_a_moment_is_judged_whole(tmp_path: Path) -> None:
    engine = Failing(a_warehouse(tmp_path), openings=1)
    made = engine.evaluate()
    assert {name: item.badge for name, item in made.items()} == BADGES
    assert all(item.first_attempt is not None for item in made.values())
    assert (engine.opened, engine.pauses) == (2, [RETRY_AFTER])


def test_a_fault_that_a_second_attempt_would_meet_again_is_no_reason_for_one(tmp_path: Path) -> None:
    engine = Failing(a_warehouse(tmp_path), queries=1000, fault=EngineFault)
    made = engine.evaluate()
    assert {item.first_attempt for item in made.values()} == {None}
    assert engine.pauses == []


def test_a_warehouse_that_is_let_go_of_within_the_pause_costs_nothing(tmp_path: Path, any_store: sa.Engine) -> None:
    file = a_warehouse(tmp_path)
    contract = a_contract()
    with ExitStack() as writing:
        writing.enter_context(written_by_another_process(file))
        evaluator = Evaluator(contract, DuckDBEngine(file), FixedClock(NOW), pause=lambda _: writing.close())
        made = [
            item.evaluation
            for item in evaluator.evaluate(manual_slots(some_monitors(contract), contract, NOW), any_store)
        ]
    assert {item.definition.id: item.badge for item in made} == BADGES
    with read_only(any_store).connect() as connection:
        written = [entry.content() for entry in entries(connection, entry_type=EntryType.EVALUATION)]
    assert [entry["first_attempt"] for entry in written] == [item.to_json(1)["first_attempt"] for item in made]
    at = "2026-11-30T06:00:00.000000Z"
    assert written[0]["first_attempt"] == {"started_at": at, "finished_at": at, "reason": "engine_error"}


def test_the_first_attempt_is_told_only_where_there_was_a_second(tmp_path: Path, any_store: sa.Engine) -> None:
    made = Failing(a_warehouse(tmp_path)).evaluate("a-own", any_store)["a-own"]
    assert "first_attempt" not in made.to_json(1)
    with read_only(any_store).connect() as connection:
        (entry,) = entries(connection, entry_type=EntryType.EVALUATION)
    assert "first_attempt" not in entry.content()


def test_two_attempts_share_the_time_limit_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []
    run = DuckDBSnapshot.run

    def noted(snapshot: DuckDBSnapshot, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        left.append(timeout.total_seconds())
        time.sleep(0.05)
        return run(snapshot, query, timeout)

    monkeypatch.setattr(DuckDBSnapshot, "run", noted)
    Failing(a_warehouse(tmp_path), queries=ONE_ATTEMPT).evaluate("a-own")
    first, second = left[-2:]
    assert second <= first - 0.05, "the second attempt begins with what the first one left"
