"""The outcome record: how one question ended, with everything that supports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from catalog.engines.port import Cell
from resolver.question import Question
from trivet.canonical import Json, content_hash, normal_text
from trivet.outcomes import OutcomeState, ReasonCode, audit_verdict
from trivet.verdicts import Verdict


class ClaimVerdict(StrEnum):
    """Whether a claim of a draft stands."""

    GROUNDED = "grounded"
    """It is a cell of the result."""
    DERIVED = "derived"
    """It follows from the result: the number of its rows."""
    STATED = "stated"
    """It is a bound or a name that the question itself set."""
    UNGROUNDED = "ungrounded"


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure, date or name of a draft."""

    text: str
    kind: str
    """`number`, `year`, `date` or `name`."""
    verdict: ClaimVerdict
    cell: tuple[int, int] | None = None
    """Row and column, from 1, of the cell that grounds it."""

    def to_json(self) -> dict[str, Json]:
        """As an outcome holds it."""
        cell: Json = list(self.cell) if self.cell else None
        return {"text": self.text, "kind": self.kind, "verdict": self.verdict, "cell": cell}


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the question left open and the answer fixed."""

    kind: str
    """`period`, `object` or `property`."""
    chosen: str
    alternatives: tuple[str, ...]
    source: str
    """What the choice rests on."""
    text: str
    """The sentence that tells it."""

    def to_json(self) -> dict[str, Json]:
        """As an outcome holds it."""
        return {
            "kind": self.kind,
            "chosen": self.chosen,
            "alternatives": list(self.alternatives),
            "source": self.source,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A result as the engine gave it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool = False
    """Whether there were more rows than may be fetched."""
    total: int | None = None
    """How many rows there are where some were cut off; None where none were, or they could not be counted."""

    def to_json(self) -> dict[str, Json]:
        """Values from data as text, so that they stay exact; counts as integers."""
        rows: list[Json] = [[cell_json(cell) for cell in row] for row in self.rows]
        total = self.total if self.truncated else len(rows)
        return {"columns": list(self.columns), "rows": rows, "truncated": self.truncated, "total": total}

    @property
    def digest(self) -> str:
        """SHA-256 of what was found."""
        return content_hash(self.to_json())


@dataclass(frozen=True, slots=True)
class Absence:
    """What the answer could not take in."""

    badge: str | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    missing_members: tuple[str, ...] = ()
    """Keys of the members concerned, as many as are shown."""
    expected: tuple[str, ...] = ()
    """Groups that a domain lists and that have no row; counted in `reasons` as `left_missing`."""
    misread: str | None = None
    """Why the result cannot stand: cells that are no values, and that the engine took in; not shown by itself."""

    def to_json(self) -> dict[str, Json]:
        """As an outcome holds it."""
        return {
            "badge": self.badge,
            "reasons": dict(self.reasons),
            "missing_members": [normal_text(name) for name in (*self.missing_members, *self.expected)],
        }


NOTHING_ABSENT = Absence()
"""Where nothing is absent, or nothing was looked at."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many proposals were asked for, could be run, and reached the answer."""

    requested: int
    usable: int
    winning: int

    def to_json(self) -> dict[str, Json]:
        """As an outcome holds it."""
        return {"requested": self.requested, "usable": self.usable, "winning": self.winning}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question was not answered, stating only what was checked."""

    reason: ReasonCode
    text: str
    clause: str | None = None
    nearest: tuple[str, ...] = ()
    """Questions near it that can be answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what every part of it rests on."""

    text: str
    table: ResultTable
    claims: tuple[Claim, ...]
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question ended."""

    question: Question
    finished_at: datetime
    ending: Answer | Refusal
    contract: Mapping[str, str]
    """Id, version and hash."""
    model: Mapping[str, Json]
    """What proposed: provider, names, seed, hash of the prompt."""
    absence: Absence = NOTHING_ABSENT
    agreement: Agreement | None = None
    sql: str | None = None
    """What was run for the answer, or what was stopped."""
    views: tuple[str, ...] = ()
    provenance: tuple[Mapping[str, Json], ...] = ()
    monitor: Mapping[str, Json] | None = None
    """Of a question that a monitor decides: its counts and members."""
    snapshot: Mapping[str, Json] | None = None
    """Identity of the data that was read; None where nothing was."""
    candidates: tuple[Mapping[str, Json], ...] = ()
    """Every proposal with what became of it; recorded, and not printed."""
    draft: str | None = None
    """The draft that grounding stopped."""
    timings_ms: Mapping[str, int] = field(default_factory=dict)

    @property
    def state(self) -> OutcomeState:
        """The state under its interface name."""
        if isinstance(self.ending, Answer):
            return OutcomeState.ANSWER_WITH_ASSUMPTION if self.ending.assumptions else OutcomeState.ANSWER
        return OutcomeState.ESCALATE if self.ending.reason is ReasonCode.SENSITIVE else OutcomeState.ABSTAIN

    @property
    def verdict(self) -> Verdict:
        """The audit row's word."""
        return audit_verdict(self.state, self.ending.reason if isinstance(self.ending, Refusal) else None)

    def to_json(self, ledger_seq: int | None) -> dict[str, Json]:
        """The document that `docs/reference/questions.md` describes."""
        answer = self.ending if isinstance(self.ending, Answer) else None
        refusal = self.ending if isinstance(self.ending, Refusal) else None
        return {
            "request_id": self.question.request_id,
            "question": normal_text(self.question.text),
            "state": self.state,
            "verdict": self.verdict,
            "answer": answer.text if answer else None,
            "assumptions": [item.to_json() for item in answer.assumptions] if answer else [],
            "reason_code": refusal.reason if refusal else None,
            "clause": refusal.clause if refusal else None,
            "refusal": refusal.text if refusal else None,
            "nearest": list(refusal.nearest) if refusal else [],
            "no_data": self.absence.to_json(),
            "table": answer.table.to_json() if answer else None,
            "sql": self.sql,
            "views": list(self.views),
            "provenance": [dict(item) for item in self.provenance],
            "monitor": dict(self.monitor) if self.monitor is not None else None,
            "claims": [item.to_json() for item in answer.claims] if answer else [],
            "agreement": self.agreement.to_json() if self.agreement else None,
            "contract": dict(self.contract),
            "model": dict(self.model),
            "ledger_seq": ledger_seq,
            "timings_ms": dict(self.timings_ms),
        }


def cell_json(cell: Cell) -> Json:
    """A cell as a document holds it: exact text, integers where they are counts, null where there is nothing."""
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) < 2**53 else str(cell)
    return normal_text(cell_text(cell))


def cell_text(cell: Cell) -> str:
    """A cell as a person reads it; a double with twelve significant digits, as verdicts round it."""
    match cell:
        case None:
            return "no value"
        case bool():
            return "true" if cell else "false"
        case float():
            return plain_number(Decimal(f"{cell:.12g}"))
        case Decimal():
            return plain_number(cell)
        case datetime() | date():
            return cell.isoformat()
        case _:
            return str(cell)


def plain_number(number: Decimal, least: int = 0) -> str:
    """A decimal in plain notation, without zeros at its end beyond `least` digits after the point."""
    whole, _, fraction = f"{number:f}".partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    return f"{whole}.{fraction}" if fraction else whole
