"""The words of a question's end: states, reason codes, and what each means for the audit row.

Spelled here and nowhere else; `docs/reference/codes.md` explains each.
"""

from __future__ import annotations

from enum import StrEnum

from trivet.verdicts import Verdict


class OutcomeState(StrEnum):
    """How a question ended."""

    ANSWER = "ANSWER"
    ANSWER_WITH_ASSUMPTION = "ANSWER_WITH_ASSUMPTION"
    ABSTAIN = "ABSTAIN"
    ESCALATE = "ESCALATE"


class ReasonCode(StrEnum):
    """Why a question was not answered."""

    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    UNSAFE_REQUEST = "UNSAFE_REQUEST"
    SCHEMA_MISMATCH = "SCHEMA_MISMATCH"
    NO_SUCH_ENTITY = "NO_SUCH_ENTITY"
    NO_DATA = "NO_DATA"
    AMBIGUOUS = "AMBIGUOUS"
    COST_LIMIT = "COST_LIMIT"
    LOW_AGREEMENT = "LOW_AGREEMENT"
    UNGROUNDED_ANSWER = "UNGROUNDED_ANSWER"
    CONTRACT = "CONTRACT"
    SENSITIVE = "SENSITIVE"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    EXEC_ERROR = "EXEC_ERROR"


_STOPPED = frozenset(
    {
        ReasonCode.UNSAFE_REQUEST,
        ReasonCode.UNGROUNDED_ANSWER,
        ReasonCode.CONTRACT,
        ReasonCode.SENSITIVE,
        ReasonCode.COST_LIMIT,
    }
)


def audit_verdict(state: OutcomeState, reason: ReasonCode | None) -> Verdict:
    """The audit row's word: compliant for a grounded answer, breach for something stopped, else no_data."""
    if state in (OutcomeState.ANSWER, OutcomeState.ANSWER_WITH_ASSUMPTION):
        return Verdict.COMPLIANT
    return Verdict.BREACH if reason in _STOPPED else Verdict.NO_DATA
