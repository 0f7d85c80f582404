"""Whether a proposal says what the question says: its figures and names, no fewer and no others.

Models copy filters out of their examples into questions that have none. Such a plan runs, and is
wrong, and nothing in its form shows it.
"""

from __future__ import annotations

import re

from catalog.contract import Contract
from resolver.dates import calendar_year, fiscal_year
from resolver.plan import SemanticPlan, SqlText
from resolver.question import is_day, is_number, stem, stems_of
from resolver.vocabulary import Linked

_SQL_TEXT = re.compile(r"'((?:[^']|'')*)'")


def unmet_slot(plan: SemanticPlan, linked: Linked, contract: Contract) -> str | None:
    """What the plan filters by without being asked, or leaves out; None where it keeps to the question."""
    words = linked.question.words
    used: set[str] = set()
    for item in plan.filters:
        for value in item.values:
            source = _source(value, words, contract)
            if not source:
                return f"it filters {item.property} by '{value}', which the question does not say"
            used |= source
    figures = _figures(linked)
    left_out = [word for word in words if word in figures and word not in used]
    if left_out:
        return f"it leaves out '{left_out[0]}'"
    wanted = {target.value for span in linked.spans for target in span.targets if target.value is not None}
    if wanted and not any(value in wanted for item in plan.filters for value in item.values):
        return f"it leaves out '{min(wanted)}'"
    return None


def unmet_in_sql(proposed: SqlText, linked: Linked) -> str | None:
    """The same of SQL as a model wrote it, where only literals can be compared."""
    stems = [stem(word) for word in linked.question.words]
    for literal in _SQL_TEXT.findall(proposed.text):
        known = any(part in linked.question.words for part in re.findall(r"\d{4}", literal))
        if literal.strip() and not known and not _holds(stems, stems_of(literal)):
            return f"it compares with '{literal}', which the question does not say"
    figures = [word for word in linked.question.words if word in _figures(linked)]
    missing = [word for word in figures if word not in proposed.text]
    return f"it leaves out '{missing[0]}'" if missing else None


def unmet_by_monitor(linked: Linked) -> str | None:
    """A figure of the question, since a monitor's verdict takes no account of any."""
    figures = sorted(_figures(linked))
    return f"the monitor takes no account of '{figures[0]}'" if figures else None


def _figures(linked: Linked) -> frozenset[str]:
    """The numbers and days of a question that are not part of a name."""
    named = {index for span in linked.spans for index in range(span.start, span.end)}
    words = enumerate(linked.question.words)
    return frozenset(word for index, word in words if index not in named and (is_number(word) or is_day(word)))


def _source(value: str, words: tuple[str, ...], contract: Contract) -> set[str]:
    """The words of the question that a filter's value comes from."""
    text = value.strip().lower()
    if is_day(text):
        years = {word for word in words if word.isdigit() and len(word) == 4 and text in _bounds(int(word), contract)}
        return {word for word in words if word == text} or years
    if is_number(text):
        return {word for word in words if is_number(word) and float(word) == float(text)}
    stems = stems_of(value)
    found = _holds([stem(word) for word in words], stems)
    return set(stems) | {text} if found and stems else set()


def _bounds(year: int, contract: Contract) -> set[str]:
    days = (*calendar_year(year), *fiscal_year(year, contract.calendar))
    return {day.isoformat() for day in days}


def _holds(stems: list[str], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(tuple(stems[start : start + size]) == wanted for start in range(len(stems) - size + 1))
