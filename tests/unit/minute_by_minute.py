"""When a cron line comes due, told by walking through time minute by minute: an oracle beside `worker/due.py`.

It shares nothing with that. It reads the wall clock of a zone at every minute of UTC, and sees by itself what the
clock leaves out and what it shows twice. It knows lines whose fields are numbers, lists, `*` and `*/n`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
_AROUND = timedelta(hours=30)
"""More than any clock was changed by."""


def walked(
    line: str, zone: ZoneInfo, after: datetime, until: datetime, nonexistent: str, ambiguous: str
) -> list[datetime]:
    """Every instant in (after, until] at which the line comes due, in UTC."""
    begin = (after.astimezone(UTC) - _AROUND).replace(second=0, microsecond=0)
    walls = []
    while begin <= until + _AROUND:
        walls.append((begin, begin.astimezone(zone).replace(tzinfo=None, fold=0)))
        begin += MINUTE
    shown: dict[datetime, list[datetime]] = {}
    for at, wall in walls:
        shown.setdefault(wall, []).append(at)
    found = set()
    for wall, instants in shown.items():
        if _matches(line, wall):
            found.update({"first": instants[:1], "second": instants[-1:], "both": instants}[ambiguous])
    if nonexistent == "shift_forward":
        found.update(_left_out(line, walls))
    return sorted(at for at in found if after < at <= until)


def _left_out(line: str, walls: list[tuple[datetime, datetime]]) -> Iterator[datetime]:
    """Of times that the clock never showed, the instants that come as much later as it jumped."""
    for (before, last), (_, first) in pairwise(walls):
        wall, passed = last + MINUTE, MINUTE
        while wall < first:
            if _matches(line, wall):
                yield before + passed
            wall, passed = wall + MINUTE, passed + MINUTE


def _matches(line: str, wall: datetime) -> bool:
    minute, hour, day, month, weekday = line.split()
    assert weekday == "*"
    parts = ((minute, wall.minute), (hour, wall.hour), (day, wall.day), (month, wall.month))
    return all(_is_in(field, value) for field, value in parts)


def _is_in(field: str, value: int) -> bool:
    if field.startswith("*"):
        return value % int(field.removeprefix("*").removeprefix("/") or 1) == 0
    return value in map(int, field.split(","))
