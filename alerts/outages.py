"""Addresses that cannot be told: an alert that was given up is itself told, to another receiver, once for each outage.

An outage begins when a notice to an address is given up, and ends when the address takes one. Both are told through the
outbox, in the transaction that ends the delivery. A notice of it that is given up as well goes on to the next receiver.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from alerts.message import outage_message
from alerts.routing import Target
from alerts.states import AlertEvent, DeliveryState
from alerts.tables import outage, outbox
from trivet.canonical import content_hash
from trivet.clock import utc_text

_ABOUT = "receiver "
"""What `outbox.monitor` begins with where a notice is about a receiver: no monitor's id holds a space."""


@dataclass(frozen=True, slots=True)
class Outage:
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

    To be called under the lock of the ledger's head, so that of two that give up at once one begins the outage.

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
    found = connection.execute(sa.select(outage).where(_of(target))).one_or_none()
    begins = found is None or found.since is None
    episode = (0 if found is None else found.episode) + begins
    disabled = None if found is None else found.disabled_at
    disabled = disabled or (utc_text(now) if gone else None)
    told = None if found is None or begins else found.told
    if told is None:
        news = _News(_about(target), episode, AlertEvent.FIRED, _message(target, row, error, disabled, now))
        told = _tell(connection, others, news, now, {target.receiver})
    since = utc_text(now) if found is None or begins else found.since
    values = {"episode": episode, "since": since, "disabled_at": disabled, "error": error, "told": told}
    if found is None:
        connection.execute(outage.insert(), {"receiver": target.receiver, "target": target.number, **values})
    else:
        connection.execute(sa.update(outage).where(_of(target)).values(values))
    is_told = told is not None
    return _goes_on(connection, row, now, others) and is_told if row.monitor.startswith(_ABOUT) else is_told


def took_it(connection: sa.Connection, target: Target, now: datetime, others: Sequence[Target]) -> None:
    """Ends the address's outage, if it has one; whoever was told of it is told."""
    ended = connection.execute(
        sa.update(outage).where(_of(target), outage.c.since.is_not(None)).values(since=None).returning(*outage.columns)
    ).one_or_none()
    if ended is None or ended.told is None:
        return
    message = outage_message(str(target), AlertEvent.RESOLVED, now, "It took a notice again.")
    news = _News(_about(target), ended.episode, AlertEvent.RESOLVED, message.to_json())
    _tell(connection, [item for item in others if item.receiver == ended.told], news, now, ())


def disabled_addresses(connection: sa.Connection) -> dict[Target, str]:
    """The addresses that nothing is sent to, because they said that they are gone for good, and since when."""
    return {item.target: item.disabled_at for item in outages(connection) if item.disabled_at is not None}


def enable(connection: sa.Connection, receiver: str) -> int:
    """Lets notices be sent again to every address of a receiver, and says to how many they were not."""
    ours = sa.and_(outage.c.receiver == receiver, outage.c.disabled_at.is_not(None))
    return connection.execute(sa.update(outage).where(ours).values(disabled_at=None)).rowcount


def forget(connection: sa.Connection, receiver: str) -> int:
    """Ends the outages of a receiver that is none any more, and says of how many addresses. Nobody is told."""
    open_ones = sa.or_(outage.c.since.is_not(None), outage.c.disabled_at.is_not(None))
    ended = sa.update(outage).where(outage.c.receiver == receiver, open_ones).values(since=None, disabled_at=None)
    return connection.execute(ended).rowcount


def outages(connection: sa.Connection) -> list[Outage]:
    """The addresses that cannot be told, or are not sent to."""
    open_ones = sa.or_(outage.c.since.is_not(None), outage.c.disabled_at.is_not(None))
    rows = connection.execute(sa.select(outage).where(open_ones).order_by(outage.c.receiver, outage.c.target))
    return [
        Outage(Target(row.receiver, row.target), row.since, row.disabled_at, row.error or "", row.told) for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _News:
    """What is told of an outage."""

    about: str
    episode: int
    event: AlertEvent
    payload: str


def _about(target: Target) -> str:
    return f"{_ABOUT}{target}"


def _of(target: Target) -> sa.ColumnElement[bool]:
    return sa.and_(outage.c.receiver == target.receiver, outage.c.target == target.number)


def _message(target: Target, row: sa.Row[Any], error: str, disabled: str | None, now: datetime) -> str:
    lost = f"A notice about {'' if row.monitor.startswith(_ABOUT) else 'monitor '}{row.monitor}"
    words = f"{lost} was given up after {row.attempts} attempt{'' if row.attempts == 1 else 's'}: {error}."
    if disabled is not None:
        words += f" Nothing more is sent there. Once it is mended, run `trivet alerts enable {row.receiver}`."
    return outage_message(str(target), AlertEvent.FIRED, now, words).to_json()


def _goes_on(connection: sa.Connection, row: sa.Row[Any], now: datetime, others: Sequence[Target]) -> bool:
    """Hands a notice of an outage on to somebody who was not asked yet, unless another address may have it."""
    same = sa.and_(outbox.c.monitor == row.monitor, outbox.c.episode == row.episode, outbox.c.event == row.event)
    asked = connection.execute(sa.select(outbox.c.receiver, outbox.c.state).where(same)).all()
    if any(item.state != DeliveryState.FAILED for item in asked):
        return True
    of = next((item.target for item in outages(connection) if _about(item.target) == row.monitor), None)
    news = _News(row.monitor, row.episode, AlertEvent(row.event), row.payload)
    told = _tell(connection, others, news, now, {item.receiver for item in asked} | ({of.receiver} if of else set()))
    if of is not None:
        connection.execute(sa.update(outage).where(_of(of)).values(told=told))
    return told is not None


def _tell(
    connection: sa.Connection, others: Sequence[Target], news: _News, now: datetime, but: Collection[str]
) -> str | None:
    """Writes it into the outbox for the first receiver that can be told, and gives its name."""
    broken = {item.target for item in outages(connection)}
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
