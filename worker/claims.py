"""Slots in the store: planned once, claimed under a fence, and done only under that same fence.

The idea is the fencing token of Martin Kleppmann, "How to do distributed locking" (2016). A lease may
end while its owner still works, and someone else takes over. Each claim raises the slot's fence, and
a result is committed only where the fence is still its own, so that there is one result whoever was
late. Every step is one guarded UPDATE on the caller's connection, which must touch one row.

Whoever changes several slots in one transaction takes them in the order of their keys, and before
the ledger's head, so that no two transactions wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from monitors.definition import MonitorDefinition
from trivet.canonical import content_hash
from trivet.clock import utc_text
from trivet.verdicts import Trigger
from worker.pauses import is_paused
from worker.tables import IS_OPEN, IS_PLANNED, IS_RUNNING, SlotState, in_state, slot

MOST_ATTEMPTS = 3
"""How often a slot is begun. One that ends its process each time must not do so for ever."""
_CHUNK = 500
_T = TypeVar("_T")


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


def key_of(definition: MonitorDefinition, at: datetime) -> SlotKey:
    """Names the slot of a monitor at an instant."""
    return SlotKey(definition.id, utc_text(at))


def judged_by(definition: MonitorDefinition, at: datetime) -> dict[str, str]:
    """The columns of a slot that say what it is evaluated by."""
    return {"definition_hash": definition.definition_hash, "evaluation_id": slot_evaluation_id(definition, at)}


def spent_slots(connection: sa.Connection, now: datetime) -> list[OpenSlot]:
    """The slots that were begun as often as they may be, and whose last lease ended, in the order of their keys."""
    return _found(connection, sa.and_(_lease_ended(now), slot.c.attempt >= MOST_ATTEMPTS))


def quarantine(connection: sa.Connection, definition: MonitorDefinition, at: datetime, now: datetime) -> bool:
    """Ends a spent slot; False where its owner, late as it was, ended it first."""
    values = {"state": SlotState.QUARANTINED.value, **judged_by(definition, at)}
    spent = sa.and_(_is(key_of(definition, at)), _lease_ended(now), slot.c.attempt >= MOST_ATTEMPTS)
    return _touches_one(connection, sa.update(slot).where(spent).values(values))


def abandoned_slots(
    connection: sa.Connection, known: Collection[str], due_before: datetime, now: datetime
) -> list[OpenSlot]:
    """The slots of monitors that are not known, on which nobody works, in the order of their keys.

    Args:
        connection: in a transaction.
        known: the monitors that are.
        due_before: those that nobody has begun are given only where their instant is not later.
        now: the present.
    """
    monitors = connection.execute(sa.select(slot.c.monitor).where(IS_OPEN).distinct()).scalars()
    unknown = [name for name in monitors if name not in known]
    if not unknown:
        return []
    waits = sa.and_(IS_PLANNED, slot.c.scheduled_for <= utc_text(due_before))
    return _found(connection, sa.and_(IS_OPEN, slot.c.monitor.in_(unknown), sa.or_(waits, _lease_ended(now))))


def withdraw(connection: sa.Connection, definition: MonitorDefinition, at: datetime, now: datetime) -> bool:
    """Ends a slot on which nobody works; False where somebody does."""
    values = {"state": SlotState.DONE.value, **judged_by(definition, at)}
    idle = sa.and_(_is(key_of(definition, at)), sa.or_(IS_PLANNED, _lease_ended(now)))
    return _touches_one(connection, sa.update(slot).where(idle).values(values))


def take_over(connection: sa.Connection, process: str, now: datetime) -> None:
    """Gives back what a process held that is known to be dead: what it was handed, and what it had begun.

    Args:
        connection: in a transaction.
        process: what its owners' names began with; empty where none is known.
        now: the present.
    """
    theirs = sa.and_(IS_RUNNING, slot.c.owner.startswith(f"{process}:", autoescape=True))
    open_before = sa.and_(IS_OPEN, sa.or_(IS_PLANNED, theirs) if process else IS_PLANNED)
    in_order = sa.select(slot.c.monitor).where(open_before).order_by(slot.c.monitor, slot.c.scheduled_for)
    connection.execute(in_order.with_for_update()).all()
    if process:
        connection.execute(sa.update(slot).where(theirs).values(lease_until=utc_text(now)))
    connection.execute(sa.update(slot).where(open_before, slot.c.sent_at.is_not(None)).values(sent_at=None))


def hand_out(connection: sa.Connection, now: datetime, again_after: timedelta) -> list[OpenSlot]:
    """The slots that wait for a runner, oldest first, marked as handed out: of each monitor the oldest.

    A message may be lost, and a runner may die: what is still open a while later is handed out again.
    Handing out twice is harmless, since a slot is claimed once. Of a monitor that somebody works on
    none is handed out: it could not be claimed.

    Args:
        connection: in a transaction.
        now: the present.
        again_after: how long a slot that was handed out is left alone.
    """
    columns = (slot.c.monitor, slot.c.scheduled_for, slot.c.state, slot.c.attempt, slot.c.lease_until, slot.c.sent_at)
    statement = sa.select(*columns).where(IS_OPEN).order_by(slot.c.monitor, slot.c.scheduled_for)
    chosen = []
    for monitor, rows in groupby(connection.execute(statement), key=lambda row: row.monitor):
        first = _first_to_hand_out(list(rows), utc_text(now), utc_text(now - again_after))
        if first is not None:
            chosen.append(SlotKey(monitor, first))
    found = []
    for keys in chunks(chosen):
        found += _found(connection, sa.and_(IS_OPEN, among(keys)), lock=True)
    change_each(connection, {item.key: {"sent_at": utc_text(now)} for item in found})
    return sorted(found, key=lambda item: (item.key.scheduled_for, item.key.monitor))


def _first_to_hand_out(rows: Sequence[Any], now: str, sent_before: str) -> str | None:
    """The slot of one monitor's open ones that a runner is to be given; None where there is none just now."""
    if any(row.state == SlotState.RUNNING and row.lease_until > now for row in rows):
        return None
    waiting = [row for row in rows if row.state == SlotState.PLANNED or row.attempt < MOST_ATTEMPTS]
    if not waiting or (waiting[0].sent_at is not None and waiting[0].sent_at > sent_before):
        return None
    return str(waiting[0].scheduled_for)


def following_slots(connection: sa.Connection, monitors: Collection[str]) -> list[SlotKey]:
    """The oldest slot of each of some monitors that nobody has begun."""
    oldest = sa.func.min(slot.c.scheduled_for).label("scheduled_for")
    statement = sa.select(slot.c.monitor, oldest).where(slot.c.monitor.in_(monitors), IS_OPEN, IS_PLANNED)
    rows = connection.execute(statement.group_by(slot.c.monitor).order_by(slot.c.monitor))
    return [SlotKey(row.monitor, row.scheduled_for) for row in rows]


def claim(
    connection: sa.Connection, key: SlotKey, definition: MonitorDefinition, owner: str, now: datetime, lease: timedelta
) -> Claim | None:
    """Takes a slot that is planned, or whose lease ended; None where it is not to be had.

    It is not while its owner works, once it has its evaluation, once it was begun too often, while
    another slot of the same monitor runs, or while the monitor is paused.

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
        in_state(other.c.state, SlotState.RUNNING),
    )
    paused = is_paused(key.monitor, now)
    statement = (
        sa.update(slot)
        .where(_is(key), sa.or_(IS_PLANNED, _lease_ended(now)), slot.c.attempt < MOST_ATTEMPTS, ~elsewhere, ~paused)
        .values(
            state=SlotState.RUNNING.value,
            fence=slot.c.fence + 1,
            attempt=slot.c.attempt + 1,
            owner=owner,
            lease_until=utc_text(now + lease),
            **judged_by(definition, datetime.fromisoformat(key.scheduled_for)),
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
    held = sa.and_(slot.c.owner == owner, IS_RUNNING)
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
        mine = sa.and_(_is(item.key), IS_RUNNING, slot.c.fence == item.fence, slot.c.owner == item.owner)
        if _touches_one(connection, sa.update(slot).where(mine).values(state=SlotState.DONE.value)):
            ended.add(item.key)
    return ended


def among(keys: Sequence[SlotKey]) -> sa.ColumnElement[bool]:
    """A condition of SQL: whether a slot is one of these."""
    return sa.tuple_(slot.c.monitor, slot.c.scheduled_for).in_([(key.monitor, key.scheduled_for) for key in keys])


def change_each(connection: sa.Connection, changes: Mapping[SlotKey, Mapping[str, str]]) -> None:
    """Changes slots that the transaction has locked, each in the same columns, in one statement for many."""
    if not changes:
        return
    columns = next(iter(changes.values()))
    statement = (
        sa.update(slot)
        .where(slot.c.monitor == sa.bindparam("of"), slot.c.scheduled_for == sa.bindparam("at"))
        .values({name: sa.bindparam(f"new_{name}") for name in columns})
    )
    rows = [
        {"of": key.monitor, "at": key.scheduled_for, **{f"new_{name}": value for name, value in row.items()}}
        for key, row in changes.items()
    ]
    connection.execute(statement, rows)


def chunks(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The items in portions that one statement can name."""
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]


def _lease_ended(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(IS_RUNNING, slot.c.lease_until <= utc_text(now))


def _is(key: SlotKey) -> sa.ColumnElement[bool]:
    return sa.and_(slot.c.monitor == key.monitor, slot.c.scheduled_for == key.scheduled_for)


def _found(connection: sa.Connection, which: sa.ColumnElement[bool], *, lock: bool = False) -> list[OpenSlot]:
    """Slots in the order of their keys; locked, where that is asked, without those that another transaction holds."""
    columns = (slot.c.monitor, slot.c.scheduled_for, slot.c.slot, slot.c.attempt)
    statement = sa.select(*columns).where(which).order_by(slot.c.monitor, slot.c.scheduled_for)
    rows = connection.execute(statement.with_for_update(skip_locked=True) if lock else statement)
    return [
        OpenSlot(SlotKey(row.monitor, row.scheduled_for), datetime.fromisoformat(row.slot), row.attempt) for row in rows
    ]


def _touches_one(connection: sa.Connection, statement: sa.Update) -> bool:
    return connection.execute(statement).rowcount == 1
