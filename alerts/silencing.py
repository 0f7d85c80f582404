"""Silences: for which monitors nobody wants to hear anything, who asked for it, why, and until when.

A silenced breach is still recorded, and so is what would have been told; only the telling is left out. A silence ends
by itself, by the store's clock, and what still fires then is told.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.tables import silence
from ledger.append import append
from ledger.entries import EntryType
from trivet.canonical import Json, normal_text
from trivet.clock import utc_text
from trivet.errors import UsageError

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class Silence:
    """One stretch of time in which a monitor's alerts are not told."""

    silence_id: str
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
        """Whether nothing is told at an instant."""
        end = self.until if self.ended_at is None else min(self.until, self.ended_at)
        return self.since <= instant < end

    def words(self) -> str:
        """Who, from when until when, and why, on one line."""
        since, until = (
            item.isoformat(sep=" ", timespec="minutes").replace("+00:00", "Z") for item in (self.since, self.until)
        )
        return f"silenced by {self.owner} from {since} until {until}: {self.reason}"

    def to_json(self) -> dict[str, Json]:
        """As the commands show it."""
        return {
            "silence_id": self.silence_id,
            "monitor": self.monitor,
            "owner": self.owner,
            "reason": self.reason,
            "since": utc_text(self.since),
            "until": utc_text(self.until),
        }


def silence_monitor(
    connection: sa.Connection, monitor: str, owner: str, reason: str, since: datetime, until: datetime
) -> Silence:
    """Silences a monitor for a while, inside the caller's transaction. It never commits.

    Raises:
        UsageError: it would end before it begins.
    """
    if until <= since:
        raise UsageError(f"{utc_text(until)} has passed already")
    made = Silence(uuid.uuid4().hex, monitor, normal_text(owner), normal_text(reason), since, until)
    row = made.to_json()
    connection.execute(silence.insert(), row)
    payload: dict[str, Json] = {name: text for name, text in row.items() if name != "monitor"}
    payload |= {"schema": PAYLOAD_VERSION, "monitor_id": monitor}
    append(connection, EntryType.SILENCE, made.silence_id, payload)
    return made


def end_silences(
    connection: sa.Connection, monitors: Collection[str], owner: str, reason: str, now: datetime
) -> list[Silence]:
    """Ends the silences of some monitors that hold or are to come, inside the caller's transaction."""
    ended = [item for item in silences_after(connection, monitors, now) if item.ended_at is None]
    for item in ended:
        row = silence.c.silence_id == item.silence_id
        connection.execute(sa.update(silence).where(row).values(ended_at=utc_text(now), ended_by=normal_text(owner)))
        payload: dict[str, Json] = {
            "schema": PAYLOAD_VERSION,
            "monitor_id": item.monitor,
            "silence_id": item.silence_id,
            "owner": normal_text(owner),
            "reason": normal_text(reason),
            "ended_at": utc_text(now),
        }
        append(connection, EntryType.SILENCE, f"{item.silence_id}/end", payload)
    return ended


def silences_after(connection: sa.Connection, monitors: Collection[str], instant: datetime) -> list[Silence]:
    """The silences of some monitors that were not over at an instant."""
    statement = sa.select(silence).where(silence.c.until > utc_text(instant)).order_by(silence.c.until)
    return [_read(row) for row in connection.execute(statement) if row.monitor in monitors]


def _read(row: sa.Row[Any]) -> Silence:
    ended = None if row.ended_at is None else datetime.fromisoformat(row.ended_at)
    since, until = datetime.fromisoformat(row.since), datetime.fromisoformat(row.until)
    return Silence(row.silence_id, row.monitor, row.owner, row.reason, since, until, ended)
