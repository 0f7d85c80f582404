"""The sign of life that goes out after ticks that went well, so that somebody outside notices when none does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from alerts.notifiers.port import Ending, Sent
from trivet.errors import UnavailableError
from worker.failures import FailureLog


class LifeSign:
    """Sends in a thread of its own: a tick never waits for it, and at most one is under way."""

    def __init__(
        self, send: Callable[[], Ending], every: timedelta, time_of: Callable[[], float] = time.monotonic
    ) -> None:
        """Args: sends once, within a bounded time; how often at most; what tells seconds."""
        self._send, self._every, self._time_of = send, every.total_seconds(), time_of
        self._begun_at: float | None = None
        self._under_way: threading.Thread | None = None
        self._failures = FailureLog("the sign of life was not taken")

    def after_tick(self) -> None:
        """Sends if it is time to. To be called by one thread, after each tick that went well and after no other."""
        now = self._time_of()
        if self._begun_at is not None and now - self._begun_at < self._every:
            return
        if self._under_way is not None and self._under_way.is_alive():
            return
        self._begun_at = now
        self._under_way = threading.Thread(target=self._go, name="life-sign", daemon=True)
        self._under_way.start()

    def _go(self) -> None:
        with self._failures.watching():
            ending = self._send()
            if not isinstance(ending, Sent):
                raise UnavailableError(ending.error)
