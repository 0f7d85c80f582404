"""A digest comes once a day for each receiver, whoever runs, and says nothing is fine that is not known to be."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.accepting import Term, accept_members
from alerts.digests import Digest, DigestMonitor, Standing
from alerts.message import Message
from alerts.recording import apply_all
from alerts.routing import Routing, Target
from alerts.silencing import silence_monitor
from alerts.tables import breakdown, outbox
from catalog.contract import Contract
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.definition import Schedule
from monitors.evaluation import Evaluation, NotMade
from tests.alerting import START, a_failure, a_monitor, an_evaluation
from tests.integration.store import migrated_store
from tests.integration.worlds import a_contract
from trivet.clock import FixedClock
from trivet.digest_settings import DigestSettings
from trivet.verdicts import NotMadeReason, SlotCause
from worker.digesting import Digester
from worker.in_force import Definitions, InForce
from worker.pauses import pause_monitor
from worker.publication import Content
from worker.recording import record_all
from worker.stores import read_only
from worker.tables import watermark

WANTED = DigestSettings(at="07:30", receiver="payroll", timezone="UTC")
ROUTING = Routing({"payroll": (Target("payroll", 1), Target("payroll", 2)), "desk": (Target("desk"),)})
AT_HALF_PAST = datetime(2026, 11, 30, 7, 30, tzinfo=UTC)


class Watched(InForce):
    """Some monitors that are in force, without a publication."""

    def __init__(self, store: sa.Engine, monitors: Sequence[Any] | None) -> None:
        super().__init__(store)
        contract: Contract = a_contract()
        content = Content(contract.reference(), "UTC", {})
        self._found = None if monitors is None else Definitions(1, content, contract, tuple(monitors))

    def current(self) -> Definitions | None:
        return self._found


@dataclass
class Daemons:
    """Daemons on one store, and the time that they share."""

    store: sa.Engine
    monitors: Sequence[Any] | None
    wanted: Sequence[DigestSettings] = (WANTED,)
    clock: FixedClock = field(default_factory=lambda: FixedClock(AT_HALF_PAST))

    def digester(self) -> Digester:
        in_force = Watched(self.store, self.monitors)
        return Digester(self.store, in_force, self.wanted, ROUTING, self.clock, timedelta(minutes=2))

    def tick(self, **later: float) -> int:
        """How many digests a tick of one of them writes."""
        self.clock.instant += timedelta(**later)
        return len(self.digester().write_due())

    def record(self, *made: Evaluation) -> None:
        with self.store.begin() as connection:
            record_all(connection, list(made))
            apply_all(connection, list(made), ROUTING)

    @property
    def sent(self) -> list[tuple[str, int, date]]:
        with read_only(self.store).connect() as connection:
            rows = connection.execute(sa.select(outbox).where(outbox.c.monitor.startswith("digest/"))).all()
        return sorted((row.receiver, row.target, date.fromordinal(row.episode)) for row in rows)

    @property
    def last(self) -> Digest:
        of = outbox.c.monitor.startswith("digest/")
        latest = sa.select(outbox.c.payload).where(of).order_by(outbox.c.episode.desc()).limit(1)
        with read_only(self.store).connect() as connection:
            found = Message.from_json(connection.execute(latest).scalar_one()).digest
        assert found is not None
        return found

    @property
    def lines(self) -> Mapping[str, DigestMonitor]:
        return {item.monitor: item for item in self.last.monitors}


@pytest.fixture
def daemons(tmp_path: Path) -> Any:
    store = migrated_store(tmp_path)
    yield Daemons(store, [a_monitor(id=name) for name in ("a", "b", "c")])
    store.dispose()


HOURLY = Schedule(every=timedelta(hours=1))
FIRST, SECOND = date(2026, 11, 30), date(2026, 12, 1)


def test_it_comes_once_a_day_also_when_all_is_quiet(daemons: Daemons) -> None:
    assert [daemons.tick(), daemons.tick(minutes=1), daemons.tick(hours=23)] == [1, 0, 0]
    assert daemons.tick(minutes=59) == 1
    assert daemons.sent == [(*address, day) for address in (("payroll", 1), ("payroll", 2)) for day in (FIRST, SECOND)]
    with read_only(daemons.store).connect() as connection:
        told = [item.content() for item in entries(connection, entry_type=EntryType.DIGEST)]
        assert verify_store(connection).damage == ()
    assert [(item["day"], item["monitors"], len(item["alert_keys"])) for item in told] == [
        ("2026-11-30", 3, 2),
        ("2026-12-01", 3, 2),
    ]


def test_a_daemon_that_was_down_sends_the_last_one_late_and_says_so(daemons: Daemons) -> None:
    assert daemons.tick() == 1
    assert daemons.last.late is None
    assert daemons.tick(days=3, hours=2) == 1
    assert daemons.tick(minutes=1) == 0
    assert (daemons.last.day, daemons.last.due, daemons.last.late, daemons.last.previous) == (
        "2026-12-03",
        "2026-12-03 07:30",
        "2026-12-03 09:30",
        "2026-11-30 07:30",
    )
    assert daemons.tick(hours=22) == 1
    assert daemons.last.late is None


def test_the_first_one_is_sent_at_once_and_is_not_late(daemons: Daemons) -> None:
    assert daemons.tick(hours=8) == 1
    assert (daemons.last.late, daemons.last.previous) == (None, None)


def test_each_receiver_has_its_own_and_its_own_time_zone(daemons: Daemons) -> None:
    daemons.wanted = (WANTED, DigestSettings(at="09:00", receiver="desk", timezone="Australia/Sydney"))
    assert daemons.tick() == 2
    assert daemons.sent == [("desk", 1, FIRST), ("payroll", 1, FIRST), ("payroll", 2, FIRST)]


def test_two_daemons_and_a_restart_send_it_once(any_store: sa.Engine) -> None:
    daemons = Daemons(any_store, [a_monitor()])
    ready, written = threading.Barrier(3), list[int]()

    def run() -> None:
        digester = daemons.digester()
        ready.wait()
        written.append(len(digester.write_due()))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written) == [0, 0, 1]
    assert daemons.tick() == 0
    assert daemons.sent == [("payroll", 1, FIRST), ("payroll", 2, FIRST)]


def test_where_nothing_is_in_force_it_says_that_nothing_is_watched(daemons: Daemons) -> None:
    daemons.monitors = None
    assert daemons.tick() == 1
    assert (daemons.last.total, daemons.last.severity) == (0, "warning")


def test_a_fault_keeps_nothing_from_being_sent(daemons: Daemons, caplog: pytest.LogCaptureFixture) -> None:
    digester = daemons.digester()
    with daemons.store.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE breakdown RENAME TO elsewhere")
    digester.write_quietly()
    assert "a digest could not be written; it is tried again" in caplog.text


MISSED = NotMade(NotMadeReason.NOT_EVALUATED, "nothing ran", SlotCause.MISSED)


def test_nothing_that_is_missing_is_shown_as_fine(daemons: Daemons) -> None:
    names = ("breached", "quiet", "undecided", "failed", "gone", "missed", "late", "never", "rests")
    daemons.monitors = [a_monitor(id=name) for name in names]
    of = {item.id: item for item in daemons.monitors}
    ordinal = iter(range(100))

    def at(slot: int, name: str, **found: Any) -> Evaluation:
        made = an_evaluation(slot, definition=of[name], **found)
        return replace(made, evaluation_id=f"{next(ordinal):064x}")

    gone = at(1, "gone")
    assert gone.followed is not None
    daemons.record(
        *(at(0, name) for name in ("quiet", "late", "missed", "rests")),
        at(0, "gone", breaches=1),
        at(1, "breached", breaches=2, no_data=1),
        at(1, "undecided", no_data=1),
        at(1, "failed", not_made=a_failure()),
        at(1, "missed", not_made=MISSED),
        replace(gone, followed=replace(gone.followed, compliant=frozenset())),
    )
    with daemons.store.begin() as connection:
        connection.execute(watermark.insert(), {"monitor": "late", "planned_until": "2026-11-30T06:00:00.000000Z"})
        pause_monitor(connection, "rests", "kim", "rebuilt", START, START + timedelta(days=1))
        breached = an_evaluation(breaches=2).breached[0].key_text
        term = Term("ana", "back pay", START, START + timedelta(days=3), date(2026, 12, 2))
        accept_members(connection, "breached", [breached], term)
        silence_monitor(connection, "quiet", "kim", "rebuilt", START, START + timedelta(days=2))
        silence_monitor(connection, "failed", "kim", "long", START, START + timedelta(days=30))
        since, error = "2026-11-30T06:00:00.000000Z", "the receiver answered 500"
        row = {"receiver": "desk", "target": 1, "episode": 1, "since": since, "error": error}
        connection.execute(breakdown.insert(), row)
    schedule = replace(a_monitor(id="late"), schedule=HOURLY)
    daemons.monitors = [schedule if item.id == "late" else item for item in daemons.monitors]
    assert daemons.tick(hours=1) == 1
    assert {name: line.standing for name, line in daemons.lines.items()} == {
        "breached": Standing.BREACH,
        "gone": Standing.FIRING,
        "undecided": Standing.NO_DATA,
        "failed": Standing.NOT_EVALUATED,
        "missed": Standing.NOT_EVALUATED,
        "late": Standing.OVERDUE,
        "never": Standing.NEVER,
        "rests": Standing.PAUSED,
        "quiet": Standing.COMPLIANT,
    }
    line = daemons.lines["breached"]
    assert (line.badge, line.judged, line.accepted, line.alert) == (
        "2 breaches / 1 no-data",
        "98.2",
        1,
        "(breach) firing",
    )
    assert daemons.lines["quiet"].silenced_until == "2026-12-02 06:00"
    assert (daemons.lines["missed"].cause, daemons.lines["failed"].not_made) == ("missed", "engine_error")
    digest = daemons.last
    assert (digest.total, digest.severity, digest.counts["compliant"]) == (9, "critical", 1)
    assert sorted(item.words for item in digest.outages) == ["missed", "the engine said no"]
    assert [(item.what, item.at) for item in digest.ending] == [
        ("quiet", "2026-12-02 06:00"),
        ("breached", "2026-12-02"),
    ]
    assert [(item.what, item.words) for item in digest.untold] == [("desk", "the receiver answered 500")]


def test_it_counts_the_slots_that_were_missed_since_the_last_one(daemons: Daemons) -> None:
    assert daemons.tick() == 1
    of = {item.id: item for item in daemons.monitors or ()}
    paused = replace(MISSED, cause=SlotCause.PAUSED)
    made = [
        an_evaluation(3, definition=of["a"], not_made=MISSED),
        an_evaluation(4, definition=of["a"]),
        an_evaluation(4, definition=of["b"], not_made=paused),
        an_evaluation(5, definition=of["b"]),
        an_evaluation(5, definition=of["c"]),
    ]
    daemons.record(*(replace(item, evaluation_id=f"{number:064x}") for number, item in enumerate(made)))
    assert daemons.tick(days=1) == 1
    assert {name: line.missed for name, line in daemons.lines.items()} == {"a": 1, "b": 0, "c": 0}
    assert (daemons.last.missed, daemons.last.severity, daemons.last.counts) == (1, "warning", {"compliant": 3})
    assert daemons.tick(days=1) == 1
    assert (daemons.last.missed, daemons.last.severity) == (0, "info")


def test_what_a_message_holds_is_what_a_webhook_gets(daemons: Daemons) -> None:
    daemons.tick()
    with read_only(daemons.store).connect() as connection:
        payload = json.loads(connection.execute(sa.select(outbox.c.payload).limit(1)).scalar_one())
    assert payload["type"] == "alert.digest"
    assert payload["data"]["monitor"] == "digest/payroll"
    assert payload["data"]["digest"]["counts"] == {"never": 3}
