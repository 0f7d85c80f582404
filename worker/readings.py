"""What metrics are worked out from, read from a store by one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa

from ledger.reading import head
from trivet.clock import Clock
from trivet.errors import TrivetError
from worker.figures import Ended, Figures, read_ended, read_figures
from worker.stores import read_only


class Readings:
    """The figures of a store, and each evaluation that was recorded since this was made; for one thread at a time."""

    def __init__(self, store: sa.Engine, clock: Clock, lease: timedelta) -> None:
        """Args: the store, its clock, and how late a slot may be begun before it counts as late."""
        self._store, self._clock, self._lease = read_only(store), clock, lease
        self._seen: int | None = None
        with suppress(sa.exc.SQLAlchemyError, TrivetError):
            self._begin()

    def figures(self) -> Figures:
        """How the work stands now."""
        with self._store.connect() as connection:
            return read_figures(connection, self._clock.now(), self._lease)

    def ended(self) -> Iterator[Ended]:
        """The evaluations that were recorded since this was last asked."""
        seen = self._begin() if self._seen is None else self._seen
        while True:
            with self._store.connect() as connection:
                self._seen, found = read_ended(connection, seen)
            seen = self._seen
            if not found:
                return
            yield from found

    def _begin(self) -> int:
        """Where counting starts: at the head as it is now or, of a store that is away, once it is there."""
        with self._store.connect() as connection:
            self._seen = found = head(connection).seq
        return found
