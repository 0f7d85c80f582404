"""Every scenario of `tests/cases/alerts/` over the pure core: evaluations in, what is told out."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import pytest

from alerts.accepting import Term
from alerts.changes import advance
from alerts.members import Flagged
from alerts.reminding import acknowledge, release, remind
from alerts.status import AlertChange, AlertStatus, detail_fields
from tests.alert_scenarios import Scenario, Step, Told, as_json, duration, evaluation, scenarios

ONE_MONITOR = [item for item in scenarios() if not item.is_shared]
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
}


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
        accepted = {
            key: term.last_day.isoformat() for key, term in self.accepted.items() if made.finished_at < term.until
        }
        moved = advance(self.status, made, self.flagged, muted=self._is_silenced(step), accepted=accepted)
        self.status = moved.status
        self.flagged |= {item.key: item.after for item in moved.members}
        return moved.change

    def _is_silenced(self, step: Step) -> bool:
        return self.silenced_until is not None and step.now < self.silenced_until


@pytest.mark.parametrize("scenario", ONE_MONITOR, ids=str)
def test_the_core_tells_what_the_scenario_says(scenario: Scenario) -> None:
    core = Core(scenario)
    default = scenario.definition.severity.value
    for step in scenario.steps:
        told = [Told.of(change) for change in core.take(step)]
        assert told == step.told(default), as_json(step)
        if "state" in step.raw:
            assert shown(core.status) == step.raw["state"], as_json(step)
    assert shown(core.status) == scenario.end


def shown(status: AlertStatus) -> str:
    return " ".join(filter(None, (status.state, status.kind)))


def test_there_are_scenarios_of_every_topic() -> None:
    found = Counter(item.topic for item in scenarios())
    assert set(found) == set(TOPICS)
    assert {topic: count for topic, count in found.items() if count < TOPICS[topic]} == {}
    assert found.total() >= 40
