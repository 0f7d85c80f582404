"""Erasing what was recorded of a person: a member of an evaluation, or a question."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from alerts.states import DeliveryState
from alerts.tables import outbox
from ledger.bound_rows import Binding, BoundTable
from ledger.entries import LedgerEntry
from ledger.redaction import redact
from worker.binding import EVALUATION_BINDING
from worker.outcomes import OUTCOME_BINDING
from worker.tables import member

ERASED_MESSAGE = '{"redacted":true}'
"""What stands in the outbox in place of a message that named what was erased."""
_ENDED = (DeliveryState.DELIVERED.value, DeliveryState.FAILED.value, DeliveryState.UNKNOWN.value)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was erased."""

    entry: LedgerEntry
    messages: int
    """Messages in the outbox that were emptied with it."""


def redact_member(store: sa.Engine, evaluation_id: str, ordinal: int, by: str, reason: str, now: datetime) -> Redaction:
    """Erases key, operands and provenance of one member, and the messages that told of its evaluation.

    Raises:
        UsageError: there is no such member, or it was erased before.
    """
    with store.begin() as connection:
        part = _erasable(EVALUATION_BINDING, member.name)
        entry = redact(connection, part, evaluation_id, {"ordinal": ordinal}, by, reason, now)
        told = outbox.c.payload.contains(evaluation_id, autoescape=True)
        emptied = sa.update(outbox).where(told, outbox.c.state.in_(_ENDED)).values(payload=ERASED_MESSAGE)
        return Redaction(entry, connection.execute(emptied).rowcount)


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
