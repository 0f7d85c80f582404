"""A whole ingest: what it loads, what it refuses, and that readers see the old file or the new one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sources.check import check_columns
from sources.ingest import Check, ingest, no_check
from sources.report import IngestReport
from trivet.clock import FixedClock, SystemClock
from trivet.errors import InputError, UnavailableError
from trivet.findings import Finding

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one source of one file and one view over it."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "views").mkdir()
    (tmp_path / "sources.yaml").write_text("sources:\n  - {name: pay, files: sources/pay.csv}\n")
    (tmp_path / "sources" / "pay.csv").write_text("id,rate\nE1,31.42\nE2,\n")
    (tmp_path / "views" / "pay_line.sql").write_text("SELECT id, rate, _source_row\nFROM raw.pay\n")
    return tmp_path


def _ingest(workspace: Path, *, keep: int = 3, check: Check = no_check) -> IngestReport:
    return ingest(workspace, warehouse=workspace / "warehouse.duckdb", keep=keep, clock=SystemClock(), check=check)


def _query(warehouse: Path, sql: str) -> list[Any]:
    """Reads as an evaluation does: a private instance that attaches the file read-only."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{warehouse}' AS warehouse (READ_ONLY)")
        connection.execute("USE warehouse")
        return connection.execute(sql).fetchall()


def _refused(workspace: Path, check: Check = no_check) -> list[str]:
    """The findings of an ingest that must change nothing."""
    before = _files(workspace)
    with pytest.raises(InputError) as caught:
        _ingest(workspace, check=check)
    assert _files(workspace) == before
    return [str(finding) for finding in caught.value.findings]


def _files(workspace: Path) -> dict[str, bytes]:
    paths = [path for path in workspace.rglob("*") if path.is_file() and path.name != ".warehouse.lock"]
    return {str(path.relative_to(workspace)): path.read_bytes() for path in paths}


def test_files_become_raw_tables_and_governed_views_with_their_provenance(workspace: Path) -> None:
    report = _ingest(workspace)
    warehouse = workspace / "warehouse.duckdb"
    assert _query(warehouse, "SELECT * FROM raw.pay ORDER BY _source_row") == [
        ("E1", "31.42", "sources/pay.csv", "pay", None, 2),
        ("E2", "", "sources/pay.csv", "pay", None, 3),
    ]
    assert _query(warehouse, "SELECT * FROM ontology.pay_line ORDER BY id") == [
        ("E1", "31.42", 2),
        ("E2", "", 3),
    ]
    columns = "SELECT data_type FROM duckdb_columns() WHERE schema_name = 'raw' ORDER BY column_index"
    types = _query(warehouse, columns)
    assert [kind for (kind,) in types] == ["VARCHAR"] * 4 + ["INTEGER", "BIGINT"]
    assert [(table.name, table.rows) for table in report.tables] == [("pay", 2)]
    assert [(view.name, view.rows) for view in report.views] == [("ontology.pay_line", 2)]


def test_the_file_says_of_which_generation_and_which_bytes_it_is(workspace: Path) -> None:
    clock = FixedClock(datetime(2026, 11, 30, 6, 15, 0, 123456, tzinfo=UTC))
    warehouse = workspace / "warehouse.duckdb"
    report = ingest(workspace, warehouse=warehouse, keep=3, clock=clock)
    assert report.generation.startswith("20261130T061500123456Z-")
    built_at = "2026-11-30T06:15:00.123456Z"
    assert _query(warehouse, "SELECT * FROM _trivet.generation") == [(report.generation, built_at)]
    content = (workspace / "sources" / "pay.csv").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    expected = [("pay", "sources/pay.csv", digest, len(content), 2, built_at)]
    assert _query(warehouse, "SELECT * FROM _trivet.source") == expected
    assert json.loads(json.dumps(report.to_json()))["tables"][0]["documents"][0]["sha256"] == digest


def test_the_served_name_is_the_latest_generation_and_is_not_writable(workspace: Path) -> None:
    report = _ingest(workspace)
    warehouse = workspace / "warehouse.duckdb"
    assert warehouse.samefile(workspace / f"warehouse.{report.generation}.duckdb")
    assert warehouse.stat().st_mode & 0o222 == 0
    assert sorted(path.name for path in workspace.glob("*warehouse*")) == [
        ".warehouse.lock",
        f"warehouse.{report.generation}.duckdb",
        "warehouse.duckdb",
    ]


def test_several_files_of_one_layout_become_one_table(workspace: Path) -> None:
    (workspace / "sources.yaml").write_text("sources:\n  - {name: pay, files: 'sources/pay*.csv'}\n")
    (workspace / "sources" / "pay-2.csv").write_text("id,rate\nE3,9\n")
    (workspace / "sources" / ".~lock.pay.csv").write_text("not a source")
    report = _ingest(workspace)
    rows = _query(workspace / "warehouse.duckdb", "SELECT id, _source_document, _source_row FROM raw.pay")
    assert rows == [
        ("E3", "sources/pay-2.csv", 2),
        ("E1", "sources/pay.csv", 2),
        ("E2", "sources/pay.csv", 3),
    ]
    assert report.tables[0].rows == 3
    assert [document.document for document in report.tables[0].documents] == [
        "sources/pay-2.csv",
        "sources/pay.csv",
    ]


@pytest.mark.parametrize(
    ("header", "difference"),
    [
        ("rate,id", "column 1 is 'rate' and not 'id'"),
        ("id,Rate", "column 2 is 'Rate' and not 'rate'"),
        ("id,rate,more", "3 columns and not 2; more: more"),
        ("id", "1 columns and not 2; missing: rate"),
    ],
)
def test_a_file_of_another_layout_is_refused(workspace: Path, header: str, difference: str) -> None:
    (workspace / "sources.yaml").write_text("sources:\n  - {name: pay, files: 'sources/*.csv'}\n")
    (workspace / "sources" / "strange.csv").write_text(header + "\n")
    message = f"not of the layout of sources/pay.csv, with which it forms one table: {difference}"
    assert _refused(workspace) == [f"sources/strange.csv: {message}"]


def test_parquet_keeps_its_types_and_counts_rows_from_one(workspace: Path) -> None:
    path = workspace / "sources" / "typed.parquet"
    with duckdb.connect() as connection:
        query = "SELECT i AS id, (i / 4)::DECIMAL(9, 2) AS rate, {'a': [i]} AS nested FROM range(3) AS r(i)"
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    (workspace / "sources.yaml").write_text(
        "sources:\n  - {name: pay, files: sources/pay.csv}\n  - {name: typed, files: sources/typed.parquet}\n"
    )
    _ingest(workspace)
    warehouse = workspace / "warehouse.duckdb"
    assert _query(warehouse, "SELECT id, rate::VARCHAR, nested, _source_page, _source_row FROM raw.typed") == [
        (0, "0.00", {"a": [0]}, None, 1),
        (1, "0.25", {"a": [1]}, None, 2),
        (2, "0.50", {"a": [2]}, None, 3),
    ]
    assert _query(warehouse, "SELECT typeof(rate), typeof(nested) FROM raw.typed LIMIT 1") == [
        ("DECIMAL(9,2)", "STRUCT(a BIGINT[])")
    ]


def test_parquet_files_at_fault_are_refused_by_name(workspace: Path) -> None:
    (workspace / "sources" / "damaged.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    with duckdb.connect() as connection:
        target = workspace / "sources" / "reserved.parquet"
        connection.execute(f"COPY (SELECT 1 AS _source_page, {{'b': 1}} AS a) TO '{target}' (FORMAT parquet)")
    (workspace / "sources.yaml").write_text(
        "sources:\n  - {name: a, files: sources/damaged.parquet}\n  - {name: b, files: sources/reserved.parquet}\n"
    )
    shutil.rmtree(workspace / "views")
    damaged, reserved = _refused(workspace)
    assert damaged.startswith("sources/damaged.parquet: cannot be read as Parquet: ")
    assert reserved.startswith("sources/reserved.parquet: column 1 is named '_source_page', which ingestion")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("../pay.csv", "a path may not contain '..'"),
        ("sources/../../pay.csv", "a path may not contain '..'"),
        ("/etc/hosts.csv", "write the path relative to the workspace"),
        ("C:/pay.csv", "write the path relative to the workspace"),
        ("~/pay.csv", "write the path relative to the workspace"),
        ("sources\\pay.csv", "write the path with forward slashes"),
        ("sources/absent.csv", "no file 'sources/absent.csv' in the workspace"),
        ("sources/absent*.csv", "no file in the workspace matches 'sources/absent*.csv'"),
        ("sources/link.csv", "'sources/link.csv' is a link that leads out of the workspace"),
        ("sources/l*.csv", "'sources/link.csv' is a link that leads out of the workspace"),
        ("outside/pay.csv", "'outside/pay.csv' is a link that leads out of the workspace"),
        ("sources/pipe.csv", "no file 'sources/pipe.csv' in the workspace"),
    ],
)
def test_paths_that_leave_the_workspace_or_lead_nowhere_are_refused(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory, files: str, message: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "pay.csv").write_text("id\n1\n")
    (workspace / "sources" / "link.csv").symlink_to(outside / "pay.csv")
    (workspace / "outside").symlink_to(outside, target_is_directory=True)
    os.mkfifo(workspace / "sources" / "pipe.csv")
    (workspace / "sources.yaml").write_text(f"sources:\n  - name: pay\n    files: '{files}'\n")
    (finding,) = _refused(workspace)
    assert finding.startswith("sources.yaml:3:12: sources[0].files: ")
    assert message in finding


def test_a_link_that_stays_in_the_workspace_is_followed(workspace: Path) -> None:
    (workspace / "sources" / "current.csv").symlink_to("pay.csv")
    (workspace / "sources.yaml").write_text("sources:\n  - {name: pay, files: sources/current.csv}\n")
    _ingest(workspace)
    documents = _query(workspace / "warehouse.duckdb", "SELECT DISTINCT _source_document FROM raw.pay")
    assert documents == [("sources/current.csv",)]


def test_everything_that_is_wrong_is_said_at_once(workspace: Path) -> None:
    (workspace / "sources.yaml").write_text(
        "sources:\n  - {name: pay, files: sources/pay.csv}\n  - {name: more, files: sources/more.csv}\n"
        "  - {name: none, files: sources/none.csv}\n"
    )
    (workspace / "sources" / "pay.csv").write_text("id,rate\nE1,1,2\n")
    (workspace / "sources" / "more.csv").write_text("a,A\n")
    (workspace / "views" / "bad.sql").write_text("SELECT * FROM raw.nothing")
    files = {finding.split(":")[0] for finding in _refused(workspace)}
    assert files == {"sources.yaml", "sources/pay.csv", "sources/more.csv", "views/bad.sql"}


def test_a_workspace_that_declares_no_sources_is_told_so(workspace: Path) -> None:
    (workspace / "sources.yaml").unlink()
    assert _refused(workspace) == ["sources.yaml: does not exist; declare there what is to be loaded"]


def test_a_view_that_the_engine_refuses_is_named_with_its_line(workspace: Path) -> None:
    (workspace / "views" / "pay_line.sql").write_text("SELECT id,\n  rat\nFROM raw.pay\n")
    (finding,) = _refused(workspace)
    assert finding.startswith('views/pay_line.sql:2:1: Binder Error: Referenced column "rat" not found')


def test_a_view_that_fails_on_some_row_is_found_before_it_is_published(workspace: Path) -> None:
    query = "SELECT id, CAST(rate AS DECIMAL(9, 2)) AS rate FROM raw.pay\n"
    (workspace / "views" / "pay_line.sql").write_text(query)
    (finding,) = _refused(workspace)
    assert finding.startswith("views/pay_line.sql: Conversion Error:")


def test_the_check_sees_the_columns_and_its_findings_stop_the_publication(workspace: Path) -> None:
    seen: list[Any] = []

    def check(columns: Any) -> tuple[Finding, ...]:
        seen.append(columns)
        expected = {"ontology.pay_line": ["id", "rat"], "ontology.pay_lin": []}
        return check_columns(expected, columns, "contract.yaml")

    _ingest(workspace)
    assert _refused(workspace, check) == [
        "contract.yaml: view ontology.pay_line has no column 'rat'; did you mean 'rate'?",
        "contract.yaml: view ontology.pay_lin does not exist; did you mean 'ontology.pay_line'?",
    ]
    assert seen == [{"ontology.pay_line": {"id": "VARCHAR", "rate": "VARCHAR", "_source_row": "BIGINT"}}]


def test_a_check_that_raises_leaves_nothing_behind(workspace: Path) -> None:
    def check(_columns: Any) -> tuple[Finding, ...]:
        raise RuntimeError("a fault of the caller")

    before = _files(workspace)
    with pytest.raises(RuntimeError):
        _ingest(workspace, check=check)
    assert _files(workspace) == before
    assert not list(workspace.glob(".warehouse.*.build"))


def test_a_reader_keeps_the_old_file_and_a_fresh_one_sees_the_new(workspace: Path) -> None:
    warehouse = workspace / "warehouse.duckdb"
    _ingest(workspace)
    with duckdb.connect() as reader:
        reader.execute(f"ATTACH '{warehouse}' AS old (READ_ONLY)")
        (workspace / "sources" / "pay.csv").write_text("id,rate\nE9,1\n")
        _ingest(workspace, keep=1)
        assert reader.execute("SELECT id FROM old.ontology.pay_line ORDER BY id").fetchall() == [
            ("E1",),
            ("E2",),
        ]
        assert _query(warehouse, "SELECT id FROM ontology.pay_line") == [("E9",)]


def test_only_the_last_generations_stay(workspace: Path) -> None:
    generations = [_ingest(workspace, keep=2).generation for _ in range(3)]
    (workspace / "warehouse.mine.duckdb").write_bytes(b"somebody else's")
    report = _ingest(workspace, keep=2)
    assert report.pruned == (f"warehouse.{generations[1]}.duckdb",)
    assert sorted(path.name for path in workspace.glob("warehouse.*.duckdb")) == sorted(
        [
            f"warehouse.{generations[2]}.duckdb",
            f"warehouse.{report.generation}.duckdb",
            "warehouse.mine.duckdb",
        ]
    )


def test_a_clock_set_back_does_not_prune_what_was_just_published(workspace: Path) -> None:
    _ingest(workspace)
    warehouse = workspace / "warehouse.duckdb"
    report = ingest(workspace, warehouse=warehouse, keep=1, clock=FixedClock(datetime(2001, 1, 1, tzinfo=UTC)))
    assert [path.name for path in workspace.glob("warehouse.*.duckdb")] == [f"warehouse.{report.generation}.duckdb"]
    assert _query(warehouse, "SELECT generation FROM _trivet.generation") == [(report.generation,)]


def test_without_hard_links_the_file_is_copied(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError("not supported here")

    monkeypatch.setattr(os, "link", refuse)
    report = _ingest(workspace)
    kept = workspace / f"warehouse.{report.generation}.duckdb"
    assert not kept.samefile(workspace / "warehouse.duckdb")
    assert kept.read_bytes() == (workspace / "warehouse.duckdb").read_bytes()


def test_a_write_ahead_log_of_another_program_stops_the_publication(workspace: Path) -> None:
    _ingest(workspace)
    (workspace / "warehouse.duckdb.wal").write_bytes(b"somebody writes here")
    before = _files(workspace)
    with pytest.raises(UnavailableError, match="a program writes into warehouse"):
        _ingest(workspace)
    assert _files(workspace) == before


def test_a_place_that_cannot_be_written_is_unavailable(workspace: Path) -> None:
    (workspace / "file").write_text("in the way")
    with pytest.raises(UnavailableError, match="cannot be written"):
        ingest(workspace, warehouse=workspace / "file" / "warehouse.duckdb", keep=1, clock=SystemClock())


# Another process ingests, and stands still at the place that the test names.
_CHILD = """
import sys, time
from pathlib import Path
import sources.ingest, sources.publication, sources.warehouse_build
from trivet.clock import SystemClock

def stop(*arguments):
    print("stopped", flush=True)
    time.sleep(600)

workspace, place = Path(sys.argv[1]), sys.argv[2]
match place:
    case "views":
        sources.warehouse_build._create_views = stop
    case "link":
        sources.publication.os.link = stop
    case "replace":
        Path.replace = stop
    case "prune":
        sources.ingest.prune = stop
check = stop if place == "check" else sources.ingest.no_check
sources.ingest.ingest(
    workspace, warehouse=workspace / "warehouse.duckdb", keep=1, clock=SystemClock(), check=check
)
"""


@pytest.fixture
def stopped_child(workspace: Path) -> Any:
    """Starts an ingest in another process and returns it once it stands at a place; killed afterwards."""
    children: list[subprocess.Popen[str]] = []

    def start(place: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _CHILD, str(workspace), place]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "stopped\n"
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


Starter = Callable[[str], "subprocess.Popen[str]"]


@pytest.mark.parametrize("place", ["views", "check", "link", "replace", "prune"])
def test_a_build_killed_anywhere_leaves_a_whole_warehouse_and_the_next_one_cleans_up(
    workspace: Path, stopped_child: Starter, place: str
) -> None:
    old = _ingest(workspace).generation
    warehouse = workspace / "warehouse.duckdb"
    (workspace / "sources" / "pay.csv").write_text("id,rate\nE9,1\n")
    child = stopped_child(place)
    child.send_signal(signal.SIGKILL)
    child.wait()
    ids = _query(warehouse, "SELECT id FROM ontology.pay_line ORDER BY id")
    assert ids == ([("E9",)] if place == "prune" else [("E1",), ("E2",)])
    assert list(workspace.glob(".warehouse.*.build"))
    report = _ingest(workspace, keep=1)
    assert report.generation > old
    assert _query(warehouse, "SELECT generation FROM _trivet.generation") == [(report.generation,)]
    assert sorted(path.name for path in workspace.glob("*warehouse*")) == [
        ".warehouse.lock",
        f"warehouse.{report.generation}.duckdb",
        "warehouse.duckdb",
    ]


def test_a_second_ingest_at_once_is_turned_away_and_the_first_goes_on(workspace: Path, stopped_child: Starter) -> None:
    child = stopped_child("check")
    with pytest.raises(UnavailableError, match=rf"another ingest is building .* \(process {child.pid}\)"):
        _ingest(workspace)
    assert list(workspace.glob(".warehouse.*.build")), "the running build must keep its folder"


@pytest.mark.parametrize("name", ["aruma", "empty", "water"])
def test_the_examples_can_be_ingested_as_they_are(tmp_path: Path, name: str) -> None:
    workspace = tmp_path / name
    shutil.copytree(EXAMPLES / name, workspace)
    report = _ingest(workspace)
    assert all(view.rows for view in report.views)
    assert all(table.rows for table in report.tables)
