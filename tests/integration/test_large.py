"""A million rows: counts equal a truth that arithmetic knows, and what is recorded costs one ledger entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.tables import ledger_entry
from monitors.evaluation import Counts
from tests.integration.store import migrated_store
from tests.integration.worlds import NOW, a_warehouse, assert_verifies, evaluate, rows, stored
from trivet.clock import FixedClock
from trivet.verdicts import Reason, ReplayResult
from worker.replaying import Replayer

pytestmark = pytest.mark.slow

MEMBERS = 1_000_000
SITES = 500

# Reading i stands at site i % 500, whose floor is 100, and holds i % 1000. Of every thousand readings
# 100 are below their floor. Then, independent of that by the ranges that are chosen: the last tenth
# of the readings has no value, and the sites from 490 on have no floor.
READINGS = f"""
DELETE FROM raw.reading;
INSERT INTO raw.reading
SELECT printf('R%07d', i), 'S' || (i % {SITES}), CASE WHEN i < 900000 THEN CAST(i % 1000 AS VARCHAR) ELSE '' END,
    'r.csv', i
FROM range({MEMBERS}) AS r(i);
DELETE FROM raw.floor;
INSERT INTO raw.floor SELECT 'S' || i, '100' FROM range(490) AS r(i);
"""


def test_a_million_members_are_judged_as_arithmetic_says(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    monitors = "monitors: [{id: m, object: reading, breach_when: value < held_to.least, timeout: 30m}]"
    made = evaluate(a_warehouse(tmp_path, READINGS), store, monitors=monitors)["m"]

    missing = MEMBERS // 10
    # Of the readings that hold a value, those at ten of the five hundred sites have no floor.
    without_floor = 900_000 * 10 // SITES
    # i % 1000 < 100 lies at the sites 0 to 99, all of which have one.
    below = 900_000 // 1000 * 100
    assert made.outcome == Counts(
        population=MEMBERS,
        breach=below,
        no_data=missing + without_floor,
        compliant=MEMBERS - below - missing - without_floor,
        partial=0,
        duplicate_keys=0,
        no_data_reasons={Reason.LEFT_NULL: missing, Reason.RIGHT_MISSING: without_floor},
    )
    assert made.badge == "90000 breaches / 118000 no-data"
    assert [member.key["id"] for member in made.breached[:2]] == ["R0000000", "R0000001"]
    assert [member.key["id"] for member in made.undecided[-1:]] == ["R0999999"]
    assert len(stored(store, made)[1]) == 3
    assert stored(store, made)[2] == below + missing + without_floor
    assert len(rows(store, ledger_entry)) == 3, "its own, and the two texts that it rests on"
    assert_verifies(store, 1)


def test_a_hundred_thousand_undecided_members_cost_one_ledger_entry(tmp_path: Path) -> None:
    store = migrated_store(tmp_path)
    undecided = "DELETE FROM raw.reading WHERE CAST(line AS BIGINT) < 900000"
    monitors = "monitors: [{id: m, object: reading, breach_when: value < 0, timeout: 30m}]"
    made = evaluate(a_warehouse(tmp_path, READINGS, undecided), store, monitors=monitors)["m"]
    assert isinstance(made.outcome, Counts)
    assert (made.outcome.population, made.outcome.no_data) == (100_000, 100_000)
    assert made.outcome.no_data_reasons == {Reason.LEFT_NULL: 100_000}
    assert stored(store, made)[1:] == ({"breach": 0, "no_data": 100_000, "compliant": 0}, 100_000)
    assert len(rows(store, ledger_entry)) == 3, "its own, and the two texts that it rests on"
    assert_verifies(store, 1)
    replayed = Replayer(store, tmp_path / "warehouse.duckdb", FixedClock(NOW)).replay(made.evaluation_id)
    assert replayed.rejudge is not None
    assert replayed.rerun is not None
    assert replayed.rejudge.members == {"reproduced": 100_000, "inputs_gone": 0, "diverged": 0}
    assert (replayed.rerun.result, replayed.rerun.told) == (ReplayResult.REPRODUCED, ())
    document = made.to_json(1)
    assert document["samples_truncated"] == {"breach": False, "no_data": True}
    assert document["recorded_truncated"] is False
