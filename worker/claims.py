"""Slots in the store: planned once, claimed under a fence, and done only under that same fence.

The idea is the fencing token of Martin Kleppmann, "How to do distributed locking" (2016). A lease may
end while its owner still works, and someone else takes over. Each claim raises the slot's fence, and
a result is committed only where the fence is still its own, so that there is one result whoever was
late. Every step is one guarded UPDATE on the caller's connection, which must touch one row.

Whoever changes several slots in one transaction takes them in the order of their keys, and before
the ledger's head, so that no two transactions wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from monitors.definition import MonitorDefinition
from trivet.canonical import content_hash
from trivet.clock import utc_text
from trivet.verdicts import Trigger
from worker.tables import SlotState, slot, watermark

MOST_ATTEMPTS = 3
"""How often a slot is begun. One that ends its process each time must not do so for ever."""


@dataclass(frozen=True, slots=True, order=True)
class SlotKey:
    """Names a slot."""

    monitor: str
    scheduled_for: str
    """The instant as `trivet.clock.utc_text` writes it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to commit the result of one slot, as long as nobody claimed it later."""

    key: SlotKey
    owner: str
    fence: int
    at: datetime
    """The slot's instant, with the offset that people read it in."""


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """A slot that waits for a runner."""

    key: SlotKey
    at: datetime
    attempt: int
    """How often it was begun already."""


def slot_evaluation_id(definition: MonitorDefinition, at: datetime) -> str:
    """The id of a scheduled evaluation: whoever makes it, it is the same one."""
    return content_hash(
        {
            "monitor_id": definition.id,
            "definition_hash": definition.definition_hash,
            "scheduled_for": utc_text(at),
            "trigger": Trigger.SCHEDULE.value,
        }
    )


def insert_slot(connection: sa.Connection, definition: MonitorDefinition, at: datetime, state: SlotState) -> bool:
    """Writes a slot down, planned or done at once; False where it was written before."""
    values = {
        "monitor": definition.id,
        "scheduled_for": utc_text(at),
        "slot": at.isoformat(),
        "state": state.value,
        "fence": 0,
        "attempt": 0,
        **_judged_by(definition, at),
    }
    return _insert_once(connection, slot, values)


def insert_watermark(connection: sa.Connection, monitor: str, planned_until: datetime) -> bool:
    """Begins a monitor's planning at an instant; False where it had begun before."""
    return _insert_once(connection, watermark, {"monitor": monitor, "planned_until": utc_text(planned_until)})


def waiting_slots(connection: sa.Connection, monitor: str, before: datetime) -> list[datetime]:
    """The slots of a monitor before an instant that nobody has begun, oldest first."""
    statement = (
        sa.select(slot.c.slot)
        .where(slot.c.monitor == monitor, _IS_PLANNED, slot.c.scheduled_for < utc_text(before))
        .order_by(slot.c.scheduled_for)
    )
    return [datetime.fromisoformat(text) for text in connection.execute(statement).scalars()]


def is_running(connection: sa.Connection, monitor: str, now: datetime) -> bool:
    """Whether somebody works on a slot of the monitor."""
    held = sa.exists().where(slot.c.monitor == monitor, _IS_RUNNING, slot.c.lease_until > utc_text(now))
    return bool(connection.execute(sa.select(held)).scalar_one())


def pass_over(connection: sa.Connection, definition: MonitorDefinition, at: datetime) -> bool:
    """Ends a slot that nobody has begun; False where somebody has."""
    values = {"state": SlotState.DONE.value, **_judged_by(definition, at)}
    return _touches_one(connection, sa.update(slot).where(_is(_key(definition, at)), _IS_PLANNED).values(values))


def spent_slots(connection: sa.Connection, now: datetime) -> list[OpenSlot]:
    """The slots that were begun as often as they may be, and whose last lease ended, in the order of their keys."""
    return _take(connection, sa.and_(_lease_ended(now), slot.c.attempt >= MOST_ATTEMPTS))


def quarantine(connection: sa.Connection, definition: MonitorDefinition, at: datetime, now: datetime) -> bool:
    """Ends a spent slot; False where its owner, late as it was, ended it first."""
    values = {"state": SlotState.QUARANTINED.value, **_judged_by(definition, at)}
    spent = sa.and_(_is(_key(definition, at)), _lease_ended(now), slot.c.attempt >= MOST_ATTEMPTS)
    return _touches_one(connection, sa.update(slot).where(spent).values(values))


def hand_out(connection: sa.Connection, now: datetime, again_after: timedelta) -> list[OpenSlot]:
    """The slots that wait for a runner, oldest first, marked as handed out.

    A message may be lost, and a runner may die: what is still open a while later is handed out again.
    Handing out twice is harmless, since a slot is claimed once.

    Args:
        connection: in a transaction.
        now: the present.
        again_after: how long a slot that was handed out is left alone.
    """
    waits = sa.or_(_IS_PLANNED, sa.and_(_lease_ended(now), slot.c.attempt < MOST_ATTEMPTS))
    unsent = sa.or_(slot.c.sent_at.is_(None), slot.c.sent_at <= utc_text(now - again_after))
    found = _take(connection, sa.and_(waits, unsent))
    for item in found:
        connection.execute(sa.update(slot).where(_is(item.key)).values(sent_at=utc_text(now)))
    return sorted(found, key=lambda item: (item.key.scheduled_for, item.key.monitor))


def claim(
    connection: sa.Connection, key: SlotKey, definition: MonitorDefinition, owner: str, now: datetime, lease: timedelta
) -> Claim | None:
    """Takes a slot that is planned, or whose lease ended; None where it is not to be had.

    It is not while its owner works, once it has its evaluation, once it was begun too often, or
    while another slot of the same monitor runs.

    Args:
        connection: in a transaction.
        key: the slot.
        definition: what will be evaluated; from here on the slot speaks of it.
        owner: names the claimer among all that ever were.
        now: the present.
        lease: how long nobody else may take it.
    """
    other = slot.alias()
    elsewhere = sa.exists().where(
        other.c.monitor == key.monitor,
        other.c.scheduled_for != key.scheduled_for,
        other.c.state == SlotState.RUNNING.value,
    )
    statement = (
        sa.update(slot)
        .where(_is(key), sa.or_(_IS_PLANNED, _lease_ended(now)), slot.c.attempt < MOST_ATTEMPTS, ~elsewhere)
        .values(
            state=SlotState.RUNNING.value,
            fence=slot.c.fence + 1,
            attempt=slot.c.attempt + 1,
            owner=owner,
            lease_until=utc_text(now + lease),
            **_judged_by(definition, datetime.fromisoformat(key.scheduled_for)),
        )
        .returning(slot.c.fence, slot.c.slot)
    )
    try:
        with connection.begin_nested():
            row = connection.execute(statement).one_or_none()
    except IntegrityError:
        # Another slot of the monitor was claimed between our look and our write.
        return None
    return None if row is None else Claim(key, owner, row.fence, datetime.fromisoformat(row.slot))


def extend_leases(connection: sa.Connection, owner: str, until: datetime) -> int:
    """Prolongs everything that `owner` still holds, and says how many slots that is."""
    held = sa.and_(slot.c.owner == owner, _IS_RUNNING)
    in_order = sa.select(slot.c.monitor).where(held).order_by(slot.c.monitor, slot.c.scheduled_for)
    connection.execute(in_order.with_for_update()).all()
    return connection.execute(sa.update(slot).where(held).values(lease_until=utc_text(until))).rowcount


def finish(connection: sa.Connection, claims: Iterable[Claim]) -> set[SlotKey]:
    """Marks slots as done in the transaction that records them, and gives those that may be recorded.

    One that is missing was claimed by someone else in the meantime: its result must be dropped. The
    rows stay locked until the transaction ends, so none can be claimed while it is recorded.
    """
    ended = set()
    for item in sorted(claims, key=lambda item: item.key):
        mine = sa.and_(_is(item.key), _IS_RUNNING, slot.c.fence == item.fence, slot.c.owner == item.owner)
        if _touches_one(connection, sa.update(slot).where(mine).values(state=SlotState.DONE.value)):
            ended.add(item.key)
    return ended


_IS_PLANNED = slot.c.state == SlotState.PLANNED.value
_IS_RUNNING = slot.c.state == SlotState.RUNNING.value


def _lease_ended(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(_IS_RUNNING, slot.c.lease_until <= utc_text(now))


def _is(key: SlotKey) -> sa.ColumnElement[bool]:
    return sa.and_(slot.c.monitor == key.monitor, slot.c.scheduled_for == key.scheduled_for)


def _key(definition: MonitorDefinition, at: datetime) -> SlotKey:
    return SlotKey(definition.id, utc_text(at))


def _judged_by(definition: MonitorDefinition, at: datetime) -> dict[str, str]:
    return {"definition_hash": definition.definition_hash, "evaluation_id": slot_evaluation_id(definition, at)}


def _take(connection: sa.Connection, which: sa.ColumnElement[bool]) -> list[OpenSlot]:
    """Slots in the order of their keys, locked; those that another transaction holds are left to it."""
    columns = (slot.c.monitor, slot.c.scheduled_for, slot.c.slot, slot.c.attempt)
    statement = sa.select(*columns).where(which).order_by(slot.c.monitor, slot.c.scheduled_for)
    return [
        OpenSlot(SlotKey(row.monitor, row.scheduled_for), datetime.fromisoformat(row.slot), row.attempt)
        for row in connection.execute(statement.with_for_update(skip_locked=True))
    ]


def _touches_one(connection: sa.Connection, statement: sa.Update) -> bool:
    return connection.execute(statement).rowcount == 1


def _insert_once(connection: sa.Connection, table: sa.Table, values: dict[str, Any]) -> bool:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(values).on_conflict_do_nothing().returning(table.c.monitor)
    # Not the count of rows: drivers do not tell it of an INSERT.
    return connection.execute(statement).first() is not None
