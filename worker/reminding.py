"""What the clock makes due of alerts that fire, by the monitors that are in force."""

from __future__ import annotations

import sqlalchemy as sa

from alerts.reminders import remind_due
from alerts.routing import Routing
from trivet.clock import Clock
from worker.digesting import Digester
from worker.in_force import InForce
from worker.unwatched import end_unwatched


def remind(
    store: sa.Engine, in_force: InForce, routing: Routing, clock: Clock, digester: Digester | None = None
) -> None:
    """Writes down which alerts are to be told again, or to somebody else, and the digests that came due.

    Alerts of monitors that were removed end. Where nothing is in force, nothing is told again.

    Raises:
        UnavailableError: the store cannot be used.
    """
    found = in_force.current()
    if found is not None:
        end_unwatched(store, found, routing, clock)
        remind_due(store, {item.id: item for item in found.monitors}, routing, clock)
    if digester is not None:
        digester.write_quietly()
