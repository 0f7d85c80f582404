"""Verified questions rerun against the data: what each comes to now, and whether that is what it came to last.

Each run is a ledger entry. It holds hashes, and of a result that is one row of figures those figures: text from the
data may be personal, and the ledger forgets nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.port import EngineFault, QuestionEngine
from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed
from catalog.verified_queries import referee_fault
from catalog.wording import VerifiedQuery
from ledger.append import append
from ledger.entries import EntryType
from ledger.reading import entry, last_seq
from resolver.outcome import ResultTable, cell_json, cell_text
from resolver.running import table_of
from trivet.canonical import Json, content_hash, normal_text, sha256_hex
from trivet.clock import utc_text

PAYLOAD_VERSION = 1


class Rerun(StrEnum):
    """What rerunning a verified question came to."""

    FIRST = "first"
    """It has no earlier run to be compared with."""
    SAME = "same"
    CHANGED = "changed"
    REFUSED = "refused"
    """The referee does not let it through any more."""
    FAILED = "failed"
    """The engine could not run it."""


@dataclass(frozen=True, slots=True)
class Verified:
    """One verified question, rerun."""

    query: VerifiedQuery
    rerun: Rerun
    says: str
    """What changed, or why it gave no result; empty where nothing is to be said."""
    result_hash: str | None = None
    row_count: int | None = None
    """All of them, where some were cut off too; None where they could not be counted."""
    figures: tuple[str, ...] | None = None
    """The cells of a result that is one row of figures and dates."""

    @property
    def is_fine(self) -> bool:
        """Whether nobody need look at it."""
        return self.rerun in (Rerun.FIRST, Rerun.SAME)

    def to_json(self) -> dict[str, Json]:
        """As the command shows it, and the ledger holds it."""
        return {
            "question": normal_text(self.query.question),
            "sql_hash": sha256_hex(normal_text(self.query.sql).encode("utf-8")),
            "rerun": self.rerun.value,
            "says": normal_text(self.says),
            "result_hash": self.result_hash,
            "row_count": self.row_count,
            "figures": list(self.figures) if self.figures is not None else None,
        }


def rerun_all(contract: Contract, engine: QuestionEngine, before: Mapping[str, Any]) -> list[Verified]:
    """Every verified question of a contract, rerun.

    Args:
        contract: whose questions they are, and what the referee holds them against.
        engine: runs them.
        before: what each question came to in the last run, by its text.
    """
    return [
        _rerun(item, contract, engine, before.get(normal_text(item.question))) for item in contract.verified_queries
    ]


def last_results(connection: sa.Connection, contract: Contract) -> dict[str, Any]:
    """What each question of a contract came to when it last gave a result, by its text.

    Raises:
        CheckFailedError: an entry of the ledger is damaged.
    """
    found: dict[str, Any] = {}
    seq = last_seq(connection, EntryType.CONTRACT_VERIFIED)
    while seq is not None and (run := entry(connection, seq)) is not None:
        content = run.content()
        if content["contract"]["id"] == contract.id:
            for item in content["results"]:
                if item["result_hash"] is not None:
                    found.setdefault(item["question"], item)
            for text, item in content["kept"].items():
                found.setdefault(text, item)
            return found
        seq = content["previous"]
    return found


def record(
    connection: sa.Connection, contract: Contract, results: Sequence[Verified], before: Mapping[str, Any], at: datetime
) -> int:
    """Writes a run to the ledger, inside the caller's transaction, and gives the entry's number."""
    told = {item["question"] for item in (found.to_json() for found in results) if item["result_hash"] is not None}
    # A question that gave no result this time is compared with what it gave last when it gives one again.
    asked = {normal_text(item.query.question) for item in results}
    kept: dict[str, Json] = {text: dict(item) for text, item in before.items() if text in asked and text not in told}
    payload: dict[str, Json] = {
        "schema": PAYLOAD_VERSION,
        "verified_at": utc_text(at),
        "contract": dict(contract.reference()),
        "results": [item.to_json() for item in results],
        "kept": kept,
        "previous": last_seq(connection, EntryType.CONTRACT_VERIFIED),
    }
    return append(connection, EntryType.CONTRACT_VERIFIED, uuid.uuid4().hex, payload).seq


def _rerun(
    query: VerifiedQuery, contract: Contract, engine: QuestionEngine, before: Mapping[str, Any] | None
) -> Verified:
    decision = certify(query.sql, contract, Purpose.QUESTION)
    if not isinstance(decision, Allowed):
        return Verified(query, Rerun.REFUSED, referee_fault(query.sql, contract) or "")
    try:
        table = table_of(engine.run(decision.query))
    except EngineFault as error:
        return Verified(query, Rerun.FAILED, str(error))
    made = Verified(query, Rerun.SAME, "", _digest(table), _count(table), _figures(table))
    if before is None:
        return _as(made, Rerun.FIRST, "")
    if made.result_hash == before["result_hash"]:
        return made
    return _as(made, Rerun.CHANGED, "; ".join(_differences(made, before)))


def _as(made: Verified, rerun: Rerun, says: str) -> Verified:
    return Verified(made.query, rerun, says, made.result_hash, made.row_count, made.figures)


def _digest(table: ResultTable) -> str:
    """SHA-256 of a result. The order of its rows is no part of it: only some SQL fixes one."""
    shown: list[Json] = [[cell_json(cell) for cell in row] for row in table.rows]
    rows: Json = sorted(shown, key=content_hash)
    return content_hash({"columns": list(table.columns), "rows": rows, "total": _count(table)})


def _count(table: ResultTable) -> int | None:
    return table.total if table.truncated else len(table.rows)


def _figures(table: ResultTable) -> tuple[str, ...] | None:
    if len(table.rows) != 1 or not all(isinstance(cell, int | float | Decimal | date) for cell in table.rows[0]):
        return None
    return tuple(cell_text(cell) for cell in table.rows[0])


def _differences(now: Verified, before: Mapping[str, Any]) -> Iterator[str]:
    if now.to_json()["sql_hash"] != before["sql_hash"]:
        yield "its SQL is another one"
    if now.figures is not None and before["figures"] is not None:
        yield f"it was {', '.join(before['figures'])} and is {', '.join(now.figures)}"
    elif now.row_count != before["row_count"]:
        yield f"it had {before['row_count']} rows and has {now.row_count}"
    else:
        yield f"its {now.row_count} rows hold something else"
