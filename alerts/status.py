"""How a monitor's alert stands, and what is told when it changes. Values, and how they are kept as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from alerts.states import AlertEvent, AlertKind, AlertState
from trivet.clock import utc_text
from trivet.verdicts import Severity


@dataclass(frozen=True, slots=True)
class Run:
    """Evaluations in a row of which one thing is true."""

    count: int
    since: datetime
    """The slot of the first of them."""


@dataclass(frozen=True, slots=True)
class AlertStatus:
    """How a monitor's alert stands after its latest slot."""

    state: AlertState = AlertState.QUIET
    kind: AlertKind | None = None
    """What it is about; None while quiet."""
    since: datetime | None = None
    """The slot at which it left order, or came back to it; None before the first evaluation."""
    slot: datetime | None = None
    """The latest slot that was looked at. Older slots change nothing."""
    pending: int = 0
    """Evaluations in a row that were not in order, as far as `for` counts them; 0 unless pending."""
    episode: int = 0
    """How often it has fired; the number of the episode that is under way, or was the last."""
    events: int = 0
    """What was told in this episode so far."""
    told: AlertKind | None = None
    """The kind that was last told in this episode; None while nothing fires."""
    evaluation_id: str | None = None
    """Of the evaluation at `slot`."""
    severity: Severity | None = None
    """What was last told in this episode; None while nothing fires."""
    runs: Mapping[str, Run] = field(default_factory=dict)
    """Towards `for`: one run for whatever counts together."""
    clear: Run | None = None
    """Evaluations in a row that were in order, while it still fires."""
    history: str = ""
    """Whether it fired (1) or not (0) after each of the latest evaluations, for flapping."""
    flapping: bool = False
    beyond: bool = False
    """Members breached that are not followed one by one: too many, or from before they were."""
    judged: tuple[int, int] | None = None
    """Judged members and population, as the judged share is compared with."""
    opened_at: datetime | None = None
    """From when repetition and escalation count; None while nothing fires."""
    acknowledged_by: str | None = None
    repeats: int = 0
    """Repetitions so far in this episode."""
    repeat_no: int = 0
    """The number of the interval that was repeated last, so that a crash repeats none twice."""
    escalated: int = 0
    """How many of the escalations were told."""
    let_go: bool = False
    """Of a group's alert: somebody answers for the group, which is not there any more."""
    muted: bool = False
    """What was last to be told was silenced, so that nobody knows of it."""
    sent: tuple[AlertKind, Severity] | None = None
    """Kind and severity that people last heard of in this episode."""
    shape: str | None = None
    """What the monitor's members were at the latest completed evaluation; None before there was one."""
    heard: datetime | None = None
    """The slot as of which people were told, after a silence, how everything stands; None if there was no need."""

    def detail_json(self) -> str:
        """What the columns of the store have no place for."""
        runs = {name: [run.count, utc_text(run.since)] for name, run in self.runs.items()}
        return json.dumps(
            {
                "severity": self.severity,
                "runs": runs,
                "clear": [self.clear.count, utc_text(self.clear.since)] if self.clear else None,
                "history": self.history,
                "flapping": self.flapping,
                "beyond": self.beyond,
                "judged": list(self.judged) if self.judged else None,
                "opened_at": utc_text(self.opened_at) if self.opened_at else None,
                "acknowledged_by": self.acknowledged_by,
                "repeats": self.repeats,
                "repeat_no": self.repeat_no,
                "escalated": self.escalated,
                **({"let_go": True} if self.let_go else {}),
                "muted": self.muted,
                "sent": list(self.sent) if self.sent else None,
                **({"shape": self.shape} if self.shape is not None else {}),
                **({"heard": utc_text(self.heard)} if self.heard else {}),
            },
            sort_keys=True,
            separators=(",", ":"),
        )


def detail_fields(text: str | None, kind: AlertKind | None, told: AlertKind | None) -> dict[str, Any]:
    """The fields that `detail_json` wrote.

    A row from before there was such a text says nothing of single members: a breach that it tells of is followed as a
    whole. What it told was sent.
    """
    if text is None:
        sent = (told, Severity.WARNING) if told is not None else None
        return {"beyond": kind in (AlertKind.BREACH, AlertKind.UNJUDGED), "sent": sent}
    found: dict[str, Any] = json.loads(text)
    clear, judged, opened = found["clear"], found["judged"], found["opened_at"]
    return {
        **found,
        "severity": Severity(found["severity"]) if found["severity"] else None,
        "runs": {name: _run(value) for name, value in found["runs"].items()},
        "clear": _run(clear) if clear else None,
        "judged": (judged[0], judged[1]) if judged else None,
        "opened_at": datetime.fromisoformat(opened) if opened else None,
        "sent": (AlertKind(found["sent"][0]), Severity(found["sent"][1])) if found["sent"] else None,
        "heard": datetime.fromisoformat(found["heard"]) if found.get("heard") else None,
    }


def _run(value: list[Any]) -> Run:
    return Run(value[0], datetime.fromisoformat(value[1]))


@dataclass(frozen=True, slots=True)
class AlertChange:
    """One thing that people are told."""

    event: AlertEvent
    kind: AlertKind
    """What the alert is about; for `resolved`, what it was about."""
    was: AlertKind | None
    """For `changed`: the kind that was last told."""
    episode: int
    ordinal: int
    """Place among what is told in the episode, from 1."""
    since: datetime
    """The slot at which it left order; for `resolved`, at which it came back to it."""
    severity: Severity = Severity.WARNING
    was_severity: Severity | None = None
    """For `changed`: the severity that was last told."""
    carried: int = 0
    """Members that breached and that this evaluation could not judge."""
    held: int = 0
    """Members that breached, are compliant, and have not recovered as far as `recover_when` asks."""
    gone: int = 0
    """Those of `carried` that are not in the population any more."""
    reasons: tuple[str, ...] = ()
    """Of missing data: those that are told of."""
    share: tuple[str, str] | None = None
    """The judged share before and now, in percent, where its fall is told of."""
    unjudged: tuple[str, ...] = ()
    """For `changed`: the keys of those of `carried` that people were not told of in this episode."""
    accepted: tuple[str, ...] = ()
    """Of each breached member whose breach somebody accepted the last day for which that holds, the first one first."""
    muted: bool = False
    """It is written down and not sent: somebody silenced it, or people know, or never heard of what ends."""
    to: str | None = None
    """For `escalated`: the one receiver that is told."""
    by: str | None = None
    """For `acknowledged` and `released`: who did."""
