"""The words of English that shape a question: what is asked, how it compares, and what says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from resolver.plan import Measure, Operator
from trivet.stems import stems_of


class Mark(Enum):
    """What a phrase does in a question, where it neither measures nor compares."""

    BY = "by"
    WHICH = "which"
    """Asks for rows, and so cannot go with an extreme."""
    MISSING = "missing"
    UNDECIDED = "undecided"
    FISCAL = "fiscal"
    CALENDAR = "calendar"
    IN = "in"
    AND = "and"
    SILENT = "silent"
    """Says nothing by itself."""


Symbol = Measure | Operator | Mark

_PHRASES: dict[Symbol, str] = {
    Measure.COUNT: "how many, number of, count, count of, headcount",
    Measure.MIN: "lowest, minimum, smallest, min, earliest, least, cheapest, first",
    Measure.MAX: "highest, maximum, largest, max, latest, most, greatest, biggest, last",
    Measure.AVG: "average, mean, avg, on average, typical",
    Measure.SUM: "total, sum, sum of, in total, altogether",
    Operator.LESS: "below, under, less than, lower than, smaller than, fewer than, before, earlier than, beneath",
    Operator.GREATER: (
        "above, over, more than, greater than, higher than, larger than, after, later than, exceed, exceeding, beyond"
    ),
    Operator.LESS_OR_EQUAL: "at most, up to, no more than, not more than, until",
    Operator.GREATER_OR_EQUAL: "at least, no less than, not less than, since",
    Operator.BETWEEN: "between",
    Operator.EQUAL: "equal to, equal, exactly",
    Mark.BY: "by, per, for each, for every, in each, at each, grouped by, broken down by, split by, across",
    Mark.WHICH: "which, who, whom, list, name of",
    Mark.MISSING: "no, without, missing, lack, lacking, blank, unrecorded, do not have, does not have, have no, has no",
    Mark.UNDECIDED: (
        "undecided, could not be decided, cannot be decided, could not be judged, cannot be judged, no data"
    ),
    Mark.FISCAL: "fiscal year, financial year, fy",
    Mark.CALENDAR: "calendar year, year",
    Mark.IN: "in, during, of, for",
    Mark.AND: "and, or, to",
    Mark.SILENT: (
        "a, an, the, is, are, was, were, be, been, being, do, does, did, have, has, had, having, what, whose, that, "
        "with, there, our, we, us, i, you, my, their, its, it, they, them, on, at, from, as, all, each, every, any, "
        "me, show, give, tell, find, get, please, work, works, currently, now, people, person, staff, everyone, "
        "anyone, row, record, entry, recorded, held, value, can, could, would, will, so, also, than"
    ),
}

PHRASES: dict[tuple[str, ...], Symbol] = {
    stems_of(phrase): symbol for symbol, listed in _PHRASES.items() for phrase in listed.split(",")
}
"""Stems of each phrase with what it does."""
_LONGEST = max(map(len, PHRASES))

SILENT = frozenset(stems[0] for stems, symbol in PHRASES.items() if len(stems) == 1 and symbol is Mark.SILENT)
"""Single words that say nothing by themselves."""
_JOINING = frozenset(stems[0] for stems, symbol in PHRASES.items() if len(stems) == 1 and symbol in (Mark.IN, Mark.AND))
FUNCTION_WORDS = frozenset(stems[0] for stems in PHRASES if len(stems) == 1)
"""Single words that have a part in the shape of a question, and so can name no category of the data."""

NEGATIONS = frozenset({"not", "except", "excluding", "other", "never", "neither", "nor", "but", "besides", "unlike"})
"""Words that turn a filter round, which no plan can say; they are never part of a value."""


def read_phrase(stems: Sequence[str], start: int) -> tuple[Symbol, int] | None:
    """The longest phrase that begins at `start`, and the index behind it."""
    for length in range(min(_LONGEST, len(stems) - start), 0, -1):
        symbol = PHRASES.get(tuple(stems[start : start + length]))
        if symbol is not None:
            return symbol, start + length
    return None


def without_form(stems: Sequence[str]) -> tuple[str, ...]:
    """The stems without those that say nothing, join, or ask; what compares stays."""
    kept: list[str] = []
    index = 0
    while index < len(stems):
        found = read_phrase(stems, index)
        if found is None:
            kept.append(stems[index])
            index += 1
            continue
        symbol, behind = found
        if isinstance(symbol, Operator):
            kept += stems[index:behind]
        index = behind
    return tuple(kept)


def meaningful(stems: frozenset[str]) -> frozenset[str]:
    """The stems of a title that carry its meaning."""
    return stems - SILENT - _JOINING
