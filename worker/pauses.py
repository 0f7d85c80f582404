"""Pauses: who asked for a monitor to rest, why, and until when. Each, and each end before time, is a ledger entry.

A pause says which slots are not evaluated, and not when somebody looks: a slot that starts while its monitor is
paused is recorded as such even where the planner comes to it later. It ends by itself, by the store's clock.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from ledger.append import append
from ledger.entries import EntryType
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.errors import UsageError
from worker.tables import pause

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class Pause:
    """One stretch of time in which a monitor is not evaluated."""

    pause_id: str
    monitor: str
    owner: str
    """Who answers for it."""
    reason: str
    since: datetime
    until: datetime
    """It ends by itself at this instant."""
    ended_at: datetime | None = None
    """When somebody ended it before its time."""

    def covers(self, instant: datetime) -> bool:
        """Whether what starts at an instant is not evaluated."""
        end = self.until if self.ended_at is None else min(self.until, self.ended_at)
        return self.since <= instant < end

    def words(self) -> str:
        """Who, until when and why, on one line."""
        until = self.until.isoformat(sep=" ", timespec="minutes").replace("+00:00", "Z")
        return f"paused by {self.owner} until {until}: {self.reason}"

    def to_json(self) -> dict[str, Json]:
        """As the commands show it."""
        return {
            "pause_id": self.pause_id,
            "monitor": self.monitor,
            "owner": self.owner,
            "reason": self.reason,
            "since": utc_text(self.since),
            "until": utc_text(self.until),
        }


def pause_monitor(
    connection: sa.Connection, monitor: str, owner: str, reason: str, now: datetime, until: datetime
) -> Pause:
    """Pauses a monitor from now on, inside the caller's transaction. It never commits.

    Raises:
        UsageError: the end has passed already.
    """
    if until <= now:
        raise UsageError(f"--until: {utc_text(until)} has passed already")
    made = Pause(uuid.uuid4().hex, monitor, owner, reason, now, until)
    row = made.to_json()
    connection.execute(pause.insert(), row)
    append(connection, EntryType.PAUSE, made.pause_id, {"schema": PAYLOAD_VERSION, **_named(row)})
    return made


def resume_monitor(
    connection: sa.Connection, monitor: str, owner: str | None, reason: str | None, now: datetime
) -> Sequence[Pause]:
    """Ends every pause of a monitor now, inside the caller's transaction, and gives them. It never commits.

    Raises:
        UsageError: the monitor is not paused.
    """
    ended = [item for item in pauses_after(connection, now) if item.monitor == monitor and item.covers(now)]
    if not ended:
        raise UsageError(f"the monitor '{monitor}' is not paused")
    instant = utc_text(now)
    for item in ended:
        values = {"ended_at": instant, "ended_by": owner}
        connection.execute(sa.update(pause).where(pause.c.pause_id == item.pause_id).values(values))
        payload: dict[str, Json] = {"schema": PAYLOAD_VERSION, "monitor_id": monitor, "ended_at": instant}
        append(connection, EntryType.RESUME, item.pause_id, {**payload, "owner": owner, "reason": reason})
    return ended


def pauses_after(connection: sa.Connection, instant: datetime) -> list[Pause]:
    """Every pause that was not over at an instant, in the order of their ends."""
    statement = sa.select(pause).where(pause.c.until > utc_text(instant)).order_by(pause.c.until, pause.c.pause_id)
    return [_read(row) for row in connection.execute(statement)]


def paused_now(connection: sa.Connection, now: datetime) -> dict[str, Pause]:
    """The monitors that are paused, each with the pause that ends last."""
    return {item.monitor: item for item in pauses_after(connection, now) if item.covers(now)}


def is_paused(monitor: str, now: datetime) -> sa.ColumnElement[bool]:
    """A condition of SQL: whether a monitor is paused."""
    instant = utc_text(now)
    ended = sa.and_(pause.c.ended_at.is_not(None), pause.c.ended_at <= instant)
    return sa.exists().where(pause.c.monitor == monitor, pause.c.since <= instant, pause.c.until > instant, ~ended)


def _named(row: dict[str, Json]) -> dict[str, Json]:
    return {("monitor_id" if name == "monitor" else name): value for name, value in row.items()}


def _read(row: sa.Row[Any]) -> Pause:
    ended = None if row.ended_at is None else datetime.fromisoformat(row.ended_at)
    since, until = datetime.fromisoformat(row.since), datetime.fromisoformat(row.until)
    return Pause(row.pause_id, row.monitor, row.owner, row.reason, since, until, ended)
