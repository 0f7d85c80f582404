"""Digests in the store: which was the last one, and the rows and the ledger entry of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa

from alerts.digests import PREFIX, Digest
from alerts.message import digest_message
from alerts.routing import Routing
from alerts.states import AlertEvent, AlertKind
from alerts.status import AlertChange
from alerts.tables import outbox
from alerts.telling import Told, send
from ledger.append import append
from ledger.entries import EntryType
from ledger.reading import entry_about
from trivet.canonical import Json
from trivet.clock import utc_text

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class DigestSlot:
    """One digest that came due. There is one for each receiver and day, whoever writes it."""

    receiver: str
    day: date
    """On the wall clock of the digest's time zone."""
    due: datetime

    @property
    def name(self) -> str:
        """What stands in place of a monitor's id."""
        return PREFIX + self.receiver

    @property
    def subject(self) -> str:
        """What its ledger entry is about."""
        return f"{self.name}/{self.day}"


def is_written(connection: sa.Connection, slot: DigestSlot) -> bool:
    """Whether somebody wrote it already."""
    return entry_about(connection, EntryType.DIGEST, slot.subject) is not None


def last_digest(connection: sa.Connection, receiver: str) -> tuple[datetime, datetime] | None:
    """When the last digest to a receiver came due, and when it was written; None where there is none yet."""
    of = outbox.c.monitor == PREFIX + receiver
    last = connection.execute(sa.select(sa.func.max(outbox.c.episode)).where(of)).scalar_one()
    if last is None:
        return None
    found = entry_about(connection, EntryType.DIGEST, f"{PREFIX}{receiver}/{date.fromordinal(last)}")
    if found is None:
        return None
    content = found.content()
    return datetime.fromisoformat(content["due"]), datetime.fromisoformat(content["at"])


def write_digest(
    connection: sa.Connection, slot: DigestSlot, digest: Digest, routing: Routing, now: datetime
) -> Sequence[str]:
    """Writes a digest down to be sent, inside the caller's transaction, and gives the keys of its rows.

    Call it under the lock of the ledger's head, once `is_written` was denied.
    """
    episode = slot.day.toordinal()
    change = AlertChange(AlertEvent.DIGEST, AlertKind.NO_DATA, None, episode, 1, slot.due, digest.severity)
    payload = digest_message(slot.name, digest, episode, now).to_json()
    keys = send(connection, Told(slot.name, change, payload, [slot.receiver], now), routing)
    entry: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "receiver": slot.receiver,
        "day": slot.day.isoformat(),
        "due": utc_text(slot.due),
        "at": utc_text(now),
        "severity": digest.severity,
        "monitors": digest.total,
        "standings": dict(digest.counts),
        "missed": digest.missed,
        "alert_keys": list[Json](keys),
    }
    append(connection, EntryType.DIGEST, slot.subject, entry)
    return keys
