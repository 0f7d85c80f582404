"""Which linked rows a member meets: keys of one type, and the rows in force on the member's date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from catalog.contract import EffectiveDates, LinkType, Restates
from evals.oracle.outcomes import Indeterminate, Outcome, Value, cause_of, value_of
from trivet.verdicts import Cause

Outcomes: TypeAlias = Mapping[str, Outcome]
"""What each property of one row turns out to be, by name."""
Key: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class LinkedRow:
    """A matching row."""

    outcomes: Outcomes
    unusable: Mapping[str, Cause]
    """Date properties that leave open whether the row is in force; empty where it certainly is."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What a member meets behind one link."""

    rows: tuple[LinkedRow, ...]
    to_one: bool
    key_unknown: bool
    """Whether a key of the member is blank or indeterminate."""
    date_unknown: Mapping[str, Cause]
    """The member's date property with its cause, where the link needs it and it is indeterminate."""
    superseded: bool
    """Whether nothing matches because a later schedule no longer lists the key."""

    @property
    def unusable_rows(self) -> tuple[LinkedRow, ...]:
        """The matching rows of which it is open whether they are in force."""
        return tuple(row for row in self.rows if row.unusable)

    @property
    def known(self) -> bool:
        """Whether all of the member is known that decides what matches."""
        return not self.key_unknown and not self.date_unknown

    @property
    def count(self) -> int | None:
        """How many rows match; None where one more or less could."""
        return len(self.rows) if self.known and not self.unusable_rows else None


def key_of(outcomes: Outcomes, names: Sequence[str]) -> Key | None:
    """The values of a key; None where a part of it is no value, which then equals nothing."""
    values = [value for name in names if (value := value_of(outcomes[name])) is not None]
    return tuple(values) if len(values) == len(names) else None


def match_rows(link: LinkType, member: Outcomes, linked: Sequence[Outcomes]) -> Matches:
    """The rows of the far side that a member meets, in their own order."""
    key = key_of(member, link.source_keys)
    same_key = [index for index, row in enumerate(linked) if key and key_of(row, link.target_keys) == key]
    if link.as_of is None:
        rows = tuple(LinkedRow(linked[index], {}) for index in same_key)
        return Matches(rows, link.cardinality.is_to_one, key is None, {}, superseded=False)
    return _match_dated(link, link.as_of, member, linked, same_key)


def _match_dated(
    link: LinkType,
    dates: EffectiveDates,
    member: Outcomes,
    linked: Sequence[Outcomes],
    same_key: Sequence[int],
) -> Matches:
    today = value_of(member[dates.date])
    ends = _replaced_from(link, dates, linked)
    rows = []
    for index in same_key:
        row = linked[index]
        start = value_of(row[dates.valid_from])
        unusable = _doubts(dates, row)
        if start is None or _in_force(start, ends[index], _last(dates, row), today):
            rows.append(LinkedRow(row, unusable))
    cause = cause_of(member[dates.date])
    replaced = any(_reached(ends[index], today) for index in same_key)
    return Matches(
        rows=tuple(rows),
        to_one=link.cardinality.is_to_one,
        key_unknown=key_of(member, link.source_keys) is None,
        date_unknown={} if cause is None else {dates.date: cause},
        superseded=dates.restates is Restates.ALL and not rows and replaced,
    )


def _replaced_from(link: LinkType, dates: EffectiveDates, linked: Sequence[Outcomes]) -> list[Value | None]:
    """For each row, the next later date of its schedule, from which it no longer counts."""
    names = link.target_keys if dates.restates is Restates.CHANGES else dates.within
    schedules: dict[Key, set[Value]] = {}
    places: list[tuple[Key, Value] | None] = []
    for row in linked:
        schedule, start = key_of(row, names), value_of(row[dates.valid_from])
        if schedule is None or start is None:
            places.append(None)
            continue
        schedules.setdefault(schedule, set()).add(start)
        places.append((schedule, start))
    return [None if place is None else _next(schedules[place[0]], place[1]) for place in places]


def _next(starts: set[Value], start: Value) -> Value | None:
    later = [other for other in starts if other > start]  # type: ignore[operator]
    return min(later, default=None)


def _reached(day: Value | None, today: Value | None) -> bool:
    """Whether a day that is known has come on the member's date, if that is known."""
    return day is not None and today is not None and day <= today  # type: ignore[operator]


def _in_force(start: Value, replaced: Value | None, last: Value | None, today: Value | None) -> bool:
    return _reached(start, today) and not _reached(replaced, today) and not _reached(last, today)


def _last(dates: EffectiveDates, row: Outcomes) -> Value | None:
    return None if dates.valid_to is None else value_of(row[dates.valid_to])


def _doubts(dates: EffectiveDates, row: Outcomes) -> dict[str, Cause]:
    doubts = {}
    if (cause := cause_of(row[dates.valid_from])) is not None:
        doubts[dates.valid_from] = cause
    if dates.valid_to is not None:
        end = row[dates.valid_to]
        cause = cause_of(end)
        if cause is not None and end != Indeterminate(Cause.NULL):
            doubts[dates.valid_to] = cause
    return doubts
