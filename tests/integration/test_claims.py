"""A slot has one result, whoever claims it, however late, and however often."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from monitors.evaluation import Evaluation
from tests.integration.scheduling import LEASE, Scheduled, scheduled_monitors
from tests.integration.worlds import NOW, a_warehouse, assert_verifies, rows
from trivet.clock import FixedClock, SystemClock
from worker.claims import SlotKey, extend_leases
from worker.heartbeat import heartbeat
from worker.tables import evaluation, member, slot
from worker.waiting import Slot

ONE, TWO, THREE = "a-own", "b-linked", "c-own"


@pytest.fixture
def scheduled(any_store: sa.Engine, tmp_path: Path) -> Scheduled:
    """Three monitors of one object type, each with a slot that came due."""
    made = Scheduled(any_store, FixedClock(NOW), scheduled_monitors(), a_warehouse(tmp_path))
    made.plan()
    made.plan(minutes=1)
    return made


def evaluated(scheduled: Scheduled, slots: Sequence[Slot]) -> list[str]:
    return [item.evaluation.definition.id for item in scheduled.evaluator.evaluate(slots, scheduled.store)]


def test_what_is_handed_out_is_left_alone_for_a_while(scheduled: Scheduled) -> None:
    assert [key.monitor for key in scheduled.handed_out()] == [ONE, TWO, THREE]
    assert scheduled.handed_out() == []
    scheduled.clock.instant += LEASE
    assert len(scheduled.handed_out()) == 3


def test_a_slot_is_claimed_once(scheduled: Scheduled) -> None:
    key = scheduled.handed_out()[0]
    first = scheduled.claim(key, "first")
    assert (first.claim.fence, first.definition.id, first.at) == (1, ONE, NOW + timedelta(minutes=1))
    assert scheduled.claim(key, "second") is None
    assert evaluated(scheduled, [first]) == [ONE]
    scheduled.clock.instant += 2 * LEASE
    assert scheduled.claim(key, "third") is None


def test_of_claimers_that_race_one_wins(scheduled: Scheduled) -> None:
    key = scheduled.handed_out()[0]
    won: list[Slot] = []
    together = threading.Barrier(10)

    def race(number: int) -> None:
        together.wait(timeout=60)
        if (found := scheduled.claim(key, f"racer {number}")) is not None:
            won.append(found)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(won) == 1
    assert [row["fence"] for row in scheduled.slots(ONE)] == [1]


def test_a_slot_whose_owner_is_gone_is_taken_over(scheduled: Scheduled) -> None:
    key = scheduled.handed_out()[0]
    scheduled.claim(key, "dead")
    scheduled.clock.instant += LEASE
    assert key in scheduled.handed_out()
    later = scheduled.claim(key, "alive")
    assert later.claim.fence == 2
    assert evaluated(scheduled, [later]) == [ONE]


def test_the_result_of_an_owner_that_was_late_is_dropped_and_the_rest_of_its_batch_stands(
    scheduled: Scheduled, caplog: pytest.LogCaptureFixture
) -> None:
    keys = scheduled.handed_out()
    late = [scheduled.claim(key, "late") for key in keys]
    scheduled.clock.instant += LEASE
    taken_over = scheduled.claim(keys[1], "quick")
    told: list[Evaluation] = []
    scheduled.after_record = lambda _, made: told.extend(made)
    with caplog.at_level(logging.WARNING):
        assert evaluated(scheduled, late) == [ONE, THREE]
    assert "b-linked at 2026-11-30T06:01:00.000000Z: taken over, result dropped" in caplog.text
    assert [made.definition.id for made in told] == [ONE, THREE]
    assert evaluated(scheduled, [taken_over]) == [TWO]
    assert sorted(row["monitor"] for row in rows(scheduled.store, evaluation)) == [ONE, TWO, THREE]
    assert_verifies(scheduled.store, 3)


def test_an_owner_that_was_late_but_that_nobody_replaced_still_commits(scheduled: Scheduled) -> None:
    late = scheduled.claim(scheduled.handed_out()[0], "late")
    scheduled.clock.instant += 3 * LEASE
    assert evaluated(scheduled, [late]) == [ONE]


def test_a_result_is_committed_once_even_by_its_owner(scheduled: Scheduled) -> None:
    mine = scheduled.claim(scheduled.handed_out()[0], "mine")
    assert evaluated(scheduled, [mine]) == [ONE]
    assert evaluated(scheduled, [mine]) == []
    assert_verifies(scheduled.store, 1)


def test_a_monitor_runs_one_slot_at_a_time(scheduled: Scheduled) -> None:
    first = scheduled.claim(scheduled.handed_out()[0], "first")
    scheduled.plan(minutes=1)
    second = SlotKey(ONE, "2026-11-30T06:02:00.000000Z")
    assert scheduled.claim(second, "second") is None
    assert second not in scheduled.handed_out(), "it could not be claimed"
    evaluated(scheduled, [first])
    assert second in scheduled.handed_out()
    assert scheduled.claim(second, "second") is not None


def test_a_slot_that_is_not_there_is_not_claimed(scheduled: Scheduled) -> None:
    assert scheduled.claim(SlotKey(ONE, "2026-11-30T05:00:00.000000Z"), "someone") is None


def test_a_claim_binds_the_definition_that_is_evaluated(scheduled: Scheduled) -> None:
    key = scheduled.handed_out()[0]
    planned = scheduled.slots(ONE)[0]
    scheduled.monitors = [replace(item, strict=True) for item in scheduled.monitors]
    evaluated(scheduled, [scheduled.claim(key, "someone")])
    (row,), (made,) = scheduled.slots(ONE), rows(scheduled.store, evaluation)
    assert row["definition_hash"] == made["definition_hash"] != planned["definition_hash"]
    assert row["evaluation_id"] == made["evaluation_id"] != planned["evaluation_id"]


def test_leases_of_others_are_not_extended(scheduled: Scheduled) -> None:
    one, two, _ = scheduled.handed_out()
    scheduled.claim(one, "mine")
    scheduled.claim(two, "yours")
    with scheduled.store.begin() as connection:
        assert extend_leases(connection, "mine", NOW + timedelta(hours=1)) == 1
    leases = {row["owner"]: row["lease_until"] for row in rows(scheduled.store, slot) if row["owner"]}
    assert leases == {"mine": "2026-11-30T07:00:00.000000Z", "yours": "2026-11-30T06:01:45.000000Z"}


def test_a_heart_that_beats_keeps_the_lease_and_stops_with_the_work(scheduled: Scheduled) -> None:
    scheduled.claim(scheduled.handed_out()[0], "working")
    clock, lease = SystemClock(), timedelta(seconds=0.4)

    def ends() -> str:
        return str(scheduled.slots(ONE)[0]["lease_until"])

    before = ends()
    with heartbeat(scheduled.store, "working", clock, lease):
        deadline = time.monotonic() + 30
        while ends() == before and time.monotonic() < deadline:
            time.sleep(0.02)
    after = ends()
    assert after != before
    time.sleep(0.3)
    assert ends() == after


def test_a_heart_survives_a_store_that_is_away_for_a_beat(
    scheduled: Scheduled, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled.claim(scheduled.handed_out()[0], "working")
    beats: list[str] = []

    def failing_once(connection: sa.Connection, owner: str, until: object) -> int:
        beats.append(owner)
        if len(beats) == 1:
            raise OSError("gone")
        return 1

    monkeypatch.setattr("worker.heartbeat.extend_leases", failing_once)
    with heartbeat(scheduled.store, "working", SystemClock(), timedelta(seconds=0.2)):
        deadline = time.monotonic() + 30
        while len(beats) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
    assert len(beats) >= 3
    assert "could not be extended" in caplog.text


def test_what_follows_from_an_evaluation_stands_or_falls_with_it_and_its_slot(scheduled: Scheduled) -> None:
    claimed = [scheduled.claim(key, "mine") for key in scheduled.handed_out()]

    def fail_at_the_second(_connection: sa.Connection, made: Sequence[Evaluation]) -> None:
        if any(item.definition.id == TWO for item in made):
            raise OSError(28, "No space left on device")

    scheduled.after_record = fail_at_the_second
    with pytest.raises(OSError, match="No space left"):
        evaluated(scheduled, claimed)
    found = {row["evaluation_id"]: row["monitor"] for row in rows(scheduled.store, evaluation)}
    assert set(found.values()) == {ONE, THREE}
    assert {found[row["evaluation_id"]] for row in rows(scheduled.store, member)} <= {ONE, THREE}
    assert {row["monitor"]: row["state"] for row in rows(scheduled.store, slot)} == {
        ONE: "done",
        TWO: "running",
        THREE: "done",
    }
    scheduled.after_record = None
    assert evaluated(scheduled, claimed) == [TWO]
    assert_verifies(scheduled.store, 3)
