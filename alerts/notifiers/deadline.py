"""An end to a call, whatever the other side trickles: time limits of sockets begin anew with each byte."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from types import TracebackType


class Deadline:
    """Shuts the watched connection down once the time is over; whoever reads from it then finds it ended.

    Args:
        after: how long the block may take.
    """

    def __init__(self, after: timedelta) -> None:
        self._until = time.monotonic() + after.total_seconds()
        self._timer = threading.Timer(after.total_seconds(), self._cut)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for item in self._watched:
                item.close()
            self._watched.clear()

    @property
    def left(self) -> float:
        """Seconds; a little where there are none, since no limit at all is what zero means to a socket."""
        return max(self._until - time.monotonic(), 0.001)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._until

    def watch(self, connection: socket.socket) -> None:
        """Takes a connection under watch; by a copy of its own, since encryption takes the socket over."""
        copy = connection.dup()
        with self._lock:
            self._watched.append(copy)
        if self.is_over:
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            for item in self._watched:
                with suppress(OSError):
                    item.shutdown(socket.SHUT_RDWR)
