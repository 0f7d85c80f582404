"""The last step: what is known of a question, however far it came, as one outcome."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from catalog.referee.decisions import Abstained, Escalated, decision_word
from resolver.candidates import Dropped
from resolver.nearest import nearest_questions
from resolver.outcome import Answer, Outcome, Refusal
from resolver.plan import MonitorQuestion, SemanticPlan
from resolver.state import Declined, Failed, Parts, Ran, Ready, State, Stopped, Weighed
from trivet.canonical import Json, normal_text
from trivet.outcomes import ReasonCode

_NO_USE = frozenset({ReasonCode.MODEL_UNAVAILABLE, ReasonCode.EXEC_ERROR})
"""Reasons for which no other question would fare better."""


def conclude(state: State, stopped: Stopped | None, parts: Parts, now: datetime) -> Outcome:
    """The outcome of a question that went through all stages, or was stopped in one."""
    ending = _answer(state) if stopped is None else _with_nearest(stopped.refusal, state, parts)
    shown = state.winner or next((item for item in state.weighed if item.sql is not None), None)
    ran = state.winner.fate if state.winner is not None and isinstance(state.winner.fate, Ran) else None
    judged = ran.judged if ran is not None else None
    return Outcome(
        question=state.question,
        finished_at=now,
        ending=ending,
        contract=parts.contract.reference(),
        model=state.proposal.model if state.proposal is not None else {},
        absence=state.absence,
        agreement=state.agreement,
        sql=judged.sql if judged is not None else shown.sql if shown is not None else None,
        views=judged.views if judged is not None else _views(shown.sql if shown else None, parts),
        provenance=state.provenance,
        monitor=state.monitor,
        snapshot=ran.snapshot if ran is not None else None,
        candidates=tuple(_record(item) for item in state.weighed),
        draft=state.drafted.text if state.drafted is not None and stopped is not None else None,
        timings_ms=state.timings_ms,
    )


def _answer(state: State) -> Answer:
    if state.drafted is None:
        raise LookupError("nothing was drafted")
    return Answer(state.drafted.text, state.ran.table, state.claims, state.assumptions)


def _with_nearest(refusal: Refusal, state: State, parts: Parts) -> Refusal:
    if refusal.nearest or refusal.reason in _NO_USE:
        return refusal
    nearest = nearest_questions(parts.contract, parts.monitors, state.linked)
    return Refusal(refusal.reason, refusal.text, refusal.clause, nearest)


def _views(sql: str | None, parts: Parts) -> tuple[str, ...]:
    found = (item.view for item in parts.contract.object_types)
    return tuple(view for view in found if sql is not None and view.lower() in sql.lower())


def _record(item: Weighed) -> Mapping[str, Json]:
    """A proposal as it is recorded: what was said, what became of it, and the digest of its result."""
    proposed = item.candidate.proposed
    return {
        "source": item.candidate.source,
        "kind": _kind(proposed),
        "monitor": proposed.monitor if isinstance(proposed, MonitorQuestion) else None,
        "raw": normal_text(item.candidate.raw) if item.candidate.raw is not None else None,
        "sql": item.sql,
        **_fate(item),
    }


def _kind(proposed: object) -> str:
    match proposed:
        case SemanticPlan():
            return "plan"
        case MonitorQuestion():
            return "monitor"
        case Dropped():
            return "dropped"
        case _:
            return "sql"


def _fate(item: Weighed) -> dict[str, Json]:
    match item.fate:
        case Dropped(kind, message):
            return {"fate": "dropped", "why": f"{kind}: {message}", "result": None}
        case Declined(why):
            return {"fate": "declined", "why": why, "result": None}
        case Abstained(objection) | Escalated(objection):
            word = decision_word(item.fate).lower()
            return {"fate": word, "why": f"{objection.clause}: {objection.message}", "result": None}
        case Failed(message):
            return {"fate": "failed", "why": message, "result": None}
        case Ran():
            return {"fate": "ran", "why": None, "result": item.fate.table.digest}
        case Ready():
            return {"fate": "ready", "why": None, "result": None}
