"""Every scenario of `tests/cases/gathering/` over the real store, on both databases: evaluations in, messages out."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from alerts.delivery import DeliveryPolicy, deliver_due
from alerts.gathered import MOST_LISTED, is_fine
from alerts.message import Message
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.reading import deliveries
from alerts.recording import apply_all
from alerts.reminders import acknowledge_alert, remind_due
from alerts.rendering import body, subject
from alerts.routing import Routing, Target, routing_of
from alerts.silencing import silence_monitor
from alerts.states import AlertEvent, DeliveryState
from alerts.tables import outbox
from alerts.wording import visible
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation
from monitors.loading import load_monitors
from tests.alert_scenarios import a_contract, duration
from tests.alerting import START, an_evaluation
from tests.integration.test_alert_scenarios import reopened
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.settings import load_settings
from worker.recording import record_all
from worker.stores import read_only

FOLDER = Path(__file__).parents[1] / "cases" / "gathering"
RECEIVERS = ("duty", "desk", "mail")
KEYS = {
    "at",
    "breach",
    "no_data",
    "fine",
    "acknowledge",
    "silence",
    "tick",
    "restart",
    "ends",
    "daemons",
    "sent",
    "left",
}
ENDS: Mapping[str, Ending] = {
    "refused": NotSent("the receiver answered 500"),
    "maybe": MaybeSent("no answer"),
    "gone": NotSent("the receiver answered 410", final=True),
}
SCENARIOS = [item for path in sorted(FOLDER.glob("*.yaml")) for item in yaml.safe_load(path.read_text("utf-8"))]


class Killed(BaseException):
    """The program ends here."""


@dataclass
class Receiver:
    """Remembers what it was sent, and ends as the scenario says."""

    world: World
    name: str

    @property
    def resends(self) -> bool:
        return self.name != "mail"

    def send(self, notice: Notice) -> Ending:
        with self.world.lock:
            again = notice.key in self.world.keys
            self.world.keys.add(notice.key)
            self.world.sent.append((self.name, again, notice.payload))
            end = self.world.ends.pop(0) if self.world.ends else ""
        if end == "dies":
            raise Killed
        return ENDS.get(end, Sent())


@dataclass
class World:
    """A store, its monitors and its receivers."""

    store: sa.Engine
    definitions: Mapping[str, MonitorDefinition]
    routing: Routing
    keys: set[str] = field(default_factory=set)
    sent: list[tuple[str, bool, str]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, raw: Mapping[str, Any]) -> list[str]:
        """One step; gives what was sent in it."""
        assert raw.keys() <= KEYS, raw
        now = START + duration(raw["at"])
        if raw.get("restart"):
            self.store = reopened(self.store)
        self.ends[:] = raw.get("ends", "").split()
        made = [
            _evaluation(self.definitions[name], word, now)
            for word in ("breach", "no_data", "fine")
            for name in raw.get(word, "").split()
        ]
        with self.store.begin() as connection:
            if made:
                record_all(connection, made, [])
            apply_all(connection, made, self.routing)
            if "acknowledge" in raw:
                acknowledge_alert(connection, raw["acknowledge"], "ana", now)
            for name, time in raw.get("silence", {}).items():
                silence_monitor(connection, name, "ana", "known", now, now + duration(time))
        before = len(self.sent)
        threads = [threading.Thread(target=self._works, args=(raw, now)) for _ in range(raw.get("daemons", 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [_shown(*item) for item in self.sent[before:]]

    def _works(self, raw: Mapping[str, Any], now: datetime) -> None:
        notifiers = {Target(name): Receiver(self, name) for name in RECEIVERS}
        if raw.get("tick"):
            remind_due(self.store, self.definitions, self.routing, FixedClock(now))
        try:
            deliver_due(
                self.store, notifiers, FixedClock(now), DeliveryPolicy(attempts=3), others=list(map(Target, RECEIVERS))
            )
        except Killed:
            return

    def left(self) -> dict[str, int]:
        """How many notices stand how in the outbox."""
        with read_only(self.store).connect() as connection:
            notices = outbox.c.event != AlertEvent.GATHERED.value
            return dict(Counter(connection.execute(sa.select(outbox.c.state).where(notices)).scalars()))


def _evaluation(definition: MonitorDefinition, word: str, now: datetime) -> Evaluation:
    counts = {"breaches": int(word == "breach"), "no_data": int(word == "no_data")}
    made = an_evaluation(**counts, definition=definition)
    name = f"{definition.id}-{(now - START).total_seconds():g}"
    return replace(made, evaluation_id=name, slot=now, started_at=now, finished_at=now)


def _shown(receiver: str, again: bool, payload: str) -> str:
    message = Message.from_json(payload)
    gathered = message.event is AlertEvent.GATHERED
    listed = ", ".join(
        " > ".join(f"{event} {item.monitor}" for event in (*item.earlier, item.event))
        for item in (message.notices if gathered else [message])
    )
    to = "" if receiver == "desk" else f" to {receiver}"
    return ("again " if again else "") + (f"[{listed}]" if gathered else listed) + to


def _definitions(keys: Mapping[str, Mapping[str, Any]]) -> dict[str, MonitorDefinition]:
    plain = {"object": "pay", "breach_when": "rate < 20", "owner": "payroll"}
    document = read_yaml(
        yaml.safe_dump({"monitors": [{"id": name, **plain, **more} for name, more in keys.items()]}), file="m.yaml"
    )
    assert document.document is not None
    result = load_monitors([document.document], a_contract(), RECEIVERS)
    assert not result.findings, [finding.message for finding in result.findings]
    return {item.id: item for item in result.monitors}


def _routing(routes: Any) -> Routing:
    settings = {"receivers": {name: {"stdout": True} for name in RECEIVERS}, "routes": routes}
    document = read_yaml(yaml.safe_dump(settings), file="trivet.yaml").document
    found = load_settings(document, {})
    assert found.settings is not None, found.findings
    return routing_of(found.settings)


def run(scenario: Mapping[str, Any], store: sa.Engine) -> None:
    assert scenario.keys() <= {"scenario", "routes", "monitors", "steps"}
    world = World(store, _definitions(scenario["monitors"]), _routing(scenario["routes"]))
    try:
        for raw in scenario["steps"]:
            sent = world.take(raw)
            expected = raw.get("sent", [])
            assert sorted(sent) == sorted([expected] if isinstance(expected, str) else expected), raw
            assert world.left() == raw.get("left", world.left()), raw
        _holds(world)
    finally:
        world.store.dispose()


def _holds(world: World) -> None:
    """What is true of every scenario in the end."""
    with read_only(world.store).connect() as connection:
        rows = connection.execute(sa.select(outbox)).all()
        told = [item.content() for item in entries(connection, entry_type=EntryType.DELIVERY)]
        subjects = [item.subject_id for item in entries(connection, entry_type=EntryType.DELIVERY)]
        changed = [item.content() for item in entries(connection, entry_type=EntryType.ALERT_CHANGE)]
        shown = {name: deliveries(connection, name, 100) for name in world.definitions}
        assert verify_store(connection).ok
    notices = {row.alert_key: row for row in rows if row.event != AlertEvent.GATHERED.value}
    ended = {key for key, row in notices.items() if row.ended_at is not None}
    assert sorted(subjects) == sorted(ended), "each notice has one end in the ledger, and a gathered message none"
    assert all(notices[key].state == item["state"] for key, item in zip(subjects, told, strict=True))
    ours = {key for item in changed for key in item["alert_keys"]}
    assert ours == {key for key, row in notices.items() if "/" not in row.monitor}
    assert {item.alert_key for found in shown.values() for item in found} == ours
    for row in rows:
        if row.event == AlertEvent.GATHERED.value:
            own = [item for item in notices.values() if item.gathered_in == row.alert_key]
            if row.ended_at is not None:
                assert {(item.state, item.attempts) for item in own} == {(row.state, row.attempts)}
            message = Message.from_json(row.payload)
            assert Message.from_json(message.to_json()) == message
            assert {item.monitor for item in message.notices} == {item.monitor for item in own}
    in_order = Counter[tuple[str, str]]()
    for receiver, again, payload in world.sent:
        message = Message.from_json(payload)
        for item in message.notices or (message,):
            if not again:
                of = (receiver, item.monitor)
                assert item.episode >= in_order[of], "an episode is told after the one before it"
                in_order[of] = item.episode


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item["scenario"].replace(" ", "-"))
def test_sqlite_sends_what_the_scenario_says(scenario: Mapping[str, Any], sqlite_store: sa.Engine) -> None:
    run(scenario, sqlite_store)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item["scenario"].replace(" ", "-"))
def test_postgresql_sends_what_the_scenario_says(scenario: Mapping[str, Any], postgres_store: sa.Engine) -> None:
    run(scenario, postgres_store)


def test_no_two_scenarios_share_a_name() -> None:
    assert len({item["scenario"] for item in SCENARIOS}) == len(SCENARIOS) >= 30


def test_a_storm_is_one_message_of_readable_size(sqlite_store: sa.Engine) -> None:
    names = {f"m{number:03}": {} for number in range(450)}
    assert len(names) > MOST_LISTED
    world = World(sqlite_store, _definitions(names), _routing([{"receiver": "desk", "group_by": ["owner"]}]))
    assert world.take({"at": "0s", "breach": " ".join(names)}) == []
    world.take({"at": "30s"})
    ((_, _, payload),) = world.sent
    message = Message.from_json(payload)
    assert (len(message.notices), message.kinds) == (MOST_LISTED, {"breach": 450})
    text = body(message, visible)
    assert "and 425 more: trivet alerts list" in text
    assert len(text) < 6_000
    assert len(payload) < 150_000
    assert subject(message) == "[warning] 450 alerts: 450 breach (owner payroll)"
    assert world.left() == {DeliveryState.DELIVERED: 450}


def test_a_gathered_message_is_in_order_only_where_everything_ended_and_was_decided(sqlite_store: sa.Engine) -> None:
    monitors = {"a": {}, "b": {"no_data": {"tolerate": 1}}}
    world = World(sqlite_store, _definitions(monitors), _routing([{"receiver": "desk", "group_by": ["owner"]}]))
    world.take({"at": "0s", "breach": "a b"})
    world.take({"at": "30s"})
    world.take({"at": "10m", "fine": "a", "no_data": "b"})
    world.take({"at": "11m"})
    world.take({"at": "20m", "breach": "a b"})
    world.take({"at": "21m"})
    world.take({"at": "30m", "fine": "a b"})
    world.take({"at": "31m"})
    fired, tolerated, _, fine = (Message.from_json(payload) for _, _, payload in world.sent)
    assert [item.event for item in tolerated.notices] == [AlertEvent.RESOLVED, AlertEvent.RESOLVED]
    assert [is_fine(item) for item in (fired, tolerated, fine)] == [False, False, True]
    assert [subject(item).partition("]")[0] for item in (fired, tolerated, fine)] == ["[warning", "[info", "[resolved"]
