"""What the clock makes due of outages in the store: repetitions, escalations, and whose silence is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from alerts.keeping import Kept, kept_alerts, read_alert
from alerts.message import Message
from alerts.outage_recording import covered_monitors
from alerts.outages import PREFIX, shared_policy
from alerts.reminding import remind, repeat_by_route, told_again
from alerts.routing import Routing
from alerts.silencing import silences_after
from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange, AlertStatus
from alerts.tables import alert, outbox
from alerts.telling import told_before
from monitors.alerting import Repeat
from monitors.definition import MonitorDefinition
from trivet.clock import utc_text

_OPEN = tuple(state.value for state in AlertState if state.is_open)


def _parsed(kept: Kept) -> Message | None:
    """The last message of an alert; None where there is none, or its text was erased."""
    try:
        return Message.from_json(kept.message or "")
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class DueOutage:
    """An outage of which something is to be told."""

    name: str
    kept: Kept
    status: AlertStatus
    """How it will stand."""
    told: tuple[tuple[AlertChange, tuple[str, ...]], ...]
    """What is told, and to whom."""
    monitors: int
    """How many it tells of."""

    def message(self, change: AlertChange, now: datetime) -> str:
        """The last message of it, as it is told now."""
        # One whose text was erased has none.
        blank = Message(change.event, "Monitors cannot be judged", "", self.name, episode=change.episode)
        last = _parsed(self.kept) or blank
        again = replace(last, event=change.event, kind=change.kind, severity=change.severity, at=utc_text(now))
        return again.to_json()


def due_outages(
    connection: sa.Connection, monitors: Mapping[str, MonitorDefinition], routing: Routing, now: datetime
) -> Iterator[DueOutage]:
    """The outages that are open, and of which something is to be told by now.

    Args:
        connection: for reading.
        monitors: those in force, by id: they say how often, and who is next.
        routing: who is told.
        now: the store's clock.
    """
    statement = sa.select(alert).where(alert.c.state.in_(_OPEN), alert.c.monitor.startswith(PREFIX))
    rows: list[sa.Row[Any]] = list(connection.execute(statement.order_by(alert.c.monitor)))
    if not rows:
        return
    covered = covered_monitors(connection, [row.monitor for row in rows])
    known = {name for names in covered.values() for name in names}
    silenced = {item.monitor for item in silences_after(connection, known, now) if item.covers(now)}
    for row in rows:
        names = sorted(covered[row.monitor])
        awake = [monitors[name] for name in names if name in monitors and name not in silenced]
        found = _due(connection, row.monitor, read_alert(row), awake, routing, now)
        if found is not None:
            yield replace(found, monitors=len(names))


def _due(
    connection: sa.Connection,
    name: str,
    kept: Kept,
    awake: Sequence[MonitorDefinition],
    routing: Routing,
    now: datetime,
) -> DueOutage | None:
    if not awake:
        return None
    heard = told_before(connection, name, kept.status.episode)
    policy = shared_policy([item.alerting for item in awake], _escalated(connection, name, kept.status.episode))
    status, changes = remind(replace(kept.status, escalated=policy.escalated), policy.policy, now)
    wanted = _receivers(connection, kept, awake, routing)
    routed = _by_routes(connection, name, kept, awake, routing, now)
    # Monitors whose silence is over have receivers that did not hear of it yet.
    fresh = tuple(to for to in dict.fromkeys(wanted) if to not in heard)
    told = [(change, (change.to,) if change.to is not None else (*heard, *fresh)) for change in changes]
    if fresh and not any(change.event is AlertEvent.REPEATED for change in changes):
        status, change = told_again(status, AlertEvent.REPEATED)
        told.append((change, fresh))
    again = tuple(to for to in routed if not any(to in receivers for _, receivers in told))
    if again:
        status, change = repeat_by_route(status)
        told.append((change, again))
    return DueOutage(name, kept, status, tuple(told), 0) if told else None


def _receivers(
    connection: sa.Connection, kept: Kept, awake: Sequence[MonitorDefinition], routing: Routing
) -> list[str]:
    """Who is told for the sake of these monitors, each as loudly as its own alert stands."""
    message = _parsed(kept)
    reasons = (message.not_made,) if message is not None and message.not_made is not None else ()
    own = kept_alerts(connection, [item.id for item in awake])
    return [
        to
        for item in awake
        for to in routing.receivers_for(item, AlertKind.NO_DATA, own.get(item.id, Kept()).status.severity, reasons)
    ]


def _by_routes(
    connection: sa.Connection,
    name: str,
    kept: Kept,
    awake: Sequence[MonitorDefinition],
    routing: Routing,
    now: datetime,
) -> list[str]:
    """The receivers whose routes have them told again by now, as `alerts.repeating` has it of monitors."""
    status = kept.status
    if status.state is not AlertState.FIRING or not any(route.repeat for route in routing.routes):
        return []
    own = kept_alerts(connection, [item.id for item in awake])
    every: dict[str, timedelta] = {}
    for item in awake:
        route = routing.route_for(item, AlertKind.NO_DATA, own.get(item.id, Kept()).status.severity)
        most = (item.alerting.repeat or Repeat(timedelta())).most
        if route is not None and route.repeat is not None and status.repeats < most:
            every[route.receiver] = min(every.get(route.receiver, route.repeat), route.repeat)
    last = _told_last(connection, name, status.episode)
    return [to for to, after in every.items() if to in last and now - last[to] >= after]


def _told_last(connection: sa.Connection, name: str, episode: int) -> dict[str, datetime]:
    """When each receiver was told of an outage last."""
    of = sa.and_(outbox.c.monitor == name, outbox.c.episode == episode)
    latest = sa.select(outbox.c.receiver, sa.func.max(outbox.c.created_at)).where(of).group_by(outbox.c.receiver)
    return {row[0]: datetime.fromisoformat(row[1]) for row in connection.execute(latest)}


def _escalated(connection: sa.Connection, name: str, episode: int) -> list[str]:
    """The receivers that an outage was escalated to."""
    asked = sa.and_(outbox.c.monitor == name, outbox.c.episode == episode, outbox.c.event == AlertEvent.ESCALATED.value)
    found = sa.select(outbox.c.receiver).where(asked).distinct().order_by(outbox.c.receiver)
    return list(connection.execute(found).scalars())
