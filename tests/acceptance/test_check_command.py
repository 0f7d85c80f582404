"""`trivet check --live` and `--tests`: what the data shows, and what rule tests say.

The warehouses are items of `tests/cases/live/*.yaml`; the README there says how to add one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.acceptance.command import trivet
from tests.acceptance.files import files_of, replace_in
from worker.shipped import shipped

LIVE = Path(__file__).parents[1] / "cases" / "live"
WAREHOUSES: list[dict[str, Any]] = yaml.safe_load((LIVE / "warehouses.yaml").read_text("utf-8"))


def live_workspace(sql: str, at: Path) -> Path:
    """A workspace whose warehouse is the good one, changed by `sql`."""
    (at / "monitors").mkdir(parents=True)
    shutil.copy(LIVE / "contract.yaml", at)
    shutil.copy(LIVE / "monitors.yaml", at / "monitors")
    with duckdb.connect(str(at / "warehouse.duckdb")) as connection:
        connection.execute((LIVE / "warehouse.sql").read_text("utf-8"))
        connection.execute(sql)
    return at


@pytest.mark.parametrize("case", WAREHOUSES, ids=lambda case: case["name"])
def test_what_the_data_shows_is_told_exactly_and_changes_nothing(case: dict[str, Any], tmp_path: Path) -> None:
    at = live_workspace(case["sql"], tmp_path / "at")
    before = files_of(at)
    told = trivet("check", "--live", at=at)
    lines = [f"warning: {warning}" for warning in case["warnings"]] + case["findings"]
    assert told.err.splitlines() == lines
    assert told.code == (4 if case["findings"] else 0)
    assert told.out == ("" if case["findings"] else "fine: contract live 1.0.0, 3 object types, 2 links, 3 monitors\n")
    assert files_of(at) == before


def test_findings_and_warnings_are_apart_in_the_document(tmp_path: Path) -> None:
    sql = "UPDATE raw.pay SET level = 'Z'; INSERT INTO raw.pass VALUES (1, 'b9')"
    document = trivet("check", "--live", "--json", at=live_workspace(sql, tmp_path / "at")).document
    assert document.keys() == {"ok", "findings", "warnings"}
    assert document["ok"] is False
    assert [item["file"] for item in document["findings"]] == ["contract.yaml", "monitors/monitors.yaml"]
    assert [item["message"].split(":")[0] for item in document["warnings"]] == ["pass"]


def test_a_workspace_without_a_warehouse_is_told_so(tmp_path: Path) -> None:
    at = live_workspace("SELECT 1", tmp_path / "at")
    (at / "warehouse.duckdb").unlink()
    ended = trivet("check", "--live", at=at)
    assert (ended.code, ended.err) == (69, "warehouse.duckdb is not there; `trivet ingest` builds it\n")


def test_the_demo_has_nothing_that_the_data_shows_to_be_wrong(demo: Path) -> None:
    document = trivet("check", "--live", "--json", at=demo).document
    assert document == {"ok": True, "findings": [], "warnings": []}


def test_the_rule_tests_that_ship_pass_without_a_warehouse(tmp_path: Path) -> None:
    at = Path(shutil.copytree(shipped("examples") / "aruma", tmp_path / "aruma"))
    ended = trivet("check", "--tests", at=at)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "fine: contract aruma 1.0.0, 2 object types, 1 link, 3 monitors, 6 rule tests\n"
    document = trivet("check", "--tests", "--json", at=at).document
    assert document.keys() == {"ok", "findings", "tests"}
    assert [item["ok"] for item in document["tests"]] == [True] * 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hourly_rate < governed_by.min_hourly_rate", "hourly_rate <= governed_by.min_hourly_rate"),
        ("hourly_rate < governed_by.min_hourly_rate", "hourly_rate < 27.22"),
        ("ordinary_hours > 38", "ordinary_hours >= 38"),
        ("(employment_type = 'casual' and casual_loading < 25)", "casual_loading < 25"),
        ("super_rate < 12 or (", "super_rate < 11 or ("),
    ],
)
def test_the_rule_tests_that_ship_fail_where_a_monitor_is_made_to_mean_something_else(
    old: str, new: str, tmp_path: Path
) -> None:
    at = Path(shutil.copytree(shipped("examples") / "aruma", tmp_path / "aruma"))
    replace_in(at / "monitors" / "pay.yaml", old, new)
    ended = trivet("check", "--tests", at=at)
    assert (ended.code, ended.out) == (4, "")
    *lines, total = ended.err.splitlines()
    assert total.endswith("of 6 rule tests failed")
    assert all(line.startswith("monitors/pay.yaml:") and ": expected " in line for line in lines)
    assert lines


def test_a_fault_in_a_file_comes_before_tests_and_data(workspace: Path) -> None:
    replace_in(workspace / "monitors" / "pay.yaml", "expect: {breach: [below]}", "expect: {breach: [below], x: 1}")
    ended = trivet("check", "--live", "--tests", at=workspace)
    assert ended.code == 65
    assert ended.err.endswith("unknown key 'x'; known: breach, counts, no_data\n")
