"""Metrics are what the store says, on both stores; each evaluation counts once, and the page lists all there are."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from prometheus_client import CollectorRegistry

from alerts.states import DeliveryState
from alerts.tables import breakdown, outbox
from api.metrics import StoreCollector
from ledger.checkpoints import write_checkpoint
from ledger.keys import new_signing_key
from ledger.tables import ledger_entry
from tests.integration.scheduling import LEASE, Scheduled, scheduled_monitors
from tests.integration.worlds import NOW, a_warehouse, rows
from tests.markdown import code, tables
from trivet.clock import FixedClock, utc_text
from trivet.verdicts import Verdict
from worker.claims import MOST_ATTEMPTS
from worker.processes import Daemon, DaemonKind, last_ticks, mark_end, mark_tick
from worker.readings import Readings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
ONE, TWO, THREE = "a-own", "b-linked", "c-own"


@pytest.fixture
def scheduled(any_store: sa.Engine, tmp_path: Path) -> Scheduled:
    """Three monitors of one object type, planned and not yet due."""
    made = Scheduled(any_store, FixedClock(NOW), scheduled_monitors(), a_warehouse(tmp_path))
    made.plan()
    return made


class Scraped:
    """A scraper of a store."""

    def __init__(self, scheduled: Scheduled) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(StoreCollector(Readings(scheduled.store, scheduled.clock, LEASE)))

    def __call__(self) -> dict[str, float]:
        """Every sample by its name and labels, but buckets and those that a process begins with."""
        found = {}
        for family in self.registry.collect():
            for sample in family.samples:
                labels = ",".join(value for _, value in sorted(sample.labels.items()) if value)
                name = f"{sample.name.removeprefix('trivet_')}{{{labels}}}" if labels else sample.name[7:]
                if not name.startswith(("build", "evaluation_seconds_bucket")) and "_created" not in name:
                    found[name] = sample.value
        return found


def changed(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What is otherwise in the later scrape."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def test_a_store_in_which_nothing_happened_has_zeros_and_no_ages(scheduled: Scheduled) -> None:
    # Planning published by what it plans; nothing else is there.
    published = len(rows(scheduled.store, ledger_entry))
    assert Scraped(scheduled)() == {
        "store_up": 1,
        **{f"evaluations_total{{{verdict}}}": 0 for verdict in Verdict},
        "lease_expiries_total": 0,
        "evaluation_seconds_count": 0,
        "evaluation_seconds_sum": 0,
        "slots_due": 0,
        "slots_running": 0,
        "slots_late": 0,
        "ledger_head_seq": published,
        "ledger_uncovered_entries": published,
        "outbox_waiting": 0,
        "receiver_breakdowns": 0,
    }


def test_slots_are_due_then_running_or_late_then_evaluations(scheduled: Scheduled) -> None:
    scraped = Scraped(scheduled)
    scheduled.plan(minutes=1)
    keys = scheduled.handed_out()
    due = scraped()
    assert (due["slots_due"], due["slots_running"], due["slots_late"]) == (3, 0, 0)
    claimed = scheduled.claim(keys[0], "someone")
    running = scraped()
    assert changed(due, running) == {"slots_due": 2, "slots_running": 1}
    scheduled.clock.instant += LEASE + timedelta(seconds=1)
    late = scraped()
    # The lease of the one that runs ended too.
    assert changed(running, late) == {"slots_running": 0, "slots_late": 3}
    assert list(scheduled.evaluator.evaluate([claimed], scheduled.store))
    assert len(scheduled.run(keys[1:])) == 2
    done = scraped()
    assert changed(late, done) == {
        "slots_due": 0,
        "slots_late": 0,
        "evaluations_total{breach}": 3,
        "evaluation_seconds_count": 3,
        # The contract, three definitions and the evaluations.
        "ledger_head_seq": 7,
        "ledger_uncovered_entries": 7,
    }
    assert scraped() == done


def test_an_evaluation_counts_once_whoever_asks_and_only_from_then_on(scheduled: Scheduled) -> None:
    scheduled.plan(minutes=1)
    early = Scraped(scheduled)
    scheduled.run(scheduled.handed_out())
    late = Scraped(scheduled)
    assert (early()["evaluations_total{breach}"], late()["evaluations_total{breach}"]) == (3, 0)
    scheduled.plan(minutes=1)
    scheduled.run(scheduled.handed_out())
    assert (early()["evaluations_total{breach}"], late()["evaluations_total{breach}"]) == (6, 3)


def test_what_was_not_evaluated_counts_with_its_reason_and_cause_and_took_no_time(scheduled: Scheduled) -> None:
    scraped = Scraped(scheduled)
    scheduled.plan(minutes=3)
    found = scraped()
    # In the order of the labels' names: cause, reason, verdict.
    assert found["evaluations_total{missed,not_evaluated,no_data}"] == 6
    assert (found["evaluation_seconds_count"], found["slots_due"]) == (0, 3)


def test_leases_that_ended_count_once_their_slot_has_its_evaluation(scheduled: Scheduled) -> None:
    scraped = Scraped(scheduled)
    scheduled.plan(minutes=1)
    keys = scheduled.handed_out()
    for attempt in range(MOST_ATTEMPTS):
        for key in keys[:1] if attempt else keys[:2]:
            scheduled.claim(key, f"dead {attempt}")
        scheduled.clock.instant += LEASE
        assert scraped()["lease_expiries_total"] == 0
    scheduled.run(keys[1:2])
    assert scraped()["lease_expiries_total"] == 1
    assert len(scheduled.give_up()) == 1
    found = scraped()
    assert found["lease_expiries_total"] == 1 + MOST_ATTEMPTS
    assert found["evaluations_total{crashed,not_evaluated,no_data}"] == 1


def test_a_checkpoint_covers_what_was_before_it_and_has_an_age(scheduled: Scheduled) -> None:
    scraped = Scraped(scheduled)
    scheduled.plan(minutes=1)
    keys = scheduled.handed_out()
    scheduled.run(keys[:1])
    key = new_signing_key("test.example/ledger")
    with scheduled.store.begin() as connection:
        assert write_checkpoint(connection, key, scheduled.clock.now(), None) is not None
    scheduled.clock.instant += timedelta(seconds=10)
    found = scraped()
    assert (found["ledger_uncovered_entries"], found["checkpoint_age_seconds"]) == (0, 10)
    before = found["ledger_head_seq"]
    scheduled.run(keys[1:])
    found = scraped()
    assert found["ledger_uncovered_entries"] == found["ledger_head_seq"] - before > 0


def test_the_outbox_has_a_size_and_an_age_as_long_as_something_waits(scheduled: Scheduled) -> None:
    scraped, created = Scraped(scheduled), scheduled.clock.now()
    states = [DeliveryState.PENDING, DeliveryState.ATTEMPTING, DeliveryState.DELIVERED, DeliveryState.FAILED]
    with scheduled.store.begin() as connection:
        for number, state in enumerate(states):
            row = {"alert_key": f"{number}", "monitor": ONE, "episode": 1, "ordinal": number, "event": "alert.fired"}
            told = {"receiver": "desk", "target": 1, "payload": "{}", "state": state.value, "attempts": 0}
            at = {"created_at": utc_text(created + timedelta(seconds=number))}
            connection.execute(sa.insert(outbox), row | told | at)
    scheduled.clock.instant += timedelta(seconds=30)
    found = scraped()
    assert (found["outbox_waiting"], found["outbox_age_seconds"]) == (2, 30)
    with scheduled.store.begin() as connection:
        # The first waits for others now, and the second is part of the third, a gathered message.
        later = {"group_key": "{}", "next_attempt": utc_text(scheduled.clock.now() + timedelta(seconds=1))}
        connection.execute(sa.update(outbox).where(outbox.c.alert_key == "0").values(later))
        connection.execute(
            sa.update(outbox).where(outbox.c.alert_key == "1").values(state=DeliveryState.GATHERED.value)
        )
        message = {"state": DeliveryState.ATTEMPTING.value, "event": "gathered"}
        connection.execute(sa.update(outbox).where(outbox.c.alert_key == "2").values(message))
    found = scraped()
    assert (found["outbox_waiting"], found["outbox_age_seconds"]) == (2, 29)
    with scheduled.store.begin() as connection:
        connection.execute(sa.update(outbox).values(state=DeliveryState.DELIVERED.value))
    found = scraped()
    assert (found["outbox_waiting"], "outbox_age_seconds" in found) == (0, False)


def test_addresses_that_cannot_be_told_are_counted_until_they_take_something(scheduled: Scheduled) -> None:
    scraped = Scraped(scheduled)
    told = {"receiver": "desk", "target": 1, "episode": 1, "since": utc_text(scheduled.clock.now())}
    with scheduled.store.begin() as connection:
        connection.execute(sa.insert(breakdown), told)
    assert scraped()["receiver_breakdowns"] == 1
    with scheduled.store.begin() as connection:
        connection.execute(sa.update(breakdown).values(since=None))
    assert scraped()["receiver_breakdowns"] == 0


def test_the_last_tick_is_that_of_any_daemon(scheduled: Scheduled) -> None:
    scraped, now = Scraped(scheduled), scheduled.clock.now()
    one, other = Daemon(DaemonKind.WORKER, "one"), Daemon(DaemonKind.WORKER, "other")
    with scheduled.store.begin() as connection:
        mark_tick(connection, one, now - timedelta(seconds=90))
        mark_tick(connection, other, now - timedelta(seconds=50))
        mark_tick(connection, one, now - timedelta(seconds=20))
        mark_end(connection, other, now)
    assert scraped()["last_tick_age_seconds"] == 20
    with scheduled.store.connect() as connection:
        found = [(item.daemon.name, item.ended_at) for item in last_ticks(connection)]
    assert found == [("worker@one", None), ("worker@other", now)]
    with scheduled.store.begin() as connection:
        mark_tick(connection, other, now)
    with scheduled.store.connect() as connection:
        assert [item.ended_at for item in last_ticks(connection)] == [None, None]


def test_without_a_store_the_metrics_say_so_and_nothing_is_counted_twice(
    scheduled: Scheduled, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = Readings(scheduled.store, scheduled.clock, LEASE)
    registry = CollectorRegistry()
    registry.register(StoreCollector(readings))
    scheduled.plan(minutes=1)
    scheduled.run(scheduled.handed_out())

    def names() -> set[str]:
        return {family.name for family in registry.collect() if family.samples}

    whole = names()
    counted = {"trivet_evaluations", "trivet_evaluation_seconds", "trivet_lease_expiries"}
    with monkeypatch.context() as patch:
        patch.setattr(readings, "figures", lambda: 1 / 0)
        assert names() == {"trivet_build", "trivet_store_up"} | counted
        assert registry.get_sample_value("trivet_store_up") == 0
    assert names() == whole
    assert registry.get_sample_value("trivet_store_up") == 1
    assert registry.get_sample_value("trivet_evaluations_total", {"verdict": "breach", "reason": "", "cause": ""}) == 3


def test_the_page_lists_every_metric_with_its_type_and_labels(scheduled: Scheduled) -> None:
    scheduled.plan(minutes=3)
    registry = CollectorRegistry()
    readings = Readings(scheduled.store, scheduled.clock, LEASE)
    registry.register(StoreCollector(readings))
    found = {}
    for family in registry.collect():
        name = family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        found[name] = (family.type, labels)
    (table,) = (table for table in tables(PAGE.read_text("utf-8")) if table.columns[0] == "Metric")
    documented = {code(row[0])[0]: (row[1], set(code(row[2]))) for row in table.rows}
    assert documented == found


def test_the_words_of_the_page_are_those_of_the_program(scheduled: Scheduled) -> None:
    registry = CollectorRegistry()
    registry.register(StoreCollector(Readings(scheduled.store, scheduled.clock, LEASE)))
    page = PAGE.read_text("utf-8")
    for family in registry.collect():
        beginning = re.split(r"[.,]", family.documentation)[0]
        assert f" {beginning}" in page, family.name
