"""One question's end held against its label."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evals.bank import Accepted, Label, Question, StatedAssumption
from evals.matching import matches
from resolver.outcome import Answer, Assumption, Outcome, Refusal
from trivet.outcomes import ReasonCode


class Judgement(StrEnum):
    """How a question's end compares with its label; `docs/reference/evals.md` explains each."""

    RIGHT = "right"
    """Answered, with an accepted result."""
    WRONG = "wrong"
    """Answered, and not as the label accepts: confidently wrong."""
    REFUSED_RIGHTLY = "refused_rightly"
    """Refused, as it must be."""
    REFUSED_ALLOWED = "refused_allowed"
    """Refused where an answer under an assumption would have done."""
    REFUSED_NEEDLESSLY = "refused_needlessly"
    """Refused although the data answers it: coverage lost."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one question came to."""

    question: Question
    judgement: Judgement
    """By the relaxed measure."""
    strict: bool = False
    """Whether a right answer has no column beside the accepted ones."""
    reason: ReasonCode | None = None
    """Why it was refused; None of an answer."""
    why: str = ""
    """What is wrong with a wrong answer; empty of others."""

    @property
    def answered(self) -> bool:
        """Whether it was answered at all."""
        return self.judgement in (Judgement.RIGHT, Judgement.WRONG)

    @property
    def reason_right(self) -> bool:
        """Whether it was refused as it must be, and for the labelled reason."""
        return self.judgement is Judgement.REFUSED_RIGHTLY and self.reason is self.question.reason

    @property
    def is_fault(self) -> bool:
        """Whether it came to no decision, because something could not be run."""
        return self.reason is ReasonCode.EXEC_ERROR and self.question.reason is not ReasonCode.EXEC_ERROR


def judge(question: Question, outcome: Outcome) -> Judged:
    """The judgement of one outcome."""
    match outcome.ending:
        case Refusal(reason):
            return refused(question, reason)
        case Answer() as answer:
            return _judge_answer(question, answer, sum(outcome.absence.reasons.values()))


def refused(question: Question, reason: ReasonCode) -> Judged:
    """The judgement of a refusal for a reason."""
    match question.label:
        case Label.ANSWER:
            return Judged(question, Judgement.REFUSED_NEEDLESSLY, reason=reason)
        case Label.ASSUME:
            return Judged(question, Judgement.REFUSED_ALLOWED, reason=reason)
        case Label.REFUSE:
            return Judged(question, Judgement.REFUSED_RIGHTLY, reason=reason)


def _judge_answer(question: Question, answer: Answer, left_out: int) -> Judged:
    if question.label is Label.REFUSE:
        return Judged(question, Judgement.WRONG, why=f"it must be refused: {question.reason}")
    fitting = [item for item in question.accepted if matches(item, answer.table, strict=False)]
    if not fitting:
        return Judged(question, Judgement.WRONG, why="the result is none that is accepted")
    said = [item for item in fitting if _is_said(item.assumption, answer.assumptions)]
    if not said:
        return Judged(question, Judgement.WRONG, why=f"it does not say what it assumed: {_wanted(fitting)}")
    if left_out < question.left_out:
        why = f"it tells of {left_out} rows that could not be taken in, and there are {question.left_out}"
        return Judged(question, Judgement.WRONG, why=why)
    return Judged(question, Judgement.RIGHT, strict=any(matches(item, answer.table, strict=True) for item in said))


def _is_said(wanted: StatedAssumption | None, stated: tuple[Assumption, ...]) -> bool:
    return wanted is None or any(item.kind == wanted.kind and wanted.chosen in item.chosen for item in stated)


def _wanted(fitting: list[Accepted]) -> str:
    return " or ".join(item.assumption.chosen for item in fitting if item.assumption is not None)
