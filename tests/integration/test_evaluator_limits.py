"""Time, memory and the disk are limited: what meets a limit is told as no_data, and the others are judged."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine
from catalog.engines.port import QueryTimeout
from compiler.compile import compile_monitor
from monitors.evaluation import Counts, NotMade
from tests.integration.store import migrated_store
from tests.integration.worlds import (
    BADGES,
    a_contract,
    a_warehouse,
    assert_not_made,
    assert_verifies,
    badges,
    evaluate,
    some_monitors,
)
from trivet.verdicts import NotMadeReason, Reason

SLOW = """
CREATE OR REPLACE VIEW ontology.floor AS
SELECT 'north' AS site, CAST(max((a.range * b.range) % 7) AS VARCHAR) AS least
FROM range(4000000) AS a, range(4000000) AS b
"""


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def test_a_query_that_takes_too_long_is_stopped_and_the_others_are_judged(tmp_path: Path, store: sa.Engine) -> None:
    file = a_warehouse(tmp_path, SLOW)
    found = evaluate(file, store, timeouts={"b-linked": timedelta(milliseconds=200)})
    assert_not_made(
        store, found["b-linked"], NotMadeReason.TIMEOUT, "the queries took longer than the 0.2 s that they may"
    )
    assert badges(found) == BADGES | {"b-linked": None}
    assert_verifies(store, 3)


def test_no_time_at_all_is_a_timeout_and_no_verdict(tmp_path: Path, store: sa.Engine) -> None:
    found = evaluate(a_warehouse(tmp_path), store, timeouts=dict.fromkeys(BADGES, timedelta(0)))
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.TIMEOUT, "the queries took longer than the 0 s that they may")


def test_a_limit_holds_however_short_it_is(tmp_path: Path) -> None:
    """An interrupt that comes before the engine has begun the query must not be lost."""
    file = a_warehouse(tmp_path, SLOW.replace("4000000", "60000"))
    monitors = "monitors: [{id: m, object: reading, breach_when: value < held_to.least}]"
    evaluate(file, None, monitors=monitors, timeouts={"m": timedelta(milliseconds=50)})
    for microseconds in (100, 300, 500, 700, 1000, 1500):
        began = time.monotonic()
        made = evaluate(file, None, monitors=monitors, timeouts={"m": timedelta(microseconds=microseconds)})["m"]
        assert isinstance(made.outcome, NotMade)
        assert made.outcome.reason is NotMadeReason.TIMEOUT
        # Without a limit the query takes some twenty seconds.
        assert time.monotonic() - began < 5


def test_a_query_that_needs_too_much_memory_is_no_data_and_the_others_are_judged(
    tmp_path: Path, store: sa.Engine
) -> None:
    hungry = (
        "CREATE OR REPLACE VIEW ontology.floor AS SELECT 'north' AS site, "
        "CAST(len(list(hash(range) || ' ' || range)) AS VARCHAR) AS least FROM range(10000000)"
    )
    file = a_warehouse(tmp_path, hungry)
    found = evaluate(DuckDBEngine(file, memory_limit="60MB"), store)
    assert_not_made(store, found["b-linked"], NotMadeReason.ENGINE_ERROR, "Out of Memory")
    assert badges(found) == BADGES | {"b-linked": None}
    assert_verifies(store, 3)


def test_a_query_that_spills_gives_the_same_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two million long keys do not fit the memory that is allowed, so the search for repeated ones spills."""
    spill = tmp_path / "spill"
    spill.mkdir()
    spilled: list[Path] = []
    threading.Thread(target=_watch, args=(spill, spilled), daemon=True).start()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    file = a_warehouse(
        tmp_path,
        "INSERT INTO raw.reading SELECT repeat(hash(i % 1999999)::VARCHAR, 4), 'north', '5', 'r.csv', i "
        "FROM range(2000000) AS r(i)",
    )
    monitors = "monitors: [{id: m, object: reading, breach_when: value < 0, timeout: 5m}]"
    outcomes = [
        evaluate(DuckDBEngine(file, memory_limit=limit), None, monitors=monitors)["m"].outcome
        for limit in ("2GB", "150MB")
    ]
    assert outcomes[0] == outcomes[1] == Counts(2_000_005, 1, 1, 2_000_003, 0, 1, {Reason.LEFT_NULL: 1})
    assert spilled
    assert list(spill.iterdir()) == []


def _watch(folder: Path, seen: list[Path]) -> None:
    """Waits for the first file that appears below a folder."""
    while not seen:
        # Folders come and go while they are looked through.
        with suppress(OSError):
            seen.extend(path for path in folder.rglob("*") if path.is_file())
        time.sleep(0.005)


def test_a_place_for_spilling_that_cannot_be_made_is_no_data(
    tmp_path: Path, store: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_warehouse(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    found = evaluate(file, store)
    for made in found.values():
        assert_not_made(store, made, NotMadeReason.ENGINE_ERROR, "FileNotFoundError: [Errno 2] No such file")
    assert_verifies(store, 3)


def test_the_limit_runs_until_the_last_member_is_fetched(tmp_path: Path) -> None:
    """Results stream, so time that passes between two fetches counts as well."""
    file = a_warehouse(
        tmp_path, "INSERT INTO raw.reading SELECT 'K' || i, 'north', '-1', 'r.csv', i FROM range(200000) AS r(i)"
    )
    contract = a_contract()
    (definition,) = some_monitors(contract, "monitors: [{id: m, object: reading, breach_when: value < 0}]")
    query = compile_monitor(definition, contract).breach.query
    with DuckDBEngine(file).snapshot() as snapshot:
        members = snapshot.stream(query, timedelta(seconds=1))
        next(members)
        time.sleep(1.3)
        with pytest.raises(QueryTimeout):
            list(members)
