"""The embedded daemon is killed at named points, stopped past its lease, or refused by its store; then it goes on.

After each fault the same is asked of the store: no slot is lost or doubled, the ledger verifies, and no evaluation
says of a member that it is compliant where its value is missing.
"""

from __future__ import annotations

import gc
import logging
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import psycopg
import pytest
import sqlalchemy as sa

from tests.acceptance.command import finish, start
from tests.acceptance.daemons import (
    QUICK,
    all_ended,
    assert_each_slot_has_one_result,
    instant,
    opened,
    rows,
    running,
    running_slot,
    slots,
    stop,
    wait_for,
)
from tests.acceptance.files import replace_in
from tests.integration.servers import postgres, running_postgres
from tests.integration.store import MIGRATIONS
from tests.integration.worlds import a_warehouse, assert_verifies, evaluate
from trivet.clock import utc_text
from trivet.errors import TrivetError
from trivet.verdicts import EvaluationStatus, SlotCause
from worker.claims import MOST_ATTEMPTS
from worker.stores import upgrade_store
from worker.tables import SlotState, evaluation, slot, watermark

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

SCANT = 65_536
"""Bytes."""
POINTS = {
    "before it claims": "before('worker.runtime', 'claim')",
    "after it claimed": "before('worker.evaluate', 'batches')",
    "in the middle of a query": "before('catalog.engines.duckdb_engine:DuckDBSnapshot', 'stream')",
    "between the rows and the ledger entry": "before('worker.recording', 'append_all')",
    "before it commits": "after('worker.evaluate', 'record_all')",
    "after it committed": "before('worker.evaluate', 'tell')",
}
# Ends the process by SIGKILL at a call, or stops it there; `poison` ends it whenever a monitor is judged.
DYING = """\
import importlib, os, signal, sys

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def wrapped(where, name, make):
    module, _, inside = where.partition(":")
    owner = importlib.import_module(module)
    owner = getattr(owner, inside) if inside else owner
    setattr(owner, name, make(getattr(owner, name)))

def before(where, name):
    wrapped(where, name, lambda real: lambda *given, **named: die())

def after(where, name):
    wrapped(where, name, lambda real: lambda *given, **named: (real(*given, **named), die()))

def sleeping(where, name):
    def make(real):
        calls = []
        def wrapper(*given, **named):
            calls.append(name)
            if len(calls) == 1:
                os.kill(os.getpid(), signal.SIGSTOP)
            return real(*given, **named)
        return wrapper
    wrapped(where, name, make)

def poison(monitor):
    def make(real):
        def judge_many(due, *given, **named):
            if any(definition.id == monitor for definition, _ in due):
                die()
            return real(due, *given, **named)
        return judge_many
    wrapped("worker.evaluate", "judge_many", make)

{fault}
from cli.main import main
sys.argv[0] = "trivet"
main()
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A workspace whose monitor comes due every two seconds, and its store."""

    workspace: Path
    store: sa.Engine
    environment: Mapping[str, str]

    def dies(self, fault: str) -> None:
        """A daemon that ends where it is told to."""
        entry = DYING.replace("{fault}", fault)
        process = start("run", at=self.workspace, entry=entry, environment=self.environment)
        ended = finish(process)
        assert ended.code == -signal.SIGKILL, ended.err

    def goes_on(self, more: int = 2) -> None:
        """A daemon runs until it has made some evaluations, and is held to what must always hold."""
        before = len(completed(self.store))
        with running(self.workspace, "run", environment=self.environment) as daemon:
            wait_for(lambda: len(completed(self.store)) >= before + more, daemon)
            self.holds(daemon)
            stop(daemon)

    def holds(self, daemon: subprocess.Popen[str]) -> None:
        """Slots lost 0, doubled 0, false compliant 0."""
        until = instant(slots(self.store)[-1])
        wait_for(lambda: all_ended(self.store, until), daemon)
        assert_each_slot_has_one_result(self.store, until)
        for row in completed(self.store):
            assert (row["population"], row["breach"], row["no_data"], row["compliant"]) == (4, 1, 1, 2)


def completed(store: sa.Engine) -> list[sa.RowMapping]:
    return [row for row in rows(store, evaluation) if row["status"] == EvaluationStatus.COMPLETED]


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, small: Path) -> Iterator[Site]:
    """Each test runs once on SQLite and once on PostgreSQL."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    url = f"sqlite:///{small / 'trivet.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    environment = QUICK | {"TRIVET_STORE__URL": url}
    with opened(url) as store:
        upgrade_store(store, MIGRATIONS)
        yield Site(small, store, environment)


@pytest.mark.parametrize("point", POINTS)
def test_a_daemon_that_is_killed_anywhere_leaves_every_slot_one_result(site: Site, point: str) -> None:
    site.dies(POINTS[point])
    begun = [row for row in rows(site.store, slot) if row["state"] == SlotState.RUNNING]
    assert len(begun) == (point not in ("before it claims", "after it committed"))
    assert len(completed(site.store)) == (point == "after it committed")
    site.goes_on()
    for row in begun:
        (ended,) = (item for item in slots(site.store) if item["scheduled_for"] == row["scheduled_for"])
        assert (ended["state"], ended["attempt"], ended["fence"]) == (SlotState.DONE, 2, 2)


def test_a_monitor_that_kills_whoever_judges_it_is_given_up_and_harms_no_other(site: Site) -> None:
    """What was begun before runs alone the next time, so it can end no other a second time."""
    monitors = site.workspace / "monitors" / "example.yaml"
    poison = monitors.read_text("utf-8").replace("reading-too-warm", "poison").replace("every: 2s", "every: 1h")
    monitors.with_name("poison.yaml").write_text(poison, "utf-8")
    with running(site.workspace, "run", environment=site.environment) as daemon:
        wait_for(lambda: len(completed(site.store)) >= 1, daemon)
        stop(daemon)
    _make_due(site.store, "poison", timedelta(hours=1))
    for _ in range(MOST_ATTEMPTS):
        site.dies("poison('poison')")
    with running(site.workspace, "run", environment=site.environment) as daemon:
        (given_up,) = wait_for(lambda: _of(site.store, "poison"), daemon)
        made = len(completed(site.store))
        wait_for(lambda: len(completed(site.store)) >= made + 2, daemon)
        stop(daemon)
    results = Counter((row["monitor"], row["scheduled_for"]) for row in rows(site.store, evaluation))
    assert set(results.values()) == {1}
    found = (given_up["verdict"], given_up["reason"], given_up["cause"])
    assert found == ("no_data", "not_evaluated", SlotCause.CRASHED)
    (tried,) = (row for row in rows(site.store, slot) if row["monitor"] == "poison")
    assert (tried["state"], tried["attempt"]) == (SlotState.QUARANTINED, MOST_ATTEMPTS)


def _of(store: sa.Engine, monitor: str) -> list[sa.RowMapping]:
    return [row for row in rows(store, evaluation) if row["monitor"] == monitor]


def _make_due(store: sa.Engine, monitor: str, ago: timedelta) -> None:
    """Sets a monitor's watermark back."""
    own = watermark.c.monitor == monitor
    with store.begin() as connection:
        until = connection.execute(sa.select(watermark.c.planned_until).where(own)).scalar_one()
        earlier = utc_text(datetime.fromisoformat(until) - ago)
        connection.execute(sa.update(watermark).where(own).values(planned_until=earlier))


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_a_daemon_that_was_stopped_past_its_lease_comes_too_late(site: Site, tmp_path: Path) -> None:
    """On SQLite there is one daemon for a store, so nobody could take its place."""
    other = replace(site, workspace=Path(shutil.copytree(site.workspace, tmp_path / "other")))
    log = tmp_path / "stopped.log"
    entry = DYING.replace("{fault}", "sleeping('worker.evaluate', 'finish')")
    with log.open("w") as errors:
        stopped = start("run", at=site.workspace, entry=entry, environment=site.environment, errors=errors)
        try:
            met = wait_for(lambda: running_slot(site.store), stopped)
            wait_for(lambda: _is_stopped(stopped))
            other.goes_on(3)
            stopped.send_signal(signal.SIGCONT)
            wait_for(lambda: "taken over, result dropped" in log.read_text("utf-8"), stopped)
            other.holds(stopped)
            stop(stopped)
        finally:
            stopped.kill()
    (ended,) = (row for row in slots(site.store) if row["scheduled_for"] == met["scheduled_for"])
    assert (ended["state"], ended["attempt"], ended["fence"]) == (SlotState.DONE, 2, 2)


def _is_stopped(process: subprocess.Popen[str]) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("site", ["sqlite"], indirect=True)
def test_a_daemon_without_space_reports_nothing_and_goes_on_once_there_is_some(site: Site) -> None:
    site.goes_on(1)

    def limit() -> None:
        # Less than the store has already, so that soon nothing can be added to its log.
        resource.setrlimit(resource.RLIMIT_FSIZE, (SCANT, SCANT))

    log = site.workspace / "full.log"
    with log.open("w") as errors:
        process = start("run", "--json", at=site.workspace, environment=site.environment, before=limit, errors=errors)
        try:
            wait_for(lambda: re.search("disk I/O error|disk is full", log.read_text("utf-8")), process)
        finally:
            process.kill()
            ended = finish(process)
    recorded = {row["evaluation_id"] for row in rows(site.store, evaluation)}
    assert {document["evaluation_id"] for document in ended.documents} <= recorded
    site.goes_on()


@pytest.mark.parametrize("site", ["sqlite"], indirect=True)
def test_a_store_that_somebody_locks_is_waited_for(site: Site) -> None:
    with running(site.workspace, "run", environment=site.environment) as daemon:
        wait_for(lambda: len(completed(site.store)) >= 1, daemon)
        with closing(sqlite3.connect(site.workspace / "trivet.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            made = len(completed(site.store))
            time.sleep(15)
            assert len(completed(site.store)) == made
            other.execute("ROLLBACK")
        wait_for(lambda: len(completed(site.store)) >= made + 2, daemon)
        site.holds(daemon)
        stop(daemon)


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_a_server_that_only_reads_is_waited_for(site: Site) -> None:
    database = str(site.store.url.database)
    with running(site.workspace, "run", environment=site.environment) as daemon:
        wait_for(lambda: len(completed(site.store)) >= 1, daemon)
        _reads_only(site.store, database, "on")
        time.sleep(5)
        made = len(completed(site.store))
        time.sleep(3)
        assert len(completed(site.store)) == made
        _reads_only(site.store, database, "off")
        wait_for(lambda: len(completed(site.store)) >= made + 2, daemon)
        site.holds(daemon)
        stop(daemon)


def _reads_only(store: sa.Engine, database: str, which: str) -> None:
    """As a server that failed over to a standby: whoever is connected is thrown out, and nobody writes."""
    address = store.url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = {which}'.encode())
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])


# psycopg warns of a cursor that it cannot close any more, since its server is gone: when the cursor is collected, which
# must be before another test runs, so no record of a log may hold its frames.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_that_ends_at_once_twenty_times_leaves_no_half_of_an_evaluation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1, "sqlalchemy")
    assert_nothing_is_half_while_a_server_ends(tmp_path)
    gc.collect()


def assert_nothing_is_half_while_a_server_ends(tmp_path: Path) -> None:
    warehouse, random = a_warehouse(tmp_path), Random(11)  # noqa: S311 (nothing is to be kept secret)
    ended, told = threading.Event(), 0
    with running_postgres() as server:
        url = server.new_database()
        with opened(url) as store:
            upgrade_store(store, MIGRATIONS)

            def work() -> int:
                made = 0
                while not ended.is_set():
                    with suppress(TrivetError, sa.exc.SQLAlchemyError):
                        made += len(evaluate(warehouse, store))
                return made

            with ThreadPoolExecutor(1) as pool:
                worker = pool.submit(work)
                for _ in range(20):
                    time.sleep(random.uniform(0.1, 0.6))
                    server.stop()
                    server.start()
                time.sleep(1)
                ended.set()
                told = worker.result(timeout=60)
            made = rows(store, evaluation)
            assert len(made) >= told >= 3
            assert_verifies(store, len(made))
            for row in made:
                assert row["population"] == row["breach"] + row["no_data"] + row["compliant"]
