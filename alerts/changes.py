"""How an alert moves from one evaluation to the next. Pure: a status and an evaluation in, a status and a change out.

Nothing that is missing resolves an alert. It ends by positive evidence alone: a completed evaluation without a
breach and without undecided members; for an alert about missing data, one in which no more members are undecided
than the monitor tolerates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from alerts.states import AlertEvent, AlertKind, AlertState
from monitors.evaluation import Counts, Evaluation, NotMade
from trivet.verdicts import SlotCause, Trigger, Verdict

_WANTED = (SlotCause.PAUSED, SlotCause.REMOVED)
"""Somebody decided that these slots are not evaluated. They are recorded, and no surprise."""


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


def advance(last: AlertStatus, made: Evaluation) -> tuple[AlertStatus, AlertChange | None]:
    """The status after `made`, and what is to be told, if anything.

    Decided by slot order, not by the order of arrival: a slot that is not later than the latest one changes nothing,
    so the same slot can come twice. Neither do replays, which speak of the past, and evaluations for an instant that
    had not come when they were made, which would keep out every slot until then.
    """
    if made.trigger is Trigger.REPLAY or made.slot > made.finished_at:
        return last, None
    if last.slot is not None and made.slot <= last.slot:
        return last, None
    seen = replace(last, slot=made.slot, evaluation_id=made.evaluation_id)
    if last.kind is not None and _clears(last.kind, made):
        return _cleared(seen, made.slot)
    kind = _joined(last.kind, made)
    if last.state is AlertState.FIRING:
        return _still_firing(seen, kind, quiet=is_quieted(made))
    if is_quieted(made):
        # Missing data that nobody wants to hear of is no evidence either: it does not break a run of breaches.
        return (replace(seen, kind=kind) if last.state is AlertState.PENDING else seen), None
    if kind is None:
        return replace(seen, since=last.since or made.slot), None
    return _out_of_order(seen, kind, made)


def is_quieted(made: Evaluation) -> bool:
    """Whether this evaluation's missing data is not told: by the monitor's policy, or because people want it so."""
    policy = made.definition.no_data
    if made.verdict is not Verdict.NO_DATA:
        return False
    if isinstance(made.outcome, NotMade) and made.outcome.cause in _WANTED:
        return True
    return not policy.alert or (isinstance(made.outcome, Counts) and made.outcome.no_data <= policy.tolerate)


def _clears(kind: AlertKind, made: Evaluation) -> bool:
    if not isinstance(made.outcome, Counts) or made.outcome.breach:
        return False
    allowed = made.definition.no_data.tolerate if kind is AlertKind.NO_DATA else 0
    return made.outcome.no_data <= allowed


def _joined(last: AlertKind | None, made: Evaluation) -> AlertKind | None:
    if made.verdict is Verdict.BREACH:
        return AlertKind.BREACH
    if made.verdict is Verdict.COMPLIANT:
        return None
    return AlertKind.UNJUDGED if last in (AlertKind.BREACH, AlertKind.UNJUDGED) else AlertKind.NO_DATA


def _cleared(seen: AlertStatus, slot: datetime) -> tuple[AlertStatus, AlertChange | None]:
    quiet = replace(seen, state=AlertState.QUIET, kind=None, told=None, since=slot, pending=0)
    if seen.state is not AlertState.FIRING or seen.told is None:
        return quiet, None
    ordinal = seen.events + 1
    change = AlertChange(AlertEvent.RESOLVED, seen.told, None, seen.episode, ordinal, slot)
    return replace(quiet, events=ordinal), change


def _still_firing(seen: AlertStatus, kind: AlertKind | None, *, quiet: bool) -> tuple[AlertStatus, AlertChange | None]:
    status = replace(seen, kind=kind)
    if quiet or kind is None or kind is seen.told or seen.since is None:
        return status, None
    ordinal = seen.events + 1
    change = AlertChange(AlertEvent.CHANGED, kind, seen.told, seen.episode, ordinal, seen.since)
    return replace(status, told=kind, events=ordinal), change


def _out_of_order(seen: AlertStatus, kind: AlertKind, made: Evaluation) -> tuple[AlertStatus, AlertChange | None]:
    since = seen.since if seen.state is AlertState.PENDING and seen.since else made.slot
    pending = seen.pending + 1
    if pending < made.definition.consecutive:
        return replace(seen, state=AlertState.PENDING, kind=kind, since=since, pending=pending), None
    episode = seen.episode + 1
    fired = replace(
        seen, state=AlertState.FIRING, kind=kind, told=kind, since=since, pending=0, episode=episode, events=1
    )
    return fired, AlertChange(AlertEvent.FIRED, kind, None, episode, 1, since)
