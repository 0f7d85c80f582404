"""Ending the alerts of monitors that were removed from what is published."""

from __future__ import annotations

import sqlalchemy as sa

from alerts.ending import end_removed
from alerts.routing import Routing
from alerts.states import AlertState
from alerts.status import AlertChange
from alerts.tables import alert
from ledger.reading import head
from trivet.clock import Clock
from worker.in_force import Definitions, Superseded
from worker.tables import watermark


def end_unwatched(store: sa.Engine, found: Definitions, routing: Routing, clock: Clock) -> list[AlertChange]:
    """Ends the alerts of monitors that came due once and are not in force any more. Any number of processes may do so.

    A monitor that never came due is left alone: it may be one that somebody tries by hand, before it is published.

    Args:
        store: the audit store.
        found: what is in force.
        routing: whose receivers are told.
        clock: the store's.
    """
    with store.connect() as connection:
        if not _removed(connection, found):
            return []
    with store.begin() as connection:
        # Whoever moves an alert, or publishes, holds the ledger's head: what is read now stays so until the commit.
        head(connection, for_update=True)
        try:
            found.require_latest(connection)
        except Superseded:
            return []
        return end_removed(connection, _removed(connection, found), routing, clock.now()).changes


def _removed(connection: sa.Connection, found: Definitions) -> set[str]:
    """The monitors that are not in force, and of which an alert is not quiet."""
    monitor = sa.func.coalesce(alert.c.group_of, alert.c.monitor)
    due = sa.select(monitor).join(watermark, watermark.c.monitor == monitor)
    names = set(connection.execute(due.where(alert.c.state != AlertState.QUIET.value)).scalars())
    return names - {item.id for item in found.monitors}
