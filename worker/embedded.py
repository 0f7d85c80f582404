"""The embedded daemon: APScheduler gives the ticks, a few threads evaluate. One process, no other server."""

from __future__ import annotations

import fcntl
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from apscheduler.executors.pool import ThreadPoolExecutor as TickExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from trivet.errors import UnavailableError
from worker.evaluate import Recorded
from worker.failures import FailureLog
from worker.pulse import Pulse
from worker.runtime import Batch, Runtime

_LOOK = 1.0
"""Seconds after which a signal to stop is seen at the latest."""
# Its own lines say of every tick that it began and that it ended.
logging.getLogger("apscheduler").setLevel(logging.WARNING)


class EmbeddedDaemon:
    """Runs a `Runtime` in this process."""

    def __init__(self, runtime: Runtime, workers: int, report: Callable[[Recorded], None]) -> None:
        """Args: the runtime; how many batches at one time; who is told of each evaluation, in any thread."""
        self._runtime = runtime
        self._report = report
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="batch")
        self._delivery = ThreadPoolExecutor(1, thread_name_prefix="delivery")
        self._delivering: Future[None] | None = None
        self._sealing_pool = ThreadPoolExecutor(1, thread_name_prefix="sealing")
        self._sealing: Future[None] | None = None
        self.pulse = Pulse()
        self._ends = FailureLog("that the daemon ends could not be written down")
        self._ticks = FailureLog("a tick failed; the next one looks again")
        self._batches = FailureLog("a batch failed; its slots are tried again once their lease has ended")
        self._deliveries = FailureLog("delivery failed; what waits is tried again")
        self._seals = FailureLog("the ledger could not be sealed by a checkpoint; it is tried again")
        self._stopping = threading.Event()

    def run(self, tick: timedelta, stop: threading.Event) -> None:
        """Ticks until `stop` is set; then lets what is being evaluated come to its end."""
        scheduler = BackgroundScheduler(executors={"default": TickExecutor(1)}, timezone=UTC)
        scheduler.add_job(
            self.tick,
            "interval",
            seconds=tick.total_seconds(),
            next_run_time=datetime.now(UTC),
            # A tick is a look at the store: one that comes late is as good, and two at once are no better.
            max_instances=1,
            coalesce=True,
            misfire_grace_time=None,
        )
        scheduler.start()
        try:
            # A signal wakes this thread only if it is the one that the system interrupts, and in a process with DuckDB
            # it may be another. So it looks by itself; Python runs the signal's handler once it does.
            while not stop.wait(_LOOK):
                pass
        finally:
            self._stopping.set()
            scheduler.shutdown(wait=True)
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._delivery.shutdown(wait=True, cancel_futures=True)
            self._sealing_pool.shutdown(wait=True, cancel_futures=True)
            # Whatever was written until here is covered by a checkpoint.
            self._seal(now=True)
            with self._ends.watching():
                self._runtime.end()

    def tick(self) -> None:
        """One tick. What goes wrong in it is logged: the next one finds everything still in the store."""
        fine = False
        with self._ticks.watching():
            self._tick()
            fine = True
        self.pulse.beat(fine=fine)

    def _tick(self) -> None:
        found = self._runtime.tick()
        for recorded in found.passed_over:
            self._report(recorded)
        for batch in found.batches:
            self._pool.submit(self._evaluate, batch)
        deliver = self._runtime.deliver
        if deliver is not None and (self._delivering is None or self._delivering.done()):
            self._delivering = self._delivery.submit(self._deliver, deliver)
        if self._sealing is None or self._sealing.done():
            self._sealing = self._sealing_pool.submit(self._seal, now=False)

    def _evaluate(self, batch: Batch) -> None:
        with self._batches.watching():
            for recorded in self._runtime.evaluate(batch.keys, lambda: not self._stopping.is_set()):
                self._report(recorded)

    def _deliver(self, deliver: Callable[[], None]) -> None:
        with self._deliveries.watching():
            deliver()

    def _seal(self, *, now: bool) -> None:
        if self._runtime.seal is None:
            return
        with self._seals.watching():
            self._runtime.seal(now)


@contextmanager
def only_daemon(lock: Path, process: str = "") -> Iterator[str]:
    """Holds a lock file for as long as the daemon runs; the system lets go of it however the process ends.

    Args:
        lock: the file.
        process: the daemon's name, which is left in the file for the one that comes after it.

    Yields:
        The name of the daemon before, which is dead; empty where there was none.

    Raises:
        UnavailableError: another daemon holds it.
    """
    with lock.open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnavailableError(f"another `trivet run` works on this store and holds {lock}") from None
        handle.seek(0)
        before = handle.read().strip()
        handle.truncate(0)
        handle.write(f"{process}\n")
        handle.flush()
        yield before
