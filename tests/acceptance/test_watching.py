"""Trivet watches itself: health and metrics of running daemons, their logs, and what the doctor says of their work."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import QUICK, kill, opened, running, slots, stop, wait_for
from tests.acceptance.files import append_to, replace_in
from tests.integration.receiver import Receiver, hang_up, running_receiver, status
from tests.integration.servers import PostgresServer, postgres, running_redis
from trivet.clock import utc_text
from worker.processes import Daemon, DaemonKind, mark_tick
from worker.stack.folder import free_port
from worker.tables import SlotState, evaluation, slot, watermark

__all__ = ["postgres"]

CANARY = "hunter2hunter2"
TELLS = QUICK | {"TRIVET_LOG": "DEBUG"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as found:
        yield found


@pytest.fixture
def workspace(small: Path) -> Path:
    """One monitor, every two seconds."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h}", "every: 2s}")
    assert trivet("ingest", at=small).code == 0
    return small


def get(port: int, path: str) -> httpx.Response | None:
    """What is served there; None while nothing is."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=20, trust_env=False)
    except httpx.TransportError:
        return None


def answers(port: int, path: str, code: int = 200) -> bool:
    found = get(port, path)
    return found is not None and found.status_code == code


def metric(port: int, name: str) -> float:
    """One sample of the metrics; 0 where there is none yet."""
    found = get(port, "/metrics")
    lines = found.text.splitlines() if found is not None else []
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} ")), 0.0)


def logged(err: str) -> list[dict[str, Any]]:
    """Every line of a log; each must be a JSON document."""
    others = [line for line in err.splitlines() if not line.startswith("{")]
    assert others == []
    return [json.loads(line) for line in err.splitlines()]


BREACHES = 'trivet_evaluations_total{cause="",reason="",verdict="breach"}'


@pytest.mark.slow
def test_the_daemon_serves_health_and_metrics_and_logs_in_json(workspace: Path, receiver: Receiver) -> None:
    port = free_port()
    append_to(workspace / "trivet.yaml", "watch: {heartbeat: 'env:PING_URL', every: 1s, insecure: true}\n")
    desk = f"{{webhook: {{url: '{receiver.url(f'/desk/{CANARY}')}', insecure: true}}}}"
    append_to(workspace / "trivet.yaml", f"receivers: {{desk: {desk}}}\n")
    append_to(workspace / "monitors" / "example.yaml", "    notify: [desk]\n")
    environment = TELLS | {"TRIVET_API__PORT": str(port), "PING_URL": receiver.url(f"/ping/{CANARY}")}
    # Every kind of answer, so that every kind of line is logged.
    receiver.answers += [status(500), hang_up, status(307, location="/elsewhere"), status(204)]
    with running(workspace, "run", environment=environment) as daemon:
        wait_for(lambda: answers(port, "/readyz"), daemon)
        assert answers(port, "/healthz")
        wait_for(lambda: metric(port, BREACHES) >= 2, daemon)
        assert metric(port, "trivet_ledger_head_seq") >= 4
        assert 0 < metric(port, "trivet_last_tick_age_seconds") < 30
        wait_for(lambda: sum(item.path.startswith("/ping/") for item in receiver.requests) >= 3, daemon)
        ended = stop(daemon)
    assert f"health and metrics at http://127.0.0.1:{port}/healthz, /readyz and /metrics\n" in ended.out
    assert CANARY not in ended.out + ended.err
    lines = logged(ended.err)
    told = [line for line in lines if line["logger"] == "worker.evaluate" and line["message"].startswith("breach")]
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store, store.connect() as connection:
        made = {row.evaluation_id: row for row in connection.execute(sa.select(evaluation)).all()}
    assert len(told) >= 2
    for line in told:
        row = made[line["evaluation_id"]]
        assert (line["monitor"], line["slot"]) == ("reading-too-warm", row.scheduled_for)
    assert any("the sign of life was not taken: it answered 500" in line["message"] for line in lines)


@pytest.mark.slow
def test_a_port_that_is_taken_stops_no_evaluation(workspace: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        environment = QUICK | {"TRIVET_API__PORT": str(port), "TRIVET_LOG_FORM": "text"}
        with running(workspace, "run", "--json", environment=environment) as daemon:
            with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
                wait_for(lambda: (workspace / "trivet.db").exists() and done(store), daemon)
            ended = stop(daemon)
        assert ended.documents[0]["verdict"] == "breach"
        told = f"nothing can be served at 127.0.0.1:{port}: Address already in use; set api.host or api.port"
        assert told in ended.err
        assert "monitors are evaluated all the same\n" in ended.err
        alone = finish(start("serve", at=workspace, environment=environment))
        assert (alone.code, told in alone.err) == (69, True)


def done(store: sa.Engine) -> bool:
    try:
        return any(row["state"] == SlotState.DONE for row in slots(store))
    except sa.exc.DatabaseError:
        return False


@pytest.mark.slow
def test_serve_answers_for_a_daemon_elsewhere_and_says_when_it_is_gone(workspace: Path) -> None:
    port = free_port()
    with running(workspace, "serve", environment=QUICK | {"TRIVET_API__PORT": str(port)}) as serve:
        wait_for(lambda: answers(port, "/healthz"), serve)
        assert answers(port, "/readyz", 503)
        with running(workspace, "run", environment=QUICK) as daemon:
            wait_for(lambda: answers(port, "/readyz"), daemon)
            wait_for(lambda: metric(port, BREACHES) >= 1, daemon)
            kill(daemon)
        assert metric(port, "trivet_last_tick_age_seconds") > 0
        assert stop(serve).err == ""


@pytest.mark.slow
def test_the_processes_of_celery_tick_log_in_json_and_give_a_sign_of_life(
    workspace: Path, postgres: PostgresServer, receiver: Receiver
) -> None:
    url, port = postgres.new_database(), free_port()
    with running_redis() as broker, opened(url) as store:
        environment = TELLS | {
            "TRIVET_STORE__URL": url,
            "TRIVET_SCHEDULER__MODE": "celery",
            "TRIVET_SCHEDULER__BROKER": broker,
            "TRIVET_API__PORT": str(port),
            "TRIVET_WATCH__HEARTBEAT": "env:PING_URL",
            "TRIVET_WATCH__EVERY": "1s",
            "TRIVET_WATCH__INSECURE": "true",
            "PING_URL": receiver.url(f"/ping/{CANARY}"),
        }
        assert finish(start("db", "upgrade", at=workspace, environment=environment)).code == 0
        with (
            running(workspace, "serve", environment=environment) as serve,
            running(workspace, "beat", environment=environment) as beat,
            running(workspace, "worker", environment=environment) as worker,
        ):
            wait_for(lambda: answers(port, "/readyz"), worker)
            wait_for(lambda: metric(port, BREACHES) >= 1, worker)
            wait_for(lambda: receiver.requests, worker)
            doctor = finish(start("doctor", "--json", at=workspace, environment=environment))
            found = {item["what"]: item for item in doctor.document["observations"]}
            assert found["broker"] == {"what": "broker", "fine": True, "message": "answers"}
            assert found["daemon"]["fine"]
            assert found["daemon"]["message"].startswith(f"worker@{socket.gethostname()} ticked ")
            assert found["heartbeat"] == {"what": "heartbeat", "fine": True, "message": "can be connected to"}
            outputs = [stop(process) for process in (worker, beat, serve)]
        for ended in outputs:
            assert CANARY not in ended.out + ended.err
            assert logged(ended.err)
        told = [line for line in logged(outputs[0].err) if line["logger"] == "worker.evaluate"]
        assert any(line["message"].startswith("breach") and line["evaluation_id"] for line in told)
        with store.connect() as connection:
            (row,) = connection.execute(sa.text("SELECT kind, ended_at FROM process")).all()
        assert (row.kind, row.ended_at is not None) == ("worker", True)


# --- The doctor


def observations(workspace: Path) -> dict[str, tuple[bool, str]]:
    ended = trivet("doctor", "--json", at=workspace)
    found = {item["what"]: (item["fine"], item["message"]) for item in ended.document["observations"]}
    assert ended.code == (0 if all(fine for fine, _ in found.values()) else 4)
    return found


def change(workspace: Path, *statements: sa.Executable) -> None:
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store, store.begin() as connection:
        for statement in statements:
            connection.execute(statement)


def a_slot(at: datetime, state: SlotState, **more: Any) -> sa.Executable:
    row = {"monitor": "reading-too-warm", "scheduled_for": utc_text(at), "slot": at.isoformat(), "state": state.value}
    none = {"definition_hash": "d", "fence": 0, "attempt": 0, "evaluation_id": "e"}
    return sa.insert(slot).values(**row, **none, **more)


def planned(until: datetime) -> sa.Executable:
    return sa.update(watermark).values(planned_until=utc_text(until))


@pytest.fixture
def stored(workspace: Path) -> Path:
    """The workspace with a store in which nothing happened yet."""
    assert trivet("db", "upgrade", at=workspace).code == 0
    return workspace


@pytest.fixture
def applied(stored: Path) -> Path:
    """The workspace with its monitor in force: what daemons go by, and so what may be overdue."""
    assert trivet("apply", at=stored).code == 0
    return stored


def test_the_doctor_says_that_no_daemon_has_run_yet(stored: Path) -> None:
    found = observations(stored)
    assert found["daemon"] == (True, "none has run yet; `trivet run` evaluates what comes due")
    assert not any(name.startswith("monitor") for name in found)


def test_the_doctor_finds_a_daemon_that_no_longer_ticks(stored: Path) -> None:
    now = datetime.now(UTC)
    with opened(f"sqlite:///{stored / 'trivet.db'}") as store:
        for age, fine in ((timedelta(seconds=1), True), (timedelta(hours=2), False)):
            with store.begin() as connection:
                mark_tick(connection, Daemon(DaemonKind.RUN, "server-1"), now - age)
            found = observations(stored)["daemon"]
            assert found[0] is fine
            assert found[1].startswith("run@server-1 ticked ")
    assert found[1].endswith(" s ago: it hangs or was killed; look at its log, and start `trivet run`")


OVERDUE: dict[str, tuple[dict[str, Any], str]] = {
    "nobody began it": (
        {"state": SlotState.PLANNED},
        "overdue: nobody began the slot of {slot}; see that a daemon runs, and is not too busy",
    ),
    "whoever began it is gone": (
        {"state": SlotState.RUNNING, "lease_until": "2020-01-01T00:00:00.000000Z"},
        "overdue: whoever began the slot of {slot} is gone; a daemon takes it over once one runs",
    ),
}


@pytest.mark.parametrize("name", OVERDUE)
def test_the_doctor_finds_a_slot_that_waits_for_too_long(applied: Path, name: str) -> None:
    row, message = OVERDUE[name]
    now = datetime.now(UTC)
    change(applied, planned(now), a_slot(now - timedelta(minutes=10), **row))
    told = message.format(slot=utc_text(now - timedelta(minutes=10)))
    assert observations(applied)["monitor reading-too-warm"] == (False, told)


def test_the_doctor_finds_that_nothing_was_planned(applied: Path) -> None:
    since = datetime.now(UTC) - timedelta(hours=3)
    change(applied, planned(since))
    told = f"overdue: came due after {utc_text(since)} and was not planned; see that a daemon runs"
    assert observations(applied)["monitor reading-too-warm"] == (False, told)
    replace_in(applied / "monitors" / "example.yaml", "enabled: true", "enabled: false")
    assert observations(applied)["monitor reading-too-warm"] == (False, told), "no daemon goes by edited files"
    assert trivet("apply", at=applied).code == 0
    assert "monitor reading-too-warm" not in observations(applied)


def test_the_doctor_leaves_alone_what_runs_and_what_is_not_due_for_long(applied: Path) -> None:
    now = datetime.now(UTC)
    held = {"lease_until": utc_text(now + timedelta(minutes=5))}
    old, young = now - timedelta(minutes=10), now - timedelta(seconds=5)
    change(applied, planned(now), a_slot(old, SlotState.RUNNING, **held), a_slot(young, SlotState.PLANNED))
    assert "monitor reading-too-warm" not in observations(applied)


def test_the_doctor_counts_from_when_a_slot_starts_and_not_from_its_instant(applied: Path) -> None:
    replace_in(applied / "monitors" / "example.yaml", "enabled: true", "enabled: true\n    delay: 30m")
    assert trivet("apply", at=applied).code == 0
    now = datetime.now(UTC)
    change(applied, planned(now), a_slot(now - timedelta(minutes=29), SlotState.PLANNED))
    assert "monitor reading-too-warm" not in observations(applied)
    change(applied, a_slot(now - timedelta(minutes=40), SlotState.PLANNED))
    told = OVERDUE["nobody began it"][1].format(slot=utc_text(now - timedelta(minutes=40)))
    assert observations(applied)["monitor reading-too-warm"] == (False, told)


def test_the_doctor_connects_to_receivers_and_to_the_heartbeats_address(
    stored: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = f"http://127.0.0.1:{free_port()}/{CANARY}"
    monkeypatch.setenv("GONE", closed)
    append_to(
        stored / "trivet.yaml",
        "receivers:\n"
        f"  desk: {{webhook: {{url: '{receiver.url()}', insecure: true}}}}\n"
        "  gone: {webhook: {url: 'env:GONE', insecure: true}}\n"
        "  lost: {webhook: {url: 'env:NO_SUCH_VARIABLE'}}\n"
        "  chat: {apprise: ['env:NO_SUCH_VARIABLE']}\n"
        "  inside: {webhook: {url: 'https://10.0.0.1/hook'}}\n"
        "  screen: {stdout: true}\n"
        "watch: {heartbeat: 'env:GONE', insecure: true}\n",
    )
    found = observations(stored)
    refused = (False, "it cannot be connected to: Connection refused")
    why = "the secret is missing: the variable is not set or is blank; set it, or change the reference"
    missing = f"env:NO_SUCH_VARIABLE: {why}"
    assert found["receiver desk"] == (True, "can be connected to")
    assert (found["receiver gone"], found["heartbeat"]) == (refused, refused)
    assert (found["receiver lost"], found["receiver chat"]) == ((False, missing), (False, missing))
    assert "leads to an address that is not public" in found["receiver inside"][1]
    assert found["receiver screen"] == (True, "`trivet alerts test screen` sends it something")
    assert CANARY not in str(found)
    assert receiver.requests == []


def test_the_doctor_misses_a_broker(stored: Path) -> None:
    text = (stored / "trivet.yaml").read_text("utf-8").replace("mode: embedded", "mode: celery")
    port = free_port()
    (stored / "trivet.yaml").write_text(
        text.replace("tick: 5s}", f"tick: 5s, broker: 'redis://127.0.0.1:{port}/0'}}"), "utf-8"
    )
    fine, message = observations(stored)["broker"]
    assert not fine
    told = f"redis://:**@127.0.0.1:{port}/0 does not answer (OperationalError); start it, or mend scheduler.broker"
    assert message == told


def test_the_doctor_finds_a_folder_for_spilling_that_is_not_there(stored: Path) -> None:
    replace_in(stored / "trivet.yaml", "keep: 7}", "keep: 7, spill: nowhere}")
    fine, message = observations(stored)["space for spilling"]
    assert not fine
    assert message.endswith("/nowhere: No such file or directory; make the folder")


def test_the_doctor_finds_that_there_is_no_room(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 123 * 10**6

    monkeypatch.setattr("cli.observing.shutil.disk_usage", lambda _folder: Usage)
    fine, message = observations(stored)["space for the store"]
    assert not fine
    assert message.startswith("123 MB are free at ")
    assert message.endswith("; make room for 500 MB at least")
