"""An outage is told again as routes say, to whom they lead, and taken on by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from alerts.message import Message
from alerts.recording import apply_all
from alerts.reminders import acknowledge_alert, remind_due
from alerts.rendering import body, subject
from alerts.routing import Routing, Target
from alerts.tables import outbox
from alerts.wording import visible
from monitors.alerting import AlertPolicy, Escalation
from tests.alerting import START, a_failure, a_monitor, an_evaluation
from tests.integration.store import migrated_store
from trivet.clock import FixedClock
from trivet.settings import RouteSettings
from worker.recording import record_all
from worker.stores import read_only

ROUTES = (RouteSettings(receiver="desk", repeat=timedelta(hours=1)),)
ROUTING = Routing({name: (Target(name),) for name in ("desk", "payroll", "duty")}, ROUTES)
ONE = a_monitor(id="one")
OTHER = a_monitor(id="other", notify=(), alerting=AlertPolicy(escalate=(Escalation(timedelta(hours=3), "duty"),)))
IN_FORCE = {item.id: item for item in (ONE, OTHER)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = migrated_store(tmp_path)
    yield engine
    engine.dispose()


@pytest.fixture
def outage(store: sa.Engine) -> str:
    """Two monitors that cannot be judged, and the name of their outage."""
    found = [an_evaluation(0, not_made=a_failure(), definition=item) for item in (ONE, OTHER)]
    made = [replace(item, evaluation_id=f"{number:064x}") for number, item in enumerate(found)]
    with store.begin() as connection:
        record_all(connection, made, [])
        apply_all(connection, made, ROUTING)
    with read_only(store).connect() as connection:
        name = connection.execute(sa.select(outbox.c.monitor).distinct()).scalar_one()
    assert name.startswith("outage/")
    return str(name)


def sent(store: sa.Engine) -> list[tuple[str, str]]:
    with read_only(store).connect() as connection:
        rows = connection.execute(sa.select(outbox.c.event, outbox.c.receiver).order_by(outbox.c.ordinal)).all()
    return sorted((row.event, row.receiver) for row in rows)


def tick(store: sa.Engine, **later: float) -> list[str]:
    at = FixedClock(START + timedelta(seconds=2) + timedelta(**later))
    return [change.event.value for change in remind_due(store, IN_FORCE, ROUTING, at)]


def test_a_route_has_its_receiver_told_again_and_nobody_else(store: sa.Engine, outage: str) -> None:
    assert sent(store) == [("fired", "desk"), ("fired", "payroll")]
    assert [tick(store, minutes=59), tick(store, minutes=61), tick(store, minutes=62)] == [[], ["repeated"], []]
    assert sent(store) == [("fired", "desk"), ("fired", "payroll"), ("repeated", "desk")]
    assert tick(store, hours=4) == ["escalated", "repeated"]
    assert ("escalated", "duty") in sent(store)
    assert [tick(store, hours=hour) for hour in range(6, 12)] == [["repeated"]] * 4 + [[], []]


def test_an_outage_that_somebody_took_on_is_left_alone(store: sa.Engine, outage: str) -> None:
    with store.begin() as connection:
        acknowledge_alert(connection, outage, "ana", START + timedelta(minutes=5))
    assert tick(store, hours=9) == []


def test_what_is_told_again_says_what_it_is_and_how_to_take_it_on(store: sa.Engine, outage: str) -> None:
    tick(store, hours=2)
    with read_only(store).connect() as connection:
        last = sa.select(outbox.c.payload).order_by(outbox.c.ordinal.desc()).limit(1)
        message = Message.from_json(connection.execute(last).scalar_one())
    assert subject(message) == "[critical] Monitors cannot be judged: still no data"
    text = body(message, visible)
    assert "the engine said no" in text
    assert "- one\n- other" in text
    assert f"trivet alerts ack {outage} --owner NAME" in text


def test_of_monitors_that_are_in_force_no_more_nobody_is_reminded(store: sa.Engine, outage: str) -> None:
    assert remind_due(store, {}, ROUTING, FixedClock(START + timedelta(days=1))) == []
