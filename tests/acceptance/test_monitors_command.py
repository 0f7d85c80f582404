"""`trivet monitors`: the queries that it prints are the ones that decide, and anyone can run them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.acceptance.command import Ended, trivet

MONITORS = ("pay-below-floor", "hours-over-limit", "entitlements-short")
SEPARATED = re.compile(r"-- ([a-z-]+): (breach|no_data|population) query\n(.*?);\n\n?", re.DOTALL)


@pytest.fixture(scope="module", params=MONITORS)
def both(request: pytest.FixtureRequest, demo: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """What a monitor's evaluation reported, and the queries that were printed for it."""
    evaluated = trivet("evaluate", request.param, "--json", "--dry-run", at=demo).document
    compiled = trivet("monitors", "compile", request.param, "--json", at=demo).document
    assert compiled.keys() == {"monitor", "definition_hash", "dialect", "breach", "no_data", "population"}
    assert (compiled["monitor"], compiled["dialect"]) == (request.param, "duckdb")
    assert compiled["definition_hash"] == evaluated["definition_hash"]
    return evaluated, {name: compiled[name] for name in ("breach", "no_data", "population")}


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The demo's warehouse, as a person opens it who has nothing but DuckDB."""
    with duckdb.connect(str(demo / "warehouse.duckdb"), read_only=True) as connection:
        yield connection


def rows(warehouse: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    result = warehouse.execute(sql)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def test_the_breach_query_returns_exactly_the_reported_members(
    both: tuple[dict[str, Any], dict[str, str]], warehouse: duckdb.DuckDBPyConnection
) -> None:
    evaluated, queries = both
    found = [{"employee_id": row["employee_id"]} for row in rows(warehouse, queries["breach"])]
    assert found == [member["key"] for member in evaluated["samples"]["breach"]]


def test_the_no_data_query_returns_exactly_the_reported_members_with_their_reasons(
    both: tuple[dict[str, Any], dict[str, str]], warehouse: duckdb.DuckDBPyConnection
) -> None:
    evaluated, queries = both
    found = [(row["employee_id"], row["reason"]) for row in rows(warehouse, queries["no_data"])]
    reported = evaluated["samples"]["no_data"]
    assert found == [(member["key"]["employee_id"], member["reason"]) for member in reported]


def test_the_population_query_returns_the_reported_counts(
    both: tuple[dict[str, Any], dict[str, str]], warehouse: duckdb.DuckDBPyConnection
) -> None:
    evaluated, queries = both
    names = ("population", "compliant", "partial", "duplicate_keys")
    assert rows(warehouse, queries["population"]) == [{**{name: evaluated[name] for name in names}, "unaccounted": 0}]


def test_the_queries_show_the_operands_and_where_they_were_read(
    demo: Path, warehouse: duckdb.DuckDBPyConnection
) -> None:
    queries = trivet("monitors", "compile", "pay-below-floor", "--json", at=demo).document
    first = next(row for row in rows(warehouse, queries["breach"]) if row["employee_id"] == "E1012")
    assert first["hourly_rate"].rstrip("0") == "27.1"
    assert first["governed_by.min_hourly_rate"].rstrip("0") == "28.04"
    assert {"Table B.13", 64} <= set(first.values())


@pytest.mark.parametrize("monitor", MONITORS)
def test_the_queries_are_printed_whole_and_ready_to_copy(demo: Path, monitor: str) -> None:
    printed = trivet("monitors", "compile", monitor, at=demo)
    given = trivet("monitors", "compile", monitor, "--json", at=demo).document
    assert (printed.code, printed.err) == (0, "")
    assert SEPARATED.sub("", printed.out) == ""
    assert {(name, kind): sql for name, kind, sql in SEPARATED.findall(printed.out)} == {
        (monitor, kind): given[kind] for kind in ("breach", "no_data", "population")
    }


def test_a_monitor_compiles_without_a_warehouse_to_queries_that_give_the_same(
    workspace: Path, demo: Path, warehouse: duckdb.DuckDBPyConnection
) -> None:
    (workspace / "warehouse.duckdb").unlink()
    with_types = trivet("monitors", "compile", "pay-below-floor", "--json", at=demo).document
    without = trivet("monitors", "compile", "pay-below-floor", "--json", at=workspace).document
    for kind in ("breach", "no_data", "population"):
        assert rows(warehouse, without[kind]) == rows(warehouse, with_types[kind])


def test_monitors_are_listed(demo: Path) -> None:
    ended = trivet("monitors", "list", at=demo)
    assert ended.code == 0
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    title = "Paid below the agreement's floor"
    assert f"pay-below-floor employee_pay critical 0 6 * * * Australia/Sydney {title}" in lines


def test_a_definition_is_shown_with_every_default(demo: Path) -> None:
    document = trivet("monitors", "show", "hours-over-limit", "--json", at=demo).document
    said = {key: document[key] for key in ("id", "object", "breach_when", "where", "samples", "for", "no_data")}
    assert said == {
        "id": "hours-over-limit",
        "object": "employee_pay",
        "breach_when": "ordinary_hours > 38",
        "where": None,
        "samples": 100,
        "for": 1,
        "no_data": {"alert": True, "tolerate": 0},
    }
    shown = trivet("monitors", "show", "hours-over-limit", at=demo).out
    assert [line.split()[0] for line in shown.splitlines() if line[:1].strip()] == list(document)


def test_a_monitor_is_explained_in_words(demo: Path) -> None:
    ended = trivet("monitors", "explain", "pay-below-floor", at=demo)
    given = trivet("monitors", "explain", "pay-below-floor", "--json", at=demo).document
    assert (ended.code, given["monitor"]) == (0, "pay-below-floor")
    assert " ".join(" ".join(given["explanation"]).split()) == " ".join(ended.out.split())
    for word in ("hourly_rate", "governed_by", "min_hourly_rate", "superseded"):
        assert word in ended.out


@pytest.mark.parametrize("command", ["list", "show hours-over-limit", "explain pay-below-floor"])
def test_the_definitions_can_be_looked_at_without_warehouse_and_store(workspace: Path, command: str) -> None:
    for file in [*workspace.glob("warehouse*"), *workspace.glob("trivet.db*")]:
        file.unlink()
    ended: Ended = trivet("monitors", *command.split(), "--json", at=workspace)
    assert ended.code == 0
    assert json.loads(ended.out)
    assert not [*workspace.glob("warehouse*"), *workspace.glob("trivet.db*")]
