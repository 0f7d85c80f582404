"""How an alert moves from one evaluation to the next. Pure: a status and an evaluation in, a status and a change out.

Nothing that is missing resolves an alert. It ends by positive evidence alone: a completed evaluation without a breach,
in which every member that breached before was looked up and found compliant, and in which no more members are undecided
than the monitor tolerates. A breach that somebody accepted until a date is none here: it is counted, and told besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from alerts.assessing import SHARED, Assessment, assess, runs_after, severity_of
from alerts.losing import heard_of, untold
from alerts.members import Flagged, MemberChange, follow
from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange, AlertStatus, Run
from alerts.unwatching import is_news, shape_of
from monitors.alerting import Flapping
from monitors.evaluation import Evaluation, NotMade
from trivet.verdicts import Severity

_NOBODY: Mapping[str, Flagged] = {}
_NONE: Mapping[str, str] = {}
_OF_BREACH = (AlertKind.BREACH, AlertKind.UNJUDGED)


@dataclass(frozen=True, slots=True)
class Step:
    """What one evaluation came to."""

    status: AlertStatus
    change: AlertChange | None = None
    """What is to be told, if anything."""
    members: tuple[MemberChange, ...] = ()
    """The members that stand otherwise than before."""
    standing: AlertChange | None = None
    """How it stands, as a repetition tells it; None where nothing fires."""
    heard: tuple[MemberChange, ...] = ()
    """Members of which people are told now that they breached and cannot be judged: noted, and no move."""


def advance(
    last: AlertStatus,
    made: Evaluation,
    flagged: Mapping[str, Flagged] = _NOBODY,
    *,
    muted: bool = False,
    accepted: Mapping[str, str] = _NONE,
) -> Step:
    """The status after `made`, and what is to be told, if anything.

    Args:
        last: how the alert stood.
        made: the evaluation.
        flagged: the members that were flagged before.
        muted: whether somebody silenced the monitor.
        accepted: the members whose breach somebody accepted: by key, the last day for which that holds.
    """
    if not is_news(last, made):
        return Step(last)
    following = follow(flagged, made, beyond=last.beyond, accepted=accepted)
    seen = assess(last, made, following)
    status = replace(
        last,
        slot=made.slot,
        evaluation_id=made.evaluation_id,
        runs=runs_after(last, made, seen),
        judged=seen.judged,
        beyond=following.beyond,
        shape=last.shape if isinstance(made.outcome, NotMade) else shape_of(made.definition),
    )
    moved, change = _moved(status, seen, made, muted=muted)
    moved, change = _steadied(last, moved, change, seen, made)
    days = _days(made, accepted)
    change = replace(change, accepted=days) if change is not None else None
    standing = None
    if moved.state.is_open and moved.told is not None:
        now = _change(AlertEvent.REPEATED, moved.told, moved.severity, moved, seen, made, muted=False)
        standing = replace(now, ordinal=moved.events, accepted=days)
    return Step(moved, change, following.changes, standing, heard_of(seen, moved, change))


def _days(made: Evaluation, accepted: Mapping[str, str]) -> tuple[str, ...]:
    """Of each accepted breach the last day for which that holds, the first one first."""
    if not accepted:
        return ()
    return tuple(sorted(accepted[key] for item in made.breached if (key := item.key_text) in accepted))


def _moved(
    status: AlertStatus, seen: Assessment, made: Evaluation, *, muted: bool
) -> tuple[AlertStatus, AlertChange | None]:
    if status.state is AlertState.QUIET and seen.kind is None:
        return replace(status, since=status.since or made.slot), None
    if seen.in_order:
        return _in_order(status, seen, made)
    if status.state.is_open:
        return _still_open(replace(status, clear=None if seen.loud else status.clear), seen, made, muted=muted)
    if not seen.loud:
        # Missing data that nobody wants to hear of is no evidence: what waits goes on waiting.
        return (replace(status, kind=seen.kind) if status.state is AlertState.PENDING else status), None
    return _out_of_order(status, seen, made, muted=muted)


def _in_order(status: AlertStatus, seen: Assessment, made: Evaluation) -> tuple[AlertStatus, AlertChange | None]:
    if not status.state.is_open:
        return _quiet(status, made), None
    clear = Run(status.clear.count + 1, status.clear.since) if status.clear else Run(1, made.slot)
    waiting = replace(status, clear=clear)
    enough = made.definition.alerting.clears_after.is_reached(clear.count, clear.since, made.slot)
    if status.flapping or not enough or status.told is None:
        return waiting, None
    return _resolved(waiting, seen, made)


def _resolved(status: AlertStatus, seen: Assessment, made: Evaluation) -> tuple[AlertStatus, AlertChange | None]:
    # Of an episode that was silenced nobody heard, so nobody but those who did hear of it is told of its end.
    told = status.told or AlertKind.NO_DATA
    unheard = status.sent is None
    change = _change(AlertEvent.RESOLVED, told, status.severity, status, seen, made, muted=unheard)
    return replace(_quiet(status, made), events=change.ordinal), replace(change, since=made.slot)


def _quiet(status: AlertStatus, made: Evaluation) -> AlertStatus:
    """In order: everything that belongs to an episode is forgotten but its number."""
    return replace(
        status,
        state=AlertState.QUIET,
        kind=None,
        since=made.slot,
        pending=0,
        told=None,
        severity=None,
        runs={},
        clear=None,
        flapping=False,
        opened_at=None,
        acknowledged_by=None,
        repeats=0,
        repeat_no=0,
        escalated=0,
        let_go=False,
        muted=False,
        sent=None,
        heard=None,
    )


def _still_open(
    status: AlertStatus, seen: Assessment, made: Evaluation, *, muted: bool
) -> tuple[AlertStatus, AlertChange | None]:
    kind = _ripe(status, seen, made)
    status = replace(status, kind=seen.kind or status.kind)
    if kind is None or seen.is_quieted or status.flapping or status.told is None:
        return status, None
    severity = severity_of(kind, status, made, seen)
    lost = untold(status, seen, made, _reached(status, seen, made), muted=muted) if kind is AlertKind.BREACH else ()
    is_same = kind is status.told and status.severity in (None, severity)
    if is_same and not lost:
        # A row from before severities were kept has none; it was told with this one.
        return replace(status, severity=severity), None
    change = _change(AlertEvent.CHANGED, kind, severity, status, seen, made, muted=muted)
    change = replace(change, was=status.told, was_severity=status.severity, unjudged=lost)
    if is_same and muted:
        # Nothing that people know is wrong; the first evaluation after the silence tells who is missing then.
        return replace(status, events=change.ordinal), change
    return _told(_called_again(status, change, made), change)


def _called_again(status: AlertStatus, change: AlertChange, made: Evaluation) -> AlertStatus:
    """Who took on something small has not taken on something worse: it fires again, and is escalated anew."""
    before = change.was_severity or change.severity
    worse = change.severity.rank > before.rank or (change.was is AlertKind.NO_DATA and change.kind in _OF_BREACH)
    if status.state is not AlertState.ACKNOWLEDGED or not worse:
        return status
    return replace(
        status,
        state=AlertState.FIRING,
        acknowledged_by=None,
        opened_at=made.finished_at,
        repeats=0,
        repeat_no=0,
        escalated=0,
    )


def _out_of_order(
    status: AlertStatus, seen: Assessment, made: Evaluation, *, muted: bool
) -> tuple[AlertStatus, AlertChange | None]:
    since = status.since if status.state is AlertState.PENDING and status.since else made.slot
    kind = _ripe(status, seen, made)
    if kind is None:
        waited = max(status.runs[name].count for name in seen.loud)
        return replace(status, state=AlertState.PENDING, kind=seen.kind, since=since, pending=waited), None
    opened = replace(
        status,
        state=AlertState.FIRING,
        kind=seen.kind,
        since=since,
        pending=0,
        episode=status.episode + 1,
        events=0,
        opened_at=made.finished_at,
    )
    change = _change(AlertEvent.FIRED, kind, severity_of(kind, status, made, seen), opened, seen, made, muted=muted)
    return _told(opened, change)


def _ripe(status: AlertStatus, seen: Assessment, made: Evaluation) -> AlertKind | None:
    """What it is about as far as it has gone on for long enough to be told."""
    reached = _reached(status, seen, made)
    if seen.kind is AlertKind.BREACH and (SHARED in reached or status.told in _OF_BREACH):
        return AlertKind.BREACH
    if not reached:
        return None
    return AlertKind.NO_DATA if seen.kind is AlertKind.BREACH else seen.kind


def _reached(status: AlertStatus, seen: Assessment, made: Evaluation) -> set[str]:
    """The runs that have lasted for as long as they must."""
    runs = status.runs
    return {
        name for name, lasting in seen.loud.items() if lasting.is_reached(runs[name].count, runs[name].since, made.slot)
    }


def _change(
    event: AlertEvent,
    kind: AlertKind,
    severity: Severity | None,
    status: AlertStatus,
    seen: Assessment,
    made: Evaluation,
    *,
    muted: bool,
) -> AlertChange:
    following = seen.following
    return AlertChange(
        event,
        kind,
        None,
        status.episode,
        status.events + 1,
        status.since or made.slot,
        severity or Severity.WARNING,
        carried=following.unjudged,
        held=following.held,
        gone=following.gone,
        reasons=seen.reasons(),
        share=seen.fall,
        muted=muted,
    )


def _told(status: AlertStatus, change: AlertChange) -> tuple[AlertStatus, AlertChange]:
    """The status once a change is told: recorded in any case, and sent unless it is what people heard last."""
    now = (change.kind, change.severity)
    known = change.event is AlertEvent.CHANGED and status.sent == now and not change.unjudged
    status = replace(
        status,
        told=change.kind,
        severity=change.severity,
        events=change.ordinal,
        muted=change.muted and not known,
        sent=status.sent if change.muted else now,
    )
    return status, replace(change, muted=change.muted or known)


def _steadied(
    last: AlertStatus, status: AlertStatus, change: AlertChange | None, seen: Assessment, made: Evaluation
) -> tuple[AlertStatus, AlertChange | None]:
    """Tells once that an alert comes and goes, in place of each coming and going, and how it stands once it is steady.

    An episode that flaps stays open, so that its end is told, and by the same evidence as any other's.
    """
    rule = made.definition.alerting.flapping
    if seen.is_quieted or not (rule.alert or last.flapping):
        return status, change
    is_out = not seen.in_order if last.flapping else status.state.is_open
    history = (last.history + ("1" if is_out else "0"))[-rule.of :]
    status = replace(status, history=history)
    if last.flapping:
        return _after_flapping(status, seen, made, rule)
    if change is None or _turns(history) <= rule.changes:
        return status, change
    if change.event is AlertEvent.RESOLVED:
        # It is not told that it ended, so it did not: the episode goes on, as it stood, and in order for now.
        status = replace(
            last,
            slot=made.slot,
            evaluation_id=made.evaluation_id,
            runs=status.runs,
            judged=status.judged,
            beyond=status.beyond,
            history=history,
            clear=Run(1, made.slot),
            muted=change.muted,
        )
        change = replace(change, since=last.since or change.since)
    change = replace(change, event=AlertEvent.FLAPPING)
    return replace(status, flapping=True, events=change.ordinal), change


def _after_flapping(
    status: AlertStatus, seen: Assessment, made: Evaluation, rule: Flapping
) -> tuple[AlertStatus, AlertChange | None]:
    if rule.alert and _turns(status.history) > rule.changes // 2:
        return status, None
    steady = replace(status, flapping=False)
    if seen.in_order:
        clear, after = status.clear, made.definition.alerting.clears_after
        enough = clear is not None and after.is_reached(clear.count, clear.since, made.slot)
        return _resolved(steady, seen, made) if enough else (steady, None)
    kind = _ripe(steady, seen, made) or steady.told or AlertKind.NO_DATA
    change = _change(
        AlertEvent.CHANGED, kind, severity_of(kind, steady, made, seen), steady, seen, made, muted=status.muted
    )
    # However it stood before: that it is steady is news.
    return _told(replace(steady, sent=None), replace(change, was=steady.told, was_severity=steady.severity))


def _turns(history: str) -> int:
    """How often it came or went."""
    return sum(before != after for before, after in pairwise(history))
