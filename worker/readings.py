"""What metrics are worked out from, read from a store by one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa

from ledger.reading import head
from monitors.definition import MonitorDefinition
from trivet.clock import Clock
from trivet.errors import TrivetError, UnavailableError
from worker.figures import Ended, Figures, read_ended, read_figures
from worker.in_force import InForce
from worker.stores import read_only


class Readings:
    """The figures of a store, and each evaluation that was recorded since this was made; for one thread at a time."""

    def __init__(self, store: sa.Engine, clock: Clock, grace: timedelta) -> None:
        """Args: the store, its clock, and how long after its start a slot may wait before it counts as late."""
        self._store, self._clock, self._grace = read_only(store), clock, grace
        self._in_force = InForce(store)
        self._seen: int | None = None
        with suppress(sa.exc.SQLAlchemyError, TrivetError):
            self._begin()

    def figures(self) -> Figures:
        """How the work stands now."""
        with self._store.connect() as connection:
            return read_figures(connection, self._watched, self._clock.now(), self._grace)

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

    def _watched(self) -> tuple[Sequence[MonitorDefinition], str]:
        # Where this version cannot read what another one published, slots count as starting at their instants.
        with suppress(UnavailableError):
            if (found := self._in_force.current()) is not None:
                return found.monitors, found.contract.calendar.time_zone
        return (), "UTC"

    def _begin(self) -> int:
        """Where counting starts: at the head as it is now or, of a store that is away, once it is there."""
        with self._store.connect() as connection:
            self._seen = found = head(connection).seq
        return found
