"""Addresses that cannot be told: an alert that was given up is told to another receiver, once for each breakdown.

A breakdown begins when a notice to an address is given up, and ends when the address takes one. Both are told through
the outbox, in the transaction that ends the delivery. A notice of it that is given up as well goes on to the next one.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.message import Message
from alerts.routing import Target
from alerts.states import AlertEvent, DeliveryState
from alerts.tables import breakdown, outbox
from ledger.append import append
from ledger.entries import EntryType
from trivet.canonical import Json, content_hash, normal_text
from trivet.clock import utc_text
from trivet.verdicts import Severity

PAYLOAD_VERSION = 1
PREFIX = "receiver/"
"""What stands before a receiver's name where a notice is about it, in place of a monitor's id: none holds a slash."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Breakdown:
    """An address that cannot be told."""

    target: Target
    since: str | None
    """UTC, as stored; None where it took a notice since."""
    disabled_at: str | None
    """UTC, as stored; None where notices are still sent there."""
    error: str
    """Without secrets."""
    told: str | None
    """The receiver that was told of it."""


def gave_up(
    connection: sa.Connection, row: sa.Row[Any], error: str, now: datetime, others: Sequence[Target], *, gone: bool
) -> bool:
    """Writes down that a notice was given up, and has somebody else told if that is news.

    To be called under the lock of the ledger's head, so that of two that give up at once one begins the breakdown.

    Args:
        connection: of the transaction that ends the delivery.
        row: of the outbox, which says by now that it failed.
        error: why, without secrets.
        now: when.
        others: who may be told, the first choice first.
        gone: whether the address said that it is gone for good.

    Returns:
        Whether somebody is told; false where nobody was left.
    """
    target = Target(row.receiver, row.target)
    found = connection.execute(sa.select(breakdown).where(_of(target))).one_or_none()
    begins = found is None or found.since is None
    episode = (0 if found is None else found.episode) + begins
    disabled = None if found is None else found.disabled_at
    disabled = disabled or (utc_text(now) if gone else None)
    told = None if found is None or begins else found.told
    if told is None:
        news = _News(_about(target), episode, AlertEvent.FIRED, _lost(target, row, error, disabled, now))
        told = _tell(connection, others, news, now, {target.receiver})
    since = utc_text(now) if found is None or begins else found.since
    values = {"episode": episode, "since": since, "disabled_at": disabled, "error": error, "told": told}
    if found is None:
        connection.execute(breakdown.insert(), {"receiver": target.receiver, "target": target.number, **values})
    else:
        connection.execute(sa.update(breakdown).where(_of(target)).values(values))
    is_told = told is not None
    return _goes_on(connection, row, now, others) and is_told if row.monitor.startswith(PREFIX) else is_told


def told_of(row: sa.Row[Any]) -> str:
    """What a row's message is about: a monitor; of a gathered one, so many alerts, and the first of their monitors."""
    if row.event != AlertEvent.GATHERED.value:
        return str(row.monitor)
    try:
        message = Message.from_json(row.payload)
    except ValueError:
        return "several alerts"
    names = dict.fromkeys(item.name for item in message.notices)
    listed = ", ".join(list(names)[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return f"{message.title} ({listed})"


def took_it(connection: sa.Connection, target: Target, now: datetime, others: Sequence[Target]) -> None:
    """Ends the address's breakdown, if it has one; whoever was told of it is told."""
    open_one = sa.and_(_of(target), breakdown.c.since.is_not(None))
    ending = sa.update(breakdown).where(open_one).values(since=None).returning(*breakdown.columns)
    ended = connection.execute(ending).one_or_none()
    if ended is None or ended.told is None:
        return
    title = f"Trivet tells the receiver {target} again"
    payload = _payload(target, AlertEvent.RESOLVED, title, "It took a notice again.", now)
    news = _News(_about(target), ended.episode, AlertEvent.RESOLVED, payload)
    _tell(connection, [item for item in others if item.receiver == ended.told], news, now, ())


def disabled_addresses(connection: sa.Connection) -> dict[Target, str]:
    """The addresses that nothing is sent to, because they said that they are gone for good, and since when."""
    return {item.target: item.disabled_at for item in breakdowns(connection) if item.disabled_at is not None}


def enable(connection: sa.Connection, receiver: str, by: str, now: datetime) -> int:
    """Lets notices be sent again to every address of a receiver, and says to how many they were not."""
    ours = sa.and_(breakdown.c.receiver == receiver, breakdown.c.disabled_at.is_not(None))
    enabled = connection.execute(sa.update(breakdown).where(ours).values(disabled_at=None)).rowcount
    return _record(connection, receiver, "enabled", enabled, by, now)


def forget(connection: sa.Connection, receiver: str, by: str, now: datetime) -> int:
    """Ends the breakdowns of a receiver that is none any more, and says of how many addresses. Nobody is told."""
    open_ones = sa.or_(breakdown.c.since.is_not(None), breakdown.c.disabled_at.is_not(None))
    ended = sa.update(breakdown).where(breakdown.c.receiver == receiver, open_ones).values(since=None, disabled_at=None)
    return _record(connection, receiver, "forgotten", connection.execute(ended).rowcount, by, now)


def _record(connection: sa.Connection, receiver: str, action: str, addresses: int, by: str, now: datetime) -> int:
    """Writes down what became of addresses, if there were any."""
    if addresses:
        payload: dict[str, Json] = {
            "schema": PAYLOAD_VERSION,
            "receiver": receiver,
            "action": action,
            "addresses": addresses,
            "by": normal_text(by),
            "at": utc_text(now),
        }
        append(connection, EntryType.RECEIVER, uuid.uuid4().hex, payload)
    return addresses


def breakdowns(connection: sa.Connection) -> list[Breakdown]:
    """The addresses that cannot be told, or are not sent to."""
    open_ones = sa.or_(breakdown.c.since.is_not(None), breakdown.c.disabled_at.is_not(None))
    rows = connection.execute(sa.select(breakdown).where(open_ones).order_by(breakdown.c.receiver, breakdown.c.target))
    return [
        Breakdown(Target(row.receiver, row.target), row.since, row.disabled_at, row.error or "", row.told)
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _News:
    """What is told of a breakdown."""

    about: str
    episode: int
    event: AlertEvent
    payload: str


def _about(target: Target) -> str:
    return f"{PREFIX}{target.receiver}" + (f"/{target.number}" if target.number > 1 else "")


def _of(target: Target) -> sa.ColumnElement[bool]:
    return sa.and_(breakdown.c.receiver == target.receiver, breakdown.c.target == target.number)


def _lost(target: Target, row: sa.Row[Any], error: str, disabled: str | None, now: datetime) -> str:
    is_monitor = "/" not in row.monitor and row.event != AlertEvent.GATHERED.value
    lost = f"A notice about {'monitor ' if is_monitor else ''}{told_of(row)}"
    words = f"{lost} was given up after {row.attempts} attempt{'' if row.attempts == 1 else 's'}: {error}."
    if disabled is not None:
        words += f" Nothing more is sent there. Once it is mended, run `trivet alerts enable {row.receiver}`."
    return _payload(target, AlertEvent.FIRED, f"Trivet cannot tell the receiver {target}", words, now)


def _payload(target: Target, event: AlertEvent, title: str, words: str, now: datetime) -> str:
    at = utc_text(now)
    message = Message(event, title, at, _about(target), Severity.CRITICAL, since=at, detail=words)
    return message.to_json()


def _goes_on(connection: sa.Connection, row: sa.Row[Any], now: datetime, others: Sequence[Target]) -> bool:
    """Hands a notice of a breakdown on to somebody who was not asked yet, unless another address may have it."""
    same = sa.and_(outbox.c.monitor == row.monitor, outbox.c.episode == row.episode, outbox.c.event == row.event)
    asked = connection.execute(sa.select(outbox.c.receiver, outbox.c.state).where(same)).all()
    if any(item.state != DeliveryState.FAILED for item in asked):
        return True
    of = next((item.target for item in breakdowns(connection) if _about(item.target) == row.monitor), None)
    news = _News(row.monitor, row.episode, AlertEvent(row.event), row.payload)
    told = _tell(connection, others, news, now, {item.receiver for item in asked} | ({of.receiver} if of else set()))
    if of is not None:
        connection.execute(sa.update(breakdown).where(_of(of)).values(told=told))
    return told is not None


def _tell(
    connection: sa.Connection, others: Sequence[Target], news: _News, now: datetime, but: Collection[str]
) -> str | None:
    """Writes it into the outbox for the first receiver that can be told, and gives its name."""
    broken = {item.target for item in breakdowns(connection)}
    fine = [item for item in others if item.receiver not in but and item not in broken]
    chosen = [item for item in fine if item.receiver == fine[0].receiver]
    if not chosen:
        return None
    # Who was asked in vain and can be told again is asked a second time, which is another notice.
    told = sa.and_(outbox.c.monitor == news.about, outbox.c.episode == news.episode)
    last = connection.execute(sa.select(sa.func.max(outbox.c.ordinal)).where(told)).scalar_one() or 0
    connection.execute(outbox.insert(), [_row(item, news, last + 1, utc_text(now)) for item in chosen])
    return chosen[0].receiver


def _row(target: Target, news: _News, ordinal: int, now: str) -> dict[str, Any]:
    return {
        "alert_key": content_hash([target.receiver, target.number, news.about, news.episode, news.event, ordinal]),
        "monitor": news.about,
        "episode": news.episode,
        "ordinal": ordinal,
        "event": news.event.value,
        "receiver": target.receiver,
        "target": target.number,
        "payload": news.payload,
        "state": DeliveryState.PENDING.value,
        "attempts": 0,
        "next_attempt": now,
        "created_at": now,
    }
