"""Every scenario of `tests/cases/alerts/` over the real store, with recording, ledger and outbox, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.accepting import accept_members, end_acceptances
from alerts.groups import name_of
from alerts.keeping import flagged_members, group_alerts, keys_to_look_up
from alerts.message import Message
from alerts.reading import alerts_of
from alerts.recording import apply_all, status_of
from alerts.reminders import acknowledge_alert, release_members, remind_due
from alerts.rendering import body
from alerts.routing import Routing, Target
from alerts.silencing import silence_monitor
from alerts.tables import alert_member, outbox
from alerts.wording import visible
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation
from tests.alert_scenarios import (
    RECEIVERS,
    Scenario,
    Step,
    Told,
    as_json,
    duration,
    evaluation,
    grouped_text,
    letter,
    scenarios,
    told_text,
)
from tests.unit.test_alert_scenarios import Core, Groups, shown
from trivet.clock import FixedClock
from worker.recording import record_all
from worker.stores import open_store, read_only

ROUTING = Routing({name: (Target(name),) for name in RECEIVERS})
ALL = scenarios()
ONE_MONITOR = [item for item in ALL if not (item.is_shared or item.is_grouped)]
SHARED = [item for item in ALL if item.is_shared]


class Stored:
    """Alerts in a store, as daemons and people move them."""

    def __init__(self, scenario: Scenario, store: sa.Engine, reopen: Callable[[sa.Engine], sa.Engine]) -> None:
        self.scenario, self.store, self._reopen = scenario, store, reopen
        self._seen = 0
        self.newly = 0
        """Members that the latest step told of, since they breached and cannot be judged."""
        self.sent: list[tuple[str, str]] = []
        self._slots: set[tuple[str, float]] = set()

    def take(self, step: Step) -> list[tuple[str, Told]]:
        raw = step.raw
        if "restart" in raw:
            self.store = self._reopen(self.store)
        elif "acknowledge" in raw:
            with self.store.begin() as connection:
                acknowledge_alert(connection, self._name(raw, connection), raw["acknowledge"], step.now)
        elif "release" in raw:
            with self.store.begin() as connection:
                release_members(connection, self._name(raw, connection), raw["release"], "left the company", step.now)
        elif "silence" in raw:
            with self.store.begin() as connection:
                until = step.now + duration(raw["silence"])
                silence_monitor(connection, self._name(raw, connection), "ana", "known", step.now, until)
        elif "accept" in raw:
            with self.store.begin() as connection:
                accept_members(
                    connection, raw.get("of", next(iter(self.scenario.definitions))), step.members, step.term
                )
        elif "unaccept" in raw:
            with self.store.begin() as connection:
                end_acceptances(
                    connection,
                    raw.get("of", next(iter(self.scenario.definitions))),
                    step.members,
                    "ana",
                    "mended",
                    step.now,
                )
        elif "clock" in raw:
            remind_due(self.store, self.scenario.definitions, ROUTING, FixedClock(step.now))
        else:
            self._evaluate(step)
        return self._told()

    def _monitor(self, raw: Mapping[str, Any]) -> str:
        """The monitor that a step names, or the only one."""
        return str(raw.get("of", next(iter(self.scenario.definitions))))

    def _evaluate(self, step: Step) -> None:
        chosen = step.raw["of"].split() if "of" in step.raw else list(self.scenario.definitions)
        with read_only(self.store).connect() as connection:
            flagged = keys_to_look_up(connection, chosen)
        # The store takes one evaluation of a schedule for each slot: the second one is a person's.
        again = int(any((name, step.slot) in self._slots for name in chosen))
        self._slots |= {(name, step.slot) for name in chosen}
        made = [
            [evaluation(step, self.scenario.definitions[name], flagged.get(name, {}), daemon) for name in chosen]
            for daemon in range(again, again + step.raw.get("daemons", 1))
        ]
        if len(made) == 1:
            self._record(made[0])
            return
        ready = threading.Barrier(len(made))
        threads = [threading.Thread(target=self._record, args=(batch, ready)) for batch in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _record(self, made: list[Evaluation], ready: threading.Barrier | None = None) -> None:
        if ready is not None:
            ready.wait()
        with self.store.begin() as connection:
            record_all(connection, made, [])
            apply_all(connection, made, ROUTING)

    def _name(self, raw: Mapping[str, Any], connection: sa.Connection) -> str:
        """Whose alert a step is about: the monitor's, or by its letter a group's."""
        first = next(iter(self.scenario.definitions))
        if not self.scenario.is_grouped:
            return str(raw.get("of", first))
        groups = group_alerts(connection, {first})
        return next((name for name, kept in groups.items() if letter(kept.key or "") == raw.get("of")), first)

    def letters(self) -> dict[str, str]:
        """The groups' letters by their alerts' names."""
        with read_only(self.store).connect() as connection:
            return {
                name: letter(kept.key or "")
                for name, kept in group_alerts(connection, self.scenario.definitions).items()
            }

    def _told(self) -> list[tuple[str, Told]]:
        """What the ledger says was told since the last look, and whether it waits in the outbox."""
        with read_only(self.store).connect() as connection:
            found = [item.content() for item in entries(connection, entry_type=EntryType.ALERT_CHANGE)]
            keys = set(connection.execute(sa.select(outbox.c.alert_key)).scalars())
        new, self._seen = found[self._seen :], len(found)
        assert all(set(item["alert_keys"]) <= keys for item in new)
        self.newly = sum(item.get("newly_unjudged", 0) for item in new)
        return [
            (
                item["monitor_id"],
                Told(item["event"], item["kind"], item["severity"], bool(item["alert_keys"])),
            )
            for item in new
        ]

    def end(self) -> None:
        """Keeps what was to be sent, and lets go of the store."""
        self.sent = self._receivers()
        self.store.dispose()

    def _receivers(self) -> list[tuple[str, str]]:
        """Everything that was to be sent, in order: event and receiver."""
        order = (outbox.c.episode, outbox.c.ordinal, outbox.c.receiver)
        try:
            with read_only(self.store).connect() as connection:
                rows = connection.execute(sa.select(outbox.c.event, outbox.c.receiver).order_by(*order))
                return [(row.event, row.receiver) for row in rows]
        finally:
            # Disposed of before, the engine opened anew.
            self.store.dispose()


def reopened(store: sa.Engine) -> sa.Engine:
    url = store.url.render_as_string(hide_password=False)
    store.dispose()
    return open_store(url, create=False)


def run(scenario: Scenario, store: sa.Engine) -> Stored:
    """Runs one scenario over a store and over the core: they say the same, and what the scenario says."""
    stored, core = Stored(scenario, store, reopened), Core(scenario)
    try:
        _run(scenario, stored, core)
    finally:
        stored.end()
    return stored


def _run(scenario: Scenario, stored: Stored, core: Core) -> None:
    for step in scenario.steps:
        expected = step.told(scenario.definition.severity.value)
        assert [told for _, told in stored.take(step)] == expected, as_json(step)
        assert stored.newly == len(step.newly), as_json(step)
        core.take(step)
        with read_only(stored.store).connect() as connection:
            status = status_of(connection, scenario.definition.id)
            flagged = flagged_members(connection, {scenario.definition.id}).get(scenario.definition.id, {})
        if status is not None:
            # Of two daemons either may be the first.
            assert replace(status, evaluation_id=core.status.evaluation_id) == core.status, as_json(step)
        assert flagged == core.kept(), as_json(step)
    assert shown(core.status) == scenario.end
    with read_only(stored.store).connect() as connection:
        report = verify_store(connection)
    assert report.damage == ()


def run_shared(scenario: Scenario, store: sa.Engine) -> Stored:
    """Runs a scenario of several monitors over a store."""
    stored = Stored(scenario, store, reopened)
    try:
        for step in scenario.steps:
            told = [told_text(monitor, item, names=True) for monitor, item in stored.take(step)]
            assert told == step.texts, as_json(step)
        with read_only(stored.store).connect() as connection:
            assert verify_store(connection).damage == ()
    finally:
        stored.end()
    return stored


def run_grouped(scenario: Scenario, store: sa.Engine) -> Stored:
    """Runs a scenario of a monitor's groups over a store and over the core: they say the same."""
    stored, core = Stored(scenario, store, reopened), Groups(scenario)
    monitor = scenario.definition.id
    try:
        for step in scenario.steps:
            told = stored.take(step)
            letters = stored.letters()
            assert [grouped_text(name, item, letters) for name, item in told] == step.texts, as_json(step)
            core.take(step)
            assert letters == core.names(), as_json(step)
            with read_only(stored.store).connect() as connection:
                found = {item.monitor: item for item in alerts_of(connection)}
                flagged = flagged_members(connection, {monitor}).get(monitor, {})
            expected = {name_of(monitor, item.number): item.status for item in core.groups.values()}
            expected |= {monitor: core.status} if core.status.slot is not None else {}
            # Of two daemons either may be the first.
            assert {name: replace(item.status, evaluation_id=None) for name, item in found.items()} == {
                name: replace(item, evaluation_id=None) for name, item in expected.items()
            }, as_json(step)
            assert all(
                item.group == ({"id": letters[name]} if name in letters else None) for name, item in found.items()
            )
            assert flagged == {key: item for key, item in core.flagged.items() if item.is_followed}, as_json(step)
        assert core.end() == scenario.end
        with read_only(stored.store).connect() as connection:
            assert verify_store(connection).damage == ()
    finally:
        stored.end()
    return stored


def marked(scenario: Scenario) -> Any:
    return pytest.param(scenario, marks=[pytest.mark.slow] if scenario.is_slow else [], id=str(scenario))


@pytest.mark.parametrize("scenario", [marked(item) for item in ALL])
def test_sqlite_tells_what_the_scenario_says(scenario: Scenario, sqlite_store: sa.Engine) -> None:
    told(scenario, sqlite_store)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_postgresql_tells_what_the_scenario_says(scenario: Scenario, postgres_store: sa.Engine) -> None:
    told(scenario, postgres_store)


def told(scenario: Scenario, store: sa.Engine) -> list[tuple[str, str]]:
    if scenario.is_grouped:
        return run_grouped(scenario, store).sent
    stored = run_shared(scenario, store) if scenario.is_shared else run(scenario, store)
    return stored.sent


NAMED = {scenario.name: scenario for scenario in ALL}


def test_each_step_of_an_escalation_tells_its_own_receiver(sqlite_store: sa.Engine) -> None:
    assert told(NAMED["nobody acknowledges, so the next receivers are told"], sqlite_store) == [
        ("fired", "payroll"),
        ("escalated", "duty"),
        ("escalated", "chief"),
        ("resolved", "chief"),
        ("resolved", "duty"),
        ("resolved", "payroll"),
    ]


def test_an_outage_is_one_notice_for_each_receiver(sqlite_store: sa.Engine) -> None:
    sent = told(NAMED["a source that is away is told once for all its monitors"], sqlite_store)
    assert sent == [("fired", "payroll"), ("resolved", "payroll")]


def test_what_was_silenced_is_sent_to_nobody(sqlite_store: sa.Engine) -> None:
    assert told(NAMED["what is silenced is written down and not sent"], sqlite_store) == []


def test_five_hundred_monitors_on_one_dead_source_are_one_notice(sqlite_store: sa.Engine) -> None:
    (one,) = NAMED["two outages of one source are two episodes"].definitions.values()
    definitions = [replace(one, id=f"m{number:03}") for number in range(500)]
    step = Step({"not_made": "engine_error", "says": "no such file"}, 0)
    made = [evaluation(step, definition, ()) for definition in definitions]
    with sqlite_store.begin() as connection:
        record_all(connection, made, [])
        apply_all(connection, made, ROUTING)
    with read_only(sqlite_store).connect() as connection:
        (row,) = connection.execute(sa.select(outbox)).all()
        listed = alerts_of(connection)
    message = Message.from_json(row.payload)
    assert (message.monitor_count, len(message.monitors)) == (500, 10)
    assert len(row.payload) < 2_000
    assert "Not judged, 10 of 500:" in body(message, visible)
    assert len([item for item in listed if item.outage is not None]) == 500


def test_one_outage_is_one_row_that_says_what_was_told_last(sqlite_store: sa.Engine) -> None:
    (one,) = NAMED["two outages of one source are two episodes"].definitions.values()
    texts = list[str]()
    for slot, says in enumerate(["no such file", "lock is held by PID 12", "lock is held by PID 13"]):
        with sqlite_store.begin() as connection:
            made = [evaluation(Step({"not_made": "engine_error", "says": says}, slot), one, ())]
            record_all(connection, made, [])
            apply_all(connection, made, ROUTING)
        with read_only(sqlite_store).connect() as connection:
            (outage,) = [item for item in alerts_of(connection) if item.monitor.startswith("outage/")]
        assert outage.message is not None
        assert outage.message.monitor == outage.monitor
        texts.append(str(outage.message.detail))
    assert texts == ["no such file", "lock is held by PID 12", "lock is held by PID 13"]
    with read_only(sqlite_store).connect() as connection:
        assert len(connection.execute(sa.select(outbox)).all()) == 1


def test_members_that_recovered_leave_no_rows_behind(sqlite_store: sa.Engine) -> None:
    """A monitor that runs for years, each hour with other members in breach."""
    definition = NAMED["an alert goes on for those that nobody accepted"].definition
    kept = list[int]()
    for slot in range(30):
        with read_only(sqlite_store).connect() as connection:
            flagged = flagged_members(connection, {definition.id}).get(definition.id, {})
        step = Step({"breach": f"B{slot} B{slot + 1}", "no_data": f"N{slot}", "gone": f"N{slot - 1}"}, slot)
        made = [evaluation(step, definition, flagged)]
        with sqlite_store.begin() as connection:
            record_all(connection, made, [])
            apply_all(connection, made, ROUTING)
            kept.append(connection.execute(sa.select(sa.func.count()).select_from(alert_member)).scalar_one())
    assert kept == [3] * 30


@pytest.mark.slow
def test_ten_thousand_members_in_breach_are_one_notice_of_readable_size(sqlite_store: sa.Engine) -> None:
    stored = run(NAMED["ten thousand members in breach are one alert"], sqlite_store)
    assert stored.sent == [("fired", "payroll"), ("changed", "payroll"), ("resolved", "payroll")]
    with read_only(sqlite_store).connect() as connection:
        payloads = connection.execute(sa.select(outbox.c.payload)).scalars().all()
    assert max(map(len, payloads)) < 4_000
    texts = [body(Message.from_json(payload), visible) for payload in payloads]
    assert any("Breached, 10 of 10,000:" in text for text in texts)
    assert any("1 was breach, now unjudged, 1 of them not there any more" in text for text in texts)
