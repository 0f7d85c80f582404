"""Slots are planned once, whoever plans and whenever; what is passed over is told, with its cause."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitors.definition import Schedule
from monitors.evaluation import Evaluation
from tests.integration.scheduling import EVERY_MINUTE, LEASE, Scheduled, scheduled_monitors
from tests.integration.store import migrated_store
from tests.integration.worlds import NOW, a_warehouse, assert_verifies, rows
from trivet.clock import FixedClock
from trivet.scheduling import Ambiguous, CatchUp
from worker.claims import MOST_ATTEMPTS, extend_leases, take_over
from worker.due import due_slots
from worker.pauses import pause_monitor
from worker.tables import evaluation, pause, slot, watermark

ONE = "a-own"


@pytest.fixture
def scheduled(any_store: sa.Engine, tmp_path: Path) -> Scheduled:
    monitors = [item for item in scheduled_monitors() if item.id == ONE]
    return Scheduled(any_store, FixedClock(NOW), monitors, a_warehouse(tmp_path))


def test_the_first_look_at_a_monitor_begins_its_watermark_and_plans_nothing(scheduled: Scheduled) -> None:
    assert scheduled.plan() == []
    assert scheduled.states(ONE) == []
    (mark,) = rows(scheduled.store, watermark)
    assert (mark["monitor"], mark["planned_until"]) == (ONE, "2026-11-30T06:00:00.000000Z")


def test_a_slot_is_planned_once_however_often_one_looks(scheduled: Scheduled) -> None:
    scheduled.plan()
    for _ in range(5):
        assert scheduled.plan(seconds=13) == []
    assert scheduled.states(ONE) == [("01:00", "planned")]


def test_a_planned_slot_is_evaluated_and_done(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(seconds=60)
    (recorded,) = scheduled.run(scheduled.handed_out())
    assert recorded.evaluation.badge == "1 breach / 1 no-data"
    (row,) = scheduled.slots(ONE)
    (made,) = rows(scheduled.store, evaluation)
    assert (row["state"], row["attempt"], row["evaluation_id"]) == ("done", 1, made["evaluation_id"])
    assert (made["trigger"], made["scheduled_for"]) == ("schedule", row["scheduled_for"])
    assert scheduled.handed_out() == []
    assert_verifies(scheduled.store, 1)


def test_of_slots_that_were_missed_the_latest_is_planned_and_the_others_are_told(scheduled: Scheduled) -> None:
    scheduled.plan()
    recorded = scheduled.plan(minutes=4, seconds=10)
    assert [item.evaluation.slot.minute for item in recorded] == [1, 2, 3]
    assert scheduled.causes(ONE) == [("01:00", "missed"), ("02:00", "missed"), ("03:00", "missed")]
    assert scheduled.states(ONE) == [("01:00", "done"), ("02:00", "done"), ("03:00", "done"), ("04:00", "planned")]
    (made, *_) = rows(scheduled.store, evaluation)
    assert (made["status"], made["verdict"], made["reason"]) == ("not_made", "no_data", "not_evaluated")
    assert made["population"] is None
    assert_verifies(scheduled.store, 3)


def test_a_clock_that_goes_back_plans_nothing_twice_and_loses_nothing(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=3)
    before = scheduled.states(ONE)
    assert scheduled.plan(hours=-1) == []
    assert scheduled.states(ONE) == before
    scheduled.plan(hours=1, minutes=1)
    assert [at for at, _ in scheduled.states(ONE)] == ["01:00", "02:00", "03:00", "04:00"]


def test_a_clock_that_jumps_is_told_and_bounded(scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 20
    monkeypatch.setattr("worker.due.MOST_SLOTS", most)
    scheduled.plan()
    recorded = scheduled.plan(days=400)
    assert len(recorded) == most - 1
    assert {row["cause"] for row in rows(scheduled.store, evaluation)} == {"clock_jump"}
    first = recorded[0].evaluation.to_json(None)["message"]
    assert str(first).endswith("so were all slots before it, after 2026-11-30T06:00:00.000000Z")
    assert [state for _, state in scheduled.states(ONE)].count("planned") == 1
    assert scheduled.plan(minutes=1) != []
    assert len(scheduled.states(ONE)) == most + 1
    assert_verifies(scheduled.store, most)


def test_what_an_outage_left_behind_is_written_in_small_transactions(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.planner._PASSED_OVER_PER_TRANSACTION", 5)
    scheduled.monitors = scheduled_monitors()
    scheduled.plan()
    commits: list[sa.Connection] = []
    sa.event.listen(scheduled.store, "commit", commits.append)
    assert len(scheduled.plan(minutes=10)) == 9 * len(scheduled.monitors)
    assert len(commits) == len(scheduled.monitors) > 1
    commits.clear()
    assert len(scheduled.plan(minutes=1)) == len(scheduled.monitors)
    assert len(commits) == 1


def test_a_slot_that_nobody_began_before_the_next_is_passed_over(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=1)
    (recorded,) = scheduled.plan(minutes=1)
    assert recorded.evaluation.slot.minute == 1
    assert scheduled.causes(ONE) == [("01:00", "missed")]
    assert scheduled.states(ONE) == [("01:00", "done"), ("02:00", "planned")]


def test_slots_that_come_due_while_an_evaluation_runs_are_told_as_overrun(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=1)
    running = scheduled.claim(scheduled.handed_out()[0], "slow")
    for _ in range(2):
        for _ in range(2):
            scheduled.plan(seconds=30)
            with scheduled.store.begin() as connection:
                assert extend_leases(connection, "slow", scheduled.clock.now() + LEASE) == 1
        assert scheduled.run(scheduled.handed_out()) == [], "another slot of the monitor runs"
    assert scheduled.causes(ONE) == [("02:00", "overrun")]
    assert scheduled.states(ONE) == [("01:00", "running"), ("02:00", "done"), ("03:00", "planned")]
    assert len(list(scheduled.evaluator.evaluate([running], scheduled.store))) == 1
    assert_verifies(scheduled.store, 2)


def test_the_time_in_which_a_monitor_was_disabled_is_not_missed(scheduled: Scheduled) -> None:
    scheduled.plan()
    enabled = scheduled.monitors
    scheduled.monitors = [replace(item, enabled=False) for item in enabled]
    scheduled.plan(minutes=10)
    scheduled.monitors = enabled
    assert scheduled.plan(seconds=70) == []
    assert scheduled.states(ONE) == [("11:00", "planned")]


def test_a_disabled_monitor_and_one_without_a_schedule_are_never_planned(scheduled: Scheduled) -> None:
    (one,) = scheduled.monitors
    scheduled.monitors = [replace(one, enabled=False), replace(one, id="on-demand", schedule=None)]
    scheduled.plan()
    scheduled.plan(hours=1)
    assert rows(scheduled.store, slot) == []
    assert rows(scheduled.store, watermark) == []


def test_a_cron_line_is_read_in_the_zone_of_its_schedule(scheduled: Scheduled) -> None:
    (one,) = scheduled.monitors
    scheduled.monitors = [replace(one, schedule=Schedule(cron="0 18 * * *", timezone="Australia/Sydney"))]
    scheduled.plan()
    scheduled.plan(days=1)
    (row,) = scheduled.slots(ONE)
    assert (row["slot"], row["scheduled_for"]) == ("2026-11-30T18:00:00+11:00", "2026-11-30T07:00:00.000000Z")


def test_what_was_missed_in_an_hour_that_the_clock_shows_twice_is_told_oldest_first(scheduled: Scheduled) -> None:
    (one,) = scheduled.monitors
    scheduled.monitors = [
        replace(one, schedule=Schedule(cron="0,30 * * * *", timezone="Europe/London", ambiguous=Ambiguous.BOTH))
    ]
    scheduled.clock.instant = datetime(2026, 10, 24, 23, 59, tzinfo=UTC)
    scheduled.plan()
    recorded = scheduled.plan(hours=3)
    assert [item.evaluation.slot.astimezone(UTC).strftime("%H:%M") for item in recorded] == [
        "00:00",
        "00:30",
        "01:00",
        "01:30",
        "02:00",
    ]
    assert [item.evaluation.slot.strftime("%H:%M") for item in recorded] == [
        "01:00",
        "01:30",
        "01:00",
        "01:30",
        "02:00",
    ]


def test_a_slot_that_was_begun_too_often_is_given_up(scheduled: Scheduled) -> None:
    scheduled.plan()
    scheduled.plan(minutes=1)
    for attempt in range(MOST_ATTEMPTS):
        (key,) = scheduled.handed_out()
        assert scheduled.claim(key, f"crashes {attempt}") is not None
        assert scheduled.give_up() == []
        scheduled.clock.instant += LEASE
    assert scheduled.handed_out() == []
    (recorded,) = scheduled.give_up()
    assert scheduled.give_up() == []
    assert scheduled.causes(ONE) == [("01:00", "crashed")]
    (row,) = scheduled.slots(ONE)
    assert (row["state"], row["attempt"], row["evaluation_id"]) == (
        "quarantined",
        MOST_ATTEMPTS,
        recorded.evaluation.evaluation_id,
    )
    assert_verifies(scheduled.store, 1)


def test_what_follows_from_an_evaluation_stands_or_falls_with_the_plan(
    scheduled: Scheduled, caplog: pytest.LogCaptureFixture
) -> None:
    scheduled.plan()
    told: list[Evaluation] = []
    scheduled.after_record = lambda _, made: told.extend(made)
    scheduled.plan(minutes=2)
    assert [made.slot.minute for made in told] == [1]

    def fail(_connection: sa.Connection, _made: Sequence[Evaluation]) -> None:
        raise OSError(28, "No space left on device")

    scheduled.after_record = fail
    before = scheduled.states(ONE), [dict(row) for row in rows(scheduled.store, watermark)]
    assert scheduled.plan(minutes=2) == []
    assert "a-own could not be planned" in caplog.text
    assert "No space left" in caplog.text
    assert (scheduled.states(ONE), [dict(row) for row in rows(scheduled.store, watermark)]) == before
    scheduled.after_record = None
    scheduled.plan()
    assert [at for at, _ in scheduled.states(ONE)] == ["01:00", "02:00", "03:00", "04:00"]
    assert_verifies(scheduled.store, 3)


def test_planners_that_plan_at_once_are_as_good_as_one(any_store: sa.Engine, tmp_path: Path) -> None:
    warehouse = a_warehouse(tmp_path)
    planners = [Scheduled(any_store, FixedClock(NOW), scheduled_monitors(), warehouse) for _ in range(4)]
    failures: list[BaseException] = []
    together = threading.Barrier(len(planners))

    def plan(planner: Scheduled) -> None:
        try:
            for _ in range(12):
                together.wait(timeout=60)
                planner.plan(seconds=50)
        except BaseException as error:
            failures.append(error)
            together.abort()

    threads = [threading.Thread(target=plan, args=(planner,)) for planner in planners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert failures == []
    for monitor in scheduled_monitors():
        planned = [row["scheduled_for"][14:16] for row in planners[0].slots(monitor.id)]
        assert planned == ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"]
        assert Counter(cause for _, cause in planners[0].causes(monitor.id)) == {"missed": 9}
    assert_verifies(any_store, 27)


@pytest.mark.slow
@settings(
    max_examples=min(settings.default.max_examples, 50), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(
            st.integers(-90, 400), st.booleans(), st.sampled_from(["nothing", "run", "crash", "pause", "restart"])
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(CatchUp),
)
def test_no_slot_is_lost_or_doubled_whatever_the_ticks(
    tmp_path_factory: pytest.TempPathFactory, ticks: list[tuple[int, bool, str]], catch_up: CatchUp
) -> None:
    folder = tmp_path_factory.mktemp("ticks")
    store, clock = migrated_store(folder), FixedClock(NOW)
    monitors = [item for item in scheduled_monitors(replace(EVERY_MINUTE, catch_up=catch_up)) if item.id == ONE]
    # There is no warehouse: an evaluation that could not be made is one, too, and is quickly made.
    planners = [Scheduled(store, clock, monitors, folder / "none.duckdb") for _ in range(2)]
    planners[0].plan()
    latest = NOW
    for seconds, second, then in ticks:
        clock.instant += timedelta(seconds=seconds)
        latest = max(latest, clock.instant)
        planner = planners[int(second)]
        planner.give_up()
        planner.plan()
        keys = planner.handed_out()
        if then == "run":
            planner.run(keys)
        elif then == "crash":
            for key in keys:
                planner.claim(key, f"crashed:{clock.instant}")
        elif then == "pause":
            with store.begin() as connection:
                pause_monitor(connection, ONE, "ops", "tried", clock.instant, clock.instant + timedelta(seconds=100))
        elif then == "restart":
            with store.begin() as connection:
                take_over(connection, "crashed", clock.instant)
    due = due_slots(EVERY_MINUTE, ZoneInfo("UTC"), NOW, latest).slots
    found = rows(store, slot)
    assert [datetime.fromisoformat(row["scheduled_for"]).astimezone(UTC) for row in found] == [item.at for item in due]
    ended = [row["evaluation_id"] for row in found if row["state"] in ("done", "quarantined")]
    assert sorted(ended) == sorted(row["evaluation_id"] for row in rows(store, evaluation))
    assert_verifies(store, len(ended) + len(rows(store, pause)))
    store.dispose()
