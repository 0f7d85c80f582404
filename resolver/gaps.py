"""Questions that the contract itself answers before any model is asked: stated gaps, and verified questions."""

from __future__ import annotations

from catalog.contract import Contract
from catalog.wording import VerifiedQuery
from resolver.candidates import Candidate, Proposal
from resolver.outcome import Refusal
from resolver.plan import SqlText
from resolver.question import Question, plain_text
from resolver.vocabulary import Linked
from trivet.canonical import normal_text
from trivet.stems import stem, stems_of, words_of

VERIFIED = "verified_query"
"""Where the SQL of a verified question comes from."""


def stated_gap(linked: Linked, contract: Contract) -> Refusal | None:
    """The refusal that the contract states for a word of the question, with its evidence.

    A word inside a longer name, such as a customer's, says nothing of a gap.
    """
    stems = tuple(stem(word) for word in linked.question.words)
    for refusal in contract.refusals:
        for term in refusal.terms:
            wanted = stems_of(term)
            for start in range(len(stems) - len(wanted) + 1):
                end = start + len(wanted)
                if stems[start:end] == wanted and not _is_part_of_name(linked, start, end):
                    text = f'{refusal.says} The contract says: "{refusal.evidence}".'
                    return Refusal(refusal.reason, text)
    return None


def verified_query(question: Question, contract: Contract) -> VerifiedQuery | None:
    """The verified question that has the same words in the same order."""
    asked = question.words
    return next((item for item in contract.verified_queries if words_of(plain_text(item.question)) == asked), None)


def verified_proposal(query: VerifiedQuery) -> Proposal:
    """The one proposal for a verified question: its own SQL."""
    about = {"verified_by": normal_text(query.verified_by), "verified_at": query.verified_at.isoformat()}
    candidate = Candidate(VERIFIED, SqlText(query.sql, verified=True))
    return Proposal((candidate,), 1, {"provider": "none", "proposer": VERIFIED, **about}, deterministic=True)


def verified_words(query: VerifiedQuery) -> str:
    """The sentence by which an answer says that its SQL was verified."""
    return f"This question and its SQL were verified by {query.verified_by} on {query.verified_at}."


def _is_part_of_name(linked: Linked, start: int, end: int) -> bool:
    return any(span.start <= start and end <= span.end and span.end - span.start > end - start for span in linked.spans)
