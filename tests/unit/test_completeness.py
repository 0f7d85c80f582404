"""What is said of a ledger's slots, entry by entry: what was due, what became of it, and what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worker.completeness import Entry, Period, Report, completeness

CASES = Path(__file__).parents[1] / "cases" / "completeness" / "slots.txt"
START = datetime(2026, 11, 30, 6, tzinfo=UTC)


def at(minute: int | str) -> datetime:
    return START + timedelta(minutes=int(minute))


def text(minute: int | str) -> str:
    return at(minute).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def publication(seq: int, previous: int | None, minute: str, says: str, **changes: Any) -> Entry:
    """A publication of the monitor `m`: an interval, `off` or `gone`."""
    enabled, every = ("false", "1m") if says == "off" else ("true", says)
    document = {"id": "m", "object": "reading", "breach_when": "x > 1", "enabled": enabled}
    monitor = {"id": "m", "definition_hash": "0" * 64, "file": "m.yaml", "planned_until": text(minute)}
    listed = [] if says == "gone" else [monitor | {"document": document | {"schedule": {"every": every}}}]
    payload = {
        "schema": 1,
        "published_at": text(minute),
        "published_by": "somebody",
        "previous": previous,
        "contract": {"id": "world", "version": "1.0.0", "hash": "0" * 64},
        "time_zone": "UTC",
        "monitors": listed,
        "removed": [{"id": "m", "planned_until": text(minute)}] if says == "gone" else [],
    }
    return Entry(seq, "publication", json.dumps(payload | changes))


def result(seq: int, minute: str, after: str | None = None, **changes: Any) -> Entry:
    payload = {"trigger": "schedule", "monitor_id": "m", "scheduled_for": text(minute), "finished_at": text(minute)}
    covers = {"covers_after": text(after)} if after is not None else {}
    return Entry(seq, "evaluation", json.dumps(payload | covers | changes))


def ledger(history: str) -> Iterator[Entry]:
    previous = None
    for seq, word in enumerate(history.split(), start=1):
        if word.startswith("P"):
            minute, _, says = word[1:].partition(":")
            yield publication(seq, previous, minute, says)
            previous = seq
        elif word.startswith("S"):
            was, _, until = word[1:].partition("<")
            marks = [{"id": "m", "was": text(was), "planned_until": text(until)}]
            yield Entry(seq, "clock_set_back", json.dumps({"monitors": marks}))
        else:
            minute, _, after = word.partition(">")
            yield result(seq, minute, after or None)


def asked(text: str) -> Period:
    found = re.fullmatch(r"(\d+)-(\d+) @(\d+)(?: ~(\d+))?", text)
    assert found is not None, text
    grace = timedelta(minutes=int(found[4] or 0))
    return Period(at(found[1]), at(found[2]), at(found[3]), grace)


def said(report: Report) -> str:
    words = []
    for item in report.monitors:
        for name in ("due", "ended", "covered", "open", "ahead", "unjudged"):
            words += [f"{name} {number}"] if (number := getattr(item, name)) else []
        for name in ("missing", "doubled", "unexpected"):
            minutes = [str((slot - START) // timedelta(minutes=1)) for slot in getattr(item, name)]
            words += [f"{name} {','.join(minutes)}"] if minutes else []
    return " ".join(words)


def cases() -> Iterator[Any]:
    for line in CASES.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, history, period, expected = (part.strip() for part in line.split("|"))
            yield pytest.param(history, period, expected, id=name)


@pytest.mark.parametrize(("history", "period", "expected"), list(cases()))
def test_what_is_said_of_the_slots_of_a_ledger(history: str, period: str, expected: str) -> None:
    report = completeness(ledger(history), asked(period))
    assert said(report) == expected
    assert report.is_clean == (not re.search("missing|doubled|unexpected", expected))
    assert report.faults == ()


def test_without_a_period_it_is_from_the_first_publication_to_the_last_entry() -> None:
    report = completeness(ledger("P0:1m 1 2 3"), Period(None, None, None, timedelta()))
    assert (report.since, report.until, said(report)) == (at(0), at(3), "due 3 ended 3")


def test_an_empty_ledger_has_nothing_that_was_due() -> None:
    report = completeness([], Period(None, None, None))
    assert (report.since, report.until, report.monitors, report.is_clean) == (None, None, (), True)


def test_results_without_any_publication_cannot_be_said_to_be_complete() -> None:
    report = completeness(ledger("1 2"), Period(None, None, None))
    assert not report.is_clean
    assert report.faults == ("nothing here says what was due: there is no publication; run `trivet apply`",)


def test_manual_evaluations_and_other_entries_are_passed_by() -> None:
    others = [result(9, "2", trigger="manual"), Entry(10, "checkpoint", "{}"), Entry(11, "delivery", "no JSON")]
    report = completeness([*ledger("P0:1m 1"), *others], asked("0-1 @1"))
    assert (said(report), report.is_clean) == ("due 1 ended 1", True)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            [publication(4, 2, "0", "1m")],
            "the publication at entry 4 names entry 2 as the one before it, and here that",
        ),
        (
            [publication(1, None, "0", "1m"), publication(5, None, "0", "1m")],
            "the publication at entry 5 names none as the one before it, and here that is entry 1",
        ),
        ([publication(1, None, "0", "1m", schema=9)], "entry 1: its payload is of version 9"),
        ([publication(1, None, "0", "1m", monitors=5)], "entry 1: its payload lacks what a publication has"),
        ([publication(1, None, "0", "often")], "entry 1: the schedule of m cannot be read"),
        ([publication(1, None, "0", "1m", time_zone="Nowhere/Else")], "entry 1 is damaged"),
        ([publication(1, None, "0", "1m"), result(2, "1", scheduled_for="soon")], "entry 2 is damaged"),
        ([publication(1, None, "0", "1m"), Entry(2, "evaluation", "[")], "entry 2 is damaged"),
        ([publication(1, None, "0", "1m"), Entry(2, "evaluation", "{}")], "entry 2 is damaged"),
    ],
)
def test_entries_that_are_gone_or_damaged_are_told_and_never_taken_for_complete(
    entries: list[Entry], told: str
) -> None:
    report = completeness(entries, asked("0-0 @0"))
    assert not report.is_clean
    assert report.faults[0].startswith(told)


def test_a_year_of_minutes_is_looked_at_slot_by_slot() -> None:
    year = 365 * 24 * 60
    report = completeness([publication(1, None, "0", "1m")], asked(f"0-{year} @{year}"))
    (monitor,) = report.monitors
    assert (monitor.due, len(monitor.missing)) == (year, year)
    assert monitor.missing[0] == at(1)
    assert monitor.missing[-1] == at(year)
