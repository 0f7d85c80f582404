"""What schedules may ask for: catching up, pauses, refreshes; and what the planner goes on through."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from monitors.definition import Schedule
from monitors.evaluation import Evaluation
from tests.integration.scheduling import EVERY_MINUTE, LEASE, Scheduled, scheduled_monitors
from tests.integration.worlds import NOW, a_warehouse, assert_verifies, rows
from trivet.clock import FixedClock
from trivet.errors import UnavailableError, UsageError
from trivet.scheduling import CatchUp
from worker.claims import following_slots, take_over
from worker.due import Refresh
from worker.pauses import pause_monitor, paused_now, resume_monitor
from worker.tables import evaluation, slot, watermark

ONE, TWO, THREE = "a-own", "b-linked", "c-own"
AFTER_REFRESH = Schedule(after_refresh=True)


@pytest.fixture
def scheduled(any_store: sa.Engine, tmp_path: Path) -> Scheduled:
    """One monitor that comes due every minute."""
    monitors = [item for item in scheduled_monitors() if item.id == ONE]
    return Scheduled(any_store, FixedClock(NOW), monitors, a_warehouse(tmp_path))


@pytest.fixture
def three(any_store: sa.Engine, tmp_path: Path) -> Scheduled:
    """Three of them."""
    return Scheduled(any_store, FixedClock(NOW), scheduled_monitors(), a_warehouse(tmp_path))


def on(scheduled: Scheduled, schedule: Schedule) -> Scheduled:
    """The same, its monitors on another schedule."""
    return replace(scheduled, monitors=[replace(item, schedule=schedule) for item in scheduled.monitors])


def marks(scheduled: Scheduled) -> dict[str, str]:
    return {row["monitor"]: row["planned_until"] for row in rows(scheduled.store, watermark)}


def entry_types(scheduled: Scheduled, *types: EntryType) -> list[str]:
    with scheduled.store.connect() as connection:
        return [entry.entry_type for entry in entries(connection) if entry.entry_type in types]


# --- Catching up


def test_a_monitor_that_catches_up_on_all_runs_each_slot_in_its_turn(scheduled: Scheduled) -> None:
    scheduled = on(scheduled, replace(EVERY_MINUTE, catch_up=CatchUp.ALL))
    scheduled.plan()
    assert scheduled.plan(minutes=4, seconds=10) == []
    made = []
    while keys := scheduled.handed_out():
        assert len(keys) == 1, "a monitor runs one slot at a time"
        made += scheduled.run(keys)
    assert [item.evaluation.slot.minute for item in made] == [1, 2, 3, 4]
    assert {item.evaluation.badge for item in made} == {"1 breach / 1 no-data"}
    assert scheduled.causes(ONE) == [("01:00", None), ("02:00", None), ("03:00", None), ("04:00", None)]
    assert_verifies(scheduled.store, 4)


def test_a_monitor_that_catches_up_on_all_is_not_overtaken_but_bounded(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.planning.MOST_SLOTS", 5)
    scheduled = on(scheduled, replace(EVERY_MINUTE, catch_up=CatchUp.ALL))
    scheduled.plan()
    assert scheduled.plan(minutes=4) == []
    assert scheduled.plan(minutes=1) == []
    (recorded,) = scheduled.plan(minutes=1)
    assert recorded.evaluation.slot.minute == 1
    assert "waited" in str(recorded.evaluation.to_json(None)["message"])
    assert [state for _, state in scheduled.states(ONE)] == ["done", *["planned"] * 5]


def test_what_follows_a_slot_of_a_monitor_is_found_without_a_tick(three: Scheduled) -> None:
    three = on(three, replace(EVERY_MINUTE, catch_up=CatchUp.ALL))
    three.plan()
    three.plan(minutes=3)
    three.run(three.handed_out())
    with three.store.connect() as connection:
        found = following_slots(connection, [ONE, THREE])
    assert [(key.monitor, key.scheduled_for[14:16]) for key in found] == [(ONE, "02"), (THREE, "02")]


def test_a_monitor_that_catches_up_on_none_runs_only_what_is_on_time(scheduled: Scheduled) -> None:
    scheduled = on(scheduled, Schedule(every=timedelta(minutes=10), catch_up=CatchUp.NONE))
    scheduled.plan()
    assert len(scheduled.plan(minutes=32)) == 3
    assert scheduled.states(ONE) == [("10:00", "done"), ("20:00", "done"), ("30:00", "done")]
    assert scheduled.plan(minutes=8, seconds=59) == []
    assert scheduled.states(ONE)[3:] == [("40:00", "planned")]
    assert scheduled.causes(ONE) == [("10:00", "missed"), ("20:00", "missed"), ("30:00", "missed")]


@pytest.mark.parametrize("catch_up", CatchUp)
def test_a_jump_runs_no_more_than_the_latest_slot_whatever_is_caught_up_on(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch, catch_up: CatchUp
) -> None:
    monkeypatch.setattr("worker.due.MOST_SLOTS", 20)
    scheduled = on(scheduled, replace(EVERY_MINUTE, catch_up=catch_up))
    scheduled.plan()
    scheduled.plan(days=365)
    assert [state for _, state in scheduled.states(ONE)] == [*["done"] * 19, "planned"]
    assert {row["cause"] for row in rows(scheduled.store, evaluation)} == {"clock_jump"}


def test_a_clock_that_jumped_too_far_and_goes_back_stalls_nothing(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.due.MOST_SLOTS", 20)
    scheduled.plan()
    scheduled.plan(days=365)
    written = len(rows(scheduled.store, slot))
    assert scheduled.plan(days=-365) == []
    assert scheduled.plan(minutes=1) == []
    assert scheduled.plan(minutes=1) != [], "the one before was not begun in time"
    assert [at for at, _ in scheduled.states(ONE)][:2] == ["01:00", "02:00"]
    assert len(rows(scheduled.store, slot)) == written + 2
    assert_verifies(scheduled.store, 21)  # With the one that says how far the clock had run.


def test_a_clock_that_goes_back_before_its_jump_begins_again_where_it_jumped(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.due.MOST_SLOTS", 20)
    scheduled.plan()
    scheduled.plan(days=365)
    scheduled.plan(days=-366)
    assert marks(scheduled) == {ONE: "2026-11-30T06:00:00.000000Z"}
    scheduled.plan(days=1, minutes=1)
    assert scheduled.states(ONE)[0] == ("01:00", "planned")


def test_a_delay_keeps_a_slot_back_and_leaves_its_instant(scheduled: Scheduled) -> None:
    scheduled = on(scheduled, Schedule(every=timedelta(hours=1), delay=timedelta(minutes=20)))
    scheduled.plan()
    scheduled.plan(minutes=19, seconds=59)
    assert scheduled.states(ONE) == []
    scheduled.plan(seconds=1)
    assert scheduled.states(ONE) == [("00:00", "planned")]
    (recorded,) = scheduled.run(scheduled.handed_out())
    assert recorded.evaluation.slot == NOW


# --- Pauses


def pause(scheduled: Scheduled, monitor: str = ONE, **lasts: float) -> None:
    now = scheduled.clock.now()
    with scheduled.store.begin() as connection:
        pause_monitor(connection, monitor, "ops", "the source is rebuilt", now, now + timedelta(**lasts))


def test_slots_of_a_paused_monitor_are_recorded_as_paused_and_it_resumes_by_itself(three: Scheduled) -> None:
    three.plan()
    pause(three, minutes=2, seconds=30)
    three.plan(minutes=1)
    three.plan(minutes=1)
    three.plan(minutes=1)
    assert three.causes(ONE) == [("01:00", "paused"), ("02:00", "paused")]
    assert three.states(ONE) == [("01:00", "done"), ("02:00", "done"), ("03:00", "planned")]
    assert three.causes(TWO) == [("01:00", "missed"), ("02:00", "missed")]
    message = next(row["message"] for row in rows(three.store, evaluation) if row["monitor"] == ONE)
    assert message == "paused by ops until 2026-11-30 06:02Z: the source is rebuilt"
    assert entry_types(three, EntryType.PAUSE, EntryType.RESUME) == ["pause"]


def test_a_pause_is_told_of_slots_that_the_planner_comes_to_only_after_it(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.clock.instant += timedelta(seconds=90)
    pause(scheduled, minutes=2)
    scheduled.plan(minutes=4)
    assert scheduled.causes(ONE) == [
        ("01:00", "missed"),
        ("02:00", "paused"),
        ("03:00", "paused"),
        ("04:00", "missed"),
    ]
    assert scheduled.states(ONE)[-1] == ("05:00", "planned")


def test_a_pause_ends_what_waits_and_lets_nobody_begin_it(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=1)
    (key,) = scheduled.handed_out()
    pause(scheduled, hours=1)
    assert scheduled.claim(key, "quick") is None
    (recorded,) = scheduled.plan(seconds=5)
    assert (scheduled.causes(ONE), recorded.evaluation.slot.minute) == ([("01:00", "paused")], 1)


def test_what_runs_when_a_monitor_is_paused_comes_to_its_end(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=1)
    running = scheduled.claim(scheduled.handed_out()[0], "slow")
    pause(scheduled, hours=1)
    scheduled.plan(seconds=5)
    assert len(list(scheduled.evaluator.evaluate([running], scheduled.store))) == 1
    assert scheduled.causes(ONE) == [("01:00", None)]


def test_a_pause_that_is_ended_before_its_time_ends_then(scheduled: Scheduled) -> None:
    scheduled.plan()
    pause(scheduled, hours=1)
    scheduled.plan(minutes=1)
    scheduled.clock.instant += timedelta(seconds=30)
    with scheduled.store.begin() as connection:
        assert set(paused_now(connection, scheduled.clock.now())) == {ONE}
        (ended,) = resume_monitor(connection, ONE, "ops", "it is rebuilt", scheduled.clock.now())
        assert paused_now(connection, scheduled.clock.now()) == {}
    scheduled.plan(seconds=30)
    assert scheduled.causes(ONE) == [("01:00", "paused")]
    assert scheduled.states(ONE)[-1] == ("02:00", "planned")
    with scheduled.store.begin() as connection:
        told = {entry.entry_type: entry for entry in entries(connection) if entry.subject_id == ended.pause_id}
        with pytest.raises(UsageError, match="is not paused"):
            resume_monitor(connection, ONE, None, None, scheduled.clock.now())
    assert set(told) == {EntryType.PAUSE, EntryType.RESUME}
    assert told[EntryType.PAUSE].content()["reason"] == "the source is rebuilt"
    assert told[EntryType.RESUME].content()["monitor_id"] == ONE
    assert_verifies(scheduled.store, 3)


def test_a_pause_in_the_past_is_refused(scheduled: Scheduled) -> None:
    with pytest.raises(UsageError, match="has passed already"):
        pause(scheduled, seconds=0)


# --- Refreshes


def refreshed(*hours: int) -> Sequence[Refresh]:
    """Warehouses whose builds began at these hours."""
    at = [NOW.replace(hour=hour) for hour in hours]
    return [Refresh(f"{item:%H}", item, item + timedelta(minutes=2)) for item in at]


def published_one_after_another(scheduled: Scheduled, *looks: Sequence[Refresh] | None) -> Scheduled:
    waiting = iter(looks)
    return replace(on(scheduled, AFTER_REFRESH), published=lambda: next(waiting))


def hours(scheduled: Scheduled) -> list[tuple[int, str]]:
    return [(datetime.fromisoformat(row["scheduled_for"]).hour, row["state"]) for row in scheduled.slots(ONE)]


def test_each_warehouse_that_is_published_is_one_slot(scheduled: Scheduled) -> None:
    seven = refreshed(6, 7)
    scheduled = published_one_after_another(scheduled, refreshed(6), refreshed(6), seven, seven, None, seven)
    for _ in range(6):
        assert scheduled.plan(minutes=1) == []
    assert hours(scheduled) == [(7, "planned")]
    (recorded,) = scheduled.run(scheduled.handed_out())
    assert recorded.evaluation.slot == NOW.replace(hour=7)


def test_a_warehouse_that_was_seen_before_a_restart_is_not_seen_again(scheduled: Scheduled) -> None:
    scheduled = published_one_after_another(scheduled, (), refreshed(6))
    scheduled.plan()
    scheduled.plan()
    assert hours(scheduled) == [(6, "planned")]
    scheduled.run(scheduled.handed_out())
    again = replace(scheduled, published=lambda: refreshed(6))
    again.plan(minutes=1)
    again.plan(minutes=1)
    assert hours(scheduled) == [(6, "done")]


def test_warehouses_that_were_replaced_before_anyone_looked_are_told(scheduled: Scheduled) -> None:
    scheduled = published_one_after_another(scheduled, refreshed(6), refreshed(6, 7, 8, 9))
    scheduled.plan()
    assert len(scheduled.plan(hours=4)) == 2
    assert hours(scheduled) == [(7, "done"), (8, "done"), (9, "planned")]
    assert [cause for _, cause in scheduled.causes(ONE)] == ["missed", "missed"]


def test_planners_that_see_a_warehouse_at_once_plan_one_slot(any_store: sa.Engine, tmp_path: Path) -> None:
    warehouse = a_warehouse(tmp_path)
    monitors = [item for item in scheduled_monitors(AFTER_REFRESH) if item.id == ONE]
    planners = [
        Scheduled(any_store, FixedClock(NOW), monitors, warehouse, published=lambda: refreshed(6)) for _ in range(4)
    ]
    planners[0].plan()
    for planner in planners:
        planner.published = lambda: refreshed(6, 7)
    threads = [threading.Thread(target=planner.plan) for planner in planners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert hours(planners[0]) == [(7, "planned")]


# --- Monitors that are removed, and monitors that cannot be planned


def test_slots_of_a_monitor_that_was_removed_end_and_say_so(three: Scheduled) -> None:
    three.plan()
    three.plan(minutes=1)
    keys = {key.monitor: key for key in three.handed_out()}
    assert three.claim(keys[TWO], "dies") is not None
    three.monitors = [item for item in three.monitors if item.id == THREE]
    assert three.withdraw() == [], "others may know the monitor"
    three.clock.instant += LEASE
    told = three.withdraw()
    assert [(item.evaluation.definition.id, item.evaluation.slot.minute) for item in told] == [(ONE, 1), (TWO, 1)]
    assert three.withdraw() == []
    for name in (ONE, TWO):
        assert three.causes(name) == [("01:00", "removed")]
        (row,) = three.slots(name)
        (made,) = (item for item in rows(three.store, evaluation) if item["monitor"] == name)
        assert (row["state"], row["evaluation_id"], row["definition_hash"]) == (
            "done",
            made["evaluation_id"],
            made["definition_hash"],
        )
    assert three.states(THREE) == [("01:00", "planned")]
    assert_verifies(three.store, 2)


def test_what_cannot_be_withdrawn_is_told_once_and_holds_up_nothing(
    three: Scheduled, caplog: pytest.LogCaptureFixture
) -> None:
    three.plan()
    three.plan(minutes=1)
    with three.store.begin() as connection:
        connection.execute(sa.update(watermark).where(watermark.c.monitor == ONE).values(definition_hash=None))
    three.monitors = [item for item in three.monitors if item.id == THREE]
    three.clock.instant += LEASE
    assert [item.evaluation.definition.id for item in three.withdraw()] == [TWO]
    assert "a-own could not be withdrawn" in caplog.text
    caplog.clear()
    assert three.withdraw() == []
    assert caplog.text == ""


def test_a_monitor_that_cannot_be_planned_holds_up_no_other_and_is_told_once(
    three: Scheduled, caplog: pytest.LogCaptureFixture
) -> None:
    three.plan()
    whole = three.monitors
    three.monitors = [
        replace(item, schedule=Schedule(cron="0 6 * * *", timezone="Nowhere/Land")) if item.id == TWO else item
        for item in whole
    ]
    for _ in range(3):
        three.plan(minutes=1)
    assert [at for at, _ in three.states(ONE)] == [at for at, _ in three.states(THREE)] == ["01:00", "02:00", "03:00"]
    assert three.states(TWO) == []
    assert caplog.text.count("b-linked could not be planned") == 1
    three.monitors = whole
    three.plan(minutes=1)
    assert [at for at, _ in three.states(TWO)] == ["01:00", "02:00", "03:00", "04:00"], "nothing of it was lost"


def test_a_monitor_whose_record_fails_holds_up_no_other(three: Scheduled, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_connection: sa.Connection, made: Sequence[Evaluation]) -> None:
        if any(item.definition.id == TWO for item in made):
            raise ValueError("no alert can be made of this")

    three.plan()
    three.after_record = fail
    for _ in range(2):
        three.plan(minutes=2)
    assert three.causes(ONE) == [("01:00", "missed"), ("02:00", "missed"), ("03:00", "missed")]
    assert three.states(TWO) == []
    assert caplog.text.count("b-linked could not be planned") == 1
    three.after_record = None
    three.plan()
    assert three.causes(TWO) == three.causes(ONE)
    assert_verifies(three.store, 9)


def test_what_fails_for_every_monitor_is_no_fault_of_one(
    scheduled: Scheduled, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_connection: sa.Connection, _made: Sequence[Evaluation]) -> None:
        raise ValueError("this is broken for all")

    (one,) = scheduled.monitors
    scheduled.monitors = [replace(one, id=f"m{number:02}") for number in range(20)]
    scheduled.plan()
    scheduled.after_record = fail
    with pytest.raises(ValueError, match="broken for all"):
        scheduled.plan(minutes=2)
    assert caplog.text.count("could not be planned") == 5


def test_a_store_that_is_away_is_no_fault_of_a_monitor(three: Scheduled) -> None:
    def fail(_connection: sa.Connection, _made: Sequence[Evaluation]) -> None:
        raise UnavailableError("the store is away")

    three.plan()
    three.after_record = fail
    with pytest.raises(UnavailableError):
        three.plan(minutes=2)


def test_a_slot_that_cannot_be_given_up_holds_up_no_other(three: Scheduled, caplog: pytest.LogCaptureFixture) -> None:
    three.plan()
    three.plan(minutes=1)
    with three.store.begin() as connection:
        spent = {"state": "running", "attempt": 3, "owner": "dead", "lease_until": "2026-11-30T06:00:00.000000Z"}
        connection.execute(sa.update(slot).values(spent))

    def fail(_connection: sa.Connection, made: Sequence[Evaluation]) -> None:
        if any(item.definition.id == ONE for item in made):
            raise ValueError("no alert can be made of this")

    three.after_record = fail
    assert [item.evaluation.definition.id for item in three.give_up()] == [TWO, THREE]
    assert three.give_up() == []
    assert caplog.text.count("a-own could not be given up") == 1


# --- A daemon that comes after one that died


def test_what_a_dead_daemon_was_handed_or_had_begun_is_to_be_had_at_once(three: Scheduled) -> None:
    three.plan()
    three.plan(minutes=1)
    one, two, three_ = three.handed_out()
    assert three.claim(one, "dead:1") is not None
    assert three.claim(two, "alive:1") is not None
    assert three.handed_out() == []
    with three.store.begin() as connection:
        take_over(connection, "dead", three.clock.now())
    assert three.handed_out() == [one, three_]
    assert three.claim(one, "new:1").claim.fence == 2
    assert three.claim(two, "new:2") is None


def test_where_no_daemon_was_known_before_only_what_was_handed_out_is_given_back(three: Scheduled) -> None:
    three.plan()
    three.plan(minutes=1)
    one, two, three_ = three.handed_out()
    assert three.claim(one, ":1") is not None
    with three.store.begin() as connection:
        take_over(connection, "", three.clock.now())
    assert three.handed_out() == [two, three_]


# --- Many at once


def test_very_many_monitors_are_planned_in_portions(scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.planner._PER_TRANSACTION", 7)
    monkeypatch.setattr("worker.claims._CHUNK", 4)
    (one,) = scheduled.monitors
    scheduled.monitors = [replace(one, id=f"m{number:03}") for number in range(40)]
    scheduled.plan()
    scheduled.plan(minutes=1)
    assert len(scheduled.plan(minutes=1)) == 40
    assert len(scheduled.handed_out()) == 40
    assert scheduled.handed_out() == []
    found = rows(scheduled.store, slot)
    assert [(row["scheduled_for"][14:16], row["state"]) for row in found] == [("01", "done"), ("02", "planned")] * 40
    assert len(entry_types(scheduled, EntryType.DEFINITION_PUBLISHED)) == 40
    assert_verifies(scheduled.store, 40)
