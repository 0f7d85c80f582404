"""What a store says of the work on it, in a few cheap queries: for metrics, which are asked for every few seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from alerts.breakdowns import breakdowns
from alerts.states import AlertEvent, DeliveryState
from alerts.tables import outbox
from ledger.checkpoints import last_checkpoint
from ledger.entries import EntryType
from ledger.reading import head
from ledger.tables import ledger_entry
from monitors.definition import MonitorDefinition
from trivet.clock import utc_text
from trivet.verdicts import Trigger
from worker.overdue import late_slots
from worker.processes import last_ticks
from worker.tables import SlotState, evaluation, slot

_MOST_ENDED = 5_000
# Spelled as the index of open slots is, so that it is used.
_OPEN: tuple[sa.ColumnClause[str], ...] = tuple(
    sa.literal_column(f"'{state}'") for state in (SlotState.PLANNED, SlotState.RUNNING)
)
_WAITING = (DeliveryState.PENDING.value, DeliveryState.GATHERED.value, DeliveryState.ATTEMPTING.value)


@dataclass(frozen=True, slots=True)
class Figures:
    """How the work on a store stands at one instant. Ages are in seconds; None where there is nothing to be aged."""

    due: int
    """Slots that came due and that nobody has begun."""
    running: int
    """Slots that somebody works on."""
    late: int
    """Slots that wait for longer than they should, as the doctor counts it: see `worker.overdue`."""
    head: int
    """Entries of the ledger."""
    uncovered: int
    """Entries that no checkpoint covers."""
    checkpoint_age: float | None
    outbox: int
    """Notices that wait to be sent."""
    outbox_age: float | None
    """Of the oldest of them, but for those that wait for others of their group."""
    breakdowns: int
    """Addresses that alerts were given up for and that took none since, or that are sent none."""
    tick_age: float | None
    """Since any daemon's last tick that went well."""


@dataclass(frozen=True, slots=True)
class Ended:
    """One evaluation that was recorded."""

    verdict: str
    reason: str
    """Why it was not made; empty where it was."""
    cause: str
    """Why a slot was not evaluated; empty where it was."""
    seconds: float
    leases_ended: int
    """How often a lease of its slot ended before it had a result."""


def read_figures(
    connection: sa.Connection,
    watched: Callable[[], tuple[Sequence[MonitorDefinition], str]],
    now: datetime,
    grace: timedelta,
) -> Figures:
    """How the work stands.

    Args:
        connection: for reading.
        watched: gives the monitors in force, and the zone of schedules that name none. It is asked only where a slot
            may be late: to read many definitions takes seconds.
        now: by the store's clock.
        grace: how long after its start a slot may wait before it counts as late.
    """
    due, running, old = _slots(connection, now, grace)
    waiting, oldest = connection.execute(
        sa.select(sa.func.count(), sa.func.min(outbox.c.created_at).filter(~_waits_for_others(now))).where(
            outbox.c.state.in_(_WAITING),
            # Its notices are counted.
            outbox.c.event != AlertEvent.GATHERED.value,
        )
    ).one()
    at, checkpoint, ticks = head(connection).seq, last_checkpoint(connection), last_ticks(connection)
    return Figures(
        due=due,
        running=running,
        late=len(late_slots(connection, *watched(), now, grace)) if old else 0,
        head=at,
        # A checkpoint does not cover its own entry, and needs no other one for it.
        uncovered=at if checkpoint is None else at - checkpoint.seq,
        checkpoint_age=None if checkpoint is None else _age(now, checkpoint.made_at),
        outbox=waiting,
        outbox_age=None if oldest is None else _age(now, oldest),
        breakdowns=len(breakdowns(connection)),
        tick_age=(now - ticks[0].ticked_at).total_seconds() if ticks else None,
    )


def read_ended(connection: sa.Connection, after: int) -> tuple[int, list[Ended]]:
    """The evaluations whose ledger entries come after `after`, and after which to ask next. Not all come at once."""
    entry, of = ledger_entry.c, evaluation.c
    scheduled = of.trigger == Trigger.SCHEDULE.value
    asked = (
        sa.select(entry.seq, of.verdict, of.reason, of.cause, of.started_at, of.finished_at, slot.c.fence, slot.c.state)
        .join(evaluation, of.evaluation_id == entry.subject_id)
        .outerjoin(slot, sa.and_(scheduled, slot.c.monitor == of.monitor, slot.c.scheduled_for == of.scheduled_for))
        .where(entry.seq > after, entry.entry_type == EntryType.EVALUATION.value)
        .order_by(entry.seq)
        .limit(_MOST_ENDED)
    )
    rows = connection.execute(asked).all()
    found = [
        Ended(
            row.verdict,
            row.reason or "",
            row.cause or "",
            max(0.0, _age(datetime.fromisoformat(row.finished_at), row.started_at)),
            _leases_ended(row.fence or 0, row.state),
        )
        for row in rows
    ]
    return (rows[-1].seq if rows else after), found


def _slots(connection: sa.Connection, now: datetime, grace: timedelta) -> tuple[int, int, int]:
    planned, running = (slot.c.state == state for state in _OPEN)
    held = sa.and_(running, slot.c.lease_until > utc_text(now))
    old = sa.and_(~held, slot.c.scheduled_for <= utc_text(now - grace))
    counts = [sa.func.count().filter(what) for what in (planned, held, old)]
    row = connection.execute(sa.select(*counts).select_from(slot).where(slot.c.state.in_(_OPEN))).one()
    return row[0], row[1], row[2]


def _leases_ended(fence: int, state: str | None) -> int:
    """Each claim but the last one came to nothing; of a slot that was given up, the last one too."""
    return fence if state == SlotState.QUARANTINED else max(0, fence - 1)


def _waits_for_others(now: datetime) -> sa.ColumnElement[bool]:
    """Whether a notice is not due yet, because its route gathers it with others."""
    first = sa.and_(outbox.c.state == DeliveryState.PENDING.value, outbox.c.attempts == 0)
    return sa.and_(first, outbox.c.group_key.is_not(None), outbox.c.next_attempt > utc_text(now))


def _age(now: datetime, text: str) -> float:
    return (now - datetime.fromisoformat(text)).total_seconds()
