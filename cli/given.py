"""What people give with an option and the ledger keeps for ever: who, why, and until when."""

from __future__ import annotations

from datetime import datetime

from cli.invocation import Invocation
from trivet.canonical import normal_text
from trivet.durations import parse_duration
from trivet.errors import UsageError

_LONGEST_TEXT = 500


def said(option: str, text: str) -> str:
    """A text on one line.

    Raises:
        UsageError: it is blank, or too long.
    """
    found = " ".join(normal_text(text).split())
    if not found or len(found) > _LONGEST_TEXT:
        raise UsageError(f"{option}: expected a text of at most {_LONGEST_TEXT} characters")
    return found


def instant_of(invocation: Invocation, option: str, text: str, now: datetime, zone: str) -> datetime:
    """An instant in ISO 8601, read in a time zone where it names none, or so long from now as a duration says.

    Raises:
        UsageError: it is neither.
    """
    duration = parse_duration(text)
    if duration is None:
        return invocation.instant(text, zone, option=option)
    try:
        return now + duration
    except OverflowError:
        raise UsageError(f"{option}: {text} is too long") from None
