"""Bank files as they are written: the door through which they come in."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

from trivet.documents import Scalar
from trivet.faults import expected
from trivet.fields import Between, Flag, Prose, Slug, Text
from trivet.outcomes import ReasonCode
from trivet.validation import StrictModel


def _read_cell(value: object) -> str | None:
    if not isinstance(value, str):
        raise expected("a cell: text, a number, or null for no value")
    if value == "null" and not (isinstance(value, Scalar) and value.quoted):
        return None
    return str(value)


Cell = Annotated[str | None, BeforeValidator(_read_cell)]


class BankHeaderModel(StrictModel):
    """What the bank is, and what its labels hold for."""

    id: Slug
    contract: Text
    """Id of the contract that the questions are asked under."""
    version: Text
    """The contract's version that the labels hold for."""


class ToleranceModel(StrictModel):
    """How far a figure may lie from the labelled one: one of the two."""

    absolute: Annotated[Decimal, Between(0)] | None = None
    """In the figure's own unit."""
    relative: Annotated[Decimal, Between(0, 1)] | None = None
    """As a share of the labelled figure."""


class AssumptionModel(StrictModel):
    """What an answer must say that it assumed."""

    kind: Text
    """Kind of the assumption: `period`, `object` or `property`."""
    chosen: Text
    """Words that the choice must hold."""


class AcceptedModel(StrictModel):
    """One result that answers a question."""

    rows: list[list[Cell]]
    """Every row, its cells in the order of the columns; an empty list where the right result is empty."""
    ordered: Flag = False
    """The order of the rows is part of the answer."""
    tolerance: ToleranceModel | None = None


class ReadingModel(AcceptedModel):
    """One result that answers a question under an assumption."""

    assumption: AssumptionModel


class QuestionModel(StrictModel):
    """One question, with one of `answer`, `assume` and `refuse`."""

    id: Slug
    ask: Prose
    kind: Slug
    """What the question tries; questions are counted by it."""
    answer: Annotated[list[AcceptedModel], Field(min_length=1)] | None = None
    """Results of which each answers it."""
    assume: Annotated[list[ReadingModel], Field(min_length=1)] | None = None
    """Results of which each answers it under the assumption that stands with it."""
    refuse: ReasonCode | None = None
    """The reason for which it must be refused."""
    left_out: Annotated[int, Between(0)] = 0
    """Rows that belong to the question and cannot be taken in."""
    note: Prose | None = None
    """How the label was come by."""


class BankModel(StrictModel):
    """One bank file."""

    bank: BankHeaderModel
    questions: Annotated[list[QuestionModel], Field(min_length=1)]
