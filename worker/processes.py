"""Which daemons work on a store: each says at every tick that went well that it lives, and at its end that it ended."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from trivet.clock import utc_text
from worker.tables import process

_STALE_TICKS = 6
_LEAST_STALE = timedelta(seconds=30)


class DaemonKind(StrEnum):
    """What ticks."""

    RUN = "run"
    """The embedded daemon."""
    WORKER = "worker"
    """Celery workers, of one machine together."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """Names the daemons of one kind on one machine."""

    kind: DaemonKind
    host: str = field(default_factory=socket.gethostname)

    @property
    def name(self) -> str:
        """As stored: `run@server-1`."""
        return f"{self.kind}@{self.host}"


@dataclass(frozen=True, slots=True)
class LastTick:
    """When a daemon last ticked."""

    daemon: Daemon
    ticked_at: datetime
    ended_at: datetime | None
    """When it was stopped; None while it runs, and where it died."""


def stale_after(tick: timedelta) -> timedelta:
    """The age of a last tick from which a daemon is taken for dead: several ticks, since one may take its time."""
    return max(_STALE_TICKS * tick, _LEAST_STALE)


def mark_tick(connection: sa.Connection, daemon: Daemon, now: datetime) -> None:
    """Says that a daemon ticks, inside the tick's own transaction."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    told = {"ticked_at": utc_text(now), "ended_at": None}
    row = {"process": daemon.name, "kind": daemon.kind.value, "host": daemon.host, **told}
    statement = dialect.insert(process).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=[process.c.process], set_=told))


def mark_end(connection: sa.Connection, daemon: Daemon, now: datetime) -> None:
    """Says that a daemon was stopped."""
    ended = sa.update(process).where(process.c.process == daemon.name).values(ended_at=utc_text(now))
    connection.execute(ended)


def last_ticks(connection: sa.Connection) -> list[LastTick]:
    """Every daemon that ever ticked, the latest first."""
    rows = connection.execute(sa.select(process).order_by(process.c.ticked_at.desc(), process.c.process)).all()
    return [
        LastTick(
            Daemon(DaemonKind(row.kind), row.host),
            datetime.fromisoformat(row.ticked_at),
            None if row.ended_at is None else datetime.fromisoformat(row.ended_at),
        )
        for row in rows
    ]
