"""Every scenario of `tests/cases/alerts/` over the pure core: evaluations in, what is told out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import datetime

import pytest

from alerts.accepting import Term
from alerts.changes import advance
from alerts.groups import GroupAlert, advance_groups, name_of
from alerts.members import Flagged
from alerts.reminding import acknowledge, release, release_group, remind
from alerts.states import AlertState
from alerts.status import AlertChange, AlertStatus, detail_fields
from monitors.evaluation import Evaluation
from tests.alert_scenarios import (
    Scenario,
    Step,
    Told,
    as_json,
    duration,
    evaluation,
    grouped_text,
    letter,
    scenarios,
)

ONE_MONITOR = [item for item in scenarios() if not (item.is_shared or item.is_grouped)]
GROUPED = [item for item in scenarios() if item.is_grouped]
TOPICS = {
    "breach": 1,
    "missing data": 1,
    "flapping": 3,
    "outage": 3,
    "missing member": 3,
    "late slot": 3,
    "restart": 3,
    "silence": 3,
    "two daemons": 2,
    "escalation": 3,
    "severity": 3,
    "accepted": 5,
    "group": 15,
}


def in_force(accepted: Mapping[str, Term], made: Evaluation) -> dict[str, str]:
    """What is accepted when an evaluation ends, as the core takes it."""
    return {key: term.last_day.isoformat() for key, term in accepted.items() if made.finished_at < term.until}


class Core:
    """The pure core, and the little that whoever uses it has to keep."""

    def __init__(self, scenario: Scenario) -> None:
        self.definition = scenario.definition
        self.status = AlertStatus()
        self.flagged: dict[str, Flagged] = {}
        self.silenced_until = None
        self.accepted: dict[str, Term] = {}

    def take(self, step: Step) -> list[AlertChange]:
        if "restart" in step.raw:
            # All that outlives a process is what the store's columns and the text beside them hold.
            text = self.status.detail_json()
            kept = {item.name: getattr(self.status, item.name) for item in fields(AlertStatus)}
            assert (
                replace(AlertStatus(**kept), **detail_fields(text, self.status.kind, self.status.told)) == self.status
            )
            return []
        if "acknowledge" in step.raw:
            self.status, change = acknowledge(self.status, step.raw["acknowledge"])
            return [change] if change else []
        if "release" in step.raw:
            self.status, change, let_go = release(self.status, self.flagged, step.raw["release"])
            self.flagged |= let_go
            return [change] if change else []
        if "silence" in step.raw:
            self.silenced_until = step.now + duration(step.raw["silence"])
            return []
        if "accept" in step.raw:
            self.accepted |= dict.fromkeys(step.members, step.term)
            return []
        if "unaccept" in step.raw:
            self.accepted = {key: term for key, term in self.accepted.items() if key not in step.members}
            return []
        if "clock" in step.raw:
            muted = self._is_silenced(step)
            self.status, changes = remind(self.status, self.definition.alerting, step.now, muted=muted)
            return list(changes)
        return [change for daemon in range(step.raw.get("daemons", 1)) if (change := self._evaluate(step, daemon))]

    def _evaluate(self, step: Step, daemon: int) -> AlertChange | None:
        known = [key for key, item in self.flagged.items() if item.is_followed]
        made = evaluation(step, self.definition, known, daemon)
        accepted = in_force(self.accepted, made)
        moved = advance(self.status, made, self.flagged, muted=self._is_silenced(step), accepted=accepted)
        self.status = moved.status
        self.flagged |= {item.key: item.after for item in (*moved.members, *moved.heard)}
        self.flagged = self.kept()
        return moved.change

    def kept(self) -> dict[str, Flagged]:
        """The members that must outlive a process: those that are followed, or were told of in this episode."""
        is_open = self.status.state.is_open
        return {key: item for key, item in self.flagged.items() if item.is_followed or (is_open and item.told)}

    def _is_silenced(self, step: Step) -> bool:
        return self.silenced_until is not None and step.now < self.silenced_until


@pytest.mark.parametrize("scenario", ONE_MONITOR, ids=str)
def test_the_core_tells_what_the_scenario_says(scenario: Scenario) -> None:
    core = Core(scenario)
    default = scenario.definition.severity.value
    for step in scenario.steps:
        changes = core.take(step)
        assert [Told.of(change) for change in changes] == step.told(default), as_json(step)
        assert [letter(key) for change in changes for key in change.unjudged] == step.newly, as_json(step)
        if "state" in step.raw:
            assert shown(core.status) == step.raw["state"], as_json(step)
    assert shown(core.status) == scenario.end


class Groups:
    """The core of a monitor whose groups have alerts of their own, and what whoever uses it has to keep."""

    def __init__(self, scenario: Scenario) -> None:
        self.definition = scenario.definition
        self.status = AlertStatus()
        self.groups: dict[str, GroupAlert] = {}
        self.flagged: dict[str, Flagged] = {}
        self.covered: set[str] = set()
        self.silenced: dict[str, datetime] = {}
        self.accepted: dict[str, Term] = {}

    def take(self, step: Step) -> list[tuple[str, Told]]:
        raw = step.raw
        if "restart" in raw:
            return []
        if "silence" in raw:
            self.silenced[self._name(raw.get("of"))] = step.now + duration(raw["silence"])
            return []
        if "accept" in raw:
            self.accepted |= dict.fromkeys(step.members, step.term)
            return []
        if "acknowledge" in raw or "release" in raw or "clock" in raw:
            return [(name, Told.of(change)) for name, change in self._moved(step)]
        return [found for daemon in range(raw.get("daemons", 1)) for found in self._evaluate(step, daemon)]

    def _moved(self, step: Step) -> Iterator[tuple[str, AlertChange]]:
        """What people and the clock make of the alerts."""
        chosen, monitor = step.raw.get("of"), self.definition.id
        if chosen is None and "release" not in step.raw:
            self.status, changes = self._people(self.status, step, monitor)
            yield from ((monitor, change) for change in changes)
        for key, group in self.groups.items():
            name = name_of(monitor, group.number)
            if chosen not in (None, letter(key)) or ("clock" in step.raw and key in self.covered):
                continue
            if "release" in step.raw:
                known = self.flagged.get(key)
                followed = known if known is not None and known.is_followed else None
                status, change, flag = release_group(group.status, followed, step.raw["release"])
                self.flagged |= {} if flag is None else {key: flag}
                changes = (change,) if change else ()
            else:
                status, changes = self._people(group.status, step, name)
            self.groups[key] = replace(group, status=status)
            yield from ((name, change) for change in changes)

    def _people(self, status: AlertStatus, step: Step, name: str) -> tuple[AlertStatus, tuple[AlertChange, ...]]:
        if "acknowledge" in step.raw:
            status, change = acknowledge(status, step.raw["acknowledge"])
            return status, (change,) if change else ()
        return remind(status, self.definition.alerting, step.now, muted=self._is_silenced(step, name))

    def _evaluate(self, step: Step, daemon: int) -> Iterator[tuple[str, Told]]:
        known = {key for key, item in self.flagged.items() if item.is_followed}
        known |= {key for key, item in self.groups.items() if item.is_live}
        made = evaluation(step, self.definition, known, daemon)
        moved = advance_groups(
            self.status,
            list(self.groups.values()),
            made,
            self.flagged,
            muted=self._is_silenced(step, self.definition.id),
            is_muted=lambda group: self._is_silenced(step, name_of(self.definition.id, group.number)),
            accepted=in_force(self.accepted, made),
        )
        if moved.monitor.status is not self.status:
            self.covered = {item.alert.key for item in moved.groups} if "not_made" in step.raw else set()
        self.status = moved.monitor.status
        self.flagged |= {item.key: item.after for item in (*moved.members, *moved.heard)}
        if moved.monitor.change:
            yield self.definition.id, Told.of(moved.monitor.change)
        for item in moved.groups:
            if item.alert.key in self.groups or item.step.status.state is not AlertState.QUIET:
                self.groups[item.alert.key] = item.alert
            if item.step.change:
                yield name_of(self.definition.id, item.alert.number), Told.of(item.step.change)

    def names(self) -> dict[str, str]:
        """The groups' letters by their alerts' names."""
        return {name_of(self.definition.id, item.number): letter(key) for key, item in self.groups.items()}

    def end(self) -> str:
        """How the alerts stand that are not quiet: the monitor's own, then the groups' by letter."""
        own = "" if self.status.state is AlertState.QUIET else shown(self.status)
        live = sorted((letter(key), item.status) for key, item in self.groups.items())
        found = [f"{name} {shown(status)}" for name, status in live if status.state is not AlertState.QUIET]
        return ", ".join(filter(None, [own, *found])) or "quiet"

    def _name(self, of: str | None) -> str:
        found = next((item for key, item in self.groups.items() if letter(key) == of), None)
        return self.definition.id if found is None else name_of(self.definition.id, found.number)

    def _is_silenced(self, step: Step, name: str) -> bool:
        names = (name, self.definition.id)
        return any(step.now < until for silenced, until in self.silenced.items() if silenced in names)


@pytest.mark.parametrize("scenario", GROUPED, ids=str)
def test_the_core_tells_of_groups_what_the_scenario_says(scenario: Scenario) -> None:
    core = Groups(scenario)
    for step in scenario.steps:
        told = [grouped_text(name, item, core.names()) for name, item in core.take(step)]
        assert told == step.texts, as_json(step)
        if "state" in step.raw:
            assert core.end() == step.raw["state"], as_json(step)
    assert core.end() == scenario.end


def shown(status: AlertStatus) -> str:
    return " ".join(filter(None, (status.state, status.kind)))


def test_there_are_scenarios_of_every_topic() -> None:
    found = Counter(item.topic for item in scenarios())
    assert set(found) == set(TOPICS)
    assert {topic: count for topic, count in found.items() if count < TOPICS[topic]} == {}
    assert found.total() >= 40
