"""A run as the document that `docs/reference/evals.md` describes."""

from __future__ import annotations

from collections.abc import Sequence

from evals.judging import Judged
from evals.runner import Asked, Run
from evals.scoring import METRICS, Scores, Share, counts, refuse_all, score
from trivet.canonical import Json, normal_text


def passes(judged: Sequence[Judged]) -> bool:
    """Whether no answer is wrong, further columns passed over, and every question came to a decision."""
    return not score(judged).confidently_wrong_relaxed.count and not any(item.is_fault for item in judged)


def report(run: Run, *, proposer: str, recording: str | None, contract: dict[str, str]) -> dict[str, Json]:
    """The document of a run.

    Args:
        run: what was asked.
        proposer: where proposals came from.
        recording: SHA-256 of the recording that was replayed; None where none was.
        contract: id, version and hash of the contract.
    """
    judged, questions = run.judged, run.bank.questions
    return {
        "bank": {"id": run.bank.id, "hash": run.bank.hash, "questions": len(questions)},
        "contract": dict(contract),
        "snapshot": dict(run.snapshot.to_json()),
        "proposer": proposer,
        "recording": recording,
        "passed": passes(judged),
        "faults": sum(item.is_fault for item in judged),
        "counts": _counts(judged),
        "metrics": _scores(score(judged)),
        "refuse_all": _scores(score(refuse_all(questions))),
        "kinds": _kinds(judged),
        "questions": [_asked(item) for item in run.asked],
    }


def _counts(judged: Sequence[Judged]) -> Json:
    found = counts(judged).items()
    return {label.value: {end.value: count for end, count in ends.items()} for label, ends in found}


def _scores(scores: Scores) -> Json:
    return {name: _share(getattr(scores, name)) for name in METRICS}


def _share(share: Share) -> Json:
    rate = share.rate
    return {"count": share.count, "of": share.of, "rate": None if rate is None else f"{rate:.4f}"}


def _kinds(judged: Sequence[Judged]) -> Json:
    """Of each kind of question: how many there are, how many were answered, and how many of those are wrong."""
    kinds = dict.fromkeys(item.question.kind for item in judged)
    found: dict[str, Json] = {}
    for kind in kinds:
        scores = score([item for item in judged if item.question.kind == kind])
        wrong = scores.confidently_wrong_relaxed
        total = sum(item.question.kind == kind for item in judged)
        found[kind] = {"questions": total, "answered": wrong.of, "wrong": wrong.count}
    return found


def _asked(item: Asked) -> Json:
    judged, outcome = item.judged, item.outcome
    document = outcome.to_json(item.ledger_seq)
    return {
        "id": judged.question.id,
        "kind": judged.question.kind,
        "question": normal_text(judged.question.ask),
        "label": judged.question.label,
        "judgement": judged.judgement,
        "strict": judged.strict,
        "why": judged.why or None,
        "expected_reason": judged.question.reason,
        "state": outcome.state,
        "reason_code": judged.reason,
        "answer": document["answer"],
        "refusal": document["refusal"],
        "request_id": outcome.question.request_id,
        "ledger_seq": item.ledger_seq,
    }
