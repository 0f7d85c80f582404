"""The metrics, each with one definition, over what the questions of a bank came to. Nothing here does I/O.

A refusal costs nothing in any measure of errors, so every figure stands beside that of a resolver
which refuses every question: what it reaches for free is no merit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

from evals.bank import Label, Question
from evals.judging import Judged, Judgement, refused
from trivet.outcomes import ReasonCode


@dataclass(frozen=True, slots=True)
class Share:
    """A rate with its counts; a rate alone can rise while everything gets worse."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        """Between 0 and 1, with four digits; None of nothing."""
        return round(self.count / self.of, 4) if self.of else None


@dataclass(frozen=True, slots=True)
class Scores:
    """Every metric of one run. Strict counts a further column as wrong, relaxed passes it over."""

    accuracy_strict: Share
    """M1: questions labelled `answer` that were answered right, of all that are labelled so."""
    accuracy_relaxed: Share
    confidently_wrong_strict: Share
    """M2: wrong answers of all answers, those to questions that must be refused among them."""
    confidently_wrong_relaxed: Share
    coverage: Share
    """M3: answered of all that may be answered, labelled `answer` or `assume`."""
    abstain_precision: Share
    """M4: refusals of questions that must be refused, of all refusals."""
    abstain_precision_allowed: Share
    """M4: refusals that are right or allowed, of all refusals."""
    reason_accuracy: Share
    """M4: right refusals with the labelled reason, of all right refusals."""
    abstain_recall: Share
    """M5: refused of all that must be refused."""
    assumption_stated: Share
    """M8: questions labelled `assume` that were answered right, with the assumption said, of all labelled so."""


METRICS: tuple[str, ...] = tuple(item.name for item in fields(Scores))
"""Their names, in the order in which they are told."""


def score(judged: Sequence[Judged]) -> Scores:
    """The metrics of a run."""
    answered = [item for item in judged if item.answered]
    refused = [item for item in judged if not item.answered]
    right = [item for item in answered if item.judgement is Judgement.RIGHT]
    to_answer, to_assume, to_refuse = (_labelled(judged, label) for label in Label)
    rightly = [item for item in refused if item.judgement is Judgement.REFUSED_RIGHTLY]
    allowed = [item for item in refused if item.judgement is not Judgement.REFUSED_NEEDLESSLY]
    exact = [item for item in right if item.strict]
    return Scores(
        accuracy_strict=Share(len(_labelled(exact, Label.ANSWER)), len(to_answer)),
        accuracy_relaxed=Share(len(_labelled(right, Label.ANSWER)), len(to_answer)),
        confidently_wrong_strict=Share(len(answered) - len(exact), len(answered)),
        confidently_wrong_relaxed=Share(len(answered) - len(right), len(answered)),
        coverage=Share(sum(item.answered for item in (*to_answer, *to_assume)), len(to_answer) + len(to_assume)),
        abstain_precision=Share(len(rightly), len(refused)),
        abstain_precision_allowed=Share(len(allowed), len(refused)),
        reason_accuracy=Share(sum(item.reason_right for item in rightly), len(rightly)),
        abstain_recall=Share(len(rightly), len(to_refuse)),
        assumption_stated=Share(len(_labelled(right, Label.ASSUME)), len(to_assume)),
    )


def refuse_all(questions: Sequence[Question]) -> tuple[Judged, ...]:
    """What a resolver comes to that refuses everything, always for the reason that is labelled most often."""
    reasons = Counter(item.reason for item in questions if item.reason is not None)
    always = reasons.most_common(1)[0][0] if reasons else ReasonCode.SCHEMA_MISMATCH
    return tuple(refused(item, always) for item in questions)


def counts(judged: Sequence[Judged]) -> dict[Label, dict[Judgement, int]]:
    """How many questions of each label came to each judgement; every question is in exactly one place."""
    return {
        label: {end: sum(item.judgement is end for item in _labelled(judged, label)) for end in Judgement}
        for label in Label
    }


def _labelled(judged: Sequence[Judged], label: Label) -> list[Judged]:
    return [item for item in judged if item.question.label is label]
