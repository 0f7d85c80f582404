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
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa

from tests.acceptance.command import finish, start
from tests.acceptance.daemons import (
    QUICK,
    all_ended,
    assert_each_slot_has_one_result,
    completed,
    instant,
    make_due,
    of_monitor,
    opened,
    rows,
    running,
    running_slot,
    set_read_only,
    slots,
    stop,
    wait_for,
)
from tests.acceptance.dying import POINTS, STOPPED, entry, poison
from tests.acceptance.files import replace_in
from tests.integration.servers import postgres, running_postgres
from tests.integration.store import MIGRATIONS
from tests.integration.worlds import a_warehouse, assert_verifies, evaluate
from trivet.errors import TrivetError
from trivet.verdicts import SlotCause
from worker.claims import MOST_ATTEMPTS
from worker.migrating import upgrade_store
from worker.tables import SlotState, evaluation, slot

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

SCANT = 65_536
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Site:
    """A workspace whose monitor comes due every two seconds, and its store."""

    workspace: Path
    store: sa.Engine
    environment: Mapping[str, str]

    def dies(self, fault: str) -> None:
        """A daemon that ends where it is told to."""
        process = start("run", at=self.workspace, entry=entry(fault), environment=self.environment)
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
    other = monitors.read_text("utf-8").replace("reading-too-warm", "poison").replace("every: 2s", "every: 1h")
    monitors.with_name("poison.yaml").write_text(other, "utf-8")
    with running(site.workspace, "run", environment=site.environment) as daemon:
        wait_for(lambda: len(completed(site.store)) >= 1, daemon)
        stop(daemon)
    make_due(site.store, "poison", timedelta(hours=1))
    for _ in range(MOST_ATTEMPTS):
        site.dies(poison("poison"))
    with running(site.workspace, "run", environment=site.environment) as daemon:
        (given_up,) = wait_for(lambda: of_monitor(site.store, "poison"), daemon)
        made = len(completed(site.store))
        wait_for(lambda: len(completed(site.store)) >= made + 2, daemon)
        stop(daemon)
    results = Counter((row["monitor"], row["scheduled_for"]) for row in rows(site.store, evaluation))
    assert set(results.values()) == {1}
    found = (given_up["verdict"], given_up["reason"], given_up["cause"])
    assert found == ("no_data", "not_evaluated", SlotCause.CRASHED)
    (tried,) = (row for row in rows(site.store, slot) if row["monitor"] == "poison")
    assert (tried["state"], tried["attempt"]) == (SlotState.QUARANTINED, MOST_ATTEMPTS)


@pytest.mark.parametrize("site", ["postgresql"], indirect=True)
def test_a_daemon_that_was_stopped_past_its_lease_comes_too_late(site: Site, tmp_path: Path) -> None:
    """On SQLite there is one daemon for a store, so nobody could take its place."""
    other = replace(site, workspace=Path(shutil.copytree(site.workspace, tmp_path / "other")))
    log = tmp_path / "stopped.log"
    program = entry(STOPPED, once=tmp_path / "stopped")
    with log.open("w") as errors:
        stopped = start("run", at=site.workspace, entry=program, environment=site.environment, errors=errors)
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
    with running(site.workspace, "run", environment=site.environment) as daemon:
        wait_for(lambda: len(completed(site.store)) >= 1, daemon)
        set_read_only(site.store, "on")
        time.sleep(5)
        made = len(completed(site.store))
        time.sleep(3)
        assert len(completed(site.store)) == made
        set_read_only(site.store, "off")
        wait_for(lambda: len(completed(site.store)) >= made + 2, daemon)
        site.holds(daemon)
        stop(daemon)


def test_a_server_without_space_reports_nothing_and_goes_on_once_there_is_some(small: Path) -> None:
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    log = small / "full.log"
    with running_postgres() as server, opened(url := server.new_database()) as store, log.open("w") as errors:
        upgrade_store(store, MIGRATIONS)
        site = Site(small, store, QUICK | {"TRIVET_STORE__URL": url})
        with running(small, "run", "--json", environment=site.environment, errors=errors) as daemon:
            wait_for(lambda: len(completed(store)) >= 1, daemon)
            with store.begin() as connection:
                for statement in _PADDING:
                    connection.execute(sa.text(statement))
            _checkpoint(store)
            server.stop()
            # More than a segment of the server's own log has, and less than the table now.
            server.start(largest_file=17_000_000)
            wait_for(lambda: "could not extend file" in log.read_text("utf-8"), daemon)
            made = len(completed(store))
            time.sleep(5)
            assert len(completed(store)) == made
            server.stop()
            server.start()
            with store.begin() as connection:
                connection.execute(sa.text("DELETE FROM slot WHERE monitor LIKE 'padding-%'"))
            wait_for(lambda: len(completed(store)) >= made + 2, daemon)
            site.holds(daemon)
            ended = stop(daemon)
        recorded = {row["evaluation_id"] for row in rows(store, evaluation)}
        assert {document["evaluation_id"] for document in ended.documents} <= recorded


def _checkpoint(store: sa.Engine) -> None:
    """What was written is in its files, and need not be recovered."""
    with store.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("CHECKPOINT"))


_PADDING = (
    "ALTER TABLE slot SET (autovacuum_enabled = false)",
    "INSERT INTO slot (monitor, scheduled_for, slot, definition_hash, evaluation_id, state, attempt, fence)"
    " SELECT 'padding-' || n, '2000-01-01T00:00:00.000000Z', repeat('x', 200), '', 'padding-' || n, 'done', 1, 1"
    " FROM generate_series(1, 60000) AS n",
    "DELETE FROM slot WHERE monitor LIKE 'padding-%' AND CAST(substr(monitor, 9) AS integer) <= 59900",
    # With those that stay, the last page has no room for another one.
    "ALTER TABLE slot SET (fillfactor = 10)",
)
"""Makes the table of slots larger than a file may be soon."""


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
