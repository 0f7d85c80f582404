"""An outage: what keeps several monitors from being judged, told once and not once for each of them. Pure.

Monitors that could not be judged for the same reason, told in the same words, share one alert. Each of them goes on
having its own, silently: it leaves the outage once it was judged again, and the outage ends with the last that leaves.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange, AlertStatus
from monitors.evaluation import Counts, Evaluation, NotMade
from trivet.verdicts import NotMadeReason, Severity, SlotCause

PREFIX = "outage/"
"""No monitor's id holds a slash."""
_SHARED = (NotMadeReason.VIEW_MISSING, NotMadeReason.VIEW_CHANGED, NotMadeReason.ENGINE_ERROR)
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
    parts = "\n".join((reason.value, cause.value if cause else "", words))
    name = PREFIX + hashlib.sha256(parts.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return Outage(name, reason, cause, words)


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
        opened_at=None,
        acknowledged_by=None,
    )
    return quiet, change


def _change(event: AlertEvent, status: AlertStatus, made: Evaluation) -> AlertChange:
    since = status.since or made.slot
    return AlertChange(
        event, AlertKind.NO_DATA, None, status.episode, status.events, since, status.severity or Severity.WARNING
    )
