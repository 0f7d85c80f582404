"""Daemons that are killed in the middle of their work: every slot has exactly one result, and people hear of it once.

In both topologies one monitor comes due every two seconds for twenty seconds, and a webhook is told. Whoever
evaluates is killed with SIGKILL while a slot is running, and another is started in its place.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.states import DeliveryState
from alerts.tables import outbox
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import (
    QUICK,
    all_ended,
    all_told,
    assert_each_slot_has_one_result,
    assert_what_was_not_evaluated_is_explained,
    expected_notices,
    history,
    instant,
    kill,
    opened,
    running,
    running_slot,
    slots,
    stop,
    wait_for,
)
from tests.acceptance.files import append_to, replace_in
from tests.integration.receiver import Receiver, Request, running_receiver
from tests.integration.servers import PostgresServer, postgres, running_redis
from worker.tables import SlotState

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

DURATION = timedelta(seconds=20)
ROWS = 200_000
KEY = os.urandom(32)
ENVIRONMENT = QUICK | {"DESK_SECRET": f"whsec_{base64.b64encode(KEY).decode()}"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as found:
        yield found


@pytest.fixture
def workspace(small: Path, receiver: Receiver) -> Path:
    """One monitor, every two seconds, over so many rows that one can see it run; a webhook is told of it."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h}", "every: 2s}\n    notify: [desk]")
    desk = f"{{url: '{receiver.url()}', secret: 'env:DESK_SECRET', insecure: true}}"
    append_to(small / "trivet.yaml", f"receivers: {{desk: {{webhook: {desk}}}}}\n")
    with (small / "sources" / "readings.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"X{number},north,3.5,2026-11-01\n" for number in range(ROWS))
    assert trivet("ingest", at=small).code == 0
    return small


def assert_it_was_taken_over(store: sa.Engine, killed: Any) -> None:
    """The slot that ran when its runner was killed was begun again, and evaluated."""
    (again,) = (row for row in slots(store) if row["scheduled_for"] == killed["scheduled_for"])
    assert (again["state"], again["attempt"], again["fence"]) == (SlotState.DONE, 2, 2)
    (result,) = (row for row in history(store) if row["scheduled_for"] == killed["scheduled_for"])
    assert (result["status"], result["breach"]) == ("completed", 1)


def assert_it_tells_what_was_found(request: Request, store: sa.Engine) -> None:
    """The one that fires is signed, and says what the first evaluation found: badge, reasons, members, and where."""
    body = json.loads(request.body)
    first = history(store)[0]
    signed = f"{request.key}.{request.headers['webhook-timestamp']}.".encode() + request.body
    signature = base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    assert request.headers["webhook-signature"] == f"v1,{signature}"
    data = body["data"]
    assert (body["type"], data["monitor"], data["kind"]) == ("alert.fired", "reading-too-warm", "breach")
    assert data["badge"] == "1 breach / 1 no-data"
    assert data["no_data_reasons"] == {"left_null": 1}
    counts = {"population": ROWS + 4, "breach": 1, "no_data": 1, "compliant": ROWS + 2}
    assert data["counts"] == counts
    assert [(item["verdict"], item["key"], item["reason"]) for item in data["members"]] == [
        ("breach", {"reading_id": "R2"}, None),
        ("no_data", {"reading_id": "R3"}, "left_null"),
    ]
    assert (data["evaluation_id"], data["ledger_seq"]) == (first["evaluation_id"], first["seq"])


def assert_each_notice_was_told_once(receiver: Receiver, store: sa.Engine) -> None:
    """What the receiver got is what follows from the evaluations, in their order, and no id came twice."""
    got = [(json.loads(item.body)["type"], json.loads(item.body)["data"]["kind"]) for item in receiver.requests]
    assert got == expected_notices(store)
    assert len({item.key for item in receiver.requests}) == len(got)
    assert [event for event, _ in got].count("alert.fired") == 1
    with store.connect() as connection:
        sent = connection.execute(sa.select(outbox.c.alert_key, outbox.c.state, outbox.c.attempts)).all()
    assert {row.alert_key for row in sent} == {item.key for item in receiver.requests}
    assert {(row.state, row.attempts) for row in sent} == {(DeliveryState.DELIVERED, 1)}


def sleep_until(instant: datetime) -> None:
    time.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))


def test_the_embedded_daemon_is_killed_and_started_again(workspace: Path, receiver: Receiver) -> None:
    """The monitor's missing data is told, so that a slot that was missed is, too: "was breach, now unjudged"."""
    assert trivet("db", "upgrade", at=workspace).code == 0
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", "--json", environment=ENVIRONMENT) as first:
            until = instant(wait_for(lambda: slots(store), first)[0]) + DURATION
            wait_for(lambda: len(slots(store)) >= 3 and receiver.requests)
            killed = wait_for(lambda: running_slot(store))
            kill(first)
            went = datetime.now(UTC)
        planned = len(slots(store))
        with running(workspace, "run", "--json", environment=ENVIRONMENT) as second:
            wait_for(lambda: len(slots(store)) > planned, second)
            back = datetime.now(UTC)
            sleep_until(until)
            wait_for(lambda: all_ended(store, until) and all_told(store), second)
            ended = stop(second)
        assert {document["monitor"] for document in ended.documents} == {"reading-too-warm"}
        assert_each_slot_has_one_result(store, until)
        assert_what_was_not_evaluated_is_explained(store, (went, back))
        assert_it_was_taken_over(store, killed)
        assert_it_tells_what_was_found(receiver.requests[0], store)
        assert_each_notice_was_told_once(receiver, store)


def test_a_celery_worker_is_killed_and_another_is_started(
    workspace: Path, receiver: Receiver, postgres: PostgresServer
) -> None:
    """The monitor's missing data is not told, so the one breach that goes on all the time is one notice."""
    replace_in(workspace / "monitors" / "example.yaml", "notify: [desk]", "notify: [desk]\n    no_data: {alert: false}")
    url = postgres.new_database()
    with running_redis() as broker, opened(url) as store:
        production = {"TRIVET_STORE__URL": url, "TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": broker}
        environment = ENVIRONMENT | production
        assert finish(start("db", "upgrade", at=workspace, environment=environment)).code == 0
        with running(workspace, "beat", environment=environment) as beat:
            with running(workspace, "worker", environment=environment) as first:
                until = instant(wait_for(lambda: slots(store), first)[0]) + DURATION
                wait_for(lambda: len(slots(store)) >= 3 and receiver.requests)
                killed = wait_for(lambda: running_slot(store))
                kill(first)
                went = datetime.now(UTC)
            planned = len(slots(store))
            with running(workspace, "worker", environment=environment) as second:
                wait_for(lambda: len(slots(store)) > planned, second)
                back = datetime.now(UTC)
                sleep_until(until)
                wait_for(lambda: all_ended(store, until) and all_told(store), second)
                stop(beat)
                stop(second)
        assert_each_slot_has_one_result(store, until)
        assert_what_was_not_evaluated_is_explained(store, (went, back))
        assert_it_was_taken_over(store, killed)
        (request,) = receiver.requests
        assert_it_tells_what_was_found(request, store)


def test_celery_finds_the_application_of_a_workspace_by_itself(workspace: Path) -> None:
    settings = {"TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": "redis://127.0.0.1:1/0"}
    entry = "import sys; from celery.__main__ import main; sys.argv[0] = 'celery'; sys.exit(main())"
    found = {"TRIVET_WORKSPACE": str(workspace)} | settings
    ended = finish(start("-A", "worker.app", "report", at=workspace.parent, entry=entry, environment=found))
    assert ended.code == 0, ended.err
    assert "task_acks_late: True" in ended.out
    assert "trivet.plan" in ended.out


@pytest.mark.parametrize("name", ["beat", "worker"])
def test_the_celery_parts_want_a_broker(small: Path, name: str) -> None:
    ended = trivet(name, at=small)
    assert ended.code == 64
    assert "set scheduler.mode to celery, and scheduler.broker" in ended.err


@pytest.mark.parametrize("name", ["beat", "worker"])
def test_the_celery_parts_refuse_files_at_fault_that_would_be_put_in_force(
    small: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULER__MODE", "celery")
    monkeypatch.setenv("TRIVET_SCHEDULER__BROKER", "redis://127.0.0.1:1/0")
    replace_in(small / "monitors" / "example.yaml", "temperature > 5", "temprature > 5")
    ended = trivet(name, at=small)
    assert ended.code == 65
    assert "monitors/example.yaml" in ended.err
    assert "temprature" in ended.err


def test_the_embedded_daemon_does_not_run_beside_celery(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULER__MODE", "celery")
    monkeypatch.setenv("TRIVET_SCHEDULER__BROKER", "redis://127.0.0.1:1/0")
    ended = trivet("run", at=small)
    assert ended.code == 64
    assert "trivet beat" in ended.err
