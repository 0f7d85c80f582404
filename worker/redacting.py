"""Erasing what was recorded of a person: a member of an evaluation, or a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import sqlalchemy as sa

from alerts.accepting import forget_acceptances
from alerts.keeping import ERASED_KEY, forget_group, forget_member, group_alerts
from alerts.message import NEWLY_UNJUDGED_KEYS
from alerts.shown import shown_values
from alerts.states import DeliveryState
from alerts.tables import MEMBER_CHANGE_BINDING, acceptance, alert, alert_member, member_change, outbox
from ledger.bound_rows import Binding, BoundTable
from ledger.entries import LedgerEntry
from ledger.redaction import redact
from trivet.canonical import normal_text
from trivet.errors import UsageError
from worker.binding import EVALUATION_BINDING
from worker.outcomes import OUTCOME_BINDING
from worker.tables import evaluation, measure, member

ERASED_MESSAGE = '{"redacted":true}'
"""What stands in the outbox in place of a message that named what was erased."""
# What is part of a gathered message is not read any more.
_SPENT = (
    DeliveryState.DELIVERED.value,
    DeliveryState.FAILED.value,
    DeliveryState.UNKNOWN.value,
    DeliveryState.GATHERED.value,
)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was erased."""

    entry: LedgerEntry
    messages: int
    """Messages in the outbox that were emptied with it."""


def redact_member(store: sa.Engine, evaluation_id: str, ordinal: int, by: str, reason: str, now: datetime) -> Redaction:
    """Erases key, operands and provenance of one member, its measures' keys, and the messages that told of it.

    Raises:
        UsageError: there is no such member, or it was erased before.
    """
    with store.begin() as connection:
        part = _erasable(EVALUATION_BINDING, member.name)
        chosen = sa.and_(member.c.evaluation_id == evaluation_id, member.c.ordinal == ordinal)
        key = connection.execute(sa.select(member.c.member_key).where(chosen)).scalar_one_or_none()
        entry = redact(connection, part, evaluation_id, {"ordinal": ordinal}, by, reason, now)
        for row in _measures(connection, evaluation_id):
            if key is not None and _is_same_group(json.loads(row.member_key), json.loads(key)):
                _redact_measure(connection, row, by, reason, now)
        if key is not None:
            _redact_moves(connection, evaluation_id, json.loads(key), by, reason, now)
        told = [outbox.c.payload.contains(evaluation_id, autoescape=True)]
        if key is not None:
            told.append(_names_lost(connection, evaluation_id, json.loads(key)))
        emptied = sa.update(outbox).where(sa.or_(*told), outbox.c.state.in_(_SPENT)).values(payload=ERASED_MESSAGE)
        kept = alert.c.message.contains(evaluation_id, autoescape=True)
        connection.execute(sa.update(alert).where(kept).values(message=None))
        return Redaction(entry, connection.execute(emptied).rowcount)


def _names_lost(connection: sa.Connection, evaluation_id: str, key: Mapping[str, str | None]) -> sa.ColumnElement[bool]:
    """The messages that name the member as unjudged now; their evaluation need not list it."""
    of = sa.select(evaluation.c.monitor).where(evaluation.c.evaluation_id == evaluation_id)
    about = json.dumps({"monitor": connection.execute(of).scalar_one()})[1:-1]
    texts = (NEWLY_UNJUDGED_KEYS, about, json.dumps(shown_values(key)))
    return sa.and_(*(outbox.c.payload.contains(text, autoescape=True) for text in texts))


def redact_group(store: sa.Engine, evaluation_id: str, ordinal: int, by: str, reason: str, now: datetime) -> Redaction:
    """Erases the key of one group, which need not be a member, from every measure of an evaluation.

    Raises:
        UsageError: there is no such group, or it was erased before.
    """
    with store.begin() as connection:
        rows = [row for row in _measures(connection, evaluation_id) if row.ordinal == ordinal]
        if not rows:
            raise UsageError(f"evaluation {evaluation_id} has no measure {ordinal}, or it was erased before")
        entries = [_redact_measure(connection, row, by, reason, now) for row in rows]
        return Redaction(entries[-1], 0)


def _redact_moves(
    connection: sa.Connection, evaluation_id: str, key: Mapping[str, str | None], by: str, reason: str, now: datetime
) -> None:
    """Erases how the member moved with this evaluation, and that its monitor's alert follows it by name."""
    (part,) = MEMBER_CHANGE_BINDING.tables
    chosen = sa.and_(member_change.c.evaluation_id == evaluation_id, member_change.c.erased.is_(None))
    for row in connection.execute(sa.select(member_change).where(chosen)).all():
        if _is_same_member(json.loads(row.member_key), key):
            redact(connection, part, evaluation_id, {"ordinal": row.ordinal}, by, reason, now)
    of = sa.select(evaluation.c.monitor).where(evaluation.c.evaluation_id == evaluation_id)
    monitor = connection.execute(of).scalar_one()
    for table, forget in ((alert_member, forget_member), (acceptance, forget_acceptances)):
        texts = sa.select(table.c.member_key).where(table.c.monitor == monitor).distinct()
        for text in connection.execute(texts).scalars().all():
            if not text.startswith(ERASED_KEY) and _is_same_member(json.loads(text), key):
                forget(connection, monitor, text)
    for name, kept in group_alerts(connection, {monitor}).items():
        if kept.key is not None and not kept.key.startswith(ERASED_KEY) and _is_same_member(json.loads(kept.key), key):
            forget_group(connection, name)


def _is_same_member(kept: Mapping[str, str | None], shown: Mapping[str, str | None]) -> bool:
    """Whether a key that alerts follow is one as a member shows it, which is normalised."""
    return kept.keys() == shown.keys() and all(
        value == shown[name] or (value is not None and _shown(value) == shown[name]) for name, value in kept.items()
    )


def _shown(text: str) -> str:
    return normal_text(text).replace("\0", "\ufffd")


def _measures(connection: sa.Connection, evaluation_id: str) -> Sequence[sa.Row[Any]]:
    """The measures of an evaluation whose groups are told."""
    chosen = sa.and_(measure.c.evaluation_id == evaluation_id, measure.c.erased.is_(None))
    return connection.execute(sa.select(measure).where(chosen).order_by(*measure.primary_key.columns)).all()


def _redact_measure(connection: sa.Connection, row: sa.Row[Any], by: str, reason: str, now: datetime) -> LedgerEntry:
    part = _erasable(EVALUATION_BINDING, measure.name)
    key = {"measure_hash": row.measure_hash, "ordinal": row.ordinal}
    return redact(connection, part, row.evaluation_id, key, by, reason, now)


def _is_same_group(measured: Mapping[str, str], shown: Mapping[str, str | None]) -> bool:
    """Whether a measure is of the group that a member is shown as; of several that look alike, of each."""
    return measured.keys() == shown.keys() and all(_is_same(text, shown[name]) for name, text in measured.items())


def _is_same(measured: str, shown: str | None) -> bool:
    if shown is None:
        return False
    try:
        # A decimal is shown with as many digits as the contract asks for.
        return Decimal(measured) == Decimal(shown)
    except InvalidOperation:
        return _shown(measured) == shown


def redact_outcome(store: sa.Engine, request_id: str, by: str, reason: str, now: datetime) -> Redaction:
    """Erases who asked what, and every text that came of it.

    Raises:
        UsageError: there is no such question, or it was erased before.
    """
    with store.begin() as connection:
        part = _erasable(OUTCOME_BINDING, OUTCOME_BINDING.tables[0].table.name)
        return Redaction(redact(connection, part, request_id, {}, by, reason, now), 0)


def _erasable(binding: Binding, table: str) -> BoundTable:
    return next(part for part in binding.tables if part.table.name == table)
