"""Data that is older than the contract lets it be: breaches stand, and nobody else is taken for compliant."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine
from monitors.evaluation import Counts, Evaluation
from tests.integration.store import migrated_store
from tests.integration.worlds import (
    CONTRACT,
    NOW,
    a_contract,
    a_warehouse,
    assert_not_made,
    assert_verifies,
    badges,
    evaluate,
    some_monitors,
    stored,
)
from trivet.clock import FixedClock
from trivet.verdicts import NotMadeReason, Reason, ReplayResult
from worker.baselines import no_look_back
from worker.following import Looking
from worker.judging import Judgement, unkept_mask
from worker.live_checks import check_live
from worker.replaying import Replayer

FRESH = {"a-own": "1 breach / 1 no-data", "b-linked": "1 breach / 2 no-data", "c-own": "1 breach / 1 no-data"}
STALE = dict.fromkeys(FRESH, "1 breach / 4 no-data")
LINKED = FRESH | {"b-linked": "1 breach / 4 no-data"}
SEEN = "ALTER TABLE raw.reading ADD COLUMN seen VARCHAR; CREATE OR REPLACE VIEW ontology.reading AS FROM raw.reading;"


def aging(reading: str = "", floor: str = "") -> str:
    """The contract of the worlds, in which data ages."""
    text = CONTRACT
    for of, rule in (("reading", reading), ("floor", floor)):
        text = text.replace(f"    view: ontology.{of}\n", f"    view: ontology.{of}\n{rule}")
    seen = "      - {name: value, type: integer, role: fact, additivity: non_additive}\n"
    return text.replace(seen, f"{seen}      - {{name: seen, type: timestamp}}\n") if "seen" in reading else text


def ingested(warehouse: Path, ago: timedelta) -> Path:
    """A warehouse that ingestion did not make is as old as its last change."""
    instant = (NOW - ago).timestamp()
    os.utime(warehouse, (instant, instant))
    return warehouse


BY_INGESTION: dict[str, tuple[str, timedelta, dict[str, str]]] = {
    "younger": (aging("    max_age: 8d\n"), timedelta(days=7, hours=23), FRESH),
    "exactly as old as it may be": (aging("    max_age: 8d\n"), timedelta(days=8), FRESH),
    "older": (aging("    max_age: 8d\n"), timedelta(days=8, seconds=1), STALE),
    "written after the slot": (aging("    max_age: 8d\n"), timedelta(days=-3), FRESH),
    "older, of a linked view": (aging(floor="    max_age: 8d\n"), timedelta(days=9), LINKED),
    "without a limit": (CONTRACT, timedelta(days=900), FRESH),
}


@pytest.mark.parametrize("name", BY_INGESTION)
def test_data_ages_from_its_ingestion_to_the_slot(tmp_path: Path, name: str) -> None:
    contract, ago, expected = BY_INGESTION[name]
    assert badges(evaluate(ingested(a_warehouse(tmp_path), ago), None, contract=contract)) == expected


BY_PROPERTY: dict[str, tuple[str, bool]] = {
    "a young date": ("UPDATE raw.reading SET seen = '2026-11-23 06:00:00' WHERE id = 'R3'", True),
    "exactly as old as it may be": ("UPDATE raw.reading SET seen = '2026-11-22 06:00:00' WHERE id = 'R3'", True),
    "dates that are too old": ("UPDATE raw.reading SET seen = '2026-11-22 05:59:59'", False),
    "a young date among those that cannot be read": (
        "UPDATE raw.reading SET seen = CASE WHEN id = 'R1' THEN '2026-11-29 10:00:00' ELSE 'n/a' END",
        True,
    ),
    "dates that cannot be read": ("UPDATE raw.reading SET seen = 'yesterday'", False),
    "no date": ("SELECT 1", False),
}


@pytest.mark.parametrize("name", BY_PROPERTY)
def test_data_ages_by_the_youngest_date_that_can_be_read(tmp_path: Path, name: str) -> None:
    change, is_fresh = BY_PROPERTY[name]
    contract = aging("    max_age: {property: seen, limit: 8d}\n")
    warehouse = ingested(a_warehouse(tmp_path, SEEN, change), timedelta(days=900))
    assert badges(evaluate(warehouse, None, contract=contract)) == (FRESH if is_fresh else STALE)


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def made_of_old_data(folder: Path, store: sa.Engine, monitors: str | None = None) -> dict[str, Evaluation]:
    warehouse = ingested(a_warehouse(folder), timedelta(days=9))
    given = {} if monitors is None else {"monitors": monitors}
    return evaluate(warehouse, store, contract=aging("    max_age: 8d\n"), **given)


def test_every_member_that_does_not_breach_is_recorded_with_its_values(tmp_path: Path, store: sa.Engine) -> None:
    made = made_of_old_data(tmp_path, store)["b-linked"]
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.population, made.outcome.breach, made.outcome.compliant) == (5, 1, 0)
    assert made.outcome.no_data_reasons == {Reason.SOURCE_STALE: 4}
    assert [(item.key["id"], item.operands["value"], item.reason) for item in made.undecided] == [
        ("R1", "5", Reason.SOURCE_STALE),
        ("R3", "", Reason.SOURCE_STALE),
        ("R4", "7", Reason.SOURCE_STALE),
        ("R5", "150", Reason.SOURCE_STALE),
    ]
    assert {tuple(item.causes) for item in made.undecided} == {()}
    assert stored(store, made)[1:] == ({"breach": 1, "no_data": 4, "compliant": 0}, 5)
    assert_verifies(store, 3)


GROUPED = """\
monitors:
  - {id: few, object: reading, group_by: [site], breach_when: count() > 2}
  - {id: least, object: reading, group_by: [site], breach_when: min(value) < 0, where: 'site in ("north", "west")'}
"""


def test_groups_are_told_by_the_age_of_their_rows_too(tmp_path: Path, store: sa.Engine) -> None:
    found = made_of_old_data(tmp_path, store, GROUPED)
    assert badges(found) == {"few": "1 breach / 2 no-data", "least": "1 breach / 1 no-data"}
    assert [item.key["site"] for item in found["few"].undecided] == ["south", "west"]


def test_a_population_that_breaches_as_a_whole_stays_so_and_an_empty_one_is_empty(
    tmp_path: Path, store: sa.Engine
) -> None:
    monitors = """\
monitors:
  - {id: all, object: reading, breach_when: value < 1000, where: value is present}
  - {id: none, object: reading, breach_when: value < 0, where: site = "east"}
"""
    found = made_of_old_data(tmp_path, store, monitors)
    assert badges(found) == {"all": "4 breaches / 0 no-data", "none": None}
    assert_not_made(store, found["none"], NotMadeReason.POPULATION_EMPTY, "no member is in the population")


def test_a_replay_finds_the_data_as_old_as_it_was(tmp_path: Path, store: sa.Engine) -> None:
    made = made_of_old_data(tmp_path, store)["b-linked"]
    later = FixedClock(datetime(2031, 1, 1, tzinfo=UTC))
    found = Replayer(store, tmp_path / "warehouse.duckdb", later).replay(made.evaluation_id)
    assert found.rerun is not None
    assert found.rerun.result is ReplayResult.REPRODUCED


def test_the_live_check_says_which_data_is_too_old(tmp_path: Path) -> None:
    contract = a_contract(aging("    max_age: 8d\n"))
    engine = DuckDBEngine(ingested(a_warehouse(tmp_path), timedelta(days=9)))
    report = check_live(contract, some_monitors(contract), engine, "contract.yaml", NOW)
    told = [item.message for item in report.warnings if "ago" in item.message]
    assert told == ["reading: ingested more than 8d ago: whoever does not breach is no_data (source_stale)"]


def test_a_date_that_the_engine_cannot_give_is_no_evidence(tmp_path: Path, store: sa.Engine) -> None:
    """The view raises for the date alone, which no condition names."""
    raising = (
        "CREATE OR REPLACE VIEW ontology.reading AS SELECT id, site, value, doc, line, "
        "CAST(error('the value of R3') AS VARCHAR) AS seen FROM raw.reading"
    )
    warehouse = a_warehouse(tmp_path, raising)
    found = evaluate(warehouse, store, contract=aging("    max_age: {property: seen, limit: 8d}\n"))
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.ENGINE_ERROR, "how old the data is could not be asked: EngineFault")
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        assert connection.execute("SELECT count(id) FROM ontology.reading").fetchone() == (5,)


def test_nobody_beyond_what_is_recorded_is_looked_up_and_taken_for_compliant(tmp_path: Path) -> None:
    contract = a_contract(aging("    max_age: 8d\n"))
    counts = Counts(5, 1, 4, 0, 0, 0, {Reason.SOURCE_STALE: 4})
    (definition, *_) = some_monitors(contract)
    with DuckDBEngine(a_warehouse(tmp_path)).snapshot() as snapshot:
        looking = Looking(contract, snapshot, unkept_mask, no_look_back)
        judged = Judgement(counts, recorded_truncated=True)
        assert looking.follow(definition, NOW, {'{"id":"R5"}'}, judged) == (None, False)
