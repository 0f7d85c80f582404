"""Writing an outcome down: its row and the ledger entry that binds it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from alerts.tables import MEMBER_CHANGE_BINDING
from catalog.contract import Contract
from ledger.append import Draft, append_all
from ledger.bound_rows import Binding, BoundTable, collect_rows_root, new_salt
from ledger.entries import EntryType, LedgerEntry
from ledger.texts import PublishedText, missing_texts
from resolver.outcome import Answer, Outcome, Refusal
from trivet.canonical import Json, canonical_json, normal_text
from trivet.clock import utc_text
from worker.binding import EVALUATION_BINDING
from worker.outcome_tables import outcome as outcome_table
from worker.publishing import published_texts

PAYLOAD_VERSION = 2

OUTCOME_BINDING = Binding(
    EntryType.OUTCOME,
    (
        BoundTable(
            outcome_table,
            subject="request_id",
            order=("request_id",),
            erasable={
                "asker": None,
                "question": "",
                "answer": None,
                "refusal": None,
                "draft": None,
                "document": "{}",
                "candidates": "[]",
            },
        ),
    ),
)
"""The one row of a question."""
BINDINGS = (EVALUATION_BINDING, OUTCOME_BINDING, MEMBER_CHANGE_BINDING)
"""Everything outside the ledger that its entries bind."""


@dataclass(frozen=True, slots=True)
class StoreRecorder:
    """Records outcomes in the audit store."""

    store: sa.Engine
    contract: Contract
    """By which the outcomes came about."""

    def record(self, outcome: Outcome) -> int:
        """The number of the ledger entry that binds the outcome's row."""
        with self.store.begin() as connection:
            return record_outcome(connection, outcome, published_texts(self.contract)).seq


def record_outcome(connection: sa.Connection, outcome: Outcome, texts: Sequence[PublishedText] = ()) -> LedgerEntry:
    """Writes one outcome whole, inside the caller's transaction. It never commits.

    Args:
        connection: with a writing transaction.
        outcome: how a question ended.
        texts: what it refers to by hash; those that the ledger lacks are published first.
    """
    connection.execute(outcome_table.insert(), _row(outcome))
    request_id = outcome.question.request_id
    root = collect_rows_root(connection, OUTCOME_BINDING, request_id)
    entry = Draft(EntryType.OUTCOME, request_id, _payload(outcome, root.hex()))
    return append_all(connection, [*missing_texts(connection, texts), entry])[-1]


def questions_of(connection: sa.Connection, request_ids: Sequence[str]) -> dict[str, str]:
    """What was asked under these ids; the ledger itself does not say it."""
    columns = (outcome_table.c.request_id, outcome_table.c.question)
    rows = connection.execute(sa.select(*columns).where(outcome_table.c.request_id.in_(request_ids)))
    return {row.request_id: row.question for row in rows}


def _row(outcome: Outcome) -> dict[str, object]:
    answer = outcome.ending if isinstance(outcome.ending, Answer) else None
    refusal = outcome.ending if isinstance(outcome.ending, Refusal) else None
    return {
        "request_id": outcome.question.request_id,
        "asked_at": utc_text(outcome.question.asked_at),
        "finished_at": utc_text(outcome.finished_at),
        "asker": _storable(outcome.question.asker) if outcome.question.asker is not None else None,
        "question": _storable(outcome.question.text),
        "state": outcome.state.value,
        "verdict": outcome.verdict.value,
        "reason_code": refusal.reason.value if refusal else None,
        "clause": str(refusal.clause) if refusal and refusal.clause else None,
        "answer": _storable(answer.text) if answer else None,
        "refusal": _storable(refusal.text) if refusal else None,
        "draft": _storable(outcome.draft) if outcome.draft is not None else None,
        "contract_id": outcome.contract["id"],
        "contract_version": outcome.contract["version"],
        "contract_hash": outcome.contract["hash"],
        "document": _json(_document(outcome)),
        "candidates": _json([dict(item) for item in outcome.candidates]),
        "snapshot": _json(dict(outcome.snapshot)) if outcome.snapshot is not None else None,
        "salt": new_salt(),
    }


def _document(outcome: Outcome) -> dict[str, Json]:
    document = outcome.to_json(None)
    del document["ledger_seq"]
    return document


def _payload(outcome: Outcome, rows_root: str) -> dict[str, Json]:
    """What is sealed. Who asked what stands in the row alone, where it can be erased; `rows_root` binds it."""
    answer = outcome.ending if isinstance(outcome.ending, Answer) else None
    refusal = outcome.ending if isinstance(outcome.ending, Refusal) else None
    payload: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "request_id": outcome.question.request_id,
        "asked_at": utc_text(outcome.question.asked_at),
        "finished_at": utc_text(outcome.finished_at),
        "state": outcome.state.value,
        "verdict": outcome.verdict.value,
        "reason_code": refusal.reason.value if refusal else None,
        "clause": str(refusal.clause) if refusal and refusal.clause else None,
        "contract": dict(outcome.contract),
        "model": dict(outcome.model),
        "result_hash": answer.table.digest if answer else None,
        "agreement": outcome.agreement.to_json() if outcome.agreement else None,
        "no_data": outcome.absence.to_json(),
        "snapshot": dict(outcome.snapshot) if outcome.snapshot is not None else None,
        "rows_root": rows_root,
    }
    return {key: _normal(value) for key, value in payload.items()}


def _json(value: Json) -> str:
    return canonical_json(_normal(value)).decode("utf-8")


def _normal(value: Json) -> Json:
    """Text from people, models and data made fit for the ledger."""
    match value:
        case str():
            return _storable(value)
        case dict():
            return {_ascii(key): _normal(item) for key, item in value.items()}
        case list() | tuple():
            return [_normal(item) for item in value]
        case int() if abs(value) >= 2**53:
            return str(value)
        case _:
            return value


def _storable(text: str) -> str:
    # NUL has no place in a PostgreSQL text.
    return normal_text(text).replace("\0", "\ufffd")


def _ascii(key: str) -> str:
    return key if key.isascii() else key.encode("ascii", "backslashreplace").decode("ascii")
