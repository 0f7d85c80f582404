"""Whether a list of periods leaves one out, as far as their texts tell."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from itertools import pairwise

_WRITTEN = re.compile(
    r"(?P<word>[A-Za-z]* ?)(?P<year>\d{4})(?:-?Q(?P<quarter>[1-4])|-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?"
)


def has_gap(values: Collection[str]) -> bool:
    """Whether texts are anything but consecutive periods, which their order as texts is that of."""
    found = [_read(value) for value in sorted(values)]
    places = [place for place in found if place is not None]
    if len(values) == 1:
        return False
    if len(places) < len(found) or len({kind for kind, _ in places}) != 1:
        return True
    numbers = [number for _, number in places]
    return any(after - before != 1 for before, after in pairwise(numbers))


def _read(text: str) -> tuple[str, int] | None:
    """The kind of a period, and its place among those of its kind."""
    parts = _WRITTEN.fullmatch(text)
    if parts is None:
        return None
    year = int(parts["year"])
    if parts["quarter"] is not None:
        return f"{parts['word']}quarter", year * 4 + int(parts["quarter"])
    if parts["month"] is None:
        return f"{parts['word']}year", year
    if parts["day"] is None:
        return f"{parts['word']}month", year * 12 + int(parts["month"])
    try:
        return f"{parts['word']}day", date(year, int(parts["month"]), int(parts["day"])).toordinal()
    except ValueError:
        return None
