"""Durations as people write them: a whole number and one unit, `15m`."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}

DURATION_PATTERN = r"^(0|[1-9][0-9]*)[smhdw]$"
"""What `parse_duration` reads, as a JSON Schema pattern."""

_DURATION = re.compile(DURATION_PATTERN.strip("^$"))
_MOST_DIGITS = 12


def parse_duration(text: str) -> timedelta | None:
    """The duration that `text` spells, or None where it spells none.

    A day is 24 hours and a week is seven days; months and years have no fixed length and no unit.

    Args:
        text: such as `5s`, `15m`, `1h`, `8d`, `2w`.
    """
    if len(text) > _MOST_DIGITS or not _DURATION.fullmatch(text):
        return None
    try:
        return int(text[:-1]) * _UNITS[text[-1]]
    except OverflowError:
        return None


def duration_text(duration: timedelta) -> str:
    """The shortest spelling: the largest unit that divides `duration`; `parse_duration` reads it back.

    Raises:
        ValueError: the duration is negative or has a fraction of a second.
    """
    if duration < timedelta(0) or duration.microseconds:
        raise ValueError(f"{duration!r} has no spelling in whole seconds")
    if not duration:
        return "0s"
    unit, length = next((unit, length) for unit, length in _UNITS.items() if not duration % length)
    return f"{duration // length}{unit}"
