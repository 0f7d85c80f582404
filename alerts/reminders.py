"""What the clock and people make of alerts in the store: repetitions, escalations, acknowledgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.groups import MOST_APART
from alerts.keeping import Kept, flagged_members, group_alerts, kept_alerts, read_alert, write_alerts, write_members
from alerts.members import Flagged, MemberChange
from alerts.message import Message
from alerts.outage_reminding import DueOutage, due_outages
from alerts.reminding import acknowledge, release, release_group, remind, repeat_by_route
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
        looks = (
            _due(connection, monitors, now),
            _by_routes(connection, monitors, routing, now),
            due_outages(connection, monitors, routing, now),
        )
        if not any(True for look in looks for _ in look):
            return []
    changes = []
    with store.begin() as connection:
        # Whoever moves an alert holds the ledger's head: what is read now stays so until this is committed.
        head(connection, for_update=True)
        due = list(_due(connection, monitors, now))
        many = _many(kept for _, kept, _, told in due if told)
        for name, kept, status, told in due:
            _write(connection, name, kept, status)
            for change in told:
                about = _Reminder(name, monitors[kept.group_of or name], kept, status, change, kept.group_of in many)
                _send(connection, about, routing, now)
                changes.append(change)
        for outage in list(due_outages(connection, monitors, routing, now)):
            changes += _tell_outage(connection, outage, routing, now)
        again = list(_by_routes(connection, monitors, routing, now))
        many = _many(kept for _, kept, _ in again)
        for name, kept, receiver in again:
            status, change = repeat_by_route(kept.status)
            _write(connection, name, kept, status)
            about = _Reminder(name, monitors[kept.group_of or name], kept, status, change, kept.group_of in many)
            _send(connection, about, routing, now, only=receiver)
            changes.append(change)
    return changes


def _tell_outage(
    connection: sa.Connection, outage: DueOutage, routing: Routing, now: datetime
) -> Iterator[AlertChange]:
    _write(connection, outage.name, outage.kept, outage.status)
    about: dict[str, Json] = {**_about(outage.status, now), "monitors": outage.monitors}
    for change, receivers in outage.told:
        told = Told(outage.name, change, outage.message(change, now), receivers, now)
        append_all(connection, [draft_of(told, send(connection, told, routing), about)])
        yield change


@dataclass(frozen=True, slots=True)
class _Reminder:
    """What is told again, or to somebody else."""

    name: str
    """The alert's."""
    definition: MonitorDefinition
    kept: Kept
    status: AlertStatus
    change: AlertChange
    together: bool
    """Many groups of its monitor are told of at once."""


def _many(told: Iterable[Kept]) -> set[str]:
    """The monitors of which so many groups are told of at once that they are one message."""
    counted = Counter(kept.group_of for kept in told)
    return {name for name, count in counted.items() if name is not None and count > MOST_APART}


def acknowledge_alert(connection: sa.Connection, monitor: str, by: str, now: datetime) -> dict[str, AlertChange]:
    """Writes down that somebody has taken an alert on, inside the caller's transaction. It never commits.

    Args:
        connection: the caller's.
        monitor: whose alert; if its groups have alerts of their own, all of them. Or the name of one.
        by: who.
        now: the store's clock.

    Returns:
        What is recorded, by the alert's name.

    Raises:
        UsageError: nothing fires, or somebody has.
    """
    head(connection, for_update=True)
    own = kept_alerts(connection, {monitor}).get(monitor, Kept())
    changes = {}
    for name, kept in ({monitor: own} | group_alerts(connection, {monitor})).items():
        status, change = acknowledge(kept.status, normal_text(by))
        if change is not None:
            _write(connection, name, kept, status)
            append_all(connection, [draft_of(Told(name, change, "", (), now), (), _about(status, now))])
            changes[name] = change
    if not changes:
        raise UsageError(f"the alert of '{monitor}' is {own.status.state}; only one that fires is acknowledged")
    return changes


def release_members(connection: sa.Connection, monitor: str, by: str, reason: str, now: datetime) -> AlertChange:
    """Writes down that somebody answers for the members that breached and are gone. It never commits.

    Raises:
        UsageError: there are none.
    """
    head(connection, for_update=True)
    kept = kept_alerts(connection, {monitor}).get(monitor, Kept())
    of = kept.group_of or monitor
    flagged = flagged_members(connection, {of}).get(of, {})
    let_go: Mapping[str, Flagged]
    if kept.key is not None:
        status, change, group = release_group(kept.status, flagged.get(kept.key), normal_text(by))
        let_go = {} if group is None else {kept.key: group}
    else:
        # Groups that have an alert of their own are let go by its name.
        apart = {item.key for item in group_alerts(connection, {monitor}).values() if item.status.state.is_open}
        rest = {key: item for key, item in flagged.items() if key not in apart}
        status, change, let_go = release(kept.status, rest, normal_text(by))
    if change is None:
        raise UsageError(f"the alert of '{monitor}' waits for no member that is gone")
    _write(connection, monitor, kept, status)
    write_members(connection, of, [MemberChange(key, item.now, item) for key, item in let_go.items()])
    told = Told(monitor, change, "", (), now)
    append_all(connection, [draft_of(told, (), {**_about(status, now), "reason": normal_text(reason)})])
    return change


def _due(connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], now: datetime) -> Iterator[Due]:
    for name, kept, muted in _open(connection, monitors, now):
        status, told = remind(kept.status, monitors[kept.group_of or name].alerting, now, muted=muted)
        if status != kept.status:
            yield name, kept, status, told


def _by_routes(
    connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], routing: Routing, now: datetime
) -> Iterator[tuple[str, Kept, str]]:
    """The alerts that their routes have told again by now, and to which receiver."""
    if not any(route.repeat for route in routing.routes):
        return
    kept = {name: item for name, item, muted in _open(connection, monitors, now) if not muted}
    firing = [Firing(name, item.status, monitors[item.group_of or name]) for name, item in kept.items()]
    for item, receiver in due_by_routes(connection, firing, routing, now):
        yield item.name, kept[item.name], receiver


def _open(
    connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], now: datetime
) -> Iterator[tuple[str, Kept, bool]]:
    """The alerts that fire and speak for themselves, and whether somebody silences them now."""
    statement = sa.select(alert).where(alert.c.state.in_(_OPEN), alert.c.outage.is_(None)).order_by(alert.c.monitor)
    rows: list[sa.Row[Any]] = [
        row for row in connection.execute(statement) if (row.group_of or row.monitor) in monitors
    ]
    names = {name for row in rows for name in (row.monitor, row.group_of) if name is not None}
    silenced = {item.monitor for item in silences_after(connection, names, now) if item.covers(now)}
    for row in rows:
        yield row.monitor, read_alert(row), row.monitor in silenced or row.group_of in silenced


def _write(connection: sa.Connection, name: str, kept: Kept, status: AlertStatus) -> None:
    write_alerts(connection, {name: replace(kept, status=status)}, {name})


def _send(
    connection: sa.Connection, reminder: _Reminder, routing: Routing, now: datetime, only: str | None = None
) -> None:
    change, definition = reminder.change, reminder.definition
    told = Told(reminder.name, change, _message(definition, reminder.kept, change, now), (), now)
    if change.to is not None:
        told = replace(told, receivers=[change.to])
    else:
        told = addressed(connection, told, definition, routing, together=reminder.together)
    if only is not None:
        told = replace(told, receivers=[only])
    append_all(connection, [draft_of(told, send(connection, told, routing), _about(reminder.status, now))])


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
