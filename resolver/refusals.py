"""The words of a refusal: one template for each reason code, filled with nothing but what was checked."""

from __future__ import annotations

from resolver.outcome import Refusal
from trivet.outcomes import ReasonCode

TEMPLATES: dict[ReasonCode, str] = {
    ReasonCode.OUT_OF_SCOPE: "No word of the question is one of this contract, so there is nothing to answer it from.",
    ReasonCode.UNSAFE_REQUEST: "It asks for something other than reading governed data ({what}). Nothing was run.",
    ReasonCode.SCHEMA_MISMATCH: "The question cannot be put in the contract's words: {what}.",
    ReasonCode.NO_SUCH_ENTITY: "No row has {what}; the values that there are were looked through.",
    ReasonCode.NO_DATA: "The question was understood and run, and nothing came out that could answer it: {what}.",
    ReasonCode.AMBIGUOUS: "The question can be read in more than one way: {what}. Say which is meant.",
    ReasonCode.COST_LIMIT: "Answering would cost more than the limits allow: {what}.",
    ReasonCode.LOW_AGREEMENT: "The proposals did not agree on one answer: {what}.",
    ReasonCode.UNGROUNDED_ANSWER: "An answer was drafted and held back: its {what} is not in the result.",
    ReasonCode.CONTRACT: "The contract does not allow what was proposed (clause {clause}): {what}.",
    ReasonCode.SENSITIVE: "It touches data that a data steward must decide on: {what}. Nothing was run.",
    ReasonCode.MODEL_UNAVAILABLE: "The model gave no usable proposal: {what}.",
    ReasonCode.EXEC_ERROR: "The statement could not be run, which says nothing about the data: {what}.",
}
"""What is said for each code; `{what}` is what a check found, `{clause}` the referee's clause."""


def refuse(reason: ReasonCode, what: str = "", *, clause: str | None = None, nearest: tuple[str, ...] = ()) -> Refusal:
    """The refusal for a reason. `what` is a clause of a sentence, without a full stop."""
    text = TEMPLATES[reason].format(what=what.rstrip("."), clause=clause)
    return Refusal(reason, text, clause, nearest)
