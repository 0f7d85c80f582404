"""The question profile on real files: a process for each question, held by the operating system."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.engines.cells import UnknownCell, decode, encode
from catalog.engines.duckdb_question import DuckDBQuestionEngine
from catalog.engines.port import Cell, EngineFault, QueryTimeout, QueryTooLarge, QuestionResult, WarehouseMissing
from catalog.referee.certified import SEAL, CertifiedQuery, Purpose
from catalog.referee.certify import Allowed, certify
from tests.unit.test_referee import CASES, CONTRACT, statements
from trivet.errors import InternalError

TIMEOUT = timedelta(seconds=30)
ONE_ROW = replace(CONTRACT, limits=replace(CONTRACT.limits, max_rows=1))
SECRET = "do not disclose"  # noqa: S105


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("warehouse") / "lab.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((CASES / "fixture.sql").read_text("utf-8"))
        connection.execute("CREATE TABLE raw_extracted.numbers AS SELECT i FROM range(20000) t(i)")
        connection.execute("CREATE SCHEMA _trivet")
        connection.execute("CREATE TABLE _trivet.generation AS SELECT 'g1' AS generation")
    return path


@pytest.fixture(scope="module")
def engine(warehouse: Path) -> DuckDBQuestionEngine:
    return DuckDBQuestionEngine(warehouse, timeout=TIMEOUT)


def unchecked(sql: str, max_rows: int = 1000) -> CertifiedQuery:
    """What the referee never saw, under its seal: as if there were no first wall."""
    return CertifiedQuery(sql, Purpose.QUESTION, {}, (), seal=SEAL, max_rows=max_rows)


def asked(engine: DuckDBQuestionEngine, sql: str) -> QuestionResult:
    decision = certify(sql, CONTRACT, Purpose.QUESTION)
    assert isinstance(decision, Allowed)
    return engine.run(decision.query)


def children(parent: int) -> list[int]:
    """The processes that were started by `parent` to run questions, and have not ended."""
    # Without -ww the lines may end at column 80, before the module's name.
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True)  # noqa: S607
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()[1:]]
    return [
        int(pid)
        for pid, started_by, state, arguments in rows
        if int(started_by) == parent and "catalog.engines.question_child" in arguments and not state.startswith("Z")
    ]


def is_running(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
    return bool(found.stdout.strip()) and not found.stdout.strip().startswith("Z")


def test_a_question_gives_typed_rows_with_names_and_types(engine: DuckDBQuestionEngine) -> None:
    result = asked(
        engine, "SELECT order_id, order_date, net_amount, legal_entity FROM ontology.orders ORDER BY order_id"
    )
    assert result.rows[0] == (1, date(2025, 7, 5), Decimal("100.00"), "US")
    assert [(column.name, column.type) for column in result.columns] == [
        ("order_id", "INTEGER"),
        ("order_date", "DATE"),
        ("net_amount", "DECIMAL(12,2)"),
        ("legal_entity", "VARCHAR"),
    ]
    assert not result.truncated


def test_a_result_says_which_data_was_looked_at(engine: DuckDBQuestionEngine, warehouse: Path) -> None:
    snapshot = asked(engine, "SELECT count(*) AS n FROM ontology.orders").snapshot
    assert (snapshot.generation, snapshot.inode) == ("g1", warehouse.stat().st_ino)


@pytest.mark.parametrize("sql", statements("questions")[:8])
def test_what_the_referee_lets_through_runs(sql: str, engine: DuckDBQuestionEngine) -> None:
    assert asked(engine, sql).columns


@pytest.mark.parametrize(("max_rows", "truncated"), [(1, True), (2, True), (3, False), (4, False)])
def test_a_result_is_cut_at_the_bound_and_says_so(max_rows: int, truncated: bool, engine: DuckDBQuestionEngine) -> None:
    result = engine.run(unchecked("SELECT order_id FROM ontology.orders ORDER BY order_id", max_rows))
    assert (result.rows, result.truncated, result.total) == (((1,), (2,), (3,))[:max_rows], truncated, 3)


def test_what_was_cut_is_counted_by_what_was_certified_and_not_by_what_ran(engine: DuckDBQuestionEngine) -> None:
    decision = certify("SELECT order_id FROM ontology.orders ORDER BY order_id LIMIT 2", ONE_ROW, Purpose.QUESTION)
    assert isinstance(decision, Allowed)
    result = engine.run(decision.query)
    assert (result.rows, result.truncated, result.total) == (((1,),), True, 2)


def test_rows_whose_number_takes_too_long_to_find_are_given_all_the_same(warehouse: Path) -> None:
    sql = "SELECT a.i FROM raw_extracted.numbers a, raw_extracted.numbers b, raw_extracted.numbers c"
    quick = "SELECT i FROM raw_extracted.numbers LIMIT 2"
    query = CertifiedQuery(sql, Purpose.QUESTION, {}, (), seal=SEAL, max_rows=1, bounded_sql=quick)
    result = DuckDBQuestionEngine(warehouse, timeout=timedelta(seconds=1)).run(query)
    assert (len(result.rows), result.truncated, result.total) == (1, True, None)


def test_values_stay_exact(engine: DuckDBQuestionEngine) -> None:
    numbers = "170141183460469231731687303715884105727::HUGEINT, 0.10::DECIMAL(38,20)"
    others = "TRUE, NULL, 'é\u2028', 1e300, 'nan'::DOUBLE, TIMESTAMP '2024-01-01 01:02:03.000004'"
    row = engine.run(unchecked(f"SELECT {numbers}, {others}")).rows[0]
    assert row[:6] == (2**127 - 1, Decimal("0.10000000000000000000"), True, None, "é\u2028", 1e300)
    assert str(row[6]) == "nan"
    assert row[7] == datetime(2024, 1, 1, 1, 2, 3, 4)


@pytest.mark.parametrize(
    "sql",
    ["SELECT [1]", "SELECT r FROM ontology.readings r", "SELECT INTERVAL 1 MONTH", "SELECT 'a'::BLOB", "SELECT uuid()"],
)
def test_a_value_that_is_no_cell_is_a_fault_and_never_a_guess(sql: str, engine: DuckDBQuestionEngine) -> None:
    with pytest.raises(EngineFault, match="cannot be shown"):
        engine.run(unchecked(sql))


# --- The second wall, without the first


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT octet_length(content) FROM read_blob('{file}')",
        "SELECT content FROM read_text('{other}')",
        "SELECT * FROM read_duckdb('{file}', table_name='internal_notes')",
        "SELECT * FROM read_csv('{other}')",
        "SELECT * FROM '{other}'",
        "SELECT * FROM glob('{folder}/*')",
        "ATTACH '{file}' AS x (READ_ONLY)",
        "ATTACH '{folder}/fresh.duckdb' AS x",
        "COPY (SELECT note FROM main.internal_notes) TO '{folder}/out.csv'",
        "COPY (SELECT note FROM main.internal_notes) TO '/dev/stdout'",
        "EXPORT DATABASE '{folder}/dump'",
        "INSTALL httpfs",
        "CREATE TABLE warehouse.main.x AS SELECT 1 AS a",
        "CREATE TABLE memory.main.x AS SELECT 1 AS a",
        "DELETE FROM raw_extracted.t_orders",
        "SET memory_limit = '64GB'",
        "SET enable_external_access = true",
        "SET disabled_filesystems = ''",
        "SET lock_configuration = false",
        "SET max_execution_time = 0",
        "RESET max_execution_time",
    ],
)
def test_even_unchecked_sql_reaches_no_file_and_no_setting(
    sql: str, engine: DuckDBQuestionEngine, warehouse: Path
) -> None:
    other = warehouse.parent / "other.csv"
    other.write_text("a\n1\n")
    before = sorted(warehouse.parent.iterdir()), warehouse.read_bytes()
    with pytest.raises(EngineFault) as caught:
        engine.run(unchecked(sql.format(file=warehouse, other=other, folder=warehouse.parent)))
    assert SECRET not in str(caught.value)
    assert (sorted(warehouse.parent.iterdir()), warehouse.read_bytes()) == before


def test_the_process_knows_nothing_of_the_environment(
    engine: DuckDBQuestionEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-4711"
    monkeypatch.setenv("TRIVET_STORE__URL", canary)
    seen: dict[str, Any] = {}
    start = subprocess.Popen.__init__

    def watch(self: Any, *args: Any, **kwargs: Any) -> None:
        seen.update(kwargs)
        start(self, *args, **kwargs)

    monkeypatch.setattr(subprocess.Popen, "__init__", watch)
    asked(engine, "SELECT count(*) AS n FROM ontology.orders")
    assert set(seen["env"]) == {"PYTHONPATH"}


# --- Limits


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('a', 3000000000) AS x",
        "SELECT repeat('a', 20000000) AS x",
        "SELECT repeat('a', 1000000) AS x FROM raw_extracted.numbers",
        "WITH a AS (SELECT repeat('a', 1000000) AS s), b AS (SELECT s||s||s||s||s||s||s||s||s||s AS s FROM a), "
        "c AS (SELECT s||s||s||s||s||s||s||s||s||s AS s FROM b), "
        "d AS (SELECT s||s||s||s||s||s||s||s||s||s AS s FROM c) "
        "SELECT length(s||s||s) AS n FROM d",
    ],
)
def test_a_bomb_of_memory_ends_as_a_fault(sql: str, engine: DuckDBQuestionEngine) -> None:
    with pytest.raises(QueryTooLarge):
        engine.run(unchecked(sql))


@pytest.mark.parametrize(
    "sql",
    [
        # One call that the engine neither interrupts nor counts the memory of.
        "SELECT length(rpad('a', 1500000000, 'b')) AS n",
        "SELECT count(*) AS n FROM raw_extracted.numbers a, raw_extracted.numbers b, raw_extracted.numbers c",
    ],
)
def test_what_takes_too_long_is_ended_and_leaves_no_process(sql: str, warehouse: Path) -> None:
    begun = time.monotonic()
    with pytest.raises((QueryTimeout, QueryTooLarge)):
        DuckDBQuestionEngine(warehouse, timeout=timedelta(seconds=0.5)).run(unchecked(sql))
    assert time.monotonic() - begun < 15
    assert children(os.getpid()) == []


def test_a_process_ends_by_itself_where_the_one_that_started_it_is_gone(warehouse: Path) -> None:
    program = (
        "import sys, datetime, pathlib\n"
        "from catalog.engines.duckdb_question import DuckDBQuestionEngine\n"
        "from tests.integration.test_question_engine import unchecked\n"
        "engine = DuckDBQuestionEngine(pathlib.Path(sys.argv[1]), timeout=datetime.timedelta(seconds=1))\n"
        "engine.run(unchecked('SELECT count(*) FROM range(20000) a, range(20000) b, range(20000) c'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    until = time.monotonic() + 30
    found: list[int] = []
    with subprocess.Popen([sys.executable, "-c", program, str(warehouse)], env=environment) as parent:
        while not found and time.monotonic() < until:
            time.sleep(0.02)
            found = children(parent.pid)
        parent.kill()
    assert found
    while is_running(found[0]) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(found[0])


def test_questions_asked_at_once_do_not_meet(engine: DuckDBQuestionEngine) -> None:
    def ask(number: int) -> object:
        return engine.run(unchecked(f"SELECT {number} + order_id AS n FROM ontology.orders ORDER BY order_id")).rows[0][
            0
        ]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, range(6))) == [1, 2, 3, 4, 5, 6]


# --- Faults


def test_a_query_for_another_purpose_is_refused(engine: DuckDBQuestionEngine) -> None:
    monitors = CertifiedQuery("SELECT 1 AS a", Purpose.MONITOR, {}, (), seal=SEAL)
    with pytest.raises(InternalError, match="purpose monitor has no business in the question profile"):
        engine.run(monitors)


def test_a_warehouse_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WarehouseMissing, match=r"^lab\.duckdb is not there; `trivet ingest` builds it$"):
        DuckDBQuestionEngine(tmp_path / "lab.duckdb", timeout=TIMEOUT).run(unchecked("SELECT 1 AS a"))
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_engine_is_one_line(engine: DuckDBQuestionEngine) -> None:
    with pytest.raises(EngineFault, match="Conversion Error") as caught:
        engine.run(unchecked("SELECT CAST(site AS INTEGER) AS n FROM ontology.readings"))
    assert "\n" not in str(caught.value)


def test_a_relative_path_is_that_of_the_caller(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(warehouse.parent)
    engine = DuckDBQuestionEngine(Path(warehouse.name), timeout=TIMEOUT)
    monkeypatch.chdir("/")
    assert engine.run(unchecked("SELECT count(*) AS n FROM ontology.orders")).rows == ((3,),)


# --- Cells


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.decimals(allow_nan=False, allow_infinity=False),
        st.text(),
        st.dates(),
        st.datetimes(),
        st.times(),
    )
)
def test_a_cell_comes_back_as_it_was(value: Cell) -> None:
    found = decode(encode(value))
    assert (found, type(found), str(found)) == (value, type(value), str(value))


@pytest.mark.parametrize("value", [[1], {}, {"code": "1"}, {"date": 1}, {"date": "2024-01-01", "time": "01:02"}, 1.5])
def test_what_no_encoder_makes_is_no_cell(value: object) -> None:
    with pytest.raises(UnknownCell):
        decode(value)
