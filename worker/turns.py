"""Whose turn it is to plan, among processes that share a store.

Two that plan at once do no harm: watermarks are locked, and slots are unique. But the second one does the same work
again, while batches wait for it. So it leaves planning to the first, and goes on with what is planned.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from worker.stores import planning_turn

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Turns:
    """What one process knows of the turns that it did not get."""

    monotonic: Callable[[], float] = time.monotonic
    _refused_since: float | None = None

    @contextmanager
    def taken(self, store: sa.Engine, patience: timedelta) -> Iterator[bool]:
        """Whether this process is to plan; nobody else begins to, until the end.

        Args:
            store: the audit store.
            patience: how long another process is left alone. It may have been stopped, or be on a machine that was cut
                off, and then it holds its turn for as long as the server believes in it.
        """
        with planning_turn(store) as ours:
            now = self.monotonic()
            if ours:
                self._refused_since = None
            elif self._refused_since is None:
                self._refused_since = now
            waited = 0.0 if self._refused_since is None else now - self._refused_since
            beside = waited >= patience.total_seconds() and not ours
            if beside:
                _log.info("another process has been planning for %.0f s; this one plans beside it", waited)
            yield ours or beside
