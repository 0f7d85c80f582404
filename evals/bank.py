"""A question bank: questions over one contract, each labelled with how it must end."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from trivet.outcomes import ReasonCode

CellValue = str | None
"""A labelled cell as it was written: numbers and days as text; None for no value."""


class Label(StrEnum):
    """How a question must end."""

    ANSWER = "answer"
    """The data answers it as it stands."""
    ASSUME = "assume"
    """It leaves something open, so that an answer must say what it assumed; refusing it is allowed."""
    REFUSE = "refuse"
    """It must not be answered."""


class ToleranceKind(StrEnum):
    """What a tolerance is a distance of."""

    ABSOLUTE = "absolute"
    """In the figure's own unit."""
    RELATIVE = "relative"
    """As a share of the labelled figure."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a figure may lie from the labelled one, both ends included."""

    kind: ToleranceKind
    size: Decimal


@dataclass(frozen=True, slots=True)
class StatedAssumption:
    """What an answer must say that it assumed."""

    kind: str
    """Kind of the assumption, such as `period`."""
    chosen: str
    """Words that the choice must hold, such as `calendar year 2026`."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One result that answers a question."""

    rows: tuple[tuple[CellValue, ...], ...]
    """Every row of the result. None at all: the right result is empty."""
    ordered: bool = False
    """Whether the order of the rows is part of the answer."""
    tolerance: Tolerance | None = None
    """Of figures; None where they must be equal."""
    assumption: StatedAssumption | None = None
    """What must be said with it; of a question labelled `assume` always there."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a bank."""

    id: str
    ask: str
    """As it is asked."""
    kind: str
    """What the question tries, such as `paraphrase` or `injection`; questions are counted by it."""
    label: Label
    accepted: tuple[Accepted, ...] = ()
    """Every result that answers it; empty where it must be refused."""
    left_out: int = 0
    """Rows that belong to the question and cannot be taken in; an answer that tells of fewer is wrong."""
    reason: ReasonCode | None = None
    """Why it must be refused; None where it need not be."""
    note: str = ""
    """How the label was come by."""


@dataclass(frozen=True, slots=True)
class Bank:
    """The questions of one file."""

    id: str
    contract: str
    """Id of the contract that they are asked under."""
    version: str
    """The contract's version that the labels hold for."""
    questions: tuple[Question, ...]
    hash: str
    """SHA-256 of the bank's content, without comments and layout."""
