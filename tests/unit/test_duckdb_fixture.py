"""The warehouse in memory: the rows that it was given, as they are, and nothing that can be changed."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from catalog.contract import Contract, ObjectType, Property
from catalog.datatypes import INTEGER, TEXT
from catalog.engines.duckdb_fixture import FixtureEngine, FixtureTable
from catalog.engines.port import Engine, EngineFault
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import Comparison
from monitors.definition import MonitorDefinition
from worker.judging import judge

TEXTS = (
    "plain",
    "it's",
    '"quoted"',
    "'; DROP TABLE x; --",
    "\x00",
    "\x1b[31m",
    "Zoë 日本 \U0001f600",
    "x" * 100_000,
    " ",
)
CONTRACT = Contract(
    *("texts", "1.0.0", "draft", "0" * 64),
    (ObjectType("item", "ontology.item", ("id",), (Property("id", TEXT), Property("n", INTEGER))),),
    (),
)


def engine(rows: list[dict[str, object]]) -> Engine:
    return FixtureEngine({"ontology.item": FixtureTable({"id": "VARCHAR", "n": "BIGINT"}, rows)})


def test_cells_are_judged_as_they_were_given_and_what_is_left_out_is_null() -> None:
    condition = parse_condition("n > 1")
    assert isinstance(condition, Comparison)
    definition = MonitorDefinition(id="m", object="item", breach_when=condition)
    with engine([*({"id": text, "n": 2} for text in TEXTS), {"n": 2}, {"id": "none"}]).snapshot() as snapshot:
        assert snapshot.columns("ontology.item") == {"id": "VARCHAR", "n": "BIGINT"}
        assert snapshot.columns("ontology.nothing") is None
        found = judge(definition, CONTRACT, snapshot, datetime(2026, 1, 1, tzinfo=UTC))
    assert {member.key["id"] for member in found.breached} == {*TEXTS, None}
    assert [member.key["id"] for member in found.undecided] == ["none"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO ontology.item VALUES ('x', 1)",
        "CREATE TABLE warehouse.ontology.other (x INTEGER)",
        "SET threads = 4",
        "SET enable_external_access = true",
        "ATTACH 'other.duckdb' AS other",
        "COPY (SELECT 1) TO 'out.csv'",
        "INSTALL httpfs",
    ],
)
def test_nothing_can_be_changed_and_nothing_outside_be_reached(statement: str) -> None:
    with FixtureEngine({"ontology.item": FixtureTable({"id": "VARCHAR"}, [])}).snapshot() as snapshot:
        connection: duckdb.DuckDBPyConnection = snapshot._connection
        with pytest.raises(duckdb.Error):
            connection.execute(statement)


def test_each_snapshot_is_made_anew() -> None:
    warehouse = engine([{"id": "a", "n": 1}])
    with warehouse.snapshot() as first, warehouse.snapshot() as second:
        assert first.columns("ontology.item") == second.columns("ontology.item")
        assert first.identity == second.identity


def test_cells_that_do_not_fit_their_column_are_a_fault_of_the_engine() -> None:
    with pytest.raises(EngineFault, match="many"), engine([{"id": "a", "n": "many"}]).snapshot():
        pytest.fail("the snapshot was opened")
