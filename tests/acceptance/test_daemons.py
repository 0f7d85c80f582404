"""Daemons that are killed in the middle of their work: every slot has exactly one evaluation, and the ledger verifies.

In both topologies one monitor comes due every two seconds for twenty seconds. Whoever evaluates is
killed with SIGKILL while a slot is running, and another is started in its place.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verify import verify
from tests.acceptance.command import Ended, finish, start, trivet
from tests.acceptance.files import replace_in
from tests.integration.servers import PostgresServer, postgres, running_redis
from worker.binding import EVALUATION_BINDING
from worker.stores import open_store, read_only
from worker.tables import SlotState, evaluation, slot

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

DURATION = 20.0
ROWS = 200_000
QUICK = {"TRIVET_SCHEDULER__TICK": "1s", "TRIVET_SCHEDULER__LEASE": "3s"}


@pytest.fixture
def workspace(small: Path) -> Path:
    """One monitor, every two seconds, over so many rows that one can see it run."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    with (small / "sources" / "readings.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"X{number},north,3.5,2026-11-01\n" for number in range(ROWS))
    assert trivet("ingest", at=small).code == 0
    return small


@contextmanager
def opened(url: str) -> Iterator[sa.Engine]:
    """The store at a URL."""
    engine = open_store(url)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def running(workspace: Path, *arguments: str, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A daemon in a process group of its own, which is gone afterwards."""
    process = start(*arguments, at=workspace, environment=environment, before=os.setsid)
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """Ends a daemon and all its children as a power cut would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)


def stop(process: subprocess.Popen[str]) -> Ended:
    """Ends a daemon as an operator would."""
    process.send_signal(signal.SIGTERM)
    ended = finish(process)
    assert ended.code == 0, ended.err
    return ended


def slots(store: sa.Engine) -> list[Any]:
    with read_only(store).connect() as connection:
        return list(connection.execute(sa.select(slot).order_by(slot.c.scheduled_for)).mappings())


def wait_for(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (what := found()):
        assert time.monotonic() < deadline, "it did not come about within a minute"
        time.sleep(0.005)
    return what


def running_slot(store: sa.Engine) -> Any:
    return next((row for row in slots(store) if row["state"] == SlotState.RUNNING), None)


def assert_every_slot_has_one_evaluation(store: sa.Engine, killed: Any) -> None:
    """From the first slot to the last none is missing, and each that ended has its evaluation."""
    found = slots(store)
    instants = [datetime.fromisoformat(row["scheduled_for"]) for row in found]
    assert instants[-1] - instants[0] >= timedelta(seconds=DURATION - 4)
    assert {later - earlier for earlier, later in pairwise(instants)} == {timedelta(seconds=2)}
    with read_only(store).connect() as connection:
        made = list(connection.execute(sa.select(evaluation)).mappings())
        report = verify(connection, [EVALUATION_BINDING])
        sealed = [entry.subject_id for entry in entries(connection, entry_type=EntryType.EVALUATION)]
    ended = [row["evaluation_id"] for row in found if row["state"] == SlotState.DONE]
    assert Counter(row["evaluation_id"] for row in made) == Counter(ended)
    assert len(found) - len(ended) <= 1, "but for the last, all have ended"
    assert report.damage == ()
    assert Counter(sealed) == Counter(ended)
    badges = {row["breach"] for row in made if row["status"] == "completed"}
    assert badges == {1}
    again = next(row for row in found if row["scheduled_for"] == killed["scheduled_for"])
    assert (again["state"], again["attempt"], again["fence"]) == (SlotState.DONE, 2, 2)
    (result,) = (row for row in made if row["scheduled_for"] == killed["scheduled_for"])
    assert result["status"] == "completed"


def test_the_embedded_daemon_is_killed_and_started_again(workspace: Path) -> None:
    assert trivet("db", "upgrade", at=workspace).code == 0
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", "--json", environment=QUICK) as first:
            wait_for(lambda: slots(store))
            began = time.monotonic()
            wait_for(lambda: len(slots(store)) >= 3)
            killed = wait_for(lambda: running_slot(store))
            kill(first)
        planned = len(slots(store))
        with running(workspace, "run", "--json", environment=QUICK) as second:
            wait_for(lambda: len(slots(store)) > planned)
            refused = finish(start("run", at=workspace, environment=QUICK))
            assert (refused.code, "another `trivet run`" in refused.err) == (69, True)
            time.sleep(max(0.0, DURATION - (time.monotonic() - began)))
            ended = stop(second)
        assert {document["monitor"] for document in ended.documents} == {"reading-too-warm"}
        assert_every_slot_has_one_evaluation(store, killed)


def test_a_celery_worker_is_killed_and_another_is_started(workspace: Path, postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with running_redis() as broker, opened(url) as store:
        production = {"TRIVET_STORE__URL": url, "TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": broker}
        environment = QUICK | production
        assert finish(start("db", "upgrade", at=workspace, environment=environment)).code == 0
        with running(workspace, "beat", environment=environment) as beat:
            with running(workspace, "worker", environment=environment) as first:
                wait_for(lambda: slots(store))
                began = time.monotonic()
                wait_for(lambda: len(slots(store)) >= 3)
                killed = wait_for(lambda: running_slot(store))
                kill(first)
            with running(workspace, "worker", environment=environment) as second:
                time.sleep(max(0.0, DURATION - (time.monotonic() - began)))
                stop(beat)
                stop(second)
        assert_every_slot_has_one_evaluation(store, killed)


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


def test_the_embedded_daemon_does_not_run_beside_celery(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVET_SCHEDULER__MODE", "celery")
    monkeypatch.setenv("TRIVET_SCHEDULER__BROKER", "redis://127.0.0.1:1/0")
    ended = trivet("run", at=small)
    assert ended.code == 64
    assert "trivet beat" in ended.err
