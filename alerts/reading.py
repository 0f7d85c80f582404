"""Reading alerts for people and programs."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from alerts.changes import AlertStatus
from alerts.recording import read_status
from alerts.routing import Target
from alerts.states import AlertEvent, AlertState, DeliveryState
from alerts.tables import alert, outbox

_ORDER = {AlertState.FIRING: 0, AlertState.PENDING: 1, AlertState.QUIET: 2}


@dataclass(frozen=True, slots=True)
class NamedAlert:
    """One monitor's alert."""

    monitor: str
    status: AlertStatus


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notice to one address, and how far it is."""

    alert_key: str
    episode: int
    ordinal: int
    """Place among what is told in the episode, from 1."""
    event: AlertEvent
    target: Target
    state: DeliveryState
    attempts: int
    next_attempt: str | None
    """UTC, as stored; None once it ended."""
    created_at: str
    ended_at: str | None
    last_error: str | None
    """Text of which a part may come from outside."""


def alerts_of(connection: sa.Connection) -> list[NamedAlert]:
    """Every monitor's alert: firing ones first, then pending ones, each by name."""
    rows = connection.execute(sa.select(alert).order_by(alert.c.monitor)).all()
    found = [NamedAlert(row.monitor, read_status(row)) for row in rows]
    return sorted(found, key=lambda item: _ORDER[item.status.state])


def deliveries(connection: sa.Connection, monitor: str, last: int) -> list[Delivery]:
    """What was told of the monitor, the latest first."""
    newest = (outbox.c.episode.desc(), outbox.c.ordinal.desc(), outbox.c.receiver, outbox.c.target)
    statement = sa.select(outbox).where(outbox.c.monitor == monitor).order_by(*newest).limit(last)
    return [
        Delivery(
            row.alert_key,
            row.episode,
            row.ordinal,
            AlertEvent(row.event),
            Target(row.receiver, row.target),
            DeliveryState(row.state),
            row.attempts,
            row.next_attempt,
            row.created_at,
            row.ended_at,
            row.last_error,
        )
        for row in connection.execute(statement).all()
    ]
