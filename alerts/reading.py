"""Reading alerts for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from alerts.groups import group_of
from alerts.keeping import as_group, group_alerts, read_alert
from alerts.message import Message
from alerts.routing import Target
from alerts.states import AlertEvent, AlertState, DeliveryState
from alerts.status import AlertStatus
from alerts.tables import alert, outbox
from trivet.errors import UsageError
from trivet.findings import did_you_mean

_ORDER = {AlertState.FIRING: 0, AlertState.ACKNOWLEDGED: 1, AlertState.PENDING: 2, AlertState.QUIET: 3}


@dataclass(frozen=True, slots=True)
class NamedAlert:
    """One monitor's alert, or that of a group of it, or of an outage."""

    monitor: str
    """Or the name of the group's alert, or of the outage."""
    status: AlertStatus
    outage: str | None = None
    """The outage that tells of it in its place."""
    group: Mapping[str, str | None] | None = None
    """Of a group's alert: the group's key, empty where it was erased; None where it is a monitor's, or an outage's."""
    message: Message | None = None
    """What is told of it now; None while it is quiet, and where its text was erased."""


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
    gathered_in: str | None
    """The key of the gathered message that it went out in; None where it was, or is, by itself."""


def alerts_of(connection: sa.Connection) -> list[NamedAlert]:
    """Every monitor's alert: firing ones first, then pending ones, each by name."""
    rows = connection.execute(sa.select(alert).order_by(alert.c.monitor)).all()
    found = [_named(row) for row in rows]
    return sorted(found, key=lambda item: _ORDER[item.status.state])


def alert_of(connection: sa.Connection, monitor: str) -> NamedAlert | None:
    """One monitor's alert, or an outage's; None before its first evaluation."""
    row = connection.execute(sa.select(alert).where(alert.c.monitor == monitor)).one_or_none()
    return None if row is None else _named(row)


def open_groups(connection: sa.Connection, monitor: str) -> list[str]:
    """The names of the alerts of a monitor's groups that fire, in the order of their numbers."""
    found = group_alerts(connection, {monitor})
    groups = [(as_group(name, kept).number, name) for name, kept in found.items() if kept.status.state.is_open]
    return [name for _, name in sorted(groups)]


def required_alert(connection: sa.Connection, monitor: str) -> NamedAlert:
    """One monitor's alert, or an outage's.

    Raises:
        UsageError: no evaluation of it moved an alert yet; it names the nearest that was moved.
    """
    found = alert_of(connection, monitor)
    if found is None:
        known = [item.monitor for item in alerts_of(connection)]
        raise UsageError(f"no evaluation of '{monitor}' moved an alert yet{did_you_mean(monitor, known)}")
    return found


def _named(row: sa.Row[Any]) -> NamedAlert:
    kept = read_alert(row)
    try:
        message = Message.from_json(kept.message) if kept.message is not None else None
    except ValueError:
        message = None
    group = None if kept.key is None else group_of(kept.key)
    return NamedAlert(row.monitor, kept.status, kept.outage, group, message if kept.status.state.is_open else None)


def deliveries(connection: sa.Connection, monitor: str, last: int) -> list[Delivery]:
    """What was told of the monitor, the latest first."""
    newest = (outbox.c.episode.desc(), outbox.c.ordinal.desc(), outbox.c.receiver, outbox.c.target)
    message = outbox.alias("message")
    # While the message that it was gathered in is on its way, its attempts are told.
    on_its_way = sa.and_(message.c.alert_key == outbox.c.gathered_in, outbox.c.state == DeliveryState.GATHERED.value)
    attempts = [message.c[name].label(f"message_{name}") for name in ("attempts", "next_attempt", "last_error")]
    joined = sa.select(outbox, *attempts).outerjoin(message, on_its_way)
    rows = connection.execute(joined.where(outbox.c.monitor == monitor).order_by(*newest).limit(last)).all()
    return [
        Delivery(
            row.alert_key,
            row.episode,
            row.ordinal,
            AlertEvent(row.event),
            Target(row.receiver, row.target),
            DeliveryState(row.state),
            row.attempts if row.message_attempts is None else row.message_attempts,
            row.next_attempt or row.message_next_attempt,
            row.created_at,
            row.ended_at,
            row.last_error or row.message_last_error,
            row.gathered_in,
        )
        for row in rows
    ]
