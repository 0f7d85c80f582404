"""Scenarios of alerts as `tests/cases/alerts/README.md` describes them: read here, run by whoever implements alerts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from alerts.accepting import Term
from alerts.groups import MARK
from alerts.outages import PREFIX
from alerts.status import AlertChange
from catalog.contract import Contract
from catalog.loading import load_contract
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Evaluation, Followed, Member, NotMade, key_text
from monitors.loading import load_monitors
from tests.alerting import START
from trivet.documents import Document, read_yaml
from trivet.durations import parse_duration
from trivet.verdicts import NotMadeReason, Reason, SlotCause, Trigger, Verdict

FOLDER = Path(__file__).parent / "cases" / "alerts"
RECEIVERS = ("payroll", "awards", "duty", "chief")
POPULATION = 20
KEYS = {
    "at",
    "of",
    "breach",
    "no_data",
    "gone",
    "held",
    "unseen",
    "not_made",
    "cause",
    "says",
    "population",
    "early",
    "replay",
    "daemons",
    "clock",
    "acknowledge",
    "release",
    "silence",
    "accept",
    "until",
    "unaccept",
    "restart",
    "told",
    "newly",
    "state",
}
"""Everything that a step can say."""
_NO_EVALUATION = {"clock", "acknowledge", "release", "silence", "accept", "unaccept", "restart"}
CONTRACT = """\
contract: {id: aruma, version: 1.2.0}
object_types:
  - name: pay
    view: o.pay
    primary_key: [id]
    properties: [{name: id, type: text}, {name: rate, type: "decimal(12,4)"}]
"""


class Told(NamedTuple):
    """One thing that a step tells."""

    event: str
    kind: str
    severity: str
    sent: bool
    """False: it is written down, and nobody is told."""

    @classmethod
    def of(cls, change: AlertChange) -> Told:
        return cls(change.event, change.kind, change.severity, not change.muted)


def told_text(monitor: str, told: Told, *, names: bool) -> str:
    """As a scenario of several monitors says it."""
    if monitor.startswith(PREFIX):
        return f"{told.event} outage" if told.sent else f"({told.event} outage)"
    text = f"{told.event} {told.kind} of {monitor}" if names else f"{told.event} {told.kind}"
    return text if told.sent else f"({text})"


def grouped_text(name: str, told: Told, groups: Mapping[str, str]) -> str:
    """As a scenario of groups says it: by the group's letter, and of the monitor's own alert without one."""
    text = f"{told.event} {told.kind}" + (f" of {groups[name]}" if MARK in name else "")
    return text if told.sent else f"({text})"


def letter(key: str) -> str:
    """The letter of a group's key."""
    return str(json.loads(key)["id"])


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens, and what is to come of it."""

    raw: Mapping[str, Any]
    slot: float
    """In hours after the start."""

    @property
    def is_evaluation(self) -> bool:
        return not _NO_EVALUATION & self.raw.keys()

    @property
    def now(self) -> datetime:
        """When it happens; of an evaluation, when it ends."""
        if "clock" in self.raw:
            return START + duration(self.raw["clock"])
        return START + timedelta(hours=self.slot, seconds=2)

    @property
    def texts(self) -> list[str]:
        """What is told, as it is written."""
        texts = self.raw.get("told", [])
        return [texts] if isinstance(texts, str) else list(texts)

    @property
    def members(self) -> list[str]:
        """The keys of the members that it accepts, or accepts no longer."""
        return [_key(name) for name in _names(self.raw.get("accept", self.raw.get("unaccept")))]

    @property
    def term(self) -> Term:
        """For how long it accepts."""
        until = START + duration(self.raw["until"])
        return Term("ana", "known", self.now, until, until.date())

    @property
    def newly(self) -> list[str]:
        """The members of which is told that they breached and cannot be judged."""
        return _names(self.raw.get("newly"))

    def told(self, default: str) -> list[Told]:
        return [_told(text, default) for text in self.texts]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps of one monitor, or of several that share an outage."""

    name: str
    topic: str
    definitions: Mapping[str, MonitorDefinition]
    steps: tuple[Step, ...]
    end: str
    is_slow: bool
    """Over a store it takes seconds."""

    @property
    def is_shared(self) -> bool:
        """Whether several monitors may share what goes wrong: more than the core of one alert decides."""
        return self.topic == "outage"

    @property
    def is_grouped(self) -> bool:
        """Whether the monitor's groups may have alerts of their own."""
        return self.topic == "group"

    @property
    def definition(self) -> MonitorDefinition:
        (only,) = self.definitions.values()
        return only

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def duration(text: str) -> timedelta:
    found = parse_duration(text)
    assert found is not None, text
    return found


def scenarios(*files: str) -> list[Scenario]:
    """The scenarios of some files; of all, if none is named."""
    paths = [FOLDER / f"{name}.yaml" for name in files] or sorted(FOLDER.glob("*.yaml"))
    found = [_scenario(item) for path in paths for item in yaml.safe_load(path.read_text("utf-8"))]
    assert len({item.name for item in found}) == len(found), "two scenarios share a name"
    return found


def evaluation(step: Step, definition: MonitorDefinition, flagged: Collection[str], daemon: int = 0) -> Evaluation:
    """What a step's evaluation finds, given the keys that are looked for."""
    raw, at = step.raw, START + timedelta(hours=step.slot)
    breached, undecided = _names(raw.get("breach")), _reasons(raw.get("no_data"))
    outcome: Counts | NotMade
    if "not_made" in raw:
        cause = SlotCause(raw["cause"]) if "cause" in raw else None
        outcome = NotMade(
            NotMadeReason(raw["not_made"]), raw.get("says", f"{raw['not_made']} of {definition.id}"), cause
        )
    else:
        population, reasons = raw.get("population", POPULATION), dict[Reason, int]()
        for reason in undecided.values():
            reasons[reason] = reasons.get(reason, 0) + 1
        rest = population - len(breached) - len(undecided)
        outcome = Counts(population, len(breached), len(undecided), rest, 0, 0, reasons)
    made = isinstance(outcome, Counts)
    number = int(step.slot * 1000) * 10 + daemon
    name = list(f"{definition.id:>16.16}".encode())
    return Evaluation(
        evaluation_id=f"{bytes(name).hex()}{number:032x}",
        definition=definition,
        contract={"id": "aruma", "version": "1.2.0", "hash": "c" * 64},
        trigger=Trigger.REPLAY if raw.get("replay") else Trigger.MANUAL if daemon else Trigger.SCHEDULE,
        slot=at,
        started_at=at + timedelta(seconds=1),
        finished_at=at - timedelta(hours=1) if raw.get("early") else at + timedelta(seconds=2),
        outcome=outcome,
        engine="duckdb",
        engine_version="2.0.1",
        breached=tuple(_member(key, None) for key in breached) if made else (),
        undecided=tuple(_member(key, reason) for key, reason in undecided.items()) if made else (),
        followed=_followed(raw, flagged, {*breached, *undecided}) if made and not raw.get("unseen") else None,
    )


def _followed(raw: Mapping[str, Any], flagged: Collection[str], listed: Collection[str]) -> Followed:
    asked = frozenset(flagged) - {_key(name) for name in listed}
    gone, held = ({_key(name) for name in _names(raw.get(word))} & asked for word in ("gone", "held"))
    return Followed(asked, asked - gone - held, frozenset(held))


def _member(name: str, reason: Reason | None) -> Member:
    verdict = Verdict.BREACH if reason is None else Verdict.NO_DATA
    return Member(verdict, {"id": name}, {"rate": "27.10" if reason is None else None}, (), reason)


def _key(name: str) -> str:
    return key_text({"id": name})


def _names(text: str | None) -> list[str]:
    """`A B`, or `20 members`."""
    words = (text or "").split()
    return [f"M{number:06}" for number in range(int(words[0]))] if words[1:] == ["members"] else words


def _reasons(found: Mapping[str, str] | str | None) -> dict[str, Reason]:
    if isinstance(found, Mapping):
        return {name: Reason(reason) for names, reason in found.items() for name in names.split()}
    return dict.fromkeys(_names(found), Reason.RIGHT_MISSING)


def _told(text: str, default: str) -> Told:
    sent = not text.startswith("(")
    event, kind, *severity = text.strip("()").split()
    return Told(event, kind, severity[0] if severity else default, sent)


def _scenario(item: Mapping[str, Any]) -> Scenario:
    assert item.keys() <= {"scenario", "topic", "slow", "monitor", "monitors", "steps", "end"}, item["scenario"]
    names = item.get("monitors", ["pay-below-floor"])
    definitions = {name: a_monitor(name, item.get("monitor", {})) for name in names}
    return Scenario(
        item["scenario"],
        item["topic"],
        definitions,
        tuple(_steps(item)),
        item.get("end", "quiet"),
        item.get("slow", False),
    )


def _steps(item: Mapping[str, Any]) -> Iterator[Step]:
    latest = -1.0
    for raw in item["steps"]:
        raw = raw or {}
        assert raw.keys() <= KEYS, (item["scenario"], raw.keys() - KEYS)
        slot = float(raw.get("at", latest if _NO_EVALUATION & raw.keys() else latest + 1))
        latest = max(latest, slot)
        yield Step(raw, slot)


def a_contract() -> Contract:
    result = load_contract([_document(CONTRACT, "contract.yaml")])
    assert result.contract is not None, result.findings
    return result.contract


def a_monitor(name: str, keys: Mapping[str, Any]) -> MonitorDefinition:
    """The monitor of a scenario, through the door that every monitor file passes."""
    monitor = {"id": name, "object": "pay", "breach_when": "rate < 20", "notify": ["payroll"], **keys}
    result = load_monitors([_document(yaml.safe_dump({"monitors": [monitor]}), "m.yaml")], a_contract(), RECEIVERS)
    assert not result.findings, [finding.message for finding in result.findings]
    return result.monitors[0]


def _document(text: str, file: str) -> Document:
    result = read_yaml(text, file=file)
    assert result.document is not None, result.findings
    return result.document


def as_json(step: Step) -> str:
    """For a message about a step that went wrong."""
    return json.dumps(dict(step.raw))
