"""The time limit of a query, held by a thread that interrupts it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

_AGAIN_AFTER = 0.02
"""Seconds between two interrupts of a query that is past its time."""


class Watchdog:
    """Interrupts a connection's queries once their time is over, one thread for all of them.

    A thread for each took longer than many a query. It is started by the first query, and woken only where it would
    come too late by itself.
    """

    def __init__(self, interrupt: Callable[[], object]) -> None:
        """Of a connection, by what interrupts it."""
        self._interrupt = interrupt
        self._changed = threading.Condition()
        self._limit: object | None = None
        """Stands for the query that runs."""
        self._ends_at = math.inf
        self._looks_at = math.inf
        """When the thread looks again by itself."""
        self._closed = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, timeout: timedelta) -> Iterator[None]:
        """Interrupts whatever runs once `timeout` has passed, again and again until this ends, and never after.

        A single interrupt can fall between two statements, where it is lost and the query runs for ever.
        """
        mine = object()
        self._begin(mine, time.monotonic() + timeout.total_seconds())
        try:
            yield
        finally:
            self._end(mine)

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _begin(self, limit: object, ends_at: float) -> None:
        with self._changed:
            self._limit, self._ends_at = limit, ends_at
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="trivet-query-watchdog", daemon=True)
                self._thread.start()
            elif ends_at < self._looks_at:
                self._changed.notify()

    def _end(self, limit: object) -> None:
        with self._changed:
            # A stream that was given up ends when it is collected, which may be in the time of a later query.
            if self._limit is limit:
                self._limit, self._ends_at = None, math.inf

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                if now >= self._ends_at:
                    self._interrupt()
                    self._looks_at = now + _AGAIN_AFTER
                else:
                    self._looks_at = self._ends_at
                self._changed.wait(None if self._looks_at == math.inf else self._looks_at - now)
