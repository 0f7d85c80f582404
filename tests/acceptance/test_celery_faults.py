"""The same faults as the embedded daemon's, and those of a broker, against beat and workers on Redis and PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
import sqlalchemy as sa

from alerts.states import DeliveryState
from alerts.tables import outbox
from ledger.entries import EntryType
from ledger.reading import entries
from tests.acceptance import dying
from tests.acceptance.command import finish, start
from tests.acceptance.daemons import (
    QUICK,
    all_ended,
    all_told,
    assert_each_slot_has_one_result,
    completed,
    evaluated,
    instant,
    kill,
    make_due,
    of_monitor,
    opened,
    rows,
    running,
    running_slot,
    set_read_only,
    slots,
    wait_for,
)
from tests.acceptance.files import append_to, replace_in
from tests.integration.mail_server import running_mail_server
from tests.integration.receiver import running_receiver
from tests.integration.servers import PostgresServer, RedisServer, postgres, redis_server
from trivet.settings import load_settings
from trivet.verdicts import SlotCause
from worker.app import make_app
from worker.bootstrap import Wiring
from worker.claims import MOST_ATTEMPTS
from worker.processes import DaemonKind
from worker.stores import read_only
from worker.tables import SlotState, evaluation, slot
from worker.tasks import EVALUATE_BATCH

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

OPEN = (SlotState.PLANNED, SlotState.RUNNING)


@dataclass(frozen=True, slots=True)
class Site:
    """A workspace whose monitor comes due every two seconds, its store on PostgreSQL, and its broker."""

    workspace: Path
    store: sa.Engine
    broker: RedisServer
    environment: Mapping[str, str]
    beat: subprocess.Popen[str]

    @contextmanager
    def worker(
        self, fault: str | None = None, once: Path | None = None, **more: str
    ) -> Iterator[subprocess.Popen[str]]:
        """A worker, perhaps with a fault in it."""
        program = {} if fault is None else {"entry": dying.entry(fault, once)}
        log = (self.workspace / "worker.log").open("a")
        environment = {**self.environment, **more}
        worker = start("worker", at=self.workspace, environment=environment, errors=log, before=os.setsid, **program)
        try:
            yield worker
        finally:
            kill(worker)
            log.close()

    def goes_on(self, worker: subprocess.Popen[str], more: int = 2) -> None:
        """The worker makes some evaluations, and everything is held to what must always hold."""
        before = evaluated(self.store)
        wait_for(lambda: evaluated(self.store) >= before + more, worker)
        self.holds(worker)

    def holds(self, worker: subprocess.Popen[str]) -> None:
        """Slots lost 0, doubled 0, false compliant 0."""
        until = instant(slots(self.store)[-1])
        wait_for(lambda: all_ended(self.store, until), worker)
        assert_each_slot_has_one_result(self.store, until)
        for row in completed(self.store):
            assert (row["population"], row["breach"], row["no_data"], row["compliant"]) == (4, 1, 1, 2)

    def slot(self, of: Any) -> Any:
        """A slot as it is now."""
        return next(row for row in slots(self.store) if row["scheduled_for"] == of["scheduled_for"])

    def said(self) -> str:
        """What the workers logged."""
        return (self.workspace / "worker.log").read_text("utf-8")


@pytest.fixture
def site(small: Path, postgres: PostgresServer) -> Iterator[Site]:
    with topology(small, postgres) as found:
        yield found


@contextmanager
def topology(small: Path, postgres: PostgresServer) -> Iterator[Site]:
    """Beat, a broker and a store for a workspace; workers are for whoever uses it to start."""
    replace_in(small / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    with ExitStack() as stack:
        url = postgres.new_store()
        store, broker = stack.enter_context(opened(url)), stack.enter_context(redis_server())
        environment = QUICK | {
            "TRIVET_STORE__URL": url,
            "TRIVET_SCHEDULER__MODE": "celery",
            "TRIVET_SCHEDULER__BROKER": broker.url,
        }
        beat = stack.enter_context(running(small, "beat", environment=environment))
        yield Site(small, store, broker, environment, beat)


@pytest.mark.parametrize("point", dying.POINTS)
def test_a_child_that_is_killed_anywhere_leaves_every_slot_one_result(site: Site, point: str, tmp_path: Path) -> None:
    once = tmp_path / "died"
    with site.worker(dying.POINTS[point], once) as worker:
        wait_for(once.exists, worker)
        begun = rows(site.store, slot)
        site.goes_on(worker)
        assert worker.poll() is None, "a child ended, and not the worker"
    attempts = {row["scheduled_for"]: (row["attempt"], row["fence"]) for row in slots(site.store)}
    assert all(attempt <= 2 and attempt == fence for attempt, fence in attempts.values())
    # The slot that was met, which the second attempt ended under a fence of its own.
    met = {attempts[row["scheduled_for"]] for row in begun if row["state"] == SlotState.RUNNING}
    if point not in ("before it claims", "after it committed"):
        assert (2, 2) in met


def test_a_child_that_was_stopped_past_its_lease_comes_too_late(site: Site, tmp_path: Path) -> None:
    with site.worker(dying.STOPPED, tmp_path / "stopped") as worker:
        (child,) = wait_for(lambda: _stopped_children(worker), worker)
        met = running_slot(site.store)
        wait_for(lambda: site.slot(met)["state"] == SlotState.DONE, worker)
        os.kill(child, signal.SIGCONT)
        wait_for(lambda: "taken over, result dropped" in site.said(), worker)
        site.goes_on(worker)
    assert (site.slot(met)["attempt"], site.slot(met)["fence"]) == (2, 2)


def _stopped_children(worker: subprocess.Popen[str]) -> list[int]:
    """Processes of the worker's group that SIGSTOP holds."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = place.read_text("utf-8").rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state == "T" and int(group) == worker.pid:
            found.append(int(place.parent.name))
    return found


def test_a_monitor_that_kills_its_child_each_time_is_given_up_and_harms_no_other(site: Site) -> None:
    with site.worker() as worker:
        wait_for(lambda: evaluated(site.store) >= 1, worker)
        monitors = site.workspace / "monitors" / "example.yaml"
        other = monitors.read_text("utf-8").replace("reading-too-warm", "poison").replace("every: 2s", "every: 1h")
        monitors.with_name("poison.yaml").write_text(other, "utf-8")
        applied = finish(start("apply", at=site.workspace, environment=site.environment))
        assert applied.code == 0, applied.err
    make_due(site.store, "poison", timedelta(hours=1))
    with site.worker(dying.poison("poison")) as worker:
        (given_up,) = wait_for(lambda: of_monitor(site.store, "poison"), worker)
        made = evaluated(site.store)
        wait_for(lambda: evaluated(site.store) >= made + 2, worker)
    found = (given_up["verdict"], given_up["reason"], given_up["cause"])
    assert found == ("no_data", "not_evaluated", SlotCause.CRASHED)
    (tried,) = (row for row in rows(site.store, slot) if row["monitor"] == "poison")
    assert (tried["state"], tried["attempt"]) == (SlotState.QUARANTINED, MOST_ATTEMPTS)
    # The slots of the other one meanwhile were made, all but those that a dying child was at.
    others = [
        row for row in of_monitor(site.store, "reading-too-warm") if row["scheduled_for"] > tried["scheduled_for"]
    ]
    assert Counter(row["scheduled_for"] for row in others).most_common(1)[0][1] == 1
    assert sum(row["status"] == "completed" for row in others) >= MOST_ATTEMPTS


class Sender:
    """Plans many monitors at once, and sends messages of their slots, as the planner of a worker does."""

    def __init__(self, site: Site, monitors: int) -> None:
        self._site = site
        file = site.workspace / "monitors" / "many.yaml"
        lines = [
            f"  - {{id: many-{number:03}, object: reading, breach_when: temperature > 5, schedule: {{every: 1h}}}}"
            for number in range(monitors)
        ]
        file.write_text("\n".join(["monitors:", *lines, ""]), "utf-8")
        applied = finish(start("apply", at=site.workspace, environment=site.environment))
        assert applied.code == 0, applied.err
        for number in range(monitors):
            make_due(site.store, f"many-{number:03}", timedelta(hours=1))
        settings = load_settings(None, site.environment).settings
        assert settings is not None
        wiring = Wiring(site.workspace, settings, site.environment)
        runtime = wiring.runtime(kind=DaemonKind.WORKER)
        handed_out = [key for batch in runtime.tick().batches for key in batch.keys]
        runtime.store.dispose()
        self.keys = [[key.monitor, key.scheduled_for] for key in handed_out if key.monitor.startswith("many-")]
        assert len(self.keys) == monitors
        self._app = make_app(wiring)

    def send(self, *batches: list[list[str]]) -> None:
        """One message for each batch."""
        with self._app.connection_for_write() as connection:
            for keys in batches:
                self._app.send_task(EVALUATE_BATCH, (keys,), connection=connection)

    def waiting(self) -> int:
        """Messages that Redis holds, of which some may be with a worker."""
        with closing(redis.Redis.from_url(self._site.broker.url)) as client:
            return int(client.llen("trivet:celery")) + int(client.hlen("trivet:unacked"))

    def all_done(self) -> bool:
        """No message is left, and no slot of the monitors is open."""
        return self.waiting() == 0 and all(row["state"] not in OPEN for row in self.slots())

    def slots(self) -> list[Any]:
        """Of the monitors."""
        return [row for row in rows(self._site.store, slot) if row["monitor"].startswith("many-")]

    def assert_each_was_claimed_and_recorded_once(self) -> None:
        found = self.slots()
        assert {(row["state"], row["attempt"], row["fence"]) for row in found} == {(SlotState.DONE, 1, 1)}
        made = [row for row in completed(self._site.store) if row["monitor"].startswith("many-")]
        assert sorted(row["evaluation_id"] for row in made) == sorted(row["evaluation_id"] for row in found)
        assert len(made) == len(self.keys)


def test_redis_is_killed_with_a_thousand_messages_and_none_is_lost_or_done_twice(site: Site) -> None:
    """Every slot stands in five messages; the worker that finds them after the kill evaluates each slot once."""
    kill(site.beat)
    sender = Sender(site, 200)
    sender.send(*([key] for key in sender.keys * 5))
    assert sender.waiting() >= 1000
    site.broker.end(signal.SIGKILL)
    site.broker.start()
    assert sender.waiting() >= 1000, "they stand in the append-only file"
    with site.worker() as worker:
        wait_for(sender.all_done, worker)
    sender.assert_each_was_claimed_and_recorded_once()


def test_one_message_sent_fifty_times_to_eight_processes_is_claimed_once(site: Site) -> None:
    kill(site.beat)
    sender = Sender(site, 4)
    with site.worker(TRIVET_SCHEDULER__WORKERS="8") as worker, ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: sender.send(*[sender.keys] * 10), range(5)))
        wait_for(sender.all_done, worker)
    sender.assert_each_was_claimed_and_recorded_once()


def test_redis_forgets_everything_again_and_again(site: Site) -> None:
    with site.worker() as worker, closing(redis.Redis.from_url(site.broker.url)) as client:
        wait_for(lambda: evaluated(site.store) >= 1, worker)
        for _ in range(30):
            client.flushall()
            time.sleep(0.2)
        site.goes_on(worker)


def test_a_message_that_is_delivered_again_while_it_is_worked_on_is_evaluated_once(site: Site, tmp_path: Path) -> None:
    """Redis gives a message away again after its visibility timeout, here two seconds, and the work takes eight."""
    delivered = tmp_path / "delivered"
    fault = "\n".join(
        [
            "broker(visibility_timeout=2, unacked_restore_interval=1)",
            dying.dawdling(8),
            f"counted('worker.runtime:Runtime', 'evaluate', {str(delivered)!r})",
        ]
    )
    with site.worker(fault) as worker:
        met = wait_for(lambda: running_slot(site.store), worker)
        wait_for(lambda: site.slot(met)["state"] == SlotState.DONE, worker)
        wait_for(lambda: _times(delivered, met) >= 2, worker)
    assert (site.slot(met)["attempt"], site.slot(met)["fence"]) == (1, 1)
    assert sum(row["scheduled_for"] == met["scheduled_for"] for row in completed(site.store)) == 1
    with site.worker() as worker:
        site.goes_on(worker)


def _times(delivered: Path, of: Any) -> int:
    return sum(of["scheduled_for"] in line for line in delivered.read_text("utf-8").splitlines())


RECEIVERS = """\
receivers:
  desk: {{webhook: {{url: '{url}', insecure: true}}}}
  mail: {{smtp: {{host: 127.0.0.1, port: {port}, tls: none, sender: a@example.org, to: [b@example.org]}}}}
delivery: {{first_wait: 1s, longest_wait: 1s, timeout: 1s}}
digests: [{{at: "00:00", receiver: desk}}]
"""


def test_children_that_are_killed_while_they_deliver_lose_no_notice_and_no_digest(
    small: Path, postgres: PostgresServer, tmp_path: Path
) -> None:
    """Once before a send and once after it at a receiver that drops what it had, and once after it where none can."""
    died = [tmp_path / name for name in ("after desk", "before desk", "after mail")]
    sends = ("'alerts.notifiers.webhook:WebhookNotifier', 'send'", "'alerts.notifiers.smtp:SmtpNotifier', 'send'")
    points = ((died[0], "after", sends[0]), (died[1], "before", sends[0]), (died[2], "after", sends[1]))
    fault = "\n".join(f"{when}({send}, {str(file)!r})" for file, when, send in points)
    with running_receiver() as desk, running_mail_server() as mail:
        append_to(small / "trivet.yaml", RECEIVERS.format(url=desk.url(), port=mail.port))
        append_to(small / "monitors" / "example.yaml", "    notify: [desk, mail]\n")
        with topology(small, postgres) as site, site.worker(fault) as worker:
            wait_for(lambda: all(file.exists() for file in died), worker)
            wait_for(lambda: {"reading-too-warm", "digest/desk"} <= _told(site.store) and all_told(site.store), worker)
            found = rows(site.store, outbox)
            site.holds(worker)
            assert worker.poll() is None, "children ended, and not the worker"
            with read_only(site.store).connect() as connection:
                told = {item.subject_id: item.content() for item in entries(connection, entry_type=EntryType.DELIVERY)}
                digests = list(entries(connection, entry_type=EntryType.DIGEST))
    assert len(digests) == 1
    to = {
        name: {row["alert_key"]: row["state"] for row in found if row["receiver"] == name} for name in ("desk", "mail")
    }
    # Of those that were taken and not written down one came again under its key, which the receiver drops; the other
    # is not sent again.
    assert set(to["desk"].values()) == {DeliveryState.DELIVERED}
    assert Counter(to["mail"].values())[DeliveryState.UNKNOWN] == 1
    arrived = Counter(item.key for item in desk.requests if item.key in to["desk"])
    assert arrived.keys() == to["desk"].keys()
    assert sorted(arrived.values()) == [1] * (len(arrived) - 1) + [2]
    mailed = Counter(str(item["Message-ID"]).strip("<>").partition("@")[0] for item in mail.mails)
    assert {key: mailed[key] for key in to["mail"]} == dict.fromkeys(to["mail"], 1)
    assert {key: told[key]["state"] for name in to for key in to[name]} == to["desk"] | to["mail"]


def _told(store: sa.Engine) -> set[str]:
    """Of what something was to be told."""
    return {row["monitor"] for row in rows(store, outbox)}


def test_what_takes_longer_than_its_interval_runs_once_at_a_time(site: Site) -> None:
    at_once = []
    with site.worker(dying.dawdling(7)) as worker:
        wait_for(lambda: running_slot(site.store), worker)
        deadline = time.monotonic() + 16
        while time.monotonic() < deadline:
            at_once.append(sum(row["state"] == SlotState.RUNNING for row in slots(site.store)))
            time.sleep(0.2)
    assert max(at_once) == 1
    with site.worker() as worker:
        site.goes_on(worker)
    causes = {row["cause"] for row in rows(site.store, evaluation)}
    assert SlotCause.OVERRUN in causes
    assert causes <= {None, SlotCause.OVERRUN, SlotCause.MISSED}


def test_beat_and_workers_were_down_for_a_while_and_every_slot_since_then_is_told(site: Site) -> None:
    with site.worker() as worker:
        wait_for(lambda: evaluated(site.store) >= 1, worker)
    make_due(site.store, "reading-too-warm", timedelta(minutes=3))
    with site.worker() as worker:
        site.goes_on(worker)
    missed = [row for row in rows(site.store, evaluation) if row["cause"] == SlotCause.MISSED]
    assert len(missed) >= 3 * 30 - 1
    assert {(row["verdict"], row["reason"]) for row in missed} == {("no_data", "not_evaluated")}


def test_a_server_that_only_reads_is_waited_for(site: Site) -> None:
    with site.worker() as worker:
        wait_for(lambda: evaluated(site.store) >= 1, worker)
        set_read_only(site.store, "on")
        time.sleep(4)
        made = evaluated(site.store)
        time.sleep(3)
        assert evaluated(site.store) == made
        set_read_only(site.store, "off")
        site.goes_on(worker)


def test_a_worker_goes_on_while_a_later_version_adds_to_the_schema(site: Site) -> None:
    """As in a rolling upgrade: the schema first, then one worker after the other."""
    with site.worker() as worker:
        wait_for(lambda: evaluated(site.store) >= 1, worker)
        with site.store.begin() as connection:
            connection.execute(sa.text("ALTER TABLE evaluation ADD COLUMN of_a_later_version TEXT"))
            connection.execute(sa.text("CREATE TABLE later (name TEXT)"))
            connection.execute(sa.text("UPDATE alembic_version SET version_num = 'later'"))
        site.goes_on(worker)
