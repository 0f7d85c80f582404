"""Whether a daemon of this process still ticks, by the process's own time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pulse:
    """Told of every tick, and asked from any thread."""

    def __init__(self, time_of: Callable[[], float] = time.monotonic) -> None:
        """Args: what tells seconds; the present is taken for a first tick."""
        self._time_of = time_of
        self._lock = threading.Lock()
        self._last = time_of()
        self._fine: bool | None = None

    def beat(self, *, fine: bool) -> None:
        """A tick came to its end: well, or with a failure that was logged."""
        with self._lock:
            self._last, self._fine = self._time_of(), fine

    @property
    def age(self) -> float:
        """Seconds since the last tick, however it ended."""
        with self._lock:
            return self._time_of() - self._last

    @property
    def fine(self) -> bool | None:
        """Whether the last tick went well; None before the first."""
        with self._lock:
            return self._fine
