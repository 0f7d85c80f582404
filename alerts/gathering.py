"""Gathering over the outbox: what waits for others of its group, and the row of the message that they go out in.

A notice of a group stands in the outbox like any other, due when its group is. Whoever sends takes all that is due of
the group, in one transaction, and writes a row of its own for the message that holds them. That row is attempted, sent
again, held or given up like every other row, under a key that follows from the notices' own; its end is theirs. So who
is in a message is settled before its first attempt, and no crash and no second process changes it.

Whoever gathers, and whoever writes a notice of a group, holds the lock of the ledger's head: nobody joins a message
that is being made.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from alerts.gathered import gathered_message
from alerts.grouping import Grouping
from alerts.message import Message
from alerts.routing import Target
from alerts.states import AlertEvent, DeliveryState
from alerts.tables import outbox
from ledger.reading import head
from trivet.canonical import Json, content_hash
from trivet.clock import utc_text

PREFIX = "gathered/"
"""What stands in place of a monitor's id before the key of a gathered message: no id holds a slash."""
MOST_GATHERED = 5_000
"""Notices of one message. What is beyond goes out in the next one, at once."""
_BEFORE = outbox.alias("before")
_WAITS = sa.and_(outbox.c.state == DeliveryState.PENDING.value, outbox.c.attempts == 0)


def due_in(connection: sa.Connection, grouping: Grouping, target: Target, now: datetime) -> datetime:
    """When a notice goes out that joins a group now. To be called under the lock of the ledger's head."""
    ours = sa.and_(_at(target), outbox.c.group_key == grouping.to_text())
    waiting = sa.select(sa.func.min(outbox.c.next_attempt)).where(ours, _WAITS)
    gathered = sa.select(sa.func.max(outbox.c.gathered_at)).where(ours)
    found = connection.execute(sa.select(waiting.scalar_subquery(), gathered.scalar_subquery())).one()
    return grouping.due(now, *(None if text is None else datetime.fromisoformat(text) for text in found))


def bring_along(
    connection: sa.Connection, monitor: str, target: Target, grouping: Grouping | None, due: datetime
) -> None:
    """Lets what still waits of an alert go out with what is told of it now, in its order.

    To be called under the lock of the ledger's head.

    Args:
        connection: the caller's.
        monitor: whose alert.
        target: where it waits.
        grouping: the group in which the alert is told now; None where it is told by itself.
        due: when.
    """
    key = grouping.to_text() if grouping is not None else None
    elsewhere = sa.and_(outbox.c.group_key.is_not(None), outbox.c.group_key.is_distinct_from(key))
    ours = sa.and_(_at(target), outbox.c.monitor == monitor, _WAITS, elsewhere)
    connection.execute(sa.update(outbox).where(ours).values(group_key=key, next_attempt=utc_text(due)))


def take_group(connection: sa.Connection, row: sa.Row[Any], now: datetime, lease: timedelta) -> sa.Row[Any] | None:
    """Takes what is due of the group of a row that waits, as one row that is being attempted.

    Returns:
        The notice's own row where it is alone, else the row of the message; None where another process was first.
    """
    head(connection, for_update=True)
    target = Target(row.receiver, row.target)
    ours = sa.and_(_at(target), outbox.c.group_key == row.group_key, _WAITS)
    due = sa.and_(ours, outbox.c.next_attempt <= utc_text(now), ~sa.exists().where(is_before(outbox)))
    order = (outbox.c.created_at, outbox.c.monitor, outbox.c.episode, outbox.c.ordinal, outbox.c.alert_key)
    found = connection.execute(sa.select(outbox).where(due).order_by(*order).limit(MOST_GATHERED)).all()
    if not found:
        return None
    attempt = {
        "state": DeliveryState.ATTEMPTING.value,
        "attempts": 1,
        "next_attempt": utc_text(now + lease),
        "gathered_at": utc_text(now),
    }
    keys = [item.alert_key for item in found]
    if len(found) == 1:
        alone = sa.update(outbox).where(outbox.c.alert_key == keys[0], _WAITS).values(attempt)
        return connection.execute(alone.returning(*outbox.columns)).one_or_none()
    made = _row(target, found, now) | attempt
    joined = {"state": DeliveryState.GATHERED.value, "next_attempt": None, "gathered_at": utc_text(now)}
    joining = sa.update(outbox).where(outbox.c.alert_key.in_(keys), _WAITS)
    connection.execute(joining.values(joined | {"gathered_in": made["alert_key"]}))
    return connection.execute(outbox.insert().values(made).returning(*outbox.columns)).one()


def notices_of(connection: sa.Connection, row: sa.Row[Any]) -> Sequence[sa.Row[Any]]:
    """The notices that a row's message tells: those that were gathered in it, else the row itself."""
    if row.event != AlertEvent.GATHERED.value:
        return [row]
    order = (outbox.c.monitor, outbox.c.episode, outbox.c.ordinal)
    return connection.execute(sa.select(outbox).where(outbox.c.gathered_in == row.alert_key).order_by(*order)).all()


def end_gathered(connection: sa.Connection, row: sa.Row[Any], state: DeliveryState, error: str | None, at: str) -> None:
    """Lets the notices of a gathered message end as it ended."""
    if row.event == AlertEvent.GATHERED.value:
        ended = {"state": state.value, "attempts": row.attempts, "last_error": error, "ended_at": at}
        connection.execute(sa.update(outbox).where(outbox.c.gathered_in == row.alert_key).values(ended))


def is_before(row: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether another row of the same alert and address is not ended and is to be sent before `row`: under `exists`.

    What waits in the same group goes out with it, and is not waited for.
    """
    unfinished = (DeliveryState.PENDING.value, DeliveryState.GATHERED.value, DeliveryState.ATTEMPTING.value)
    together = sa.and_(
        _BEFORE.c.state == DeliveryState.PENDING.value,
        _BEFORE.c.attempts == 0,
        row.c.attempts == 0,
        _BEFORE.c.group_key.is_not(None),
        _BEFORE.c.group_key == sa.func.coalesce(row.c.group_key, ""),
    )
    return sa.and_(
        _BEFORE.c.monitor == row.c.monitor,
        _BEFORE.c.receiver == row.c.receiver,
        _BEFORE.c.target == row.c.target,
        _BEFORE.c.state.in_(unfinished),
        sa.tuple_(_BEFORE.c.episode, _BEFORE.c.ordinal) < sa.tuple_(row.c.episode, row.c.ordinal),
        ~together,
    )


def _at(target: Target) -> sa.ColumnElement[bool]:
    return sa.and_(outbox.c.receiver == target.receiver, outbox.c.target == target.number)


def _row(target: Target, found: Sequence[sa.Row[Any]], now: datetime) -> dict[str, Any]:
    keys: list[Json] = sorted(item.alert_key for item in found)
    key = content_hash([AlertEvent.GATHERED, target.receiver, target.number, keys])
    message = gathered_message(Grouping.from_text(found[0].group_key).by, [_message(item) for item in found], now)
    return {
        "alert_key": key,
        "monitor": PREFIX + key[:16],
        "episode": 1,
        "ordinal": 1,
        "event": AlertEvent.GATHERED.value,
        "receiver": target.receiver,
        "target": target.number,
        "payload": message.to_json(),
        "created_at": min(item.created_at for item in found),
    }


def _message(row: sa.Row[Any]) -> Message:
    try:
        return Message.from_json(row.payload)
    except ValueError:
        # Its text was erased; that there is a notice is told all the same.
        return Message(AlertEvent(row.event), row.monitor, row.created_at, row.monitor, episode=row.episode)
