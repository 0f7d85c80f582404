"""Keeps the leases of one claimer while it works, so that a slow query is not taken for a dead process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import sqlalchemy as sa

from trivet.clock import Clock
from worker.claims import extend_leases

_BEATS_PER_LEASE = 4
_log = logging.getLogger(__name__)


@contextmanager
def heartbeat(store: sa.Engine, owner: str, clock: Clock, lease: timedelta) -> Iterator[None]:
    """Extends the leases of `owner` from a thread, and stops before it returns.

    It must have stopped before the results are recorded: it and the recording touch the same rows,
    and would wait for each other.
    """
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(lease.total_seconds() / _BEATS_PER_LEASE):
            try:
                with store.begin() as connection:
                    extend_leases(connection, owner, clock.now() + lease)
            except Exception:
                # The store may be back by the next beat; if it is not, someone else will take over.
                _log.warning("the leases of %s could not be extended", owner, exc_info=True)

    thread = threading.Thread(target=beat, name=f"heartbeat-{owner}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
