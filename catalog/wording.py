"""What a contract says of the words of questions: the glossary, the gaps that it states, and verified questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from trivet.outcomes import ReasonCode


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A word of the organisation's own."""

    term: str
    means: str
    """A name of the contract, such as `net_revenue` or `employee_pay.hourly_rate`; never another term."""


@dataclass(frozen=True, slots=True)
class DocumentedRefusal:
    """A gap that the contract itself states, so that nobody need guess why there is no answer."""

    id: str
    terms: tuple[str, ...]
    reason: ReasonCode
    says: str
    """What the person who asked is told, a sentence."""
    evidence: str
    """Words of one of the contract's descriptions."""


@dataclass(frozen=True, slots=True)
class VerifiedQuery:
    """A question whose SQL a person has verified."""

    question: str
    sql: str
    verified_by: str
    verified_at: date
