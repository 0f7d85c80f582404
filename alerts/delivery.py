"""Sending what waits in the outbox. Each attempt is written down before it is made, and its end after it.

Between the receiver's taking and our commit nothing can be known, so a row that is found `attempting` after its lease
may have arrived. What becomes of it is set for each receiver: it is sent again, under the same key, or the row ends as
`unknown`. So no receiver that dedupes takes a notice twice, and where nothing is sent again, it is sent at most once
after a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from alerts.breakdowns import disabled_addresses, gave_up, told_of, took_it
from alerts.gathering import end_gathered, is_before, notices_of, take_group
from alerts.notifiers.port import Ending, MaybeSent, Notice, Notifier, NotSent, Sent, Unusable
from alerts.routing import Target
from alerts.states import DeliveryState
from alerts.tables import outbox
from ledger.append import Draft, append_all
from ledger.entries import EntryType
from trivet.canonical import Json
from trivet.clock import Clock, utc_text

PAYLOAD_VERSION = 1
_LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """How long is tried."""

    attempts: int = 8
    """After so many it is given up."""
    first_wait: timedelta = timedelta(seconds=10)
    """Before the second attempt; each further wait is four times as long."""
    longest_wait: timedelta = timedelta(hours=1)
    lease: timedelta = timedelta(minutes=2)
    """After this an attempt without an end is taken for dead; above what any notifier takes."""
    slow: timedelta = timedelta(seconds=5)
    """An address that takes so long is left alone for the rest of the round: the others must not wait for it."""

    def wait(self, key: str, attempt: int) -> timedelta:
        """How long to wait after this failed attempt, from half the wait to all of it.

        The jitter is drawn from the key, so that many notices that failed together do not come back together.
        """
        factor: int = 4 ** min(attempt - 1, 20)
        whole = min(self.first_wait * factor, self.longest_wait)
        drawn = hashlib.sha256(f"{key}/{attempt}".encode()).digest()
        return whole * (1 + int.from_bytes(drawn[:4]) / 2**32) / 2


@dataclass(slots=True)
class DeliveryReport:
    """What one round did."""

    delivered: int = 0
    retrying: int = 0
    failed: int = 0
    """Given up."""
    unknown: int = 0
    """May have arrived, and is not sent again."""
    problems: list[str] = field(default_factory=list)
    """What went wrong and what becomes of it, one line for each attempt, without secrets."""


def deliver_due(
    store: sa.Engine,
    notifiers: Mapping[Target, Notifier],
    clock: Clock,
    policy: DeliveryPolicy | None = None,
    limit: int = 1_000,
    longest: timedelta | None = None,
    others: Sequence[Target] = (),
) -> DeliveryReport:
    """Sends what is due, in the order in which each address is to hear of each monitor.

    Any number of processes may do so at once: each row is claimed by one. Call it outside a transaction.

    Args:
        store: the audit store.
        notifiers: what `build_notifiers` made; an address without one fails until it has one, or is given up.
        clock: says what is due.
        policy: how long is tried.
        limit: most rows of one round.
        longest: after this no attempt is begun any more; what is left stays due.
        others: who is told of an address that cannot be told, the first choice first.
    """
    began = clock.now()
    round_ = _Round(store, notifiers, clock, policy or DeliveryPolicy(), DeliveryReport(), others)
    round_.settle_abandoned()
    for _ in range(limit):
        if longest is not None and clock.now() - began >= longest:
            break
        row = round_.claim_next()
        if row is None:
            break
        round_.settle(row, round_.attempt(row))
    return round_.report


def anything_due(store: sa.Engine, now: datetime) -> bool:
    """Whether there is anything to send, or an attempt that has to be ended: a cheap question, to be asked first."""
    waits = outbox.c.state.in_((DeliveryState.PENDING.value, DeliveryState.ATTEMPTING.value))
    with store.begin() as connection:
        found = sa.select(outbox.c.alert_key).where(waits, outbox.c.next_attempt <= utc_text(now)).limit(1)
        return connection.execute(found).one_or_none() is not None


@dataclass(frozen=True, slots=True)
class _Round:
    store: sa.Engine
    notifiers: Mapping[Target, Notifier]
    clock: Clock
    policy: DeliveryPolicy
    report: DeliveryReport
    others: Sequence[Target]
    slow: set[Target] = field(default_factory=set)
    disabled: dict[Target, str] = field(default_factory=dict)
    """Addresses that said that they are gone for good, and when."""

    def settle_abandoned(self) -> None:
        """Ends the attempts whose lease ran out, since nobody knows whether they arrived; and looks who is gone."""
        ended = outbox.c.next_attempt <= utc_text(self.clock.now())
        statement = sa.select(outbox).where(outbox.c.state == DeliveryState.ATTEMPTING.value, ended)
        with self.store.begin() as connection:
            rows = connection.execute(statement).all()
            self.disabled.update(disabled_addresses(connection))
        for row in rows:
            self.settle(row, MaybeSent("the attempt was cut off"), wait=timedelta())

    def claim_next(self) -> sa.Row[Any] | None:
        """Takes the next row that is due, by a write that must touch exactly one."""
        while True:
            now = self.clock.now()
            with self.store.begin() as connection:
                row = connection.execute(_due(now, self.slow).limit(1)).one_or_none()
                if row is None:
                    return None
                if row.group_key is not None and not row.attempts:
                    claimed = take_group(connection, row, now, self.policy.lease)
                else:
                    claimed = self._take(connection, row, now)
            if claimed is not None:
                return claimed

    def _take(self, connection: sa.Connection, row: sa.Row[Any], now: datetime) -> sa.Row[Any] | None:
        waits = sa.and_(outbox.c.state == DeliveryState.PENDING.value, outbox.c.attempts == row.attempts)
        taken = sa.update(outbox).where(outbox.c.alert_key == row.alert_key, waits)
        values = {
            "state": DeliveryState.ATTEMPTING.value,
            "attempts": row.attempts + 1,
            "next_attempt": utc_text(now + self.policy.lease),
        }
        return connection.execute(taken.values(values).returning(*outbox.columns)).one_or_none()

    def attempt(self, row: sa.Row[Any]) -> Ending:
        """Makes the call, outside any transaction."""
        began = self.clock.now()
        disabled = self.disabled.get(Target(row.receiver, row.target))
        if disabled is not None:
            advice = f"mend the settings, then run `trivet alerts enable {row.receiver}`"
            return NotSent(f"nothing is sent there, since it said at {disabled} that it is gone: {advice}", final=True)
        try:
            return self._notifier(row).send(Notice(row.alert_key, row.payload))
        except Exception as error:
            # A fault of a notifier stops no other row; where it happened in the call is not known.
            return MaybeSent(f"fault in Trivet while sending: {type(error).__name__}")
        finally:
            if self.clock.now() - began >= self.policy.slow:
                self.slow.add(Target(row.receiver, row.target))

    def settle(self, row: sa.Row[Any], ending: Ending, wait: timedelta | None = None) -> None:
        """Writes an attempt's end down, unless another process has taken the row since."""
        state, due = self._judge(row, ending, wait)
        now = self.clock.now()
        error = None if isinstance(ending, Sent) else ending.error[:_LONGEST_ERROR]
        with self.store.begin() as connection:
            written = connection.execute(
                sa.update(outbox)
                .where(
                    outbox.c.alert_key == row.alert_key,
                    outbox.c.state == DeliveryState.ATTEMPTING.value,
                    outbox.c.attempts == row.attempts,
                )
                .values(
                    state=state.value,
                    next_attempt=utc_text(due) if due else None,
                    last_error=error,
                    ended_at=None if due else utc_text(now),
                )
            )
            if written.rowcount != 1:
                return
            if due is None:
                end_gathered(connection, row, state, error, utc_text(now))
                told = notices_of(connection, row)
                append_all(
                    connection,
                    [Draft(EntryType.DELIVERY, item.alert_key, _entry(item, row, state, now)) for item in told],
                )
            if state is DeliveryState.DELIVERED:
                took_it(connection, Target(row.receiver, row.target), now, self.others)
            gone = isinstance(ending, NotSent) and ending.final
            if gone:
                self.disabled.setdefault(Target(row.receiver, row.target), utc_text(now))
            is_lost = state is DeliveryState.FAILED and not gave_up(
                connection, row, error or "", now, self.others, gone=gone
            )
        self._report(row, state, error, is_lost=is_lost)

    def _notifier(self, row: sa.Row[Any]) -> Notifier:
        target = Target(row.receiver, row.target)
        return self.notifiers.get(target) or Unusable(f"the settings have no receiver {target}")

    def _judge(self, row: sa.Row[Any], ending: Ending, wait: timedelta | None) -> tuple[DeliveryState, datetime | None]:
        """The state to write, and for a row that is tried again, when."""
        if isinstance(ending, Sent):
            return DeliveryState.DELIVERED, None
        if isinstance(ending, MaybeSent) and not self._notifier(row).resends:
            return DeliveryState.UNKNOWN, None
        if row.attempts >= self.policy.attempts or (isinstance(ending, NotSent) and ending.final):
            return DeliveryState.FAILED, None
        asked = ending.wait if isinstance(ending, NotSent) else None
        drawn = self.policy.wait(row.alert_key, row.attempts) if wait is None else wait
        return DeliveryState.PENDING, self.clock.now() + max(drawn, asked or timedelta())

    def _report(self, row: sa.Row[Any], state: DeliveryState, error: str | None, *, is_lost: bool) -> None:
        match state:
            case DeliveryState.DELIVERED:
                self.report.delivered += 1
                return
            case DeliveryState.FAILED:
                self.report.failed += 1
                fate = "it is given up" + (", and nobody else is left to be told of that" if is_lost else "")
            case DeliveryState.UNKNOWN:
                self.report.unknown += 1
                fate = "it may have arrived, and is not sent again"
            case DeliveryState.PENDING | DeliveryState.ATTEMPTING:
                self.report.retrying += 1
                fate = "it is tried again"
        self.report.problems.append(f"{Target(row.receiver, row.target)}: {told_of(row)}: {error}; {fate}")


def _due(now: datetime, leaving: Collection[Target]) -> sa.Select[Any]:
    """Rows that are due, but for some addresses; one that has a predecessor there waits for the predecessor's end."""
    blocked = sa.exists().where(is_before(outbox))
    left = sa.tuple_(outbox.c.receiver, outbox.c.target).in_([(item.receiver, item.number) for item in leaving])
    return (
        sa.select(outbox)
        .where(outbox.c.state == DeliveryState.PENDING.value, outbox.c.next_attempt <= utc_text(now), ~blocked, ~left)
        .order_by(outbox.c.next_attempt, outbox.c.episode, outbox.c.ordinal, outbox.c.alert_key)
    )


def _entry(notice: sa.Row[Any], row: sa.Row[Any], state: DeliveryState, now: datetime) -> dict[str, Json]:
    """How a notice ended, by itself or in the gathered message that `row` is of."""
    return {
        "schema": PAYLOAD_VERSION,
        "monitor_id": notice.monitor,
        "episode": notice.episode,
        "ordinal": notice.ordinal,
        "event": notice.event,
        "receiver": row.receiver,
        "target": row.target,
        "state": state,
        "attempts": row.attempts,
        "ended_at": utc_text(now),
        **({"gathered_in": row.alert_key} if notice.alert_key != row.alert_key else {}),
    }
