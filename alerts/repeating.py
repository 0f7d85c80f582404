"""Repetitions that routes ask for: a group that still fires is told again, all of it in one go.

When a group is due follows from what is in the outbox: each of its alerts is told again so long after it was told last,
and the first that is due brings the others along. So a restart forgets nothing, and of two daemons the second finds it
told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from alerts.grouping import grouping_of
from alerts.routing import Routing
from alerts.states import AlertState
from alerts.status import AlertStatus
from alerts.tables import outbox
from monitors.alerting import Repeat
from monitors.definition import MonitorDefinition
from trivet.settings import RouteSettings


@dataclass(frozen=True, slots=True)
class Firing:
    """An alert that fires, that nobody has taken on, and that nobody silences."""

    name: str
    status: AlertStatus
    definition: MonitorDefinition


@dataclass(frozen=True, slots=True)
class _Routed:
    firing: Firing
    route: RouteSettings
    every: timedelta
    """After this it is told again."""
    group: str


def due_by_routes(
    connection: sa.Connection, alerts: Sequence[Firing], routing: Routing, now: datetime
) -> Iterator[tuple[Firing, str]]:
    """The alerts that are to be told again by now because of their route, and to which receiver.

    Args:
        connection: for reading what was told.
        alerts: those that fire; others than `Firing` says are left out by the caller.
        routing: the routes.
        now: the store's clock.
    """
    groups: dict[tuple[str, str], list[_Routed]] = {}
    for item in _routed(alerts, routing):
        groups.setdefault((item.route.receiver, item.group), []).append(item)
    if not groups:
        return
    told = _told_last(connection, [item.firing.name for group in groups.values() for item in group])
    for (receiver, _), group in groups.items():
        passed = [(item, now - _last(item.firing, receiver, told)) for item in group]
        if any(time >= item.every for item, time in passed):
            # Whoever has just heard of one of them need not hear of it again.
            yield from ((item.firing, receiver) for item, time in passed if time > item.route.interval)


def _routed(alerts: Sequence[Firing], routing: Routing) -> Iterator[_Routed]:
    """Those of the alerts that their routes tell again, and that were not told as often as they may be."""
    for item in alerts:
        status, definition = item.status, item.definition
        if status.state is not AlertState.FIRING or status.told is None:
            continue
        severity = status.severity or definition.severity
        route = routing.route_for(definition, status.told, severity)
        if route is None or route.repeat is None or route.receiver not in routing.receivers:
            continue
        own = definition.alerting.repeat
        if status.repeats < (own or Repeat(route.repeat)).most:
            group = grouping_of(route, definition, status.told, severity)
            yield _Routed(item, route, route.repeat, group.to_text())


def _last(item: Firing, receiver: str, told: Mapping[tuple[str, int, str], datetime]) -> datetime:
    """When a receiver was told of an alert last; of one that it never heard of, when it fired."""
    status = item.status
    found = told.get((item.name, status.episode, receiver), status.opened_at)
    if found is None:
        raise ValueError("nothing fires")
    return found


def _told_last(connection: sa.Connection, names: Sequence[str]) -> dict[tuple[str, int, str], datetime]:
    """When what was last told of alerts was written, by alert, episode and receiver."""
    by = (outbox.c.monitor, outbox.c.episode, outbox.c.receiver)
    statement = sa.select(*by, sa.func.max(outbox.c.created_at)).where(outbox.c.monitor.in_(names)).group_by(*by)
    return {(row[0], row[1], row[2]): datetime.fromisoformat(row[3]) for row in connection.execute(statement)}
