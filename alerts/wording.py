"""Text for people: every reason in long form, and text from data made harmless for the place it is shown in."""

from __future__ import annotations

import re

from trivet.verdicts import Cause, NotMadeReason, Reason, SlotCause

REASONS: dict[Reason, str] = {
    Reason.SCOPE_UNKNOWN: "whether it is watched at all cannot be decided",
    Reason.LEFT_MISSING: "expected, but no row is there",
    Reason.LEFT_NULL: "its own value is missing or unusable",
    Reason.RIGHT_MISSING: "no linked row matches",
    Reason.RIGHT_NULL: "linked rows match, but their values are missing or unusable",
    Reason.RIGHT_AMBIGUOUS: "linked rows contradict each other",
    Reason.INSUFFICIENT: "too few usable values",
    Reason.SOURCE_STALE: "its source is too old",
}
"""Why a member is undecided, in long form."""

CAUSES: dict[Cause, str] = {
    Cause.NULL: "there is no value",
    Cause.NOT_CASTABLE: "the text is not of its type",
    Cause.NOT_FINITE: "it is no finite value",
    Cause.OUT_OF_RANGE: "its type cannot hold it exactly",
    Cause.CENSORED: "it is a bound that does not decide",
    Cause.UNIT_MISMATCH: "it was printed in another unit",
    Cause.OCR_UNCONFIRMED: "it was read from a picture once, and nothing confirms it",
    Cause.KEY_NULL: "the key is blank or unusable",
    Cause.SUPERSEDED: "the schedule in force no longer lists the key, an earlier one did",
    Cause.DIVISION_BY_ZERO: "a divisor is zero",
    Cause.OVERFLOW: "arithmetic left the range of its type",
}
"""Why an operand, or a link, decides nothing, in long form."""

NOT_MADE: dict[NotMadeReason, str] = {
    NotMadeReason.POPULATION_EMPTY: "there was nothing to judge",
    NotMadeReason.VIEW_MISSING: "a governed view is not there",
    NotMadeReason.VIEW_CHANGED: "a governed view no longer has the declared columns",
    NotMadeReason.TIMEOUT: "the queries took longer than they may",
    NotMadeReason.ENGINE_ERROR: "the warehouse engine failed",
    NotMadeReason.ACCOUNTING: "the counts did not add up, which is a fault of Trivet",
    NotMadeReason.NOT_EVALUATED: "the slot came due and was not evaluated",
}
"""Why an evaluation was not made, in long form."""

SLOT_CAUSES: dict[SlotCause, str] = {
    SlotCause.MISSED: "nothing was running",
    SlotCause.OVERRUN: "the one before it was still running",
    SlotCause.CRASHED: "it began and did not end",
    SlotCause.CLOCK_JUMP: "the clock moved over it",
    SlotCause.PAUSED: "the monitor was paused",
    SlotCause.REMOVED: "the monitor was removed before it began",
}
"""Why a slot was not evaluated, in long form."""

# What chat and mail programs turn into a link or a mention: schemes, mentions, Slack's commands, host names. No host's
# name ends as a file of data does, and the name of a file is what a person wants to copy.
_FILE = r"(?!(?:csv|tsv|txt|json|parquet|pdf|xlsx?)(?![\w.-]))"
_ACTIVE = re.compile(
    r"(?P<scheme>://)|(?P<at>@)|(?P<command>(?<=<)!)|(?P<dot>(?<=[^\W_])\." + _FILE + r"(?=[^\W\d_]{2}))"
)
_TAMED = {"scheme": "[:]//", "at": "[@]", "command": "[!]", "dot": "[.]"}


def visible(text: str) -> str:
    """Text on one line, with control, format and bidirectional characters made visible."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def inactive(text: str) -> str:
    """`visible` text in which no program finds a link or a mention: `https[:]//example[.]org`, `[@]channel`.

    Data is written by others, and a message that Trivet sends must not carry their links under its name.
    """
    return _ACTIVE.sub(lambda match: _TAMED[match.lastgroup or "dot"], visible(text))


def shortened_inside(text: str, most: int) -> str:
    """At most `most` characters, with an ellipsis in the middle: of a place, its end says more than its middle."""
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def shortened(text: str, most: int) -> str:
    """At most `most` characters, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
