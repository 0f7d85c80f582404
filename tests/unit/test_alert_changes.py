"""Alerts move by evidence: the cases of `tests/cases/alerts/changes.txt`, and the laws that hold for every history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.changes import AlertChange, AlertStatus, advance
from alerts.states import AlertEvent, AlertKind, AlertState
from monitors.definition import MonitorDefinition, NoDataPolicy
from monitors.evaluation import Evaluation
from tests.alerting import START, a_failure, a_monitor, an_evaluation
from trivet.verdicts import EvaluationStatus, Trigger, Verdict

CASES = Path(__file__).parent.parent / "cases" / "alerts" / "changes.txt"
KINDS = {"b": AlertKind.BREACH, "n": AlertKind.NO_DATA, "u": AlertKind.UNJUDGED}
EVENTS = {"F": AlertEvent.FIRED, "C": AlertEvent.CHANGED, "R": AlertEvent.RESOLVED}
STEPS = ("b", "n", "N", "bn", "x", "c")


class Case(NamedTuple):
    name: str
    policy: str
    steps: str
    told: str
    end: str


def read_cases() -> list[Case]:
    lines = [line for line in CASES.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return [Case(*(part.strip() for part in line.split("|"))) for line in lines]


def monitor_of(policy: str) -> MonitorDefinition:
    words = dict(word.partition("=")[::2] for word in policy.split())
    no_data = NoDataPolicy("quiet" not in words, int(words.get("tolerate") or 0))
    return a_monitor(no_data=no_data, consecutive=int(words.get("for") or 1))


def step(word: str, slot: int, definition: MonitorDefinition) -> Evaluation:
    if word == "x":
        return an_evaluation(slot, not_made=a_failure(), definition=definition)
    undecided = {"n": 1, "bn": 1, "N": 3}.get(word, 0)
    return an_evaluation(slot, breaches=int("b" in word), no_data=undecided, definition=definition)


def run(evaluations: Iterable[Evaluation]) -> tuple[AlertStatus, list[AlertChange | None]]:
    status, changes = AlertStatus(), []
    for made in evaluations:
        status, change = advance(status, made)
        changes.append(change)
    return status, changes


def told(change: AlertChange | None) -> tuple[AlertEvent, AlertKind] | None:
    return None if change is None else (change.event, change.kind)


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name.replace(" ", "-"))
def test_a_history_is_told_as_its_line_says(case: Case) -> None:
    definition = monitor_of(case.policy)
    words = case.steps.split()
    status, changes = run(step(word, slot, definition) for slot, word in enumerate(words))
    expected = [None if word == "." else (EVENTS[word[0]], KINDS[word[1]]) for word in case.told.split()]
    assert [told(change) for change in changes] == expected
    assert " ".join(filter(None, (status.state, status.kind))) == case.end


def test_what_is_told_is_numbered_within_its_episode() -> None:
    _, changes = run(step(word, slot, a_monitor()) for slot, word in enumerate(("n", "b", "x", "c", "b", "c")))
    assert [(change.episode, change.ordinal) for change in changes if change] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 1),
        (2, 2),
    ]


def test_a_change_says_what_was_told_before() -> None:
    _, changes = run(step(word, slot, monitor_of("quiet")) for slot, word in enumerate(("b", "x", "b")))
    assert [told(change) for change in changes] == [(AlertEvent.FIRED, AlertKind.BREACH), None, None]
    _, changes = run(step(word, slot, a_monitor()) for slot, word in enumerate(("b", "x", "b")))
    assert [change.was for change in changes if change] == [None, AlertKind.BREACH, AlertKind.UNJUDGED]


def test_since_is_the_first_slot_out_of_order_though_it_fired_later() -> None:
    status, changes = run(step(word, slot, monitor_of("for=3")) for slot, word in enumerate(("c", "b", "b", "b", "c")))
    fired, resolved = changes[3], changes[4]
    assert fired is not None
    assert resolved is not None
    assert fired.since == START + timedelta(hours=1)
    assert resolved.since == status.since == START + timedelta(hours=4)


def test_an_older_slot_never_changes_a_newer_state() -> None:
    firing, _ = run([step("b", 5, a_monitor())])
    assert advance(firing, step("c", 4, a_monitor())) == (firing, None)


def test_a_replay_changes_nothing() -> None:
    firing, _ = run([step("b", 1, a_monitor())])
    replayed = replace(step("c", 2, a_monitor()), trigger=Trigger.REPLAY)
    assert advance(firing, replayed) == (firing, None)


def test_an_evaluation_for_a_time_that_had_not_come_keeps_out_no_later_one() -> None:
    early = replace(step("c", 9, a_monitor()), finished_at=START)
    status, _ = run([early])
    assert status == AlertStatus()
    assert told(advance(status, step("b", 1, a_monitor()))[1]) == (AlertEvent.FIRED, AlertKind.BREACH)


definitions = st.builds(
    lambda alert, tolerate, consecutive: a_monitor(no_data=NoDataPolicy(alert, tolerate), consecutive=consecutive),
    st.booleans(),
    st.integers(0, 3),
    st.integers(1, 3),
)
words = st.lists(st.sampled_from(STEPS), max_size=12)


@given(definitions, words)
def test_nothing_resolves_without_positive_evidence(definition: MonitorDefinition, history: list[str]) -> None:
    status = AlertStatus()
    for slot, word in enumerate(history):
        made = step(word, slot, definition)
        before, (status, change) = status, advance(status, made)
        left = before.state is AlertState.FIRING and status.state is not AlertState.FIRING
        assert left == (change is not None and change.event is AlertEvent.RESOLVED)
        if left:
            assert made.status is EvaluationStatus.COMPLETED
            assert made.verdict is Verdict.COMPLIANT or (
                before.kind is AlertKind.NO_DATA and len(made.undecided) <= definition.no_data.tolerate
            )


@given(definitions, words)
def test_a_breach_is_never_quiet(definition: MonitorDefinition, history: list[str]) -> None:
    status, _ = run(step(word, slot, definition) for slot, word in enumerate([*history, "b"]))
    assert status.kind is AlertKind.BREACH
    assert status.state is (AlertState.FIRING if status.pending == 0 else AlertState.PENDING)
    assert status.pending < definition.consecutive


@given(definitions, words, st.data())
def test_slots_that_come_twice_or_late_change_nothing(
    definition: MonitorDefinition, history: list[str], data: st.DataObject
) -> None:
    made = [step(word, slot, definition) for slot, word in enumerate(history)]
    status, once = run(made)
    repeated: list[Evaluation] = []
    for index, item in enumerate(made):
        late = data.draw(st.lists(st.sampled_from(made[: index + 1]), max_size=2))
        repeated += [item, *late]
    again, twice = run(repeated)
    assert again == status
    assert [change for change in twice if change] == [change for change in once if change]


@given(definitions, words)
def test_every_episode_begins_with_fired_and_is_resolved_at_most_once(
    definition: MonitorDefinition, history: list[str]
) -> None:
    _, changes = run(step(word, slot, definition) for slot, word in enumerate(history))
    episodes: dict[int, list[AlertChange]] = {}
    for change in changes:
        if change is not None:
            episodes.setdefault(change.episode, []).append(change)
    assert list(episodes) == list(range(1, len(episodes) + 1))
    for number, events in episodes.items():
        assert [change.ordinal for change in events] == list(range(1, len(events) + 1))
        assert events[0].event is AlertEvent.FIRED
        assert all(change.event is AlertEvent.CHANGED for change in events[1:-1])
        if number < len(episodes):
            assert events[-1].event is AlertEvent.RESOLVED
        assert all(a.kind is not b.kind for a, b in pairwise(events) if b.event != "resolved")
