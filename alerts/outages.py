"""An outage: what keeps several monitors from being judged, told once and not once for each of them. Pure.

Monitors that could not be judged for the same reason, told in the same words, share one alert. Each of them goes on
having its own, silently: it leaves the outage once it was judged again, and the outage ends with the last that leaves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange, AlertStatus
from monitors.alerting import AlertPolicy, Escalation, Repeat
from monitors.evaluation import Counts, Evaluation, NotMade
from trivet.verdicts import NotMadeReason, Severity, SlotCause

PREFIX = "outage/"
"""No monitor's id holds a slash."""
_SHARED = (NotMadeReason.VIEW_MISSING, NotMadeReason.VIEW_CHANGED, NotMadeReason.ENGINE_ERROR)
_ANEW: Mapping[str, Any] = {
    "opened_at": None,
    "acknowledged_by": None,
    "repeats": 0,
    "repeat_no": 0,
    "escalated": 0,
}
"""How an outage stands of which nobody was reminded yet."""
_VARYING = re.compile(
    r"'[^']*'"  # A value, which engines quote so; names stand in double quotes.
    r"|\b[\w-]*\d{5}[\w-]*"  # The name of a build, a digest, an address.
    r"|\b\d[\d.,:TZ+-]*(?:\s?(?:[KMGT]i?B|bytes|ms|s)\b)?(?!\w)"  # A number, perhaps with a unit, or an instant.
)
_NOBODY_RAN = (SlotCause.MISSED, SlotCause.CLOCK_JUMP)


@dataclass(frozen=True, slots=True)
class Outage:
    """What keeps monitors from being judged."""

    name: str
    """The name of its alert: the same for whatever fails in the same way."""
    reason: NotMadeReason
    cause: SlotCause | None
    words: str
    """What the engine, or we, have to say of it; empty where the cause says all."""


def outage_of(made: Evaluation) -> Outage | None:
    """The outage that an evaluation was not made for; None where it was made, or failed by itself."""
    if not isinstance(made.outcome, NotMade):
        return None
    reason, cause, words = made.outcome.reason, made.outcome.cause, made.outcome.message or ""
    if cause in _NOBODY_RAN:
        words = ""
    elif reason not in _SHARED or not words:
        return None
    parts = "\n".join((reason.value, cause.value if cause else "", _steady(words)))
    name = PREFIX + hashlib.sha256(parts.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return Outage(name, reason, cause, words)


def _steady(words: str) -> str:
    """Words without what differs each time that the same thing fails: values, process ids, sizes, names of builds.

    Otherwise each telling of one failure would be an outage of its own, and leave a row behind.
    """
    return _VARYING.sub("#", words)


def covered_by(before: str | None, made: Evaluation, outage: Outage | None, *, tells: bool) -> str | None:
    """The outage that tells of a monitor after an evaluation; None where it speaks for itself.

    Args:
        before: the outage that told of it until now.
        made: the evaluation.
        outage: what it was not made for.
        tells: whether the monitor's own alert has something to tell of it.
    """
    if isinstance(made.outcome, Counts):
        return None
    return before or (outage.name if outage and tells else None)


@dataclass(frozen=True, slots=True)
class SharedPolicy:
    """How an outage is told again, and to whom next."""

    policy: AlertPolicy
    escalated: int
    """How many of its escalations were told."""


def shared_policy(policies: Sequence[AlertPolicy], escalated: Collection[str]) -> SharedPolicy:
    """What the monitors of an outage ask for together.

    It is repeated as often as the most eager of them is, and escalated to every receiver that any of them names: to
    each once, and as early as any of them says.

    Args:
        policies: those of the monitors that it tells of now; they come and go.
        escalated: the receivers that it was escalated to already.
    """
    repeats = [item.repeat for item in policies if item.repeat is not None]
    repeat = None
    if repeats:
        repeat = Repeat(min(item.every for item in repeats), max(item.most for item in repeats))
    steps: dict[str, Escalation] = {}
    for step in sorted((step for item in policies for step in item.escalate), key=lambda step: (step.after, step.to)):
        steps.setdefault(step.to, step)
    told = [steps.get(to, Escalation(timedelta(), to)) for to in escalated]
    rest = [step for to, step in steps.items() if to not in escalated]
    return SharedPolicy(AlertPolicy(repeat=repeat, escalate=(*told, *rest)), len(told))


def advance_outage(
    last: AlertStatus, made: Evaluation, severity: Severity, covered: int, *, told_more: bool
) -> tuple[AlertStatus, AlertChange | None]:
    """How an outage's alert moves once its monitors have moved.

    Args:
        last: how it stood.
        made: an evaluation of a monitor that joined or left it.
        severity: that of the loudest monitor that joined.
        covered: monitors that it tells of now.
        told_more: whether a monitor joined whose receivers did not hear of it yet.
    """
    slot = made.slot if last.slot is None else max(last.slot, made.slot)
    seen = replace(last, slot=slot, evaluation_id=made.evaluation_id)
    if covered and not last.state.is_open:
        fired = replace(
            seen,
            state=AlertState.FIRING,
            kind=AlertKind.NO_DATA,
            told=AlertKind.NO_DATA,
            since=made.slot,
            episode=last.episode + 1,
            events=1,
            severity=severity,
            opened_at=made.finished_at,
        )
        return fired, _change(AlertEvent.FIRED, fired, made)
    if covered and told_more:
        louder = max(last.severity or severity, severity, key=lambda item: item.rank)
        grown = replace(seen, events=last.events + 1, severity=louder)
        if last.state is AlertState.ACKNOWLEDGED and louder is not last.severity:
            # Who took on something small has not taken on something worse.
            grown = replace(grown, state=AlertState.FIRING, **{**_ANEW, "opened_at": made.finished_at})
        return grown, _change(AlertEvent.CHANGED, grown, made)
    if covered or not last.state.is_open:
        return seen, None
    ended = replace(seen, events=last.events + 1)
    change = replace(_change(AlertEvent.RESOLVED, ended, made), since=made.slot)
    quiet = replace(
        ended,
        state=AlertState.QUIET,
        kind=None,
        told=None,
        since=made.slot,
        severity=None,
        **_ANEW,
    )
    return quiet, change


def _change(event: AlertEvent, status: AlertStatus, made: Evaluation) -> AlertChange:
    since = status.since or made.slot
    return AlertChange(
        event, AlertKind.NO_DATA, None, status.episode, status.events, since, status.severity or Severity.WARNING
    )
