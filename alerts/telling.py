"""One outbox row for each address that is told, and the ledger's entry of what is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.gathering import bring_along, due_in
from alerts.grouping import Grouping, of_one_monitor
from alerts.routing import Routing, Target
from alerts.states import AlertEvent, DeliveryState
from alerts.status import AlertChange
from alerts.tables import outbox
from ledger.append import Draft
from ledger.entries import EntryType
from monitors.definition import MonitorDefinition
from trivet.canonical import Json, content_hash
from trivet.clock import utc_text

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one alert, to whom, and when."""

    monitor: str
    """Or the outage."""
    change: AlertChange
    payload: str
    """The message, as a webhook posts it."""
    receivers: Sequence[str]
    at: datetime
    groupings: Mapping[str, Grouping] = field(default_factory=dict)
    """The groups in which receivers hear of it; all others hear of it at once and by itself."""


def alert_key(monitor: str, change: AlertChange, target: Target) -> str:
    """The one name of one notice to one address, the same on every attempt: 64 hex digits."""
    parts: list[Json] = [target.receiver, target.number, monitor, change.episode, change.event, change.ordinal]
    return content_hash(parts)


def told_before(connection: sa.Connection, monitor: str, episode: int) -> list[str]:
    """The receivers that were told of an episode, by name."""
    statement = sa.select(outbox.c.receiver).where(outbox.c.monitor == monitor, outbox.c.episode == episode)
    return list(connection.execute(statement.distinct().order_by(outbox.c.receiver)).scalars())


def receivers_of(connection: sa.Connection, monitor: str, change: AlertChange, matched: Sequence[str]) -> list[str]:
    """Who is told: those who match, and whoever was told of this episode before.

    Of its end those are told who heard of it, and nobody else.
    """
    if change.event is AlertEvent.FIRED and not change.muted:
        return list(matched)
    if change.muted:
        return []
    before = told_before(connection, monitor, change.episode)
    if change.event.is_end:
        return before
    return list(dict.fromkeys([*matched, *before]))


def addressed(
    connection: sa.Connection,
    told: Told,
    definition: MonitorDefinition,
    routing: Routing,
    *,
    together: bool = False,
) -> Told:
    """What is told of a monitor's alert, to whom it is to be told, and in which groups.

    Whoever does not match any more, and was told of the episode before, is told in the group of then. What is to be
    told together is one message wherever no route gathers it, and waits for nothing.
    """
    change = told.change
    about = (definition, change.kind, change.severity, change.reasons)
    matched, groupings = routing.receivers_for(*about), routing.groupings_for(*about)
    receivers = receivers_of(connection, told.monitor, change, matched)
    rest = [name for name in receivers if name not in matched]
    groupings = _groupings_before(connection, told, rest) | groupings
    if together:
        groupings = {name: of_one_monitor(definition.id) for name in receivers} | groupings
    return replace(told, receivers=receivers, groupings=groupings)


def addressed_to_those_before(connection: sa.Connection, told: Told, gathered_as: str | None) -> Told:
    """What is told of the end of an alert whose monitor is not known any more: to those who heard of it.

    Args:
        connection: the caller's.
        told: what.
        gathered_as: the monitor as one message of which many groups are told; None where each is told by itself.
    """
    receivers = receivers_of(connection, told.monitor, told.change, ())
    groupings = _groupings_before(connection, told, receivers)
    if gathered_as is not None:
        groupings = {name: of_one_monitor(gathered_as) for name in receivers} | groupings
    return replace(told, receivers=receivers, groupings=groupings)


def _groupings_before(connection: sa.Connection, told: Told, receivers: Collection[str]) -> dict[str, Grouping]:
    """The groups in which receivers were told of the episode last."""
    if not receivers:
        return {}
    of = (outbox.c.monitor == told.monitor, outbox.c.episode == told.change.episode)
    statement = sa.select(outbox.c.receiver, outbox.c.group_key).where(*of).order_by(outbox.c.ordinal)
    latest = {row.receiver: row.group_key for row in connection.execute(statement)}
    return {name: Grouping.from_text(latest[name]) for name in receivers if latest.get(name) is not None}


def send(connection: sa.Connection, told: Told, routing: Routing) -> list[str]:
    """Writes what is to be sent, and gives the keys of the rows."""
    rows = list[dict[str, Any]]()
    for name in dict.fromkeys(told.receivers):
        grouping = told.groupings.get(name)
        for target in routing.receivers.get(name, ()):
            due = told.at if grouping is None else due_in(connection, grouping, target, told.at)
            if routing.gathers:
                bring_along(connection, told.monitor, target, grouping, due)
            rows.append(_outbox_row(told, target, grouping, due))
    if rows:
        connection.execute(outbox.insert(), rows)
    return [row["alert_key"] for row in rows]


def draft_of(told: Told, keys: Iterable[str], about: dict[str, Json]) -> Draft:
    """The ledger's entry of what was told, or would have been if nobody had silenced it.

    Args:
        told: what.
        keys: the rows of the outbox.
        about: what it follows from.
    """
    change = told.change
    payload: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "monitor_id": told.monitor,
        "event": change.event,
        "kind": change.kind,
        "was": change.was,
        "since": utc_text(change.since),
        "episode": change.episode,
        "ordinal": change.ordinal,
        "severity": change.severity,
        **about,
        **_more(change),
        "alert_keys": list(keys),
    }
    return Draft(EntryType.ALERT_CHANGE, f"{told.monitor}/{change.episode}/{change.ordinal}", payload)


def _more(change: AlertChange) -> dict[str, Json]:
    """What is said only where there is something to say."""
    found: dict[str, Json] = {
        "was_severity": change.was_severity,
        "carried": change.carried or None,
        "held": change.held or None,
        "gone": change.gone or None,
        "newly_unjudged": len(change.unjudged) or None,
        "accepted": len(change.accepted) or None,
        "reasons": list(change.reasons) or None,
        "judged_share": list(change.share) if change.share else None,
        "silenced": change.muted or None,
        "to": change.to,
        "by": change.by,
    }
    return {name: value for name, value in found.items() if value is not None}


def _outbox_row(told: Told, target: Target, grouping: Grouping | None, due: datetime) -> dict[str, Any]:
    change = told.change
    return {
        "alert_key": alert_key(told.monitor, change, target),
        "monitor": told.monitor,
        "episode": change.episode,
        "ordinal": change.ordinal,
        "event": change.event.value,
        "receiver": target.receiver,
        "target": target.number,
        "payload": told.payload,
        "state": DeliveryState.PENDING.value,
        "attempts": 0,
        "next_attempt": utc_text(due),
        "created_at": utc_text(told.at),
        "group_key": grouping.to_text() if grouping is not None else None,
    }
