"""A world that is broken in any way is told as no_data with its reason: never an exception, never compliant."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from monitors.evaluation import Counts, NotMade
from tests.integration.store import migrated_store
from tests.integration.worlds import (
    BADGES,
    CONTRACT,
    WORLD,
    a_warehouse,
    assert_not_made,
    assert_verifies,
    badges,
    evaluate,
    stored,
)
from trivet.verdicts import EvaluationStatus, NotMadeReason, Reason, Verdict


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def test_a_world_that_is_whole_is_judged(tmp_path: Path, store: sa.Engine) -> None:
    found = evaluate(a_warehouse(tmp_path), store)
    assert badges(found) == BADGES
    linked = found["b-linked"]
    assert isinstance(linked.outcome, Counts)
    assert linked.outcome.no_data_reasons == {Reason.LEFT_NULL: 1, Reason.RIGHT_MISSING: 1}
    assert [member.key["id"] for member in linked.breached] == ["R2"]
    assert stored(store, linked)[1:] == ({"breach": 1, "no_data": 2, "compliant": 2}, 3)
    assert_verifies(store, 3)


VIEWS: dict[str, tuple[str, NotMadeReason, str]] = {
    "a view that is gone": (
        "DROP VIEW ontology.floor",
        NotMadeReason.VIEW_MISSING,
        "view ontology.floor is not in the warehouse",
    ),
    "a schema that is gone": (
        "DROP VIEW ontology.floor; CREATE SCHEMA elsewhere; CREATE VIEW elsewhere.floor AS FROM raw.floor",
        NotMadeReason.VIEW_MISSING,
        "view ontology.floor is not in the warehouse",
    ),
    "a column that was dropped": (
        "CREATE OR REPLACE VIEW ontology.floor AS SELECT site FROM raw.floor",
        NotMadeReason.VIEW_CHANGED,
        "view ontology.floor has no column 'least'",
    ),
    "a column that was renamed": (
        "CREATE OR REPLACE VIEW ontology.floor AS SELECT site, least AS least_value FROM raw.floor",
        NotMadeReason.VIEW_CHANGED,
        "view ontology.floor has no column 'least'; did you mean 'least_value'?",
    ),
    "a column spelled in capitals": (
        'CREATE OR REPLACE VIEW ontology.floor AS SELECT site, least AS "LEAST" FROM raw.floor',
        NotMadeReason.VIEW_CHANGED,
        "view ontology.floor has no column 'least'",
    ),
    "a table under the view that is gone": ("DROP TABLE raw.floor", NotMadeReason.ENGINE_ERROR, "floor"),
    "a table under the view that lost a column": (
        "ALTER TABLE raw.floor DROP COLUMN least",
        NotMadeReason.ENGINE_ERROR,
        "",
    ),
    "a view that raises": (
        "CREATE OR REPLACE VIEW ontology.floor AS SELECT site, CASE WHEN site = 'south' "
        "THEN CAST(error('the\ntruck is late') AS VARCHAR) ELSE least END AS least FROM raw.floor",
        NotMadeReason.ENGINE_ERROR,
        "the",
    ),
    "a view whose cast fails": (
        "CREATE OR REPLACE VIEW ontology.floor AS SELECT site, CAST(replace(least, '4', 'four') AS INTEGER) AS least "
        "FROM raw.floor",
        NotMadeReason.ENGINE_ERROR,
        "Could not convert string 'four' to INT32",
    ),
    "a view that overflows": (
        "CREATE OR REPLACE VIEW ontology.floor AS "
        "SELECT site, CAST(least AS BIGINT) * 9223372036854775807 AS least FROM raw.floor",
        NotMadeReason.ENGINE_ERROR,
        "Overflow in multiplication",
    ),
    "a view that reads a file": (
        "CREATE OR REPLACE VIEW ontology.floor AS "
        "SELECT 'north' AS site, content AS least FROM read_text('/etc/hostname')",
        NotMadeReason.ENGINE_ERROR,
        "disabled",
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_broken_view_stops_the_monitors_that_read_it_and_no_other(
    tmp_path: Path, store: sa.Engine, name: str
) -> None:
    change, reason, message = VIEWS[name]
    found = evaluate(a_warehouse(tmp_path, change), store)
    assert_not_made(store, found["b-linked"], reason, message)
    assert badges(found) == BADGES | {"b-linked": None}
    assert_verifies(store, 3)


@pytest.mark.parametrize("view", ["ontology.reading", "ontology.floor"])
def test_a_view_of_the_members_or_of_the_far_side_that_is_gone_is_named(
    tmp_path: Path, store: sa.Engine, view: str
) -> None:
    found = evaluate(a_warehouse(tmp_path, f"DROP VIEW {view}"), store)
    assert_not_made(store, found["b-linked"], NotMadeReason.VIEW_MISSING, f"view {view} is not in the warehouse")


def test_an_empty_population_is_no_data(tmp_path: Path, store: sa.Engine) -> None:
    found = evaluate(a_warehouse(tmp_path, "DELETE FROM raw.reading"), store)
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.POPULATION_EMPTY, "say `allow_empty: true` if that is fine")
    assert_verifies(store, 3)


def test_an_empty_population_that_is_allowed_is_compliant_with_zeros(tmp_path: Path, store: sa.Engine) -> None:
    monitors = "monitors: [{id: m, object: reading, breach_when: value < held_to.least, allow_empty: true}]"
    made = evaluate(a_warehouse(tmp_path, "DELETE FROM raw.reading"), store, monitors=monitors)["m"]
    assert made.outcome == Counts(0, 0, 0, 0, 0, 0, {})
    assert (made.verdict, made.badge) == (Verdict.COMPLIANT, "0 breaches / 0 no-data")
    assert stored(store, made)[1:] == ({"breach": 0, "no_data": 0, "compliant": 0}, 0)
    assert_verifies(store, 1)


def test_a_scope_that_leaves_no_one_is_an_empty_population(tmp_path: Path, store: sa.Engine) -> None:
    monitors = "monitors: [{id: m, object: reading, breach_when: value < 0, where: site = 'east'}]"
    made = evaluate(a_warehouse(tmp_path), store, monitors=monitors)["m"]
    assert_not_made(store, made, NotMadeReason.POPULATION_EMPTY, "no member is in the population")


def test_an_empty_far_side_leaves_every_member_undecided(tmp_path: Path, store: sa.Engine) -> None:
    made = evaluate(a_warehouse(tmp_path, "DELETE FROM raw.floor"), store)["b-linked"]
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.population, made.outcome.no_data, made.outcome.compliant) == (5, 5, 0)
    assert set(made.outcome.no_data_reasons) == {Reason.LEFT_NULL, Reason.RIGHT_MISSING}


def _truncated(file: Path, size: int) -> None:
    os.truncate(file, size)


def _no_tables(file: Path) -> None:
    file.unlink()
    duckdb.connect(str(file)).close()


WAREHOUSES: dict[str, tuple[Any, NotMadeReason, str]] = {
    "missing": (lambda file: file.unlink(), NotMadeReason.VIEW_MISSING, "`trivet ingest` builds it"),
    "a folder": (lambda file: (file.unlink(), file.mkdir()), NotMadeReason.ENGINE_ERROR, ""),
    "empty": (lambda file: _truncated(file, 0), NotMadeReason.ENGINE_ERROR, ""),
    "one byte": (lambda file: _truncated(file, 1), NotMadeReason.ENGINE_ERROR, ""),
    "its first header": (lambda file: _truncated(file, 4096), NotMadeReason.ENGINE_ERROR, ""),
    "its three headers": (lambda file: _truncated(file, 3 * 4096), NotMadeReason.ENGINE_ERROR, ""),
    "half of it": (lambda file: _truncated(file, file.stat().st_size // 2), NotMadeReason.ENGINE_ERROR, ""),
    "text": (lambda file: file.write_text("id,site,value\n" * 1000), NotMadeReason.ENGINE_ERROR, "not a valid"),
    "noise": (lambda file: file.write_bytes(os.urandom(20_000)), NotMadeReason.ENGINE_ERROR, "not a valid"),
    "zeros": (lambda file: file.write_bytes(bytes(20_000)), NotMadeReason.ENGINE_ERROR, "not a valid"),
    "a link to nowhere": (
        lambda file: (file.unlink(), file.symlink_to("nowhere")),
        NotMadeReason.VIEW_MISSING,
        "`trivet ingest` builds it",
    ),
    "an empty DuckDB": (
        _no_tables,
        NotMadeReason.VIEW_MISSING,
        "is not in the warehouse",
    ),
}


@pytest.mark.parametrize("name", WAREHOUSES)
def test_a_warehouse_that_is_none_is_no_data_for_every_monitor(tmp_path: Path, store: sa.Engine, name: str) -> None:
    damage, reason, message = WAREHOUSES[name]
    file = a_warehouse(tmp_path)
    damage(file)
    found = evaluate(file, store)
    assert len(found) == 3
    for made in found.values():
        assert_not_made(store, made, reason, message)
    assert_verifies(store, 3)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse whose rows fill several blocks; all 60,000 readings hold a value of 1."""
    rows = (
        "INSERT INTO raw.reading SELECT 'K' || hash(i), 'north', '1', 'r.csv', i FROM range(60000) AS r(i);"
        "DELETE FROM raw.reading WHERE id LIKE 'R%'"
    )
    return a_warehouse(tmp_path_factory.mktemp("large"), rows)


def test_a_flipped_byte_anywhere_is_never_counted_as_data(large: Path, tmp_path: Path) -> None:
    """Every block has a checksum: what is read is what was written, or nothing is."""
    monitors = "monitors: [{id: m, object: reading, breach_when: value < 0, where: id is present}]"
    size = large.stat().st_size
    whole = Counts(60_000, 0, 0, 60_000, 0, 0, {})
    outcomes = []
    for offset in [*range(10, 12_288, 2048), *range(12_288 + 100, size, size // 16)]:
        file = Path(shutil.copy(large, tmp_path))
        with file.open("r+b") as handle:
            handle.seek(offset)
            byte = handle.read(1)
            handle.seek(offset)
            handle.write(bytes([byte[0] ^ 0xFF]))
        made = evaluate(file, None, monitors=monitors)["m"]
        outcomes.append(made.outcome)
    refused = [outcome for outcome in outcomes if isinstance(outcome, NotMade)]
    assert all(outcome == whole for outcome in outcomes if outcome not in refused)
    assert len(refused) > len(outcomes) // 3


@contextmanager
def written_by_another_process(file: Path) -> Iterator[None]:
    code = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        yield
    finally:
        process.communicate("")


def test_a_warehouse_that_another_process_writes_is_no_data(tmp_path: Path, store: sa.Engine) -> None:
    file = a_warehouse(tmp_path)
    with written_by_another_process(file):
        found = evaluate(file, store)
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.ENGINE_ERROR, "Could not set lock on file")
    assert badges(evaluate(file, store)) == BADGES
    assert_verifies(store, 6)


@pytest.mark.slow
def test_an_evaluation_stays_with_the_data_that_it_opened(tmp_path: Path) -> None:
    """A swap of the file in the middle of an evaluation changes nothing for it; the next one sees it."""
    file = a_warehouse(tmp_path)
    (tmp_path / "next").mkdir()
    following = a_warehouse(tmp_path / "next", "DELETE FROM raw.reading WHERE id <> 'R1'")

    class Swapped(DuckDBEngine):
        @contextmanager
        def snapshot(self, longest: timedelta | None = None) -> Iterator[DuckDBSnapshot]:
            with super().snapshot(longest) as opened:
                following.replace(file)
                yield opened

    before = evaluate(Swapped(file), None)
    after = evaluate(file, None)
    assert badges(before) == BADGES
    assert badges(after) == dict.fromkeys(BADGES, "0 breaches / 0 no-data")
    assert before["a-own"].snapshot != after["a-own"].snapshot


def test_a_row_number_of_any_size_can_be_recorded(tmp_path: Path, store: sa.Engine) -> None:
    made = evaluate(a_warehouse(tmp_path, "UPDATE raw.reading SET line = 9223372036854775807"), store)["a-own"]
    assert [part["row"] for part in made.breached[0].provenance] in ([2**63 - 1], [str(2**63 - 1)])
    assert_verifies(store, 3)


@pytest.mark.parametrize(
    "text", ["'\\u0000'", "'cafe' || chr(769)", "repeat('x', 200000)", "chr(27) || '[2J'", "chr(65534)", "'\"\\'"]
)
def test_text_of_any_kind_can_be_recorded(tmp_path: Path, store: sa.Engine, text: str) -> None:
    file = a_warehouse(tmp_path, f"UPDATE raw.reading SET id = id || {text}, doc = {text}, value = value || {text}")
    found = evaluate(file, store)
    assert {made.status for made in found.values()} == {EvaluationStatus.COMPLETED}
    assert_verifies(store, 3)


def test_keys_that_repeat_or_are_blank_are_counted_and_recorded(tmp_path: Path, store: sa.Engine) -> None:
    file = a_warehouse(tmp_path, "UPDATE raw.reading SET id = NULL, value = '-1' WHERE id IN ('R3', 'R4')")
    made = evaluate(file, store)["a-own"]
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.population, made.outcome.breach, made.outcome.duplicate_keys) == (5, 3, 2)
    assert_verifies(store, 3)


def test_physical_types_other_than_text_are_judged_alike(tmp_path: Path, store: sa.Engine) -> None:
    typed = WORLD.replace("value VARCHAR", "value INTEGER").replace("'', 'r.csv', 4", "NULL, 'r.csv', 4")
    file = a_warehouse(tmp_path, world=typed)
    assert badges(evaluate(file, store)) == BADGES


def test_a_contract_that_the_views_do_not_have_columns_for_is_told_by_the_view(
    tmp_path: Path, store: sa.Engine
) -> None:
    contract = CONTRACT.replace("provenance: {document: doc, row: line}", "provenance: {document: doc, page: page}")
    found = evaluate(a_warehouse(tmp_path), store, contract=contract)
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.VIEW_CHANGED, "view ontology.reading has no column 'page'")
