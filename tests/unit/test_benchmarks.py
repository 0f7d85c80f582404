"""The benchmark measures what it says: its pieces at a small size, and its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import batches, floors, small, warehouse
from benchmarks.__main__ import PAGE
from benchmarks.governed import contract, monitors
from benchmarks.jobs import Evaluation, SmallEvaluations, Statement, physical
from benchmarks.measuring import Figures, Job, measure, summary
from benchmarks.registry import BENCHES
from benchmarks.tables import Table, ratio, written
from catalog.engines.duckdb_engine import DuckDBEngine
from monitors.evaluation import Counts
from tests.integration.worlds import NOW
from trivet.clock import FixedClock
from worker.evaluate import Evaluator, manual_slots

ROWS = 10_000
TABLE = Table("Things.", ("thing", "time"), (("a", "1.00"),))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "data.duckdb"
    warehouse.build(path, ROWS, frozenset({"pay", "typed_pay", "quiet_pay", "cells"}))
    return path


@pytest.mark.parametrize(
    ("view", "breach", "no_data"), [("pay", 100, 150), ("typed_pay", 100, 150), ("quiet_pay", 1, 2)]
)
@pytest.mark.parametrize("link", ["held_to", "governed_by"])
def test_the_data_holds_as_many_breached_and_undecided_rows_as_it_says(
    data: Path, view: str, link: str, breach: int, no_data: int
) -> None:
    definitions = monitors(f'object: {view}, breach_when: "rate < {link}.rate"')
    evaluator = Evaluator(contract(), DuckDBEngine(data), FixedClock(NOW))
    (made,) = evaluator.evaluate(manual_slots(definitions, contract(), NOW), None)
    outcome = made.evaluation.outcome
    assert isinstance(outcome, Counts)
    assert (outcome.population, outcome.no_data) == (ROWS, no_data)
    assert outcome.breach == breach


def test_a_floor_reads_every_column_and_hashes_every_key_of_its_monitor(data: Path) -> None:
    (definition,) = monitors('object: pay, breach_when: "rate < governed_by.rate"')
    sql = floors.reading(definition, physical(data))
    assert all(f'"{column}"' in sql for column in ("id", "grade", "point", "paid", "rate"))
    assert 'HASH(m."id")' in sql
    assert 'HASH(m."grade", m."point")' in sql
    assert 'COUNT(m."rate")' in sql


@pytest.mark.slow
def test_jobs_are_measured_in_processes_of_their_own(data: Path) -> None:
    bodies = tuple(f'object: pay, breach_when: "rate < {bound}"' for bound in (20, 21))
    found = measure(
        {
            "scan": Statement(data, "SELECT COUNT(rate) FROM ontology.pay"),
            "two": Evaluation(data, data, bodies),
            "recorded": SmallEvaluations(data, bodies),
        },
        rounds=1,
    )
    assert {"whole seconds", "whole work", "peak"} <= set(found["scan"])
    assert {"first seconds", "again work", "pass work", "keys seconds", "peak before keys", "peak"} <= set(found["two"])
    assert found["recorded"]["judged"] == 2
    assert min(figures["peak"] for figures in found.values()) > 0


@dataclass(frozen=True)
class Counting:
    """Gives the number of the round, and then one that no median can be."""

    def prepare(self) -> Callable[[], Figures]:
        rounds = iter((1.0, 3.0, 200.0))
        return lambda: {"round": next(rounds)}


@dataclass(frozen=True)
class Failing:
    def prepare(self) -> Callable[[], Figures]:
        raise SystemExit(1)


@pytest.mark.slow
def test_the_median_of_the_rounds_is_told() -> None:
    assert measure({"a": Counting(), "b": Counting()}, rounds=3) == {"a": {"round": 3.0}, "b": {"round": 3.0}}


def test_a_peak_is_that_of_the_first_round_since_later_ones_only_add_to_it() -> None:
    rounds = [{"whole work": 3.0, "peak of pass": 10.0}, {"whole work": 1.0, "peak of pass": 90.0}]
    assert summary(rounds) == {"whole work": 2.0, "peak of pass": 10.0}


@pytest.mark.slow
def test_a_job_that_ends_is_named() -> None:
    with pytest.raises(RuntimeError, match="'broken'"):
        measure({"broken": Failing()}, rounds=1)


def test_a_ratio_is_shown_only_where_both_were_measured() -> None:
    assert [ratio(3.0, 2.0), ratio(None, 2.0), ratio(3.0, 0.0)] == ["1.50", "-", "-"]


def test_tables_are_set_into_their_place_and_nothing_else_is_touched() -> None:
    page = "before\n<!-- bench rules -->\nold\n<!-- end -->\nbetween\n<!-- bench small -->\n<!-- end -->\nafter\n"
    found = written(page, "rules", [TABLE])
    assert "old" not in found
    assert found.startswith(
        "before\n<!-- bench rules -->\n\n**Things.**\n\n| thing | time |\n| --- | ---: |\n| a | 1.00 |\n"
    )
    assert found.endswith("<!-- end -->\nbetween\n<!-- bench small -->\n<!-- end -->\nafter\n")
    assert written(found, "rules", [TABLE]) == found
    with pytest.raises(ValueError, match="'groups'"):
        written(page, "groups", [TABLE])


def test_the_page_has_a_place_for_the_tables_of_every_benchmark() -> None:
    page = PAGE.read_text("utf-8")
    for name in BENCHES:
        assert TABLE.markdown() in written(page, name, [TABLE])


def in_this_process(jobs: Mapping[str, Job], rounds: int) -> dict[str, dict[str, float]]:
    """As `measure`, without a process for each job: starting those takes longer than what they do here."""
    ready = {name: job.prepare() for name, job in jobs.items()}
    return {name: summary([run() for _ in range(rounds)]) for name, run in ready.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHES)
def test_every_benchmark_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"benchmarks.{name}.measure", in_this_process)
    monkeypatch.setattr(small, "MONITORS", 3)
    monkeypatch.setattr(batches, "SIZES", (1, 2))
    table = BENCHES[name].run(tmp_path, 500, 1)
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
