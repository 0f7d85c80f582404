"""The same faults against plain Celery, as a baseline: beat sends a task for each monitor, and the task writes its row.

`python -m tests.soak.plain --minutes 10 --seed 11` runs it with Celery's defaults, and with `--late` with late
acknowledgement. A message of beat carries no scheduled time, so a task takes the slot that its clock shows.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom

import psycopg
from celery import Celery

from tests.acceptance.command import ROOT, start
from tests.acceptance.daemons import EVERY, kill, wait_for
from tests.soak.stack import MONITORS, PROCESS_FAULTS, Stack
from worker.stack.folder import BROKER_URL, STORE_URL, StackFolder
from worker.stack.parts import Part, parts
from worker.stack.supervisor import Supervisor

_PAUSE = 2.0
_LATE = "PLAIN_CELERY_LATE"
_WORK = 0.05
"""Seconds."""
_SECONDS = int(EVERY.total_seconds())

app = Celery("plain", broker=os.environ.get(BROKER_URL, "memory://"))
app.conf.beat_schedule = {
    f"monitor-{number}": {"task": "evaluate", "schedule": _SECONDS, "args": [f"monitor-{number}"]}
    for number in range(MONITORS)
}
if os.environ.get(_LATE):
    app.conf.update(task_acks_late=True, task_reject_on_worker_lost=True)


@app.task(name="evaluate")  # type: ignore[untyped-decorator]
def evaluate(monitor: str) -> None:
    """Does some work, and writes down that it did."""
    slot = int(time.time()) // _SECONDS * _SECONDS
    time.sleep(_WORK)
    with psycopg.connect(_address()) as connection:
        connection.execute("INSERT INTO result VALUES (%s, %s)", (monitor, slot))


def _address(environment: Mapping[str, str] = os.environ) -> str:
    return environment[STORE_URL].replace("postgresql+psycopg", "postgresql")


def supervise(folder: Path) -> None:
    """Runs the topology until it is stopped, by the supervisor of `trivet stack`."""
    stack = StackFolder.of(folder)
    stack.path.mkdir(exist_ok=True)
    access = stack.prepare()
    environment = {**os.environ, **access.environment()}
    servers = [part for part in parts(stack, access, folder, 1) if part.name in ("redis", "postgres")]
    table = (sys.executable, "-c", "from tests.soak.plain import make_table; make_table()")
    celery = (sys.executable, "-m", "celery", "-A", "tests.soak.plain", "--quiet")
    schedule = stack.path / "schedule"
    found = [
        *servers,
        Part("table", table, ("postgres",), environment, once=True),
        Part("beat", (*celery, "beat", "--schedule", str(schedule)), ("redis", "table"), environment),
        *(
            Part(f"worker-{number}", (*celery, "worker", "--concurrency", "2"), ("redis", "table"), environment)
            for number in (1, 2)
        ),
    ]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    Supervisor(stack, found, print).run(stop)


def make_table() -> None:
    """One row for each task that came to its end."""
    with psycopg.connect(_address()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS result (monitor text NOT NULL, slot bigint NOT NULL)")


@dataclass
class PlainGround:
    """What the faults need of a ground."""

    parts: Stack
    random: Random

    @property
    def environment(self) -> dict[str, str]:
        """Where the servers are."""
        return self.parts.folder.access().environment()


@contextmanager
def ground(folder: Path, random: Random, *, late: bool) -> Iterator[PlainGround]:
    """A topology that runs."""
    entry = "import sys; from pathlib import Path; from tests.soak.plain import supervise; supervise(Path(sys.argv[1]))"
    environment = {"PYTHONPATH": str(ROOT), **({_LATE: "1"} if late else {})}
    with (folder / "log").open("a") as log:
        supervisor = start(
            str(folder), at=ROOT, entry=entry, environment=environment, before=os.setsid, output=log, errors=log
        )
        stack = Stack(StackFolder.of(folder), supervisor)
        try:
            wait_for(stack.is_whole, supervisor)
            yield PlainGround(stack, random)
        finally:
            kill(supervisor)


def main() -> None:
    """Does the faults for so long, and prints what became of the slots."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.plain", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1_000_000))
    parser.add_argument("--late", action="store_true", help="late acknowledgement, and messages of dead workers return")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.minutes:g} minutes, {'late' if options.late else 'default'} acknowledgement")
    folder = Path(tempfile.mkdtemp(prefix="trivet-plain-"))
    folder.chmod(0o755)
    random, faults = Random(options.seed), 0  # noqa: S311 (nothing is to be kept secret)
    with ground(folder, random, late=options.late) as plain:
        time.sleep(2 * _SECONDS)
        began = int(time.time()) // _SECONDS + 1
        deadline = time.monotonic() + options.minutes * 60
        while time.monotonic() < deadline:
            random.choice(PROCESS_FAULTS)(plain)  # type: ignore[arg-type]
            faults += 1
            time.sleep(_PAUSE)
        ended = int(time.time()) // _SECONDS
        wait_for(plain.parts.is_whole, plain.parts.supervisor)
        # What stands in the queue, and what a dead worker left, has its time to come.
        time.sleep(30)
        rows = _rows(_address(plain.environment))
    shutil.rmtree(folder)
    slots = range(began * _SECONDS, ended * _SECONDS, _SECONDS)
    results = Counter((monitor, slot) for monitor, slot in rows if slot in slots)
    due = MONITORS * len(slots)
    print(f"{faults} faults, {due} slots, {results.total()} results")
    print(f"lost, at least: {due - results.total()}; slots without a result: {due - len(results)}")
    print(f"slots with more than one result: {sum(count > 1 for count in results.values())}")


def _rows(address: str) -> list[tuple[str, int]]:
    while True:
        with suppress(psycopg.OperationalError), closing(psycopg.connect(address)) as connection:
            return connection.execute("SELECT monitor, slot FROM result").fetchall()
        time.sleep(1)


if __name__ == "__main__":
    main()
