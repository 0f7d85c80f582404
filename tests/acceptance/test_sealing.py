"""Daemons seal the ledger: while they run, when they are stopped, and again after they were killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.verification.findings import Report
from ledger.verification.notes import PublicKey, read_key, read_witness
from ledger.verification.verify import verify_store
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import QUICK, history, kill, opened, running, stop, wait_for
from tests.acceptance.files import append_to, replace_in
from tests.integration.servers import PostgresServer, postgres, running_redis
from worker.stores import read_only

__all__ = ["postgres"]

pytestmark = pytest.mark.slow
EVERY_TWO = QUICK | {"TRIVET_LEDGER__CHECKPOINT_ENTRIES": "2"}


@pytest.fixture
def workspace(small: Path) -> Path:
    """One monitor, every two seconds, and a key."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h}", "every: 2s}")
    assert trivet("ledger", "key", "new", small / "ledger.key", "--name", "example.com/log", at=small).code == 0
    append_to(small / "trivet.yaml", 'ledger: {key: "file:ledger.key", witnesses: [checkpoints.txt, more.txt]}\n')
    assert trivet("ingest", at=small).code == 0
    return small


def key_of(workspace: Path) -> PublicKey:
    (text,) = trivet("ledger", "key", "show", "--json", at=workspace).document["keys"]
    return read_key(text)


def verified(workspace: Path, store: sa.Engine) -> Report:
    files = [workspace / "checkpoints.txt", workspace / "more.txt"]
    read = [read_witness(file.read_text("utf-8"), file.name) for file in files]
    assert [item.size for item in read[0].checkpoints] == [item.size for item in read[1].checkpoints]
    with read_only(store).connect() as connection:
        return verify_store(connection, [key_of(workspace)], read)


def assert_everything_is_covered(report: Report) -> None:
    """But for the last checkpoint's own entry."""
    assert report.damage == ()
    assert (report.uncovered, report.coverage.witnessed) == (1, report.entries - 1)


def sealed(workspace: Path) -> int:
    file = workspace / "checkpoints.txt"
    return len(read_witness(file.read_text("utf-8"), file.name).checkpoints) if file.exists() else 0


@contextmanager
def celery(workspace: Path, url: str) -> Iterator[dict[str, str]]:
    """The environment of a worker whose beat runs."""
    with running_redis() as broker:
        production = {"TRIVET_STORE__URL": url, "TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": broker}
        environment = EVERY_TWO | production
        assert finish(start("db", "upgrade", at=workspace, environment=environment)).code == 0
        with running(workspace, "beat", environment=environment):
            yield environment


def test_the_embedded_daemon_seals_as_it_runs_and_when_it_is_stopped(workspace: Path) -> None:
    assert trivet("db", "upgrade", at=workspace).code == 0
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", environment=EVERY_TWO) as daemon:
            wait_for(lambda: sealed(workspace) >= 2, daemon)
            stop(daemon)
        assert_everything_is_covered(verified(workspace, store))


def test_a_daemon_that_was_killed_leaves_a_tail_that_the_next_one_seals(workspace: Path) -> None:
    assert trivet("db", "upgrade", at=workspace).code == 0
    with opened(f"sqlite:///{workspace / 'trivet.db'}") as store:
        with running(workspace, "run", environment=EVERY_TWO | {"TRIVET_LEDGER__CHECKPOINT_ENTRIES": "1000"}) as daemon:
            wait_for(lambda: len(history(store)) >= 2 and sealed(workspace), daemon)
            kill(daemon)
        report = verified(workspace, store)
        assert report.damage == ()
        assert report.uncovered > 1, "what came after the first checkpoint"
        with running(workspace, "run", environment=EVERY_TWO) as daemon:
            wait_for(lambda: sealed(workspace) >= 2, daemon)
            stop(daemon)
        assert_everything_is_covered(verified(workspace, store))


def test_celery_workers_seal_as_they_run_and_when_they_are_stopped(workspace: Path, postgres: PostgresServer) -> None:
    url = postgres.new_database()
    with celery(workspace, url) as environment, opened(url) as store:
        with running(workspace, "worker", environment=environment) as worker:
            wait_for(lambda: sealed(workspace) >= 2, worker)
            stop(worker)
        assert_everything_is_covered(verified(workspace, store))


@pytest.mark.parametrize("command", ["run", "worker"])
def test_a_daemon_does_not_begin_with_a_key_that_it_cannot_read(workspace: Path, command: str) -> None:
    (workspace / "ledger.key").unlink()
    settings = {"TRIVET_SCHEDULER__MODE": "celery", "TRIVET_SCHEDULER__BROKER": "redis://127.0.0.1:1/0"}
    ended = finish(start(command, at=workspace, environment=settings if command == "worker" else {}))
    assert ended.code == 65
    assert "file:ledger.key: the secret is missing" in ended.err


def test_a_daemon_without_a_key_says_that_nobody_vouches(small: Path) -> None:
    replace_in(small / "monitors" / "example.yaml", "every: 1h}", "every: 2s}")
    assert trivet("ingest", at=small).code == 0
    assert trivet("db", "upgrade", at=small).code == 0
    with (
        opened(f"sqlite:///{small / 'trivet.db'}") as store,
        running(small, "run", environment=QUICK) as daemon,
    ):
        wait_for(lambda: history(store), daemon)
        told = stop(daemon).err
    assert "no checkpoints are made, so nobody vouches for the ledger's end" in told
    assert trivet("ledger", "checkpoint", at=small).code == 64
