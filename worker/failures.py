"""Telling of a failure that goes on: once with all that is known, then seldom, and once when it is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trivet.errors import TrivetError

_EVERY = 60.0
"""Seconds between two lines about the same failure."""
_log = logging.getLogger(__name__)


class FailureLog:
    """Logs the failures of one thing that is tried again and again, such as a tick every few seconds."""

    def __init__(self, what: str, every: float = _EVERY, time_of: Callable[[], float] = time.monotonic) -> None:
        """Args: the beginning of each line; seconds between two lines about the same failure; what tells seconds."""
        self._what, self._every, self._time_of = what, every, time_of
        self._lock = threading.Lock()
        self._same: tuple[str, str] | None = None
        self._count = 0
        self._told_at = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Logs what goes wrong inside, and lets nothing of it out."""
        try:
            yield
        except Exception as error:
            self.failed(error)
        else:
            self.succeeded()

    def failed(self, error: Exception) -> None:
        """Another try failed."""
        same, now = (type(error).__name__, str(error)), self._time_of()
        with self._lock:
            first = same != self._same
            self._count = 1 if first else self._count + 1
            self._same = same
            if not first and now - self._told_at < self._every:
                return
            self._told_at, count = now, self._count
        if not first:
            _log.error("%s, now %d times in a row: %s", self._what, count, error)
        elif isinstance(error, TrivetError):
            # Its message says what is wrong and what to do; where in the code it was noticed is of no use.
            _log.error("%s: %s", self._what, error)
        else:
            _log.error("%s: %s: %s", self._what, *same, exc_info=error)

    def succeeded(self) -> None:
        """Another try went well."""
        with self._lock:
            count, self._count, self._same = self._count, 0, None
        if count:
            _log.warning("%s %d times in a row; it works again", self._what, count)
