"""What is told: one record, made when the alert changes, kept as JSON in the outbox, posted as it is by webhooks.

It holds text from data as data, capped but not escaped; `alerts/rendering.py` makes text of it for each place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from alerts.digests import Digest
from alerts.groups import GroupAlert, group_of, name_of
from alerts.members import Flagged
from alerts.outages import Outage
from alerts.shown import (
    MOST_MEMBERS,
    ShownKey,
    ShownMember,
    capped,
    member_json,
    member_of,
    shown_members,
    shown_values,
)
from alerts.states import AlertEvent, AlertKind
from alerts.status import AlertChange
from catalog.expressions.printing import print_condition
from monitors.evaluation import Counts, Evaluation, NotMade
from trivet.clock import utc_text
from trivet.verdicts import Severity, Verdict

NEWLY_UNJUDGED_KEYS = "newly_unjudged_keys"
"""The one place in which a message names members that its evaluation may not list."""


@dataclass(frozen=True, slots=True)
class Message:
    """One notice. Everything in it is for a person to read or a program to route by; nothing is proof."""

    event: AlertEvent
    title: str
    at: str
    """When the evaluation ended, UTC."""
    monitor: str = ""
    """Empty for a test."""
    severity: Severity = Severity.INFO
    kind: AlertKind | None = None
    """What the alert is about; for `resolved`, what it was about."""
    was: AlertKind | None = None
    """For `changed`: what was told before."""
    episode: int = 0
    slot: str = ""
    """The scheduled instant with the schedule's own offset."""
    since: str = ""
    evaluation_id: str = ""
    ledger_seq: int | None = None
    """The ledger entry of the evaluation."""
    verdict: str | None = None
    badge: str | None = None
    """None where the evaluation could not be made."""
    counts: Mapping[str, int] = field(default_factory=dict)
    no_data_reasons: Mapping[str, int] = field(default_factory=dict)
    not_made: str | None = None
    """Why the evaluation could not be made; `cause` and `detail` go with it."""
    cause: str | None = None
    detail: str | None = None
    """What the engine had to say: text from outside."""
    members: tuple[ShownMember, ...] = ()
    owner: str = ""
    runbook: str = ""
    contract: str = ""
    """Name and version of the contract that it was judged by."""
    was_severity: Severity | None = None
    """For `changed`: how loud it was before."""
    carried: int = 0
    """Members that breached and that this evaluation could not judge; `gone` of them are not there any more."""
    gone: int = 0
    newly_unjudged: int = 0
    """For `changed`: those of `carried` that were not told of before."""
    newly_unjudged_keys: tuple[Mapping[str, str | None], ...] = ()
    """The keys of the first of them."""
    held: int = 0
    """Members that breached, are compliant, and have not recovered as far as the monitor asks."""
    judged_share: tuple[str, str] | None = None
    """Before and now, in percent, where its fall is told of."""
    missing: tuple[ShownKey, ...] = ()
    """Keys without a linked row, those of most members first."""
    monitors: tuple[str, ...] = ()
    """Of an outage: monitors that cannot be judged; `monitor_count` counts all of them."""
    monitor_count: int = 0
    accepted: int = 0
    """Breached members whose breach is accepted: counted in `counts`, and no cause for this notice."""
    accepted_until: tuple[str, str] | None = None
    """The last days for which that holds, of the first and of the last of them to end."""
    condition: str = ""
    """When a member breaches, as the monitor says it."""
    digest: Digest | None = None
    """Of a digest: all that it says."""
    alert: str = ""
    """Of the alert of a group: its name, as commands take it; empty where it is the monitor's own."""
    group: Mapping[str, str | None] = field(default_factory=dict)
    """Of the alert of a group: the group's key."""
    whole: str = ""
    """Of the alert of a group: the badge of all groups."""
    notices: tuple[Message, ...] = ()
    """Of a gathered message: the latest notice of each alert, without its members."""
    by: Mapping[str, str] = field(default_factory=dict)
    """Of a gathered message: what its notices have in common."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Of a gathered message: how many alerts there are of each kind, those that ended apart."""
    is_fine: bool = False
    """Of a gathered message: everything in it ended, and nothing in it was left undecided."""
    earlier: tuple[AlertEvent, ...] = ()
    """Of a notice in a gathered message: what else was to be told of its alert, before it."""

    @property
    def name(self) -> str:
        """The alert's name, as commands take it."""
        return self.alert or self.monitor

    def to_json(self) -> str:
        """As the outbox keeps it: ASCII, in the envelope that Standard Webhooks 1.0 recommends."""
        data = {name: getattr(self, name) for name in _DATA}
        data["counts"], data["no_data_reasons"] = dict(self.counts), dict(self.no_data_reasons)
        data["members"] = [member_json(item) for item in self.members]
        data["missing"] = [
            {"link": item.link, "object": item.object, "key": dict(item.key), "members": item.members}
            for item in self.missing
        ]
        data["digest"] = self.digest.to_json() if self.digest is not None else None
        if self.newly_unjudged:
            keys = [dict(item) for item in self.newly_unjudged_keys]
            data |= {"newly_unjudged": self.newly_unjudged, NEWLY_UNJUDGED_KEYS: keys}
        if self.alert:
            data |= {"alert": self.alert, "group": dict(self.group), "whole": self.whole}
        if self.event is AlertEvent.GATHERED:
            notices = [_notice_json(item) for item in self.notices]
            data |= {"notices": notices, "by": dict(self.by), "kinds": dict(self.kinds), "is_fine": self.is_fine}
        return json.dumps({"type": f"alert.{self.event}", "timestamp": self.at, "data": data})

    @classmethod
    def from_json(cls, text: str) -> Message:
        """The message that `to_json` wrote.

        Raises:
            ValueError: it is no such text.
        """
        try:
            document = json.loads(text)
            # A message from before there was a key says nothing of it.
            data: dict[str, Any] = {name: document["data"][name] for name in _DATA if name not in _LATER}
            data |= {name: document["data"].get(name, _LATER[name]) for name in _LATER}
            data["members"] = tuple(member_of(item) for item in data["members"])
            data["severity"] = Severity(data["severity"])
            data["kind"], data["was"] = _kind(data["kind"]), _kind(data["was"])
            data["was_severity"] = Severity(data["was_severity"]) if data["was_severity"] else None
            data["judged_share"] = tuple(data["judged_share"]) if data["judged_share"] else None
            data["missing"] = tuple(ShownKey(**item) for item in data["missing"])
            data["monitors"] = tuple(data["monitors"])
            data["accepted_until"] = tuple(data["accepted_until"]) if data["accepted_until"] else None
            data["digest"] = Digest.from_json(data["digest"]) if data["digest"] is not None else None
            data |= {name: document["data"].get(name, otherwise) for name, otherwise in _IF_ANY.items()}
            data["newly_unjudged_keys"] = tuple(data["newly_unjudged_keys"])
            data["notices"] = tuple(_notice_of(item) for item in document["data"].get("notices", ()))
            return cls(event=AlertEvent(document["type"].removeprefix("alert.")), at=document["timestamp"], **data)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the outbox holds no message here: {type(error).__name__}") from error


_GATHERED = ("notices", "by", "kinds", "is_fine", "earlier")
_IF_ANY: Mapping[str, Any] = {
    "by": {},
    "kinds": {},
    "is_fine": False,
    "alert": "",
    "group": {},
    "whole": "",
    "newly_unjudged": 0,
    "newly_unjudged_keys": (),
}
_DATA = tuple(name for name in Message.__dataclass_fields__ if name not in ("event", "at", *_GATHERED, *_IF_ANY))
_LATER: Mapping[str, Any] = {
    "contract": "",
    "was_severity": None,
    "carried": 0,
    "gone": 0,
    "held": 0,
    "judged_share": None,
    "missing": (),
    "monitors": (),
    "monitor_count": 0,
    "accepted": 0,
    "accepted_until": None,
    "condition": "",
    "digest": None,
}
_NONE: Mapping[str, str] = {}
_NOBODY: Mapping[str, Flagged] = {}


def message_of(
    change: AlertChange,
    made: Evaluation,
    ledger_seq: int | None,
    accepted: Mapping[str, str] = _NONE,
    flagged: Mapping[str, Flagged] = _NOBODY,
) -> Message:
    """What is told of a change, with what the evaluation found.

    Args:
        change: what happened.
        made: the evaluation.
        ledger_seq: its entry.
        accepted: members whose breach is accepted: by key, the last day for which that holds.
        flagged: members that are followed, as they stand now.
    """
    definition = made.definition
    counts = made.outcome if isinstance(made.outcome, Counts) else None
    not_made = made.outcome if isinstance(made.outcome, NotMade) else None
    return Message(
        event=change.event,
        title=capped(definition.title or definition.id),
        at=utc_text(made.finished_at),
        monitor=definition.id,
        severity=change.severity,
        kind=change.kind,
        was=change.was,
        episode=change.episode,
        slot=made.slot.isoformat(timespec="seconds"),
        since=change.since.astimezone(made.slot.tzinfo).isoformat(timespec="seconds"),
        evaluation_id=made.evaluation_id,
        ledger_seq=ledger_seq,
        verdict=made.verdict.value,
        badge=made.badge,
        counts={name: getattr(counts, name) for name in ("population", *Verdict)} if counts else {},
        no_data_reasons={reason.value: count for reason, count in counts.no_data_reasons.items()} if counts else {},
        not_made=not_made.reason.value if not_made else None,
        cause=not_made.cause.value if not_made and not_made.cause else None,
        detail=capped(not_made.message) if not_made and not_made.message else None,
        members=tuple(shown_members(made, accepted, flagged)),
        owner=capped(definition.owner),
        runbook=capped(definition.runbook),
        contract=capped(f"{made.contract['id']} {made.contract['version']}"),
        was_severity=change.was_severity,
        carried=change.carried,
        gone=change.gone,
        newly_unjudged=len(change.unjudged),
        newly_unjudged_keys=tuple(shown_values(group_of(key)) for key in change.unjudged[:MOST_MEMBERS]),
        held=change.held,
        judged_share=change.share,
        missing=tuple(
            ShownKey(item.link, item.object, shown_values(item.key), item.members)
            for item in made.missing_keys[:MOST_MEMBERS]
        ),
        condition=capped(print_condition(definition.breach_when)),
        accepted=len(change.accepted),
        accepted_until=(change.accepted[0], change.accepted[-1]) if change.accepted else None,
    )


def group_message(
    change: AlertChange,
    part: Evaluation,
    ledger_seq: int | None,
    alert: GroupAlert,
    whole: Evaluation,
    accepted: Mapping[str, str] = _NONE,
    flagged: Mapping[str, Flagged] = _NOBODY,
) -> Message:
    """What is told of a group's alert.

    Args:
        change: what happened.
        part: what the evaluation says of the group.
        ledger_seq: the evaluation's entry.
        alert: which alert.
        whole: the evaluation, of all groups.
        accepted: as for `message_of`.
        flagged: as for `message_of`.
    """
    told = message_of(change, part, ledger_seq, accepted, flagged)
    name = name_of(part.definition.id, alert.number)
    return replace(told, alert=name, group=shown_values(group_of(alert.key)), whole=whole.badge or "")


def outage_message(
    change: AlertChange, made: Evaluation, outage: Outage | None, covered: Sequence[str], last: str | None
) -> Message:
    """What is told of an outage.

    Args:
        change: what happened.
        made: the evaluation that it follows from.
        outage: what it is; None where only monitors left it, and the last message says what it was.
        covered: the monitors that cannot be judged now.
        last: the last message, as JSON.
    """
    before = Message.from_json(last) if last is not None else None
    told = Message(
        event=change.event,
        title=before.title if before else "Outage",
        at=utc_text(made.finished_at),
        kind=change.kind,
        severity=change.severity,
        monitor=before.monitor if before else "",
        episode=change.episode,
        slot=made.slot.isoformat(timespec="seconds"),
        since=change.since.astimezone(made.slot.tzinfo).isoformat(timespec="seconds"),
        not_made=before.not_made if before else None,
        cause=before.cause if before else None,
        detail=before.detail if before else None,
        monitors=tuple(covered[:MOST_MEMBERS]),
        monitor_count=len(covered),
    )
    if outage is None:
        return told
    title = "Monitors cannot be judged"
    detail = capped(outage.words) if outage.words else None
    cause = outage.cause.value if outage.cause else None
    return replace(told, title=title, monitor=outage.name, not_made=outage.reason.value, cause=cause, detail=detail)


def digest_message(name: str, digest: Digest, episode: int, at: datetime) -> Message:
    """What a digest sends.

    Args:
        name: that of the digest, in place of a monitor.
        digest: what it says.
        episode: the number of its day.
        at: when it was written.
    """
    title, severity = "Trivet's digest", digest.severity
    return Message(AlertEvent.DIGEST, title, utc_text(at), name, severity, episode=episode, digest=digest)


def probe_message(receiver: str, at: datetime) -> Message:
    """What `trivet alerts test` sends."""
    return Message(AlertEvent.TEST, f"Trivet reaches the receiver {receiver}", utc_text(at))


def _notice_json(notice: Message) -> dict[str, Any]:
    """A notice in a gathered message: what a notice says by itself, but for what it has none of."""
    document = json.loads(notice.to_json())
    data = {name: value for name, value in document["data"].items() if value not in (None, "", [], {}, 0)}
    return {"event": notice.event, "at": notice.at, **data, "earlier": list(notice.earlier)}


def _notice_of(document: Mapping[str, Any]) -> Message:
    whole = json.loads(Message(AlertEvent.TEST, "", "").to_json())["data"] | document
    text = {"type": f"alert.{document['event']}", "timestamp": document["at"], "data": whole}
    return replace(Message.from_json(json.dumps(text)), earlier=tuple(AlertEvent(item) for item in document["earlier"]))


def _kind(text: str | None) -> AlertKind | None:
    return None if text is None else AlertKind(text)
