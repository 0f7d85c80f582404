"""What the clock and people make of alerts in the store: repetitions, escalations, acknowledgements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.keeping import Kept, flagged_members, kept_alerts, read_alert, write_alerts, write_members
from alerts.members import MemberChange
from alerts.message import Message
from alerts.reminding import acknowledge, release, remind, repeat_by_route
from alerts.repeating import Firing, due_by_routes
from alerts.routing import Routing
from alerts.silencing import silences_after
from alerts.states import AlertState
from alerts.status import AlertChange, AlertStatus
from alerts.tables import alert
from alerts.telling import Told, addressed, draft_of, send
from ledger.append import append_all
from ledger.reading import head
from monitors.definition import MonitorDefinition
from trivet.canonical import Json, normal_text
from trivet.clock import Clock, utc_text
from trivet.errors import UsageError

_OPEN = tuple(state.value for state in AlertState if state.is_open)
Due = tuple[str, Kept, AlertStatus, tuple[AlertChange, ...]]
"""An alert, how it is kept, how it will stand, and what is told."""


def remind_due(
    store: sa.Engine, monitors: Mapping[str, MonitorDefinition], routing: Routing, clock: Clock
) -> list[AlertChange]:
    """Writes down what is to be told by now of alerts that fire. Any number of processes may do so at once.

    Args:
        store: the audit store.
        monitors: those in force, by id; of others nothing is repeated.
        routing: who is told.
        clock: the store's.
    """
    now = clock.now()
    with store.begin() as connection:
        if not any(True for _ in (*_due(connection, monitors, now), *_by_routes(connection, monitors, routing, now))):
            return []
    changes = []
    with store.begin() as connection:
        # Whoever moves an alert holds the ledger's head: what is read now stays so until this is committed.
        head(connection, for_update=True)
        for name, kept, status, told in list(_due(connection, monitors, now)):
            _write(connection, name, kept, status)
            for change in told:
                _send(connection, monitors[name], kept, status, change, routing, now)
                changes.append(change)
        for name, kept, receiver in list(_by_routes(connection, monitors, routing, now)):
            status, change = repeat_by_route(kept.status)
            _write(connection, name, kept, status)
            _send(connection, monitors[name], kept, status, change, routing, now, only=receiver)
            changes.append(change)
    return changes


def acknowledge_alert(connection: sa.Connection, monitor: str, by: str, now: datetime) -> AlertChange:
    """Writes down that somebody has taken an alert on, inside the caller's transaction. It never commits.

    Raises:
        UsageError: nothing fires, or somebody has.
    """
    head(connection, for_update=True)
    kept = kept_alerts(connection, {monitor}).get(monitor, Kept())
    status, change = acknowledge(kept.status, normal_text(by))
    if change is None:
        raise UsageError(f"the alert of '{monitor}' is {kept.status.state}; only one that fires is acknowledged")
    _write(connection, monitor, kept, status)
    told = Told(monitor, change, "", (), now)
    append_all(connection, [draft_of(told, (), _about(status, now))])
    return change


def release_members(connection: sa.Connection, monitor: str, by: str, reason: str, now: datetime) -> AlertChange:
    """Writes down that somebody answers for the members that breached and are gone. It never commits.

    Raises:
        UsageError: there are none.
    """
    head(connection, for_update=True)
    kept = kept_alerts(connection, {monitor}).get(monitor, Kept())
    flagged = flagged_members(connection, {monitor}).get(monitor, {})
    status, change, let_go = release(kept.status, flagged, normal_text(by))
    if change is None:
        raise UsageError(f"the alert of '{monitor}' waits for no member that is gone")
    _write(connection, monitor, kept, status)
    write_members(connection, monitor, [MemberChange(key, item.now, item) for key, item in let_go.items()])
    told = Told(monitor, change, "", (), now)
    append_all(connection, [draft_of(told, (), {**_about(status, now), "reason": normal_text(reason)})])
    return change


def _due(connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], now: datetime) -> Iterator[Due]:
    for name, kept, muted in _open(connection, monitors, now):
        status, told = remind(kept.status, monitors[name].alerting, now, muted=muted)
        if status != kept.status:
            yield name, kept, status, told


def _by_routes(
    connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], routing: Routing, now: datetime
) -> Iterator[tuple[str, Kept, str]]:
    """The alerts that their routes have told again by now, and to which receiver."""
    if not any(route.repeat for route in routing.routes):
        return
    kept = {name: item for name, item, muted in _open(connection, monitors, now) if not muted}
    firing = [Firing(name, item.status, monitors[name]) for name, item in kept.items()]
    for item, receiver in due_by_routes(connection, firing, routing, now):
        yield item.name, kept[item.name], receiver


def _open(
    connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], now: datetime
) -> Iterator[tuple[str, Kept, bool]]:
    """The alerts that fire and speak for themselves, and whether somebody silences them now."""
    statement = sa.select(alert).where(alert.c.state.in_(_OPEN), alert.c.outage.is_(None)).order_by(alert.c.monitor)
    rows: list[sa.Row[Any]] = [row for row in connection.execute(statement) if row.monitor in monitors]
    silenced = {
        item.monitor for item in silences_after(connection, [row.monitor for row in rows], now) if item.covers(now)
    }
    yield from ((row.monitor, read_alert(row), row.monitor in silenced) for row in rows)


def _write(connection: sa.Connection, name: str, kept: Kept, status: AlertStatus) -> None:
    write_alerts(connection, {name: replace(kept, status=status)}, {name})


def _send(
    connection: sa.Connection,
    definition: MonitorDefinition,
    kept: Kept,
    status: AlertStatus,
    change: AlertChange,
    routing: Routing,
    now: datetime,
    only: str | None = None,
) -> None:
    told = Told(definition.id, change, _message(definition, kept, change, now), (), now)
    if change.to is not None:
        told = replace(told, receivers=[change.to])
    else:
        told = addressed(connection, told, definition, routing)
    if only is not None:
        told = replace(told, receivers=[only])
    append_all(connection, [draft_of(told, send(connection, told, routing), _about(status, now))])


def _message(definition: MonitorDefinition, kept: Kept, change: AlertChange, now: datetime) -> str:
    """What the latest evaluation found, as it is told now."""
    title = definition.title or definition.id
    try:
        last = Message.from_json(kept.message or "")
    except ValueError:
        # A row from before messages were kept, or one whose text was erased.
        last = Message(change.event, title, "", definition.id, kind=change.kind, episode=change.episode)
    again = replace(last, event=change.event, kind=change.kind, severity=change.severity, at=utc_text(now))
    return again.to_json()


def _about(status: AlertStatus, now: datetime) -> dict[str, Json]:
    return {"evaluation_id": status.evaluation_id, "state": status.state, "at": utc_text(now)}
