"""The laws that hold for every history of an alert, against an oracle that shares nothing with the core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from alerts.changes import advance
from alerts.groups import GroupAlert, advance_groups
from alerts.members import Flagged, MemberChange, follow
from alerts.states import AlertEvent, AlertKind, AlertState, MemberState
from alerts.status import AlertChange, AlertStatus
from monitors.alerting import AlertPolicy, Flapping, Lasting, NoDataPolicy, Threshold
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Evaluation, Followed, Member, NotMade, key_text
from tests.alerting import START, a_monitor
from trivet.verdicts import NotMadeReason, Reason, Trigger, Verdict

MEMBERS = "ABC"
FAILED = "xxx"
"""An evaluation that could not be made."""


@dataclass
class Run:
    """The core, fed with evaluations of three members; of each what becomes of it is one letter.

    b breach, n undecided, c compliant, g not there, ? not looked for.
    """

    definition: MonitorDefinition
    status: AlertStatus = field(default_factory=AlertStatus)
    flagged: dict[str, Flagged] = field(default_factory=dict)

    accepted: Mapping[str, str] = field(default_factory=dict)

    def take(self, word: str, slot: int) -> AlertChange | None:
        moved = advance(self.status, self.evaluation(word, slot), self.flagged, accepted=self.accepted)
        self.status = moved.status
        self.flagged |= {item.key: item.after for item in (*moved.members, *moved.heard)}
        return moved.change

    def evaluation(self, word: str, slot: int) -> Evaluation:
        at = START + timedelta(hours=slot)
        found = dict(zip(MEMBERS, word, strict=True))
        breached, undecided = ([name for name in MEMBERS if found[name] == letter] for letter in "bn")
        asked = {name for name in MEMBERS if found[name] in "cg" and key(name) in self.flagged}
        outcome: Counts | NotMade = NotMade(NotMadeReason.TIMEOUT, "too slow")
        if word != FAILED:
            there = sum(letter != "g" for letter in word)
            reasons = {Reason.LEFT_NULL: len(undecided)} if undecided else {}
            rest = there - len(breached) - len(undecided)
            outcome = Counts(there, len(breached), len(undecided), rest, 0, 0, reasons)
        return Evaluation(
            evaluation_id=f"{slot:064x}",
            definition=self.definition,
            contract={},
            trigger=Trigger.SCHEDULE,
            slot=at,
            started_at=at,
            finished_at=at,
            outcome=outcome,
            engine="duckdb",
            engine_version="2",
            breached=tuple(Member(Verdict.BREACH, {"id": name}, {}, ()) for name in breached),
            undecided=tuple(Member(Verdict.NO_DATA, {"id": n}, {}, (), Reason.LEFT_NULL) for n in undecided),
            followed=Followed(frozenset(map(key, asked)), frozenset(key(name) for name in asked if found[name] == "c")),
        )


@dataclass
class GroupRun(Run):
    """The core of a monitor whose groups have alerts of their own."""

    most: int = 3
    groups: dict[str, GroupAlert] = field(default_factory=dict)
    resolved: set[str] = field(default_factory=set)
    """The groups whose alerts ended by the latest evaluation."""

    def take(self, word: str, slot: int) -> AlertChange | None:
        live = {name: Flagged(MemberState.NO_DATA, False, START) for name, item in self.groups.items() if item.is_live}
        # Whoever looks members up looks for groups with live alerts as well.
        seen, self.flagged = self.flagged, live | self.flagged
        made = self.evaluation(word, slot)
        self.flagged = seen
        moved = advance_groups(self.status, list(self.groups.values()), made, self.flagged, most=self.most)
        self.status = moved.monitor.status
        self.flagged |= {item.key: item.after for item in (*moved.members, *moved.heard)}
        self.groups |= {item.alert.key: item.alert for item in moved.groups}
        ended = [item for item in moved.groups if item.step.change and item.step.change.event is AlertEvent.RESOLVED]
        self.resolved = {item.alert.key for item in ended}
        return moved.monitor.change

    def covers(self, name: str) -> bool:
        """Whether the group's own alert, or the monitor's, is not quiet."""
        own = self.groups.get(key(name))
        return self.status.state is not AlertState.QUIET or (
            own is not None and own.status.state is not AlertState.QUIET
        )


def key(name: str) -> str:
    return key_text({"id": name})


class Oracle:
    """What must be told, from the words alone: no flapping, no sizes, no reasons."""

    def __init__(self, alert: bool, tolerate: int, fires: int, clears: int) -> None:
        self.alert, self.tolerate, self.fires, self.clears = alert, tolerate, fires, clears
        self.suspects: set[str] = set()
        self.heard: set[str] = set()
        """Members that were in a message as ones that breached and cannot be judged, in this episode."""
        self.told: str | None = None
        self.run = self.calm = 0

    def judge(self, word: str) -> tuple[str | None, bool, bool]:
        """What it is about, whether that is loud, and whether everything is in order."""
        if word == FAILED:
            return ("unjudged" if self.suspects else "no_data" if self.alert else None), self.alert, False
        for name, letter in zip(MEMBERS, word, strict=True):
            if letter == "b":
                self.suspects.add(name)
            elif letter == "c":
                self.suspects.discard(name)
        undecided = word.count("n")
        too_many = undecided > self.tolerate
        if "b" in word:
            return "breach", True, False
        if self.suspects:
            letters = {letter for name, letter in zip(MEMBERS, word, strict=True) if name in self.suspects}
            return "unjudged", "g" in letters or (too_many and self.alert) or undecided == 0, False
        if too_many:
            return ("no_data" if self.alert or self.told == "no_data" else None), self.alert, False
        return None, False, True

    def lost(self, word: str, letters: str) -> set[str]:
        """Members that breached, and of which the evaluation says this."""
        return {name for name, letter in zip(MEMBERS, word, strict=True) if letter in letters} & self.suspects

    def take(self, word: str) -> tuple[str, str] | None:
        told = self._take(word)
        if told is None or told[0] == "resolved":
            self.heard = self.heard if self.told else set()
        else:
            self.heard |= self.lost(word, "ng")
        return told

    def _take(self, word: str) -> tuple[str, str] | None:
        about, loud, calm = self.judge(word)
        if calm:
            self.run, self.calm = 0, self.calm + 1
            if self.told is None or self.calm < self.clears:
                return None
            told, self.told = self.told, None
            return "resolved", told
        if not loud:
            # Quieted: nothing is known, so nothing is broken off; what was seen to be over is over.
            self.run = self.run if word == FAILED or (self.suspects or "n" in word) else 0
            return None
        self.run, self.calm = self.run + 1, 0
        assert about is not None
        if self.told is None and self.run < self.fires:
            return None
        if self.told is None:
            self.told = about
            return "fired", about
        missing_is_told = self.alert and word.count("n") > self.tolerate and self.run >= self.fires
        if about == self.told == "breach" and self.lost(word, "gn" if missing_is_told else "g") - self.heard:
            return "changed", about
        if about == self.told or (self.run < self.fires and not (about == "breach" and self.told != "no_data")):
            return None
        self.told = about
        return "changed", about


letters = st.sampled_from("bncg?")
words = st.one_of(st.just(FAILED), st.tuples(letters, letters, letters).map("".join), st.just("ccc"))
histories = st.lists(words, max_size=14)
numbers = st.tuples(st.booleans(), st.integers(0, 2), st.integers(1, 3), st.integers(1, 3))


def monitor(alert: bool, tolerate: int, fires: int, clears: int, flapping: Flapping) -> MonitorDefinition:
    policy = AlertPolicy(fires_after=Lasting(fires), clears_after=Lasting(clears), flapping=flapping)
    return a_monitor(no_data=NoDataPolicy(alert, Threshold(tolerate)), alerting=policy)


STEADY = Flapping(alert=False)
definitions = st.builds(
    lambda made, flapping: monitor(*made, flapping),
    numbers,
    st.sampled_from([STEADY, Flapping(2, 5), Flapping(4, 10), Flapping(1, 3)]),
)


@given(numbers, histories)
def test_what_is_told_is_what_the_oracle_tells(made: tuple[bool, int, int, int], history: list[str]) -> None:
    oracle, core = Oracle(*made), Run(monitor(*made, STEADY))
    for slot, word in enumerate(history):
        change = core.take(word, slot)
        assert (None if change is None else (change.event.value, change.kind.value)) == oracle.take(word), word


@given(definitions, histories)
def test_nothing_resolves_without_positive_evidence(definition: MonitorDefinition, history: list[str]) -> None:
    core, suspects = Run(definition), set[str]()
    for slot, word in enumerate(history):
        was_open = core.status.state.is_open
        change = core.take(word, slot)
        if word != FAILED:
            for name, letter in zip(MEMBERS, word, strict=True):
                suspects = suspects | {name} if letter == "b" else suspects - {name} if letter == "c" else suspects
        ended = was_open and not core.status.state.is_open
        assert ended == (change is not None and change.event is AlertEvent.RESOLVED)
        if ended:
            assert word != FAILED
            assert not suspects
            assert word.count("n") <= definition.no_data.tolerate.count


@given(definitions, histories)
def test_a_breach_is_never_quiet(definition: MonitorDefinition, history: list[str]) -> None:
    core = Run(definition)
    for slot, word in enumerate([*history, "bcc"]):
        core.take(word, slot)
    assert core.status.kind is AlertKind.BREACH
    assert core.status.state is not AlertState.QUIET


@given(definitions, histories, st.data())
def test_the_order_of_arrival_does_not_matter_but_for_what_came_too_late(
    definition: MonitorDefinition, history: list[str], data: st.DataObject
) -> None:
    slots = list(range(len(history)))
    arriving = data.draw(st.permutations(slots)) + data.draw(st.lists(st.sampled_from(slots or [0]), max_size=3))
    core, told = Run(definition), list[AlertChange | None]()
    latest, counted = -1, list[int]()
    for slot in arriving:
        if slot >= len(history):
            continue
        before = core.status, dict(core.flagged)
        change = core.take(history[slot], slot)
        if slot <= latest:
            assert change is None
            assert (core.status, core.flagged) == before
        else:
            counted.append(slot)
            told.append(change)
        latest = max(latest, slot)
    again = Run(definition)
    assert [again.take(history[slot], slot) for slot in counted] == told
    assert (again.status, again.flagged) == (core.status, core.flagged)


@given(definitions, histories)
def test_at_most_one_episode_is_open(definition: MonitorDefinition, history: list[str]) -> None:
    core = Run(definition)
    told = [change for slot, word in enumerate(history) if (change := core.take(word, slot)) is not None]
    under_way = 0
    for change in told:
        begins = change.ordinal == 1
        assert begins == (change.event in (AlertEvent.FIRED, AlertEvent.FLAPPING) and under_way == 0)
        assert change.episode == (under_way or change.episode)
        under_way = 0 if change.event is AlertEvent.RESOLVED else change.episode
    assert [change.episode for change in told if change.ordinal == 1] == list(range(1, core.status.episode + 1))
    for episode in range(1, core.status.episode + 1):
        ordinals = [change.ordinal for change in told if change.episode == episode]
        assert ordinals == list(range(1, len(ordinals) + 1))


judged = st.lists(st.tuples(st.sampled_from("bc"), letters, letters).map("".join), max_size=14)


@given(definitions, judged)
def test_an_accepted_breach_alerts_as_little_as_a_compliant_member(
    definition: MonitorDefinition, history: list[str]
) -> None:
    """As long as it is judged; and it is counted in every message all the same."""
    accepting, plain = Run(definition, accepted={key("A"): "2027-01-31"}), Run(definition)
    for slot, word in enumerate(history):
        found, expected = accepting.take(word, slot), plain.take("c" + word[1:], slot)
        if found is not None:
            assert len(found.accepted) == (word[0] == "b")
            found = replace(found, accepted=())
        assert found == expected, word
        assert accepting.status == plain.status


@given(histories)
def test_every_move_of_a_member_is_one_change(history: list[str]) -> None:
    core = Run(monitor(True, 0, 1, 1, STEADY))
    states = dict.fromkeys(MEMBERS, "c")
    names = {"b": MemberState.BREACH, "n": MemberState.NO_DATA, "c": MemberState.COMPLIANT, "g": MemberState.GONE}
    for slot, word in enumerate(history):
        moved = follow(core.flagged, core.evaluation(word, slot)).changes
        expected = {}
        for name, letter in zip(MEMBERS, word, strict=True):
            flagged = key(name) in core.flagged and core.flagged[key(name)].is_followed
            if word == FAILED or letter == "?" or (letter in "cg" and not flagged) or letter == states[name]:
                continue
            expected[key(name)] = names[letter]
        assert {item.key: item.after.now for item in moved} == expected
        states |= {name: letter for name, letter in zip(MEMBERS, word, strict=True) if key(name) in expected}
        core.take(word, slot)


def test_of_too_many_breached_members_the_rest_is_followed_as_a_whole() -> None:
    core = Run(monitor(True, 0, 1, 1, STEADY))
    first = follow({}, core.evaluation("bbb", 0), most_breached=2)
    assert (len(first.changes), first.beyond) == (2, True)
    core.flagged = {item.key: item.after for item in first.changes}
    assert follow(core.flagged, core.evaluation("ccn", 1), beyond=True).beyond
    assert not follow(core.flagged, core.evaluation("ccc", 1), beyond=True).carried


def test_undecided_members_that_never_breached_are_followed_up_to_a_bound() -> None:
    core = Run(monitor(True, 0, 1, 1, STEADY))
    assert len(follow({}, core.evaluation("nnn", 0), most_undecided=2).changes) == 2


def test_a_key_that_breaches_once_breaches() -> None:
    made = Run(monitor(True, 0, 1, 1, STEADY)).evaluation("bnc", 0)
    twice = replace(made, undecided=(*made.undecided, replace(made.breached[0], verdict=Verdict.NO_DATA)))
    assert states(follow({}, twice).changes) == {"A": MemberState.BREACH, "B": MemberState.NO_DATA}


def states(changes: Iterable[MemberChange]) -> dict[str, Any]:
    return {name: item.after.now for item in changes for name in MEMBERS if item.key == key(name)}


@given(definitions, histories, st.integers(0, 3))
def test_no_group_that_breached_is_forgotten_and_none_ends_unseen(
    definition: MonitorDefinition, history: list[str], most: int
) -> None:
    core, suspects = (
        GroupRun(replace(definition, no_data=NoDataPolicy(definition.no_data.alert)), most=most),
        set[str](),
    )
    for slot, word in enumerate(history):
        core.take(word, slot)
        if word != FAILED:
            for name, letter in zip(MEMBERS, word, strict=True):
                suspects = suspects | {name} if letter == "b" else suspects - {name} if letter == "c" else suspects
        assert all(core.covers(name) for name in suspects), word
        assert all(
            word != FAILED and word[MEMBERS.index(name)] == "c" for name in MEMBERS if key(name) in core.resolved
        )
        assert sum(item.status.state is not AlertState.QUIET for item in core.groups.values()) <= most
