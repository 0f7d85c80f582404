"""The DuckDB engine on real files: a locked, read-only snapshot, and every fault as the port's."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from catalog.contract import Contract
from catalog.engines import duckdb_engine
from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.engines.port import EngineFault, HeldName, QueryTimeout, WarehouseMissing
from catalog.engines.watchdog import Watchdog
from catalog.loading import load_contract
from catalog.referee.certified import CertifiedQuery, Purpose
from catalog.referee.certify import certified_or_fault
from trivet.documents import read_yaml
from trivet.errors import InternalError

CONTRACT = """\
contract: {id: test, version: 1.0.0}
object_types:
  - name: pay
    view: ontology.pay
    primary_key: [id]
    properties: [{name: id, type: integer}, {name: rate, type: "decimal(12,2)"}, {name: name, type: text}]
"""
LONG = timedelta(seconds=60)


def read_contract() -> Contract:
    document = read_yaml(CONTRACT, file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


PAY = read_contract()


def certified(sql: str) -> CertifiedQuery:
    return certified_or_fault(sql, PAY, Purpose.MONITOR, "duckdb")


COUNT = certified("SELECT COUNT(*) AS n FROM ontology.pay")
# Six joins of a thousand rows each: no machine finishes it.
ENDLESS = certified(
    "SELECT COUNT(*) AS n FROM ontology.pay a " + "".join(f"CROSS JOIN ontology.pay b{i} " for i in range(5))
)


def build(path: Path, *, rows: int = 3, generation: str | None = None) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA ontology")
        connection.execute("CREATE SCHEMA raw")
        connection.execute(
            "CREATE TABLE raw.pay AS SELECT i::INTEGER AS id, (25 + i)::DECIMAL(12,2) AS rate, 'E' || i AS name "
            f"FROM range({rows}) t(i)"
        )
        connection.execute("CREATE VIEW ontology.pay AS SELECT id, rate, name FROM raw.pay")
        if generation is not None:
            connection.execute("CREATE SCHEMA _trivet")
            connection.execute(f"CREATE TABLE _trivet.generation AS SELECT '{generation}' AS generation")
    return path


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return build(tmp_path / "warehouse.duckdb")


def unchecked(snapshot: DuckDBSnapshot, sql: str) -> list[tuple[Any, ...]]:
    """Runs SQL that no referee saw, as if there were no first wall."""
    forged: Any = SimpleNamespace(sql=sql, purpose=Purpose.MONITOR)
    return snapshot.run(forged, LONG)


def test_a_certified_query_is_answered(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        rows = snapshot.run(certified("SELECT name, rate FROM ontology.pay ORDER BY name"), LONG)
    assert [(name, str(rate)) for name, rate in rows] == [("E0", "25.00"), ("E1", "26.00"), ("E2", "27.00")]


def test_many_rows_are_streamed_in_order_and_all(tmp_path: Path) -> None:
    path = build(tmp_path / "warehouse.duckdb", rows=25_001)
    with DuckDBEngine(path).snapshot() as snapshot:
        rows = snapshot.stream(certified("SELECT id FROM ontology.pay ORDER BY id"), LONG)
        assert [row[0] for row in rows] == list(range(25_001))


def test_the_snapshot_says_which_data_it_looks_at(tmp_path: Path) -> None:
    path = build(tmp_path / "warehouse.duckdb", generation="20261130T060000")
    status = path.stat()
    with DuckDBEngine(path).snapshot() as snapshot:
        identity = snapshot.identity
    assert identity.generation == "20261130T060000"
    assert (identity.device, identity.inode) == (status.st_dev, status.st_ino)
    assert (identity.size, identity.modified_ns) == (status.st_size, status.st_mtime_ns)
    assert identity.to_json()["inode"] == str(status.st_ino)


def test_a_warehouse_that_ingestion_did_not_build_has_no_generation(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        assert snapshot.identity.generation is None


def test_columns_are_told_with_their_physical_types(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        assert snapshot.columns("ontology.pay") == {"id": "INTEGER", "rate": "DECIMAL(12,2)", "name": "VARCHAR"}
        assert list(snapshot.columns("ontology.pay") or ()) == ["id", "rate", "name"]
        assert snapshot.columns("ontology.pay") is snapshot.columns("ontology.pay")


@pytest.mark.parametrize(
    "view", ["ontology.nope", "main.pay", "pay", "ontology.pay'; DROP VIEW ontology.pay; --", "duckdb_settings"]
)
def test_there_are_no_columns_of_a_view_that_is_not_there(view: str, warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        assert snapshot.columns(view) is None


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO raw.pay VALUES (9, 9, 'E9')",
        "UPDATE raw.pay SET rate = 0",
        "DELETE FROM raw.pay",
        "DROP VIEW ontology.pay",
        "CREATE TABLE raw.x AS SELECT 1 AS a",
        "CREATE TABLE memory.main.x AS SELECT 1 AS a",
        "CREATE OR REPLACE VIEW ontology.pay AS SELECT 1 AS id",
        "ALTER TABLE raw.pay ADD COLUMN x INTEGER",
    ],
)
def test_nothing_can_be_written(sql: str, warehouse: Path) -> None:
    before = warehouse.read_bytes()
    with pytest.raises(EngineFault), DuckDBEngine(warehouse).snapshot() as snapshot:
        unchecked(snapshot, sql)
    assert warehouse.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT content FROM read_text('{file}')",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1 AS a) TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.duckdb' AS other",
        "EXPORT DATABASE '{folder}/dump'",
        "INSTALL httpfs",
        "LOAD '{folder}/x.duckdb_extension'",
    ],
)
def test_no_other_file_can_be_reached(sql: str, warehouse: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    build(tmp_path / "other.duckdb")
    files = sorted(tmp_path.iterdir())
    statement = sql.format(file=tmp_path / "secret.csv", folder=tmp_path)
    with pytest.raises(EngineFault), DuckDBEngine(warehouse).snapshot() as snapshot:
        unchecked(snapshot, statement)
    assert sorted(tmp_path.iterdir()) == files


@pytest.mark.parametrize(
    "setting",
    [
        "enable_external_access = true",
        "lock_configuration = false",
        "autoload_known_extensions = true",
        "allow_community_extensions = true",
        "temp_directory = '/var/tmp'",
        "threads = 64",
        "memory_limit = '64GB'",
    ],
)
def test_no_setting_can_be_changed(setting: str, warehouse: Path) -> None:
    with pytest.raises(EngineFault, match="lock"), DuckDBEngine(warehouse).snapshot() as snapshot:
        unchecked(snapshot, f"SET {setting}")


def test_the_settings_are_those_that_were_asked_for(warehouse: Path) -> None:
    names = (
        "threads", "autoload_known_extensions", "autoinstall_known_extensions", "allow_community_extensions",
        "enable_external_access", "lock_configuration", "TimeZone",
    )  # fmt: skip
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    with DuckDBEngine(warehouse, threads=1).snapshot() as snapshot:
        values = unchecked(snapshot, f"SELECT {settings}")
    assert values == [(1, False, False, False, False, True, "UTC")]


def test_a_snapshot_has_the_memory_the_spill_and_the_time_that_it_was_given(warehouse: Path, tmp_path: Path) -> None:
    names = ("threads", "memory_limit", "temp_directory", "max_temp_directory_size", "max_execution_time")
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    engine = DuckDBEngine(warehouse, threads=3, memory_limit="300MB", spill=tmp_path, spill_limit="50MB")
    with engine.snapshot(timedelta(seconds=7)) as snapshot:
        ((threads, memory, spill, spill_limit, time_limit),) = unchecked(snapshot, f"SELECT {settings}")
        assert Path(spill).parent == tmp_path
    assert (threads, memory, spill_limit, int(time_limit)) == (3, "286.1 MiB", "47.6 MiB", 12_000)


def test_the_engine_ends_by_itself_what_nobody_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of the limits: here the first is not held, as on a machine that is too busy to run its thread."""
    monkeypatch.setattr(duckdb_engine, "BACKSTOP", timedelta(milliseconds=200))
    monkeypatch.setattr(Watchdog, "limit", lambda _self, _timeout: nullcontext())
    path = build(tmp_path / "warehouse.duckdb", rows=1000)
    begun = time.monotonic()
    with DuckDBEngine(path).snapshot(timedelta(milliseconds=100)) as snapshot, pytest.raises(QueryTimeout):
        snapshot.run(ENDLESS, timedelta(milliseconds=100))
    assert time.monotonic() - begun < 20


_FORKS = """
import os, sys
from datetime import timedelta
from pathlib import Path
from catalog.engines.duckdb_engine import DuckDBEngine
from tests.unit.test_duckdb_engine import COUNT, LONG
from trivet.errors import InternalError

def refused(action):
    try:
        action()
    except InternalError as error:
        return "forked" in str(error)
    return False

path = Path(sys.argv[1])
engine = DuckDBEngine(path)
with engine.snapshot() as snapshot:
    snapshot.run(COUNT, LONG)
    child = os.fork()
    if child == 0:
        told = [
            refused(lambda: engine.snapshot().__enter__()),
            refused(lambda: snapshot.run(COUNT, LONG)),
            refused(lambda: snapshot.columns("ontology.pay")),
        ]
        with DuckDBEngine(path).snapshot() as own:
            told.append(own.run(COUNT, LONG) == [(3,)])
    else:
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), snapshot.run(COUNT, LONG), flush=True)
if child == 0:
    # The inherited snapshot was left here, without the crash that closing its connection would be.
    os._exit(0 if told == [True] * 4 else 1)
"""


def test_a_child_process_is_refused_what_was_opened_before_the_fork(warehouse: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORKS, str(warehouse)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0 [(3,)]\n", "")


def test_a_variable_of_the_program_is_no_table(warehouse: Path) -> None:
    local_rows = SimpleNamespace()
    with pytest.raises(EngineFault, match="local_rows"), DuckDBEngine(warehouse).snapshot() as snapshot:
        unchecked(snapshot, "SELECT * FROM local_rows")
    assert local_rows == SimpleNamespace()


def test_a_query_for_another_purpose_is_refused(warehouse: Path) -> None:
    question: Any = SimpleNamespace(sql="SELECT 1 AS a", purpose="question")
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        with pytest.raises(InternalError, match="purpose question has no business"):
            snapshot.run(question, LONG)
        assert snapshot.run(COUNT, LONG) == [(3,)]


def test_a_query_that_takes_too_long_is_interrupted(tmp_path: Path) -> None:
    path = build(tmp_path / "warehouse.duckdb", rows=1000)
    begun = time.monotonic()
    with DuckDBEngine(path).snapshot() as snapshot:
        with pytest.raises(QueryTimeout):
            snapshot.run(ENDLESS, timedelta(milliseconds=100))
        assert time.monotonic() - begun < 20


def test_a_snapshot_is_spent_after_a_fault(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        with pytest.raises(EngineFault, match="Conversion Error"):
            snapshot.run(certified("SELECT CAST(name AS INTEGER) AS n FROM ontology.pay"), LONG)
        with pytest.raises(EngineFault, match="transaction is aborted"):
            snapshot.run(COUNT, LONG)


def test_the_time_of_one_query_is_not_the_time_of_the_next(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        assert snapshot.run(COUNT, timedelta(milliseconds=300)) == [(3,)]
        time.sleep(0.4)
        assert snapshot.run(COUNT, LONG) == [(3,)]


def test_an_error_of_the_engine_is_one_line(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        with pytest.raises(EngineFault, match="Conversion Error") as caught:
            snapshot.run(certified("SELECT CAST(name AS INTEGER) AS n FROM ontology.pay"), LONG)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) <= 500
        assert not isinstance(caught.value, (QueryTimeout, WarehouseMissing))


def test_a_warehouse_that_is_not_there_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(WarehouseMissing, match=r"^warehouse\.duckdb is not there; `trivet ingest` builds it$"),
        DuckDBEngine(tmp_path / "warehouse.duckdb").snapshot(),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_warehouse_is_an_engine_fault(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    path.write_text("not a database\n" * 1000)
    with pytest.raises(EngineFault) as caught, DuckDBEngine(path).snapshot():
        pass
    assert not isinstance(caught.value, WarehouseMissing)


def test_a_quote_in_the_path_is_only_a_quote(tmp_path: Path) -> None:
    folder = tmp_path / "it's; a 'folder'"
    folder.mkdir()
    with DuckDBEngine(build(folder / "ware'house.duckdb")).snapshot() as snapshot:
        assert snapshot.run(COUNT, LONG) == [(3,)]


def test_an_open_snapshot_keeps_its_data_when_the_file_is_replaced(warehouse: Path, tmp_path: Path) -> None:
    engine = DuckDBEngine(warehouse)
    with engine.snapshot() as before:
        os.replace(build(tmp_path / "fresh.duckdb", rows=7), warehouse)
        with engine.snapshot() as after:
            assert (before.run(COUNT, LONG), after.run(COUNT, LONG)) == ([(3,)], [(7,)])
            assert before.identity.inode != after.identity.inode
        assert before.run(COUNT, LONG) == [(3,)]


def test_a_swap_while_the_file_is_opened_does_not_mislabel_the_data(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = [build(tmp_path / "fresh.duckdb", rows=7)]
    open_connection = DuckDBEngine._open

    def swapping(self: DuckDBEngine, *arguments: Any) -> duckdb.DuckDBPyConnection:
        connection = open_connection(self, *arguments)
        if fresh:
            os.replace(fresh.pop(), warehouse)
        return connection

    monkeypatch.setattr(DuckDBEngine, "_open", swapping)
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        assert snapshot.run(COUNT, LONG) == [(7,)]
        assert snapshot.identity.inode == warehouse.stat().st_ino


def test_nothing_of_one_snapshot_is_left_for_the_next(warehouse: Path) -> None:
    engine = DuckDBEngine(warehouse)
    with engine.snapshot() as snapshot:
        unchecked(snapshot, "SET VARIABLE a = 1")
        assert unchecked(snapshot, "SELECT getvariable('a')") == [(1,)]
    with engine.snapshot() as snapshot:
        assert unchecked(snapshot, "SELECT getvariable('a')") == [(None,)]


def test_a_closed_snapshot_answers_nothing_and_keeps_no_connection(warehouse: Path) -> None:
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        snapshot.run(COUNT, LONG)
    with pytest.raises(EngineFault):
        snapshot.run(COUNT, LONG)
    gone = weakref.ref(snapshot)
    del snapshot
    gc.collect()
    assert gone() is None
    with duckdb.connect(str(warehouse)) as writer:
        writer.execute("INSERT INTO raw.pay VALUES (9, 9, 'E9')")


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_the_connection_is_closed_when_the_caller_fails(fault: type[BaseException], warehouse: Path) -> None:
    with pytest.raises(fault), DuckDBEngine(warehouse).snapshot():
        raise fault
    with duckdb.connect(str(warehouse)) as writer:
        writer.execute("INSERT INTO raw.pay VALUES (9, 9, 'E9')")


def test_snapshots_in_many_threads_do_not_meet(warehouse: Path) -> None:
    engine = DuckDBEngine(warehouse, threads=1)
    together = threading.Barrier(4, timeout=30)

    def look(_: int) -> list[tuple[Any, ...]]:
        with engine.snapshot() as snapshot:
            together.wait()
            return snapshot.run(COUNT, LONG)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look, range(4))) == [[(3,)]] * 4


def test_a_timeout_interrupts_its_own_snapshot_only(tmp_path: Path) -> None:
    engine = DuckDBEngine(build(tmp_path / "warehouse.duckdb", rows=1000), threads=1)
    with engine.snapshot() as slow, engine.snapshot() as quick, ThreadPoolExecutor(1) as pool:
        running = pool.submit(slow.run, ENDLESS, timedelta(milliseconds=200))
        while not running.done():
            assert quick.run(COUNT, LONG) == [(1000,)]
        assert isinstance(running.exception(), QueryTimeout)


def test_rows_that_are_held_can_be_asked_in_their_snapshot_alone(warehouse: Path) -> None:
    engine = DuckDBEngine(warehouse)
    with engine.snapshot() as snapshot:
        snapshot.hold(HeldName.UNSETTLED, certified("SELECT name FROM ontology.pay WHERE id > 0"), LONG)
        assert unchecked(snapshot, f"SELECT name FROM {HeldName.UNSETTLED} ORDER BY name") == [("E1",), ("E2",)]
        snapshot.hold(HeldName.UNSETTLED, certified("SELECT name FROM ontology.pay WHERE id > 1"), LONG)
        assert unchecked(snapshot, f"SELECT name FROM {HeldName.UNSETTLED}") == [("E2",)]
        assert snapshot.columns(HeldName.UNSETTLED) is None
    with engine.snapshot() as snapshot, pytest.raises(EngineFault, match="unsettled"):
        unchecked(snapshot, f"SELECT name FROM {HeldName.UNSETTLED}")


def test_holding_takes_no_longer_than_it_may_and_only_what_is_for_monitors(tmp_path: Path) -> None:
    warehouse = build(tmp_path / "warehouse.duckdb", rows=1000)
    with DuckDBEngine(warehouse).snapshot() as snapshot, pytest.raises(QueryTimeout):
        snapshot.hold(HeldName.TALLY, ENDLESS, timedelta(milliseconds=100))
    with DuckDBEngine(warehouse).snapshot() as snapshot:
        question: Any = SimpleNamespace(sql="SELECT 1 AS a", purpose=Purpose.QUESTION)
        with pytest.raises(InternalError):
            snapshot.hold(HeldName.TALLY, question, LONG)


def test_what_was_asked_of_the_same_data_is_remembered(warehouse: Path) -> None:
    engine, query = DuckDBEngine(warehouse), certified("SELECT name FROM ontology.pay WHERE id = 0")
    with engine.snapshot() as snapshot:
        first = snapshot.remembered(query, LONG)
    with engine.snapshot() as snapshot:
        assert snapshot.remembered(query, LONG) is first
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("UPDATE raw.pay SET name = 'changed'")
    with engine.snapshot() as snapshot:
        assert snapshot.remembered(query, LONG) == [("changed",)]


def test_nothing_is_remembered_of_data_that_waits_in_a_log(warehouse: Path) -> None:
    """A checkpoint need not have come yet: the file is the same, what is read is not."""
    engine, query = DuckDBEngine(warehouse), certified("SELECT name FROM ontology.pay WHERE id = 0")
    with engine.snapshot() as snapshot:
        assert snapshot.remembered(query, LONG) == [("E0",)]
    script = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute(\"UPDATE raw.pay SET name = 'logged'\"); "
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(warehouse)], check=True)
    assert warehouse.with_name(f"{warehouse.name}.wal").exists()
    with engine.snapshot() as snapshot:
        assert snapshot.remembered(query, LONG) == [("logged",)]
