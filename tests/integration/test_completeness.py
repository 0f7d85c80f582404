"""What planners, publishers and daemons leave in a ledger is complete, and whatever is changed about it is found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.publishing import Processes
from tests.integration.scheduling import LEASE
from tests.integration.store import migrated_store
from tests.integration.worlds import CONTRACT, NOW, assert_verifies, rows
from trivet.clock import FixedClock
from worker.completeness import Entry, Report
from worker.tables import slot

_PERTH = CONTRACT.replace("time_zone: UTC", "time_zone: Australia/Perth")


def monitors(schedule: str, more: str = "strict: true") -> str:
    """Two monitors, the first one on a schedule of one's own choice."""
    first = f"{{id: a, object: reading, breach_when: value < 0, schedule: {schedule}, {more}}}"
    return f"monitors: [{first}, {{id: b, object: reading, breach_when: value > 100, schedule: {{every: 5m}}}}]"


VARIANTS = [
    (monitors("{every: 1m}"), CONTRACT),
    (monitors("{every: 90s}"), CONTRACT),
    (monitors("{every: 1m}", "enabled: false"), CONTRACT),
    (monitors("{every: 2m}", "delay: 3m, jitter: 90s, catch_up: all"), CONTRACT),
    (monitors("{every: 1m}", "delay: 30s, catch_up: none"), CONTRACT),
    (monitors("{cron: '*/2 14 * * *'}"), _PERTH),
    (monitors("{cron: '*/2 17 * * *', timezone: Australia/Lord_Howe}"), CONTRACT),
    ("monitors: [{id: b, object: reading, breach_when: value > 100, schedule: {every: 5m}}]", _PERTH),
]


def faults(report: Report) -> dict[str, list[tuple[str, datetime]]]:
    """The slots that were found at fault, by what is wrong with them."""
    kinds = ("missing", "doubled", "unexpected")
    return {kind: [(item.monitor, at) for item in report.monitors for at in getattr(item, kind)] for kind in kinds}


def total(report: Report, name: str) -> int:
    """A count over all monitors."""
    return sum(getattr(item, name) for item in report.monitors)


def results(entries: Sequence[Entry]) -> list[Entry]:
    return [item for item in entries if item.entry_type == "evaluation"]


def slot_of(entry: Entry) -> tuple[str, datetime]:
    payload = json.loads(entry.payload)
    return payload["monitor_id"], datetime.fromisoformat(payload["scheduled_for"])


def end_all(processes: Processes) -> None:
    """Lets time pass, with a daemon at work, until no slot is open."""
    for _ in range(300):
        processes.run(processes.tick())
        if all(row["state"] in ("done", "quarantined") for row in rows(processes.store, slot)):
            return
        processes.later(seconds=LEASE.total_seconds())
    raise AssertionError("a slot does not come to its end")


def assert_a_change_is_found(processes: Processes, entries: Sequence[Entry], changed: Entry) -> None:
    """A result that is taken away, repeated or made of another slot is named."""
    whole, others = processes.complete(found=entries), [item for item in entries if item is not changed]
    without = processes.complete(found=others)
    fewer = {name: total(whole, name) - total(without, name) for name in ("ended", "covered", "ahead")}
    if slot_of(changed) not in faults(without)["missing"]:
        # Where a clock jumped twice, another entry may stand for it as well; one made ahead is owed by nobody.
        assert fewer in ({"ended": 1, "covered": -1, "ahead": 0}, {"ended": 0, "covered": 0, "ahead": 1})
    assert faults(processes.complete(found=[*entries, changed]))["doubled"] == [slot_of(changed)]
    monitor, at = slot_of(changed)
    never = at + timedelta(milliseconds=1)
    payload = json.loads(changed.payload) | {"scheduled_for": never.isoformat(), "covers_after": None}
    forged = Entry(entries[-1].seq + 1, "evaluation", json.dumps(payload))
    found = faults(processes.complete(processes.planned_until + timedelta(hours=1), [*entries, forged]))
    assert (monitor, never) in found["unexpected"]


@pytest.fixture
def processes(any_store: sa.Engine, tmp_path: Path) -> Processes:
    # There is no warehouse: an evaluation that could not be made is one, too, and is quickly made.
    return Processes(any_store, FixedClock(NOW), tmp_path / "none.duckdb")


def test_a_history_of_outages_and_crashes_is_complete(processes: Processes) -> None:
    processes.publish(*VARIANTS[0])
    processes.run(processes.tick(minutes=2))
    processes.crash(processes.tick(minutes=3))
    processes.later(hours=1)
    processes.drain()
    processes.later(seconds=LEASE.total_seconds())
    processes.drain()
    report = processes.complete()
    assert report.is_clean
    assert [(item.monitor, item.due, item.ended, item.open) for item in report.monitors] == [
        ("a", 65, 65, 0),
        ("b", 13, 13, 0),
    ]


def test_a_jump_of_the_clock_is_complete_by_the_entry_that_stands_for_many(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.due.MOST_SLOTS", 20)
    processes.publish(*VARIANTS[0])
    processes.later(hours=5)
    processes.drain()
    report = processes.complete()
    assert report.is_clean
    assert [(item.monitor, item.due, item.ended, item.covered) for item in report.monitors] == [
        ("a", 300, 20, 280),
        ("b", 60, 20, 40),
    ]
    stands = [item for item in results(processes.entries()) if "covers_after" in json.loads(item.payload)]
    assert [slot_of(item) for item in stands] == [
        ("a", NOW + timedelta(hours=5, minutes=-19)),
        ("b", NOW + timedelta(hours=5, minutes=-95)),
    ]
    others = [item for item in processes.entries() if item not in stands]
    assert len(faults(processes.complete(found=others))["missing"]) == 281 + 41


def test_slots_that_wait_or_run_are_open_and_then_missing(processes: Processes) -> None:
    processes.publish(*VARIANTS[0])
    processes.crash(processes.tick(minutes=1))
    report = processes.complete()
    assert faults(report)["missing"] == [("a", NOW + timedelta(minutes=1))]
    assert processes.complete(NOW + timedelta(seconds=59)).is_clean


@pytest.mark.slow
@settings(
    max_examples=min(settings.default.max_examples, 40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(-90, 400), st.integers(1000, 9000)),
            st.integers(0, 1),
            st.sampled_from(["nothing", "run", "crash", "restart", "pause", *range(len(VARIANTS))]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_whatever_is_published_and_whenever_nothing_runs_the_ledger_is_complete_and_a_change_is_found(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[int, int, str | int]],
    random: Random,
) -> None:
    monkeypatch.setattr("worker.due.MOST_SLOTS", 30)
    folder = tmp_path_factory.mktemp("history")
    store = migrated_store(folder)
    processes = Processes(store, FixedClock(NOW), folder / "none.duckdb")
    processes.started()
    processes.publish(*VARIANTS[0])
    for seconds, daemon, then in steps:
        processes.later(seconds=seconds)
        if isinstance(then, int):
            processes.publish(*VARIANTS[then])
            continue
        if then == "pause":
            processes.pause("a", timedelta(minutes=4))
        keys = processes.tick(daemon)
        if then == "run":
            processes.run(keys, daemon)
        elif then == "crash":
            processes.crash(keys)
        elif then == "restart":
            processes.started()
            del processes.runtimes[daemon]
    end_all(processes)
    entries = processes.entries()
    report = processes.complete()
    assert report.is_clean, report
    assert all((item.open, item.unjudged) == (0, 0) for item in report.monitors)
    assert sum(item.ended + item.ahead for item in report.monitors) <= len(results(entries))
    made = [item for item in results(entries) if slot_of(item)[1] <= processes.planned_until]
    for changed in random.sample(made, min(3, len(made))):
        assert_a_change_is_found(processes, entries, changed)
    assert_verifies(store, len(entries) - len([item for item in entries if item.entry_type.endswith("_published")]))
    store.dispose()
