"""An evaluation moves its monitor's alert in the same savepoint, and the receivers' rows with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.delivery import deliver_due
from alerts.message import Message
from alerts.notifiers.fake import FakeNotifier
from alerts.reading import alerts_of, deliveries
from alerts.recording import apply, status_of
from alerts.routing import Routing, Target, routing_of
from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange
from alerts.tables import alert, outbox
from alerts.telling import alert_key
from catalog.engines.duckdb_engine import DuckDBEngine
from ledger.entries import EntryType, LedgerEntry
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation, NotMade
from tests.alerting import START, a_monitor, an_evaluation
from tests.integration.worlds import NOW, a_contract, a_warehouse, assert_verifies, some_monitors
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.settings import load_settings
from trivet.verdicts import NotMadeReason
from worker.evaluate import Evaluator, manual_slots
from worker.recording import record
from worker.stores import read_only

SLOW = NotMade(NotMadeReason.TIMEOUT, "the queries took longer than they may")
RECEIVERS = """
receivers:
  payroll: {apprise: ["env:A", "env:B"]}
  ops: {stdout: true}
  gaps: {stdout: true}
  late: {stdout: true}
"""


def routing(routes: str = "[]") -> Routing:
    document = read_yaml(f"{RECEIVERS}routes: {routes}\n", file="trivet.yaml").document
    result = load_settings(document, {})
    assert result.settings is not None, result.findings
    return routing_of(result.settings)


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    return any_store


def apply_all(store: sa.Engine, *made: Evaluation, known: Routing | None = None) -> list[AlertChange | None]:
    changes = []
    for item in made:
        with store.begin() as connection, connection.begin_nested():
            record(connection, item)
            changes.append(apply(connection, item, known or routing()))
    return changes


def outbox_rows(store: sa.Engine) -> list[Any]:
    with read_only(store).connect() as connection:
        order = (outbox.c.episode, outbox.c.ordinal, outbox.c.receiver, outbox.c.target)
        return list(connection.execute(sa.select(outbox).order_by(*order)).all())


def told(store: sa.Engine) -> list[tuple[str, str, int]]:
    return [(row.event, row.receiver, row.target) for row in outbox_rows(store)]


def ledger(store: sa.Engine, entry_type: EntryType) -> list[LedgerEntry]:
    with read_only(store).connect() as connection:
        return list(entries(connection, entry_type=entry_type))


def test_a_change_is_one_state_one_entry_and_one_row_for_each_address(store: sa.Engine) -> None:
    apply_all(store, an_evaluation(0, breaches=4, no_data=1))
    with read_only(store).connect() as connection:
        status = status_of(connection, "pay-below-floor")
    assert status is not None
    assert (status.state, status.kind, status.told) == (AlertState.FIRING, AlertKind.BREACH, AlertKind.BREACH)
    assert (status.since, status.slot, status.evaluation_id) == (START, START, f"{0:064x}")
    assert (status.pending, status.episode, status.events) == (0, 1, 1)
    rows = outbox_rows(store)
    assert told(store) == [("fired", "payroll", 1), ("fired", "payroll", 2)]
    (entry,) = ledger(store, EntryType.ALERT_CHANGE)
    content = entry.content()
    assert entry.subject_id == "pay-below-floor/1/1"
    assert content["alert_keys"] == [row.alert_key for row in rows]
    assert (content["event"], content["kind"], content["verdict"], content["state"]) == (
        "fired",
        "breach",
        "breach",
        "firing",
    )
    (evaluation,) = ledger(store, EntryType.EVALUATION)
    message = Message.from_json(rows[0].payload)
    assert (message.badge, message.ledger_seq) == ("4 breaches / 1 no-data", evaluation.seq)
    with read_only(store).connect() as connection:
        assert verify_store(connection).ok


def test_the_same_slot_twice_tells_nobody_twice(store: sa.Engine) -> None:
    made = an_evaluation(0, breaches=1)
    apply_all(store, made)
    with store.begin() as connection:
        assert apply(connection, made, routing()) is None
    assert len(outbox_rows(store)) == 2
    assert len(ledger(store, EntryType.ALERT_CHANGE)) == 1


def test_an_episode_is_written_down_from_beginning_to_end(store: sa.Engine) -> None:
    changes = apply_all(
        store, an_evaluation(0, breaches=1), an_evaluation(1, not_made=SLOW), an_evaluation(2), an_evaluation(3)
    )
    assert [change and change.event for change in changes] == ["fired", "changed", "resolved", None]
    assert [entry.subject_id for entry in ledger(store, EntryType.ALERT_CHANGE)] == [
        f"pay-below-floor/1/{ordinal}" for ordinal in (1, 2, 3)
    ]
    with read_only(store).connect() as connection:
        (named,) = alerts_of(connection)
        shown = deliveries(connection, "pay-below-floor", 3)
    assert (named.monitor, named.status.state, named.status.kind) == ("pay-below-floor", AlertState.QUIET, None)
    assert [row.event for row in shown] == ["resolved", "resolved", "changed"]


def test_a_rolled_back_evaluation_leaves_no_alert_behind(store: sa.Engine) -> None:
    made = an_evaluation(0, breaches=1)
    with store.connect() as connection, connection.begin() as transaction:
        record(connection, made)
        assert apply(connection, made, routing()) is not None
        transaction.rollback()
    assert outbox_rows(store) == []
    assert ledger(store, EntryType.ALERT_CHANGE) == []
    with read_only(store).connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(alert)).scalar_one() == 0


def test_a_monitor_without_receivers_is_written_down_all_the_same(store: sa.Engine) -> None:
    apply_all(store, an_evaluation(0, breaches=1, definition=a_monitor(notify=())))
    assert outbox_rows(store) == []
    assert ledger(store, EntryType.ALERT_CHANGE)[0].content()["alert_keys"] == []


ROUTES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("[{receiver: ops}]", {}, ["payroll", "ops"]),
    ("[{receiver: payroll}]", {}, ["payroll"]),
    ("[{receiver: ops}, {receiver: late}]", {}, ["payroll", "ops"]),
    ("[{match: {severity: info}, receiver: ops}, {receiver: late}]", {}, ["payroll", "late"]),
    ("[{match: {severity: critical, owner: payroll-ops}, receiver: ops}]", {}, ["payroll", "ops"]),
    ("[{match: {severity: critical, owner: others}, receiver: ops}]", {}, ["payroll"]),
    ("[{match: {monitor: pay-below-floor}, receiver: ops}]", {}, ["payroll", "ops"]),
    ("[{match: {object: employee}, receiver: ops}]", {}, ["payroll"]),
    ("[{match: {object: employee_pay}, receiver: ops}]", {}, ["payroll", "ops"]),
    ("[{match: {labels: {team: people}}, receiver: ops}]", {}, ["payroll"]),
    ("[{match: {labels: {team: people}}, receiver: ops}]", {"labels": (("team", "people"),)}, ["payroll", "ops"]),
    ("[{match: {verdict: breach}, receiver: ops}]", {}, ["payroll", "ops"]),
    ("[{match: {verdict: no_data}, receiver: ops}]", {}, ["payroll"]),
    ("[]", {"notify": ("late", "ops", "late")}, ["late", "ops"]),
    ("[]", {"notify": ("gone",)}, []),
]


@pytest.mark.parametrize(("routes", "changes", "names"), ROUTES)
def test_the_monitors_receivers_and_the_first_matching_route_are_told(
    routes: str, changes: dict[str, Any], names: list[str]
) -> None:
    assert routing(routes).receivers_for(a_monitor(**changes), AlertKind.BREACH) == names


def test_a_breach_that_cannot_be_judged_is_routed_as_a_breach() -> None:
    known = routing("[{match: {verdict: no_data}, receiver: gaps}, {match: {verdict: breach}, receiver: ops}]")
    receiver = {kind: known.receivers_for(a_monitor(notify=()), kind) for kind in AlertKind}
    assert receiver == {AlertKind.BREACH: ["ops"], AlertKind.UNJUDGED: ["ops"], AlertKind.NO_DATA: ["gaps"]}


def test_who_was_told_of_an_episode_is_told_of_its_end(store: sa.Engine) -> None:
    known = routing("[{match: {verdict: no_data}, receiver: gaps}, {match: {verdict: breach}, receiver: ops}]")
    monitor = a_monitor(notify=())
    apply_all(
        store,
        an_evaluation(0, no_data=1, definition=monitor),
        an_evaluation(1, breaches=1, definition=monitor),
        an_evaluation(2, definition=monitor),
        an_evaluation(3, breaches=1, definition=monitor),
        known=known,
    )
    assert told(store) == [
        ("fired", "gaps", 1),
        ("changed", "gaps", 1),
        ("changed", "ops", 1),
        ("resolved", "gaps", 1),
        ("resolved", "ops", 1),
        ("fired", "ops", 1),
    ]


def test_the_key_of_a_notice_follows_from_what_it_is_and_from_nothing_else() -> None:
    change = AlertChange(AlertEvent.FIRED, AlertKind.BREACH, None, 1, 1, START)
    key = alert_key("pay-below-floor", change, Target("payroll"))
    assert key == hashlib.sha256(b'["payroll",1,"pay-below-floor",1,"fired",1]').hexdigest()
    alike = replace(change, kind=AlertKind.NO_DATA, since=START + timedelta(days=1))
    assert alert_key("pay-below-floor", alike, Target("payroll")) == key
    others = [
        alert_key("other", change, Target("payroll")),
        alert_key("pay-below-floor", change, Target("ops")),
        alert_key("pay-below-floor", change, Target("payroll", 2)),
        *(
            alert_key("pay-below-floor", other, Target("payroll"))
            for other in (
                replace(change, episode=2),
                replace(change, ordinal=2),
                replace(change, event=AlertEvent.CHANGED),
            )
        ),
    ]
    assert len({key, *others}) == 7


# --- From a warehouse to a receiver

MONITORS = "monitors: [{id: a-own, object: reading, breach_when: value < 0}]"
EMPTIED = "DELETE FROM raw.reading"
MENDED = "UPDATE raw.reading SET value = '1'"


def evaluating(store: sa.Engine, at: int, known: Routing) -> Callable[[Path], None]:
    """Evaluates the monitor for the hour `at`, alerts included."""
    contract = a_contract()
    (definition,) = some_monitors(contract, MONITORS)
    notified = replace(definition, notify=("ops",))
    instant = NOW + timedelta(hours=at)

    def move_alert(connection: sa.Connection, made: Sequence[Evaluation]) -> None:
        for item in made:
            apply(connection, item, known)

    def run(warehouse: Path) -> None:
        evaluator = Evaluator(contract, DuckDBEngine(warehouse), FixedClock(instant), move_alert)
        list(evaluator.evaluate(manual_slots([notified], contract, instant), store))

    return run


def test_an_evaluation_reaches_a_receiver_and_missing_data_ends_nothing(store: sa.Engine, tmp_path: Path) -> None:
    fake, known = FakeNotifier(), routing()
    histories: list[tuple[str, ...]] = [(), (EMPTIED,), (MENDED,)]
    for hour, changes in enumerate(histories):
        folder = tmp_path / str(hour)
        folder.mkdir()
        evaluating(store, hour, known)(a_warehouse(folder, *changes))
        deliver_due(store, {Target("ops"): fake}, FixedClock(NOW + timedelta(hours=hour)))
    messages = [Message.from_json(notice.payload) for notice in fake.sent]
    assert [(item.event, item.kind, item.badge) for item in messages] == [
        (AlertEvent.FIRED, AlertKind.BREACH, "1 breach / 1 no-data"),
        (AlertEvent.CHANGED, AlertKind.UNJUDGED, None),
        (AlertEvent.RESOLVED, AlertKind.UNJUDGED, "0 breaches / 0 no-data"),
    ]
    assert messages[0].members[0].key == {"id": "R2"}
    assert messages[1].not_made == "population_empty"
    assert_verifies(store, 11)
