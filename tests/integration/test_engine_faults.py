"""What goes wrong with the warehouse costs one evaluation, told as no_data with its reason; the daemon goes on.

Each fault is put into a running daemon's workspace and taken out again. Nothing that was removed reads as compliant.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.port import EngineFault, QueryTooLarge
from compiler.compile import compile_monitor
from monitors.evaluation import Evaluation, NotMade
from tests.integration.test_evaluator import written_by_another_process
from tests.integration.worlds import a_contract, a_warehouse, some_monitors
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.settings import load_settings
from trivet.verdicts import NotMadeReason
from worker.bootstrap import Wiring
from worker.runtime import Runtime
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[2]
SETTINGS = "warehouse: {memory: 100MB, threads: 2, spill: spill, spill_limit: 1MB}\n"
COLUMNS = "reading_id, station, temperature, taken_on, _source_document, _source_table, _source_page, _source_row"
WHOLE = "1 breach / 1 no-data"
LONG = timedelta(seconds=60)


class Watched:
    """A workspace under a daemon whose clock the test moves: one tick, and what it hands out, for each minute."""

    def __init__(self, folder: Path, timeout: str) -> None:
        self.path = folder / "workspace"
        shutil.copytree(ROOT / "examples" / "empty", self.path)
        (self.path / "spill").mkdir()
        monitors = self.path / "monitors" / "example.yaml"
        text = (
            monitors.read_text("utf-8")
            .replace("every: 1h", "every: 1m")
            .replace("enabled: true", f"timeout: {timeout}")
        )
        monitors.write_text(text, "utf-8")
        (self.path / "trivet.yaml").write_text(SETTINGS, "utf-8")
        settings = load_settings(read_yaml(SETTINGS, file="trivet.yaml").document, {}).settings
        _, contract, _ = read_workspace(self.path, {}).require()
        assert settings is not None
        self.clock = FixedClock(datetime(2026, 11, 30, 6, tzinfo=UTC))
        self.wiring = Wiring(self.path, settings, {}, self.clock)
        self.wiring.ingest(contract)
        self.wiring.publish_first()
        self.runtime: Runtime = self.wiring.runtime()
        self.warehouse = self.wiring.warehouse
        self.runtime.tick()

    def next_evaluation(self) -> Evaluation:
        """What the slot of the next minute comes to."""
        self.clock.instant += timedelta(minutes=1)
        (batch,) = self.runtime.tick().batches
        (recorded,) = self.runtime.evaluate(batch.keys)
        assert recorded.ledger_seq is not None
        return recorded.evaluation


@contextmanager
def a_watched(folder: Path, timeout: str = "1m") -> Iterator[Watched]:
    made = Watched(folder, timeout)
    try:
        yield made
    finally:
        made.runtime.store.dispose()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with a_watched(tmp_path) as made:
        yield made


def swapped(sql: str) -> Callable[[Path], AbstractContextManager[None]]:
    """A new warehouse, put in place of the old one by its name, in which `sql` was run."""

    def swap(file: Path) -> AbstractContextManager[None]:
        new = file.with_name("new.duckdb")
        shutil.copy(file, new)
        with duckdb.connect(str(new)) as connection:
            connection.execute(sql)
        new.replace(file)
        return nullcontext()

    return swap


def view(temperature: str) -> Callable[[Path], AbstractContextManager[None]]:
    """A warehouse whose view works out each temperature so."""
    columns = COLUMNS.replace("temperature", f"{temperature} AS temperature")
    return swapped(f"CREATE OR REPLACE VIEW ontology.reading AS SELECT {columns} FROM raw.readings")


def damaged(damage: Callable[[Path], object]) -> Callable[[Path], AbstractContextManager[None]]:
    def put(file: Path) -> AbstractContextManager[None]:
        damage(file)
        return nullcontext()

    return put


def overwritten(file: Path) -> None:
    """The bytes of something else, written into the same file."""
    with file.open("r+b") as handle:
        handle.write(os.urandom(file.stat().st_size))


SLEEPS = "(SELECT max((a.range * b.range) % 7) FROM range(4000000) a, range(4000000) b)"
HUNGRY = "(SELECT len(list(hash(range) || ' ' || range)) FROM range(10000000))"
SPILLS = "(SELECT count(*) FROM (SELECT DISTINCT repeat(hash(range)::VARCHAR, 8) FROM range(1000000)))"
RAISES = "(CASE WHEN reading_id = 'R4' THEN error('late') ELSE temperature END)"

FAULTS: dict[str, tuple[Callable[[Path], AbstractContextManager[None]], NotMadeReason, str]] = {
    "a query that never ends": (view(f"({SLEEPS})::VARCHAR"), NotMadeReason.TIMEOUT, "took longer than the "),
    "a query that needs too much memory": (view(f"({HUNGRY})::VARCHAR"), NotMadeReason.ENGINE_ERROR, "Out of Memory"),
    "a query that fills its spill folder": (
        view(f"({SPILLS})::VARCHAR"),
        NotMadeReason.ENGINE_ERROR,
        "failed to offload",
    ),
    "a query that raises on its last row": (view(RAISES), NotMadeReason.ENGINE_ERROR, "late"),
    "a column that is gone": (
        swapped(f"CREATE OR REPLACE VIEW ontology.reading AS SELECT {COLUMNS.replace('temperature, ', '')} "
                "FROM raw.readings"),
        NotMadeReason.VIEW_CHANGED,
        "has no column 'temperature'",
    ),
    "rows that are gone": (swapped("DELETE FROM raw.readings"), NotMadeReason.POPULATION_EMPTY, ""),
    "a file that is gone": (damaged(Path.unlink), NotMadeReason.VIEW_MISSING, "`trivet ingest` builds it"),
    "a file that was cut": (damaged(lambda file: os.truncate(file, 9000)), NotMadeReason.ENGINE_ERROR, ""),
    "a file that was overwritten in place": (damaged(overwritten), NotMadeReason.ENGINE_ERROR, "not a valid"),
    "a file that is being written": (written_by_another_process, NotMadeReason.ENGINE_ERROR, "Could not set lock"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_warehouse_is_no_data_and_the_daemon_goes_on(tmp_path: Path, name: str) -> None:
    put, reason, message = FAULTS[name]
    with a_watched(tmp_path, "1s" if reason is NotMadeReason.TIMEOUT else "1m") as watched:
        whole = watched.warehouse.read_bytes()
        assert watched.next_evaluation().badge == WHOLE
        with put(watched.warehouse):
            faulty = watched.next_evaluation()
        assert isinstance(faulty.outcome, NotMade)
        assert (faulty.outcome.reason, faulty.verdict) == (reason, "no_data")
        assert message in (faulty.outcome.message or "")
        fresh = watched.warehouse.with_name("fresh.duckdb")
        fresh.write_bytes(whole)
        fresh.replace(watched.warehouse)
        assert watched.next_evaluation().badge == WHOLE
        assert list((watched.path / "spill").iterdir()) == []


def test_the_identity_of_the_data_is_recorded(watched: Watched) -> None:
    first = watched.next_evaluation()
    swapped("DELETE FROM raw.readings WHERE reading_id = 'R2'")(watched.warehouse)
    second = watched.next_evaluation()
    assert (first.badge, second.badge) == (WHOLE, "0 breaches / 1 no-data")
    assert first.snapshot is not None
    assert second.snapshot is not None
    # The generation is that of the copy; the file is another one.
    assert first.snapshot["generation"] == second.snapshot["generation"] is not None
    assert first.snapshot["inode"] != second.snapshot["inode"]


def test_what_killed_processes_left_behind_is_swept_when_a_daemon_starts(watched: Watched) -> None:
    left = watched.path / "spill" / "trivet-spill-left"
    left.mkdir()
    (left / "block.tmp").write_bytes(bytes(10))
    watched.wiring.runtime().store.dispose()
    assert not left.exists()


def test_the_queries_of_a_snapshot_see_one_file_though_it_is_swapped_between_them(tmp_path: Path) -> None:
    file = a_warehouse(tmp_path)
    contract = a_contract()
    (definition,) = some_monitors(contract, "monitors: [{id: m, object: reading, breach_when: value < 0}]")
    query = compile_monitor(definition, contract).breach.query
    with DuckDBEngine(file).snapshot() as snapshot:
        first = snapshot.run(query, LONG)
        swapped("DELETE FROM raw.reading")(file)
        assert snapshot.run(query, LONG) == first != []
    with DuckDBEngine(file).snapshot() as after:
        assert (after.run(query, LONG), after.identity == snapshot.identity) == ([], False)


def test_an_error_that_comes_with_the_last_rows_is_an_engine_fault(tmp_path: Path) -> None:
    """Results stream: the first rows are there before the engine comes to what raises."""
    rows = "INSERT INTO raw.reading SELECT 'K' || i, 'north', '-1', 'r.csv', i FROM range(500000) AS r(i)"
    raising = (
        "CREATE OR REPLACE VIEW ontology.reading AS SELECT id, site, CASE WHEN line = 499999 THEN error('late') "
        "ELSE value END AS value, doc, line FROM raw.reading"
    )
    file = a_warehouse(tmp_path, "DELETE FROM raw.reading", rows, raising)
    with DuckDBEngine(file, threads=1).snapshot() as snapshot:
        streamed = snapshot._connection.execute("SELECT id, value FROM ontology.reading")
        assert streamed.fetchmany(10)
    contract = a_contract()
    (definition,) = some_monitors(contract, "monitors: [{id: m, object: reading, breach_when: value < 0}]")
    query = compile_monitor(definition, contract).breach.query
    with DuckDBEngine(file, threads=1).snapshot() as snapshot, pytest.raises(EngineFault, match="late"):
        list(snapshot.stream(query, LONG))


def test_a_limit_of_spilling_is_told_as_too_large(tmp_path: Path) -> None:
    file = a_warehouse(tmp_path, f"CREATE OR REPLACE VIEW ontology.floor AS SELECT 'n' AS site, {SPILLS} AS least")
    engine = DuckDBEngine(file, memory_limit="100MB", spill=tmp_path, spill_limit="1MB")
    with pytest.raises(QueryTooLarge, match="offload"), engine.snapshot() as snapshot:
        snapshot._connection.execute("SELECT * FROM ontology.floor").fetchall()


_FORKS_LATER = """
import os, sys
from pathlib import Path
from trivet.settings import load_settings
from worker.app import make_app
from worker.bootstrap import Wiring
celery = {"TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": "redis://127.0.0.1/0"}
settings = load_settings(None, celery).settings
app = make_app(Wiring(Path(sys.argv[1]), settings, {}))
app.finalize()
print(len(os.listdir("/proc/self/task")), sorted(task for task in app.tasks if task.startswith("trivet.")))
"""


def test_the_process_that_workers_are_forked_from_has_opened_no_engine(tmp_path: Path) -> None:
    """An engine that was opened has threads of its own, which no child of the process would have."""
    ended = subprocess.run(
        [sys.executable, "-c", _FORKS_LATER, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    tasks = "['trivet.deliver', 'trivet.evaluate_batch', 'trivet.plan', 'trivet.seal']"
    assert (ended.stdout, ended.stderr) == (f"1 {tasks}\n", "")
