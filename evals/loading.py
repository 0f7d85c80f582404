"""A bank file to a `Bank`, as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evals.bank import (
    Accepted,
    Bank,
    Label,
    Question,
    StatedAssumption,
    Tolerance,
    ToleranceKind,
)
from evals.document import AcceptedModel, BankModel, QuestionModel, ReadingModel, ToleranceModel
from resolver.question import plain_text
from trivet.canonical import Json, content_hash, normal_text
from trivet.documents import Document, Path, in_order, read_yaml
from trivet.findings import Finding
from trivet.validation import validate


@dataclass(frozen=True, slots=True)
class BankResult:
    """A bank, or everything that is wrong with its file."""

    bank: Bank | None
    findings: tuple[Finding, ...]


def load_bank(text: bytes, file: str) -> BankResult:
    """The bank that a file holds.

    Args:
        text: the file's content.
        file: how findings name it.
    """
    read = read_yaml(text, file=file)
    if read.document is None:
        return BankResult(None, read.findings)
    model, findings = validate(read.document, BankModel)
    if model is not None:
        findings = in_order(_meaning_findings(read.document, model))
    if model is None or findings:
        return BankResult(None, findings)
    header = model.bank
    questions = tuple(_question(item) for item in model.questions)
    return BankResult(
        Bank(header.id, header.contract, header.version, questions, content_hash(_normal(read.document.root))), ()
    )


def _meaning_findings(document: Document, model: BankModel) -> Iterator[Finding]:
    ids: dict[str, int] = {}
    asked: dict[str, str] = {}
    for index, item in enumerate(model.questions):
        path: Path = ("questions", index)
        if item.id in ids:
            yield document.finding((*path, "id"), f"'{item.id}' is already the id of questions[{ids[item.id]}]")
        ids.setdefault(item.id, index)
        plain = plain_text(item.ask)
        if plain in asked:
            yield document.finding((*path, "ask"), f"question '{asked[plain]}' asks the same already")
        asked.setdefault(plain, item.id)
        yield from _label_findings(document, path, item)


def _label_findings(document: Document, path: Path, item: QuestionModel) -> Iterator[Finding]:
    given = [name for name in ("answer", "assume", "refuse") if getattr(item, name) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        yield document.finding(path, f"expected one of answer, assume and refuse, found {found}")
    if item.refuse is not None and item.left_out:
        yield document.finding((*path, "left_out"), "a refusal leaves nothing out; remove this key", key=True)
    for name, results in (("answer", item.answer or ()), ("assume", item.assume or ())):
        for index, result in enumerate(results):
            yield from _result_findings(document, (*path, name, index), result)


def _result_findings(document: Document, path: Path, result: AcceptedModel) -> Iterator[Finding]:
    widths = {len(row) for row in result.rows}
    if len(widths) > 1:
        yield document.finding((*path, "rows"), "the rows differ in their number of cells; write each in full")
    if 0 in widths:
        yield document.finding((*path, "rows"), "a row without cells says nothing; write `rows: []` for no row at all")
    tolerance = result.tolerance
    if tolerance is not None and (tolerance.absolute is None) == (tolerance.relative is None):
        yield document.finding((*path, "tolerance"), "expected one of absolute and relative")


def _question(model: QuestionModel) -> Question:
    label = Label.ANSWER if model.answer is not None else Label.ASSUME if model.assume is not None else Label.REFUSE
    return Question(
        id=model.id,
        ask=model.ask,
        kind=model.kind,
        label=label,
        accepted=tuple(_accepted(item) for item in model.answer or model.assume or ()),
        left_out=model.left_out,
        reason=model.refuse,
        note=model.note or "",
    )


def _accepted(model: AcceptedModel) -> Accepted:
    stated = model.assumption if isinstance(model, ReadingModel) else None
    return Accepted(
        rows=tuple(tuple(row) for row in model.rows),
        ordered=model.ordered,
        tolerance=_tolerance(model.tolerance),
        assumption=StatedAssumption(stated.kind, stated.chosen) if stated else None,
    )


def _tolerance(model: ToleranceModel | None) -> Tolerance | None:
    if model is None:
        return None
    if model.absolute is not None:
        return Tolerance(ToleranceKind.ABSOLUTE, model.absolute)
    return Tolerance(ToleranceKind.RELATIVE, model.relative) if model.relative is not None else None


def _normal(value: object) -> Json:
    if isinstance(value, dict):
        return {str(key): _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return normal_text(value) if isinstance(value, str) else None
