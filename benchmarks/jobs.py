"""What the processes measure: a bare statement, evaluations over one view, and small evaluations that are recorded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.governed import contract, monitors
from benchmarks.measuring import Figures, Stopwatch, peak_memory
from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.engines.duckdb_instance import open_locked
from catalog.engines.port import HeldName
from catalog.referee.certified import CertifiedQuery
from compiler.planning import CHUNK, why_readable
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from trivet.clock import FixedClock
from worker.evaluate import Evaluator, Recorded, manual_slots
from worker.judging import UNMASKED
from worker.migrating import upgrade_store
from worker.scanning import judge_many, judge_together
from worker.shipped import shipped
from worker.stores import open_store

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement under the settings under which monitors run."""

    warehouse: Path
    sql: str
    repeated: int = 1

    def prepare(self) -> Callable[[], Figures]:
        """Opens nothing yet: each round begins with an engine that has read nothing."""
        return self._run

    def _run(self) -> Figures:
        with tempfile.TemporaryDirectory() as spill:
            connection = open_locked(self.warehouse, threads=2, memory_limit="2GB", spill=spill)
            watch = Stopwatch()
            for _ in range(self.repeated):
                connection.execute(self.sql).fetchall()
            figures = watch.read("whole")
            connection.close()
        return {**figures, "peak": peak_memory()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Monitors that are due together, judged twice on the same data; nothing is recorded."""

    warehouse: Path
    small: Path
    """A warehouse of the same views with few rows: on it, the monitors are compiled and run before the first round."""
    bodies: tuple[str, ...]

    def prepare(self) -> Callable[[], Figures]:
        """Judges the monitors on the small data, by the plan that the large data will get."""
        definitions = monitors(*self.bodies)

        def evaluate(path: Path) -> Figures:
            engine = WatchedEngine(path)
            evaluator = Evaluator(contract(), engine, FixedClock(NOW))
            slots = manual_slots(definitions, contract(), NOW)
            figures: dict[str, float] = {}
            for name in ("first", "again"):
                engine.steps.clear()
                watch = Stopwatch()
                judged = sum(_is_judged(item) for item in evaluator.evaluate(slots, None))
                figures |= watch.read(name)
                if judged != len(definitions):
                    raise ValueError(f"{len(definitions) - judged} of {len(definitions)} evaluations were not made")
                if name == "first":
                    figures |= {**engine.steps, "peak": peak_memory()}
            return figures

        _make_ready(self.small, definitions)
        return lambda: evaluate(self.warehouse)


@dataclass(frozen=True, slots=True)
class SmallEvaluations:
    """Many monitors over a small view, judged and recorded in a new store."""

    warehouse: Path
    bodies: tuple[str, ...]

    def prepare(self) -> Callable[[], Figures]:
        """Judges the monitors once, so that all is compiled."""
        definitions = monitors(*self.bodies)

        def evaluate() -> Figures:
            with tempfile.TemporaryDirectory() as folder:
                store = open_store(f"sqlite:///{folder}/trivet.db")
                upgrade_store(store, shipped("migrations"))
                evaluator = Evaluator(contract(), DuckDBEngine(self.warehouse), FixedClock(NOW))
                slots = manual_slots(definitions, contract(), NOW)
                watch = Stopwatch()
                judged = sum(_is_judged(item) for item in evaluator.evaluate(slots, store))
                figures = watch.read("whole")
                store.dispose()
            return {**figures, "judged": judged, "peak": peak_memory()}

        evaluate()
        return evaluate


def physical(warehouse: Path) -> dict[str, dict[str, str]]:
    """Physical type of each column of each view."""
    found: dict[str, dict[str, str]] = {}
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        rows = connection.execute(
            "SELECT schema_name || '.' || table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE schema_name = 'ontology' ORDER BY column_index"
        ).fetchall()
    for view, column, kind in rows:
        found.setdefault(view, {})[column] = kind
    return found


def _make_ready(small: Path, definitions: tuple[MonitorDefinition, ...]) -> None:
    """Compiles what the monitors will run: the pass, wherever it can judge them, though the view is small."""
    due = [(definition, NOW) for definition in definitions]
    with DuckDBEngine(small).snapshot() as snapshot:
        for first in range(0, len(due), CHUNK):
            portion = due[first : first + CHUNK]
            if any(why_readable(definition, contract()) for definition, _ in portion):
                list(judge_many(portion, contract(), snapshot, lambda: UNMASKED))
            else:
                list(judge_together(portion, contract(), snapshot, small_view=0))


def _is_judged(item: Recorded) -> bool:
    return isinstance(item.evaluation.outcome, Counts)


class WatchedEngine(DuckDBEngine):
    """An engine that notes what the steps of a pass take."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.steps: dict[str, float] = {}

    @contextmanager
    def snapshot(self, longest: timedelta | None = None) -> Iterator[Any]:
        with super().snapshot(longest) as opened:
            yield _WatchedSnapshot(opened, self.steps)


@dataclass(slots=True)
class _WatchedSnapshot:
    opened: DuckDBSnapshot
    steps: dict[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.opened, name)

    def hold(self, name: HeldName, query: CertifiedQuery, timeout: timedelta) -> None:
        with self._noted("pass"):
            self.opened.hold(name, query, timeout)

    def remembered(self, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        self.steps["peak before keys"] = peak_memory()
        with self._noted("keys"):
            return self.opened.remembered(query, timeout)

    @contextmanager
    def _noted(self, step: str) -> Iterator[None]:
        watch = Stopwatch()
        yield
        for name, taken in watch.read(step).items():
            self.steps[name] = self.steps.get(name, 0) + taken
        self.steps[f"peak of {step}"] = peak_memory()
