"""Daemons as processes of their own, what a store says of their slots, and what must hold whatever was done to them."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import psycopg
import sqlalchemy as sa

from alerts.states import DeliveryState
from alerts.tables import outbox
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from tests.acceptance.command import Ended, finish, start
from trivet.clock import utc_text
from trivet.verdicts import EvaluationStatus, SlotCause
from worker.stores import open_store, read_only
from worker.tables import SlotState, evaluation, slot, watermark

EVERY = timedelta(seconds=2)
"""How often the monitor of these tests comes due."""
QUICK = {"TRIVET_SCHEDULER__TICK": "1s", "TRIVET_SCHEDULER__LEASE": "3s", "TRIVET_API__PORT": "0"}
_PATIENCE = 180.0
"""Seconds. A worker plans for the first time three seconds after its start where it has the machine for itself, and
forty-five where other work leaves it a seventh of the time."""
_PIPE = 1_048_576
_OPEN = (SlotState.PLANNED, SlotState.RUNNING)
_NOT_ENDED = (DeliveryState.PENDING, DeliveryState.ATTEMPTING)
_PR_SET_PDEATHSIG = 1


@contextmanager
def opened(url: str) -> Iterator[sa.Engine]:
    """The store at a URL."""
    engine = open_store(url)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def running(
    workspace: Path, *arguments: str, environment: Mapping[str, str], errors: IO[str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A daemon in a process group of its own, all of which is gone afterwards."""
    process = start(*arguments, at=workspace, environment=environment, before=_alone, errors=errors)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            # Nobody reads until it ended, and a daemon whose output is not read waits.
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """Ends a daemon and all its children as a power cut would; children of one that ended already, too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is None:
        process.wait(timeout=_PATIENCE)
    elif not process.stdout.closed:
        process.communicate(timeout=_PATIENCE)


def stop(process: subprocess.Popen[str]) -> Ended:
    """Ends a daemon as an operator would."""
    process.send_signal(signal.SIGTERM)
    ended = finish(process)
    assert ended.code == 0, ended.err
    return ended


def wait_for(found: Callable[[], Any], alive: subprocess.Popen[str] | None = None) -> Any:
    """What comes about, while a daemon lives."""
    deadline = time.monotonic() + _PATIENCE
    while not (what := found()):
        if alive is not None and alive.poll() is not None:
            raise AssertionError(f"the daemon ended: {finish(alive)}")
        assert time.monotonic() < deadline, f"it did not come about within {_PATIENCE:.0f} seconds"
        time.sleep(0.01)
    return what


def rows(store: sa.Engine, table: sa.Table, *order: sa.ColumnElement[Any]) -> list[Any]:
    with read_only(store).connect() as connection:
        return list(connection.execute(sa.select(table).order_by(*order)).mappings())


def slots(store: sa.Engine) -> list[Any]:
    """Every slot, oldest first."""
    return rows(store, slot, slot.c.scheduled_for)


def completed(store: sa.Engine) -> list[Any]:
    """The evaluations that were made."""
    return [row for row in rows(store, evaluation) if row["status"] == EvaluationStatus.COMPLETED]


def _connected(address: str) -> psycopg.Connection[Any] | None:
    """None while a server that was killed still recovers."""
    with suppress(psycopg.OperationalError):
        return psycopg.connect(address, autocommit=True)
    return None


def evaluated(store: sa.Engine) -> int:
    """How many evaluations were made."""
    return len(completed(store))


def of_monitor(store: sa.Engine, monitor: str) -> list[Any]:
    """The evaluations of a monitor, whether they were made or not."""
    return [row for row in rows(store, evaluation) if row["monitor"] == monitor]


def make_due(store: sa.Engine, monitor: str, ago: timedelta) -> None:
    """Sets a monitor's watermark back, as if nothing had been planned for so long."""
    own = watermark.c.monitor == monitor
    with store.begin() as connection:
        until = connection.execute(sa.select(watermark.c.planned_until).where(own)).scalar_one()
        earlier = utc_text(datetime.fromisoformat(until) - ago)
        connection.execute(sa.update(watermark).where(own).values(planned_until=earlier))


def set_read_only(store: sa.Engine, which: str) -> None:
    """As a server that failed over to a standby: whoever is connected is thrown out, and nobody writes."""
    # Another one than the store's, where this may be undone.
    address = store.url.set(drivername="postgresql", database="template1").render_as_string(hide_password=False)
    database = str(store.url.database)
    with wait_for(lambda: _connected(address)) as connection:
        connection.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = {which}'.encode())
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])


def running_slot(store: sa.Engine) -> Any:
    """The slot that somebody works on."""
    return next((row for row in slots(store) if row["state"] == SlotState.RUNNING), None)


def all_ended(store: sa.Engine, until: datetime) -> bool:
    """Whether every slot up to an instant was planned and is at its end."""
    found = slots(store)
    reached = bool(found) and instant(found[-1]) >= until
    return reached and not any(row["state"] in _OPEN for row in found if instant(row) <= until)


def all_told(store: sa.Engine) -> bool:
    """Whether nothing in the outbox waits to be sent."""
    return not any(row["state"] in _NOT_ENDED for row in rows(store, outbox))


def instant(row: Any) -> datetime:
    return datetime.fromisoformat(row["scheduled_for"])


def history(store: sa.Engine) -> list[Any]:
    """Every evaluation in the order in which they were recorded, each with its place in the ledger as `seq`."""
    with read_only(store).connect() as connection:
        sealed = [(entry.subject_id, entry.seq) for entry in entries(connection, entry_type=EntryType.EVALUATION)]
        made = {row["evaluation_id"]: row for row in connection.execute(sa.select(evaluation)).mappings()}
    assert Counter(identity for identity, _ in sealed) == Counter(list(made)), "an evaluation is sealed once"
    return [{**made[identity], "seq": seq} for identity, seq in sorted(sealed, key=lambda item: item[1])]


def assert_each_slot_has_one_result(store: sa.Engine, until: datetime) -> None:
    """Of each monitor, from its first slot to an instant none is missing, and each has exactly one evaluation.

    There is no evaluation of anything else.
    """
    found, made = slots(store), rows(store, evaluation)
    for monitor in {row["monitor"] for row in found}:
        own = [instant(row) for row in found if row["monitor"] == monitor]
        assert (own[0] - datetime(1970, 1, 1, tzinfo=UTC)) % EVERY == timedelta()
        due = [own[0] + number * EVERY for number in range((until - own[0]) // EVERY + 1)]
        assert [at for at in own if at <= until] == due
        results = Counter(instant(row) for row in made if row["monitor"] == monitor)
        assert {at: results[at] for at in due} == dict.fromkeys(due, 1)
    ended = [row["evaluation_id"] for row in found if row["state"] not in _OPEN]
    assert Counter(row["evaluation_id"] for row in history(store)) == Counter(ended)
    with read_only(store).connect() as connection:
        assert verify_store(connection).damage == ()


def assert_what_was_not_evaluated_is_explained(store: sa.Engine, down: tuple[datetime, datetime]) -> None:
    """Slots were evaluated before nothing ran and after it; how many depends on the machine, since two seconds are few.

    Each other one tells why, and that nothing ran is said only of when nothing did.
    """
    made = {status: [row for row in rows(store, evaluation) if row["status"] == status] for status in EvaluationStatus}
    completed = [instant(row) for row in made[EvaluationStatus.COMPLETED]]
    assert min(completed) < down[0]
    assert max(completed) > down[1]
    for row in made[EvaluationStatus.NOT_MADE]:
        assert (row["verdict"], row["reason"]) == ("no_data", "not_evaluated")
        assert row["cause"] in (SlotCause.MISSED, SlotCause.OVERRUN)
        assert row["message"]
        if "nothing was running" in row["message"]:
            assert down[0] - EVERY <= instant(row) <= down[1]


def expected_notices(store: sa.Engine) -> list[tuple[str, str]]:
    """Event and kind of what is to be told of a monitor that breaches whenever it is evaluated."""
    latest, told = "", ""
    expected = []
    for row in history(store):
        if row["scheduled_for"] <= latest:
            continue
        latest = row["scheduled_for"]
        kind = "breach" if row["status"] == "completed" else ("unjudged" if told else "no_data")
        if kind != told:
            expected.append(("alert.changed" if told else "alert.fired", kind))
            told = kind
    return expected


def _alone() -> None:
    """Of Linux: the leader of a new session, which ends with the tests even where those are killed."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
