"""The parts of a contract file that are about questions: words, gaps, and questions that are verified."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trivet.fields import Day, Name, Prose, Text
from trivet.validation import StrictModel


class GlossaryModel(StrictModel):
    """A word of the organisation's own."""

    term: Text
    means: Text
    """A metric, an object type, a property (of one object type as `object.property`), or another term."""


class RefusalModel(StrictModel):
    """A gap that the contract itself states."""

    id: Name
    terms: Annotated[list[Text], Field(min_length=1)]
    """A question that has one of them is refused."""
    reason: Literal["OUT_OF_SCOPE", "SCHEMA_MISMATCH", "NO_SUCH_ENTITY", "NO_DATA", "AMBIGUOUS"]
    says: Text
    """What the person who asked is told."""
    evidence: Text
    """Words that stand in a description of this contract, letter by letter."""


class VerifiedQueryModel(StrictModel):
    """A question whose SQL a person has verified."""

    question: Text
    state: Literal["ANSWER"]
    """How it must end."""
    sql: Prose
    verified_by: Text
    verified_at: Day
