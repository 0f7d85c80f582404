"""What daemons do while something around them is away, doubled, or late: no slot is lost, and none has two results."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import (
    QUICK,
    all_ended,
    assert_each_slot_has_one_result,
    evaluated,
    history,
    kill,
    opened,
    rows,
    running,
    running_slot,
    slots,
    stop,
    wait_for,
)
from tests.acceptance.files import append_to, replace_in
from tests.integration.receiver import running_receiver
from tests.integration.servers import PostgresServer, free_port, postgres, running_postgres, running_redis
from trivet.clock import utc_text
from worker.tables import SlotState, evaluation, watermark

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

LONG = 400_000
"""Rows over which an evaluation takes long enough to be met."""


@pytest.fixture
def workspace(small: Path) -> Path:
    """The small workspace, its monitor every two seconds."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    return small


def production(url: str, broker: str) -> dict[str, str]:
    """The environment of Celery daemons."""
    return QUICK | {
        "TRIVET_STORE__URL": url,
        "TRIVET_SCHEDULER__MODE": "celery",
        "TRIVET_SCHEDULER__BROKER": broker,
    }


def migrate(workspace: Path, environment: Mapping[str, str] = QUICK) -> None:
    ended = finish(start("db", "upgrade", at=workspace, environment=environment))
    assert ended.code == 0, ended.err


def settled(store: sa.Engine) -> datetime:
    """The latest slot that came due by now, once every slot up to it is at its end."""
    latest = datetime.fromtimestamp(time.time() // 2 * 2, UTC)
    wait_for(lambda: all_ended(store, latest))
    return latest


def told_by_webhook(workspace: Path, port: int) -> None:
    """Everything is told to a webhook at a port."""
    desk = f"{{webhook: {{url: 'http://127.0.0.1:{port}/hook', insecure: true}}}}"
    append_to(workspace / "trivet.yaml", f"receivers: {{desk: {desk}}}\nroutes: [{{receiver: desk}}]\n")


def with_many_rows(workspace: Path) -> None:
    append_to(
        workspace / "sources" / "readings.csv",
        "".join(f"X{number},north,3.5,2026-11-01\n" for number in range(LONG)),
    )
    assert trivet("ingest", at=workspace).code == 0


def test_a_receiver_that_was_down_is_told_once_though_nothing_more_is_evaluated(small: Path) -> None:
    told_by_webhook(small, port := free_port())
    assert trivet("evaluate", at=small).code == 1
    with running_receiver(port) as receiver, running(small, "run", environment=QUICK) as daemon:
        wait_for(lambda: receiver.requests, daemon)
        time.sleep(2)
        stop(daemon)
        (request,) = receiver.requests
        assert json.loads(request.body)["data"]["badge"] == "1 breach / 1 no-data"
    (told,) = trivet("alerts", "show", "reading-too-warm", "--json", at=small).document["deliveries"]
    assert (told["state"], told["attempts"]) == ("delivered", 2)


def test_a_receiver_that_was_down_is_told_once_by_celery_too(small: Path, postgres: PostgresServer) -> None:
    told_by_webhook(small, port := free_port())
    with running_redis() as broker:
        environment = production(postgres.new_database(), broker)
        migrate(small, environment)
        assert finish(start("evaluate", at=small, environment=environment)).code == 1
        with (
            running_receiver(port) as receiver,
            running(small, "beat", environment=environment) as beat,
            running(small, "worker", environment=environment) as worker,
        ):
            wait_for(lambda: receiver.requests, worker)
            time.sleep(2)
            stop(beat)
            stop(worker)
            assert len(receiver.requests) == 1


def test_two_beats_and_two_workers_are_as_good_as_one(workspace: Path, postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with running_redis() as broker, opened(url) as store:
        environment = production(url, broker)
        migrate(workspace, environment)
        with (
            running(workspace, "beat", environment=environment),
            running(workspace, "beat", environment=environment),
            running(workspace, "worker", environment=environment),
            running(workspace, "worker", environment=environment),
        ):
            wait_for(lambda: evaluated(store) >= 4)
            until = settled(store)
        assert_each_slot_has_one_result(store, until)


def test_two_embedded_daemons_on_one_server_are_as_good_as_one(
    workspace: Path, tmp_path: Path, postgres: PostgresServer
) -> None:
    environment = QUICK | {"TRIVET_STORE__URL": (url := postgres.new_database())}
    migrate(workspace, environment)
    other = Path(shutil.copytree(workspace, tmp_path / "other"))
    with (
        opened(url) as store,
        running(workspace, "run", environment=environment),
        running(other, "run", environment=environment),
    ):
        wait_for(lambda: evaluated(store) >= 4)
        assert_each_slot_has_one_result(store, settled(store))


def test_a_worker_that_was_started_before_the_migrations_works_after_them(
    workspace: Path, tmp_path: Path, postgres: PostgresServer
) -> None:
    url, log = postgres.new_database(), tmp_path / "worker.log"
    with running_redis() as broker, opened(url) as store, log.open("w") as errors:
        environment = production(url, broker)
        with (
            running(workspace, "beat", environment=environment),
            running(workspace, "worker", environment=environment, errors=errors) as worker,
        ):
            wait_for(lambda: "the store is at revision none" in log.read_text("utf-8"), worker)
            migrate(workspace, environment)
            wait_for(lambda: evaluated(store) >= 2, worker)
            until = settled(store)
            stop(worker)
        assert "run `trivet db upgrade`" in log.read_text("utf-8")
        assert_each_slot_has_one_result(store, until)


def test_redis_goes_away_with_all_it_holds_and_comes_back(workspace: Path, postgres: PostgresServer) -> None:
    url, port = postgres.new_database(), free_port()
    environment = production(url, f"redis://127.0.0.1:{port}/0")
    migrate(workspace, environment)
    with (
        opened(url) as store,
        running(workspace, "beat", environment=environment) as beat,
        running(workspace, "worker", environment=environment) as worker,
    ):
        with running_redis(port):
            wait_for(lambda: evaluated(store) >= 2, worker)
        time.sleep(5)
        before = evaluated(store)
        with running_redis(port):
            wait_for(lambda: evaluated(store) >= before + 2, worker)
            until = settled(store)
            stop(beat)
            stop(worker)
        assert_each_slot_has_one_result(store, until)


def test_the_store_goes_away_and_comes_back(workspace: Path) -> None:
    with running_postgres() as server, running_redis() as broker:
        url = server.new_database()
        environment = production(url, broker)
        migrate(workspace, environment)
        with (
            opened(url) as store,
            running(workspace, "beat", environment=environment) as beat,
            running(workspace, "worker", environment=environment) as worker,
        ):
            wait_for(lambda: evaluated(store) >= 2, worker)
            server.stop()
            time.sleep(5)
            server.start()
            before = evaluated(store)
            wait_for(lambda: evaluated(store) >= before + 2, worker)
            until = settled(store)
            stop(beat)
            stop(worker)
            assert_each_slot_has_one_result(store, until)


def test_after_a_long_outage_what_was_missed_is_bounded_and_told(workspace: Path) -> None:
    migrate(workspace)
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", environment=QUICK) as daemon:
            wait_for(lambda: slots(store), daemon)
            stop(daemon)
        long_ago = utc_text(datetime.now(UTC) - timedelta(days=30))
        with store.begin() as connection:
            connection.execute(sa.update(watermark).values(planned_until=long_ago))
        made = evaluated(store)
        with running(workspace, "run", environment=QUICK) as daemon:
            wait_for(lambda: evaluated(store) > made, daemon)
            until = settled(store)
            stop(daemon)
        assert_each_slot_has_one_result(store, until)
        jumped = [row for row in history(store) if row["cause"] == "clock_jump"]
        assert 990 < len(jumped) < 1000
        assert jumped[0]["message"].endswith(f"so were all slots before it, after {long_ago}")


def test_what_a_killed_daemon_had_begun_is_taken_up_by_the_next_one_at_once(workspace: Path) -> None:
    with_many_rows(workspace)
    environment = QUICK | {"TRIVET_SCHEDULER__LEASE": "5m"}
    migrate(workspace, environment)
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", environment=environment) as daemon:
            met = wait_for(lambda: running_slot(store), daemon)
            kill(daemon)
        with running(workspace, "run", environment=environment) as daemon:
            begun = time.monotonic()
            wait_for(
                lambda: any(row["scheduled_for"] == met["scheduled_for"] for row in rows(store, evaluation)), daemon
            )
            assert time.monotonic() - begun < 60, "nobody waited for a lease"
            until = settled(store)
            stop(daemon)
        (ended,) = (row for row in slots(store) if row["scheduled_for"] == met["scheduled_for"])
        assert (ended["state"], ended["attempt"], ended["fence"]) == (SlotState.DONE, 2, 2)
        assert_each_slot_has_one_result(store, until)


def test_a_monitor_is_paused_and_resumed_while_a_daemon_runs(workspace: Path) -> None:
    migrate(workspace)
    with (
        opened(f"sqlite:///{workspace / 'trivet.db'}") as store,
        running(workspace, "run", environment=QUICK) as daemon,
    ):
        wait_for(lambda: evaluated(store) >= 1, daemon)
        by = ("--owner", "kim", "--reason", "the sensors are replaced")
        assert trivet("monitors", "pause", "reading-too-warm", *by, "--until", "1h", at=workspace).code == 0
        wait_for(lambda: sum(row["cause"] == "paused" for row in rows(store, evaluation)) >= 2, daemon)
        assert trivet("monitors", "resume", "reading-too-warm", at=workspace).code == 0
        made = evaluated(store)
        wait_for(lambda: evaluated(store) > made, daemon)
        until = settled(store)
        stop(daemon)
        assert_each_slot_has_one_result(store, until)


@pytest.mark.parametrize("mode", ["embedded", "celery"])
def test_what_is_being_evaluated_when_it_is_stopped_comes_to_its_end(
    mode: str, workspace: Path, postgres: PostgresServer
) -> None:
    with_many_rows(workspace)
    url = postgres.new_database()
    with running_redis() as broker, opened(url) as store:
        celery = production(url, broker)
        environment = celery if mode == "celery" else QUICK | {"TRIVET_STORE__URL": url}
        migrate(workspace, environment)
        parts = ["run"] if mode == "embedded" else ["worker"]
        with (
            running(workspace, "beat", environment=celery) as beat,
            running(workspace, *parts, environment=environment) as daemon,
        ):
            met = wait_for(lambda: running_slot(store), daemon)
            daemon.send_signal(signal.SIGTERM)
            assert finish(daemon).code == 0
            stop(beat)
        (ended,) = (row for row in slots(store) if row["scheduled_for"] == met["scheduled_for"])
        assert (ended["state"], ended["attempt"]) == (SlotState.DONE, 1)
        (made,) = (row for row in history(store) if row["scheduled_for"] == met["scheduled_for"])
        assert made["status"] == "completed"
