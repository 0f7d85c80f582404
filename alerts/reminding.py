"""What is told of an alert between evaluations: by the clock, and by people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from alerts.members import Flagged
from alerts.states import AlertEvent, AlertKind, AlertState, MemberState
from alerts.status import AlertChange, AlertStatus
from monitors.alerting import AlertPolicy
from trivet.verdicts import Severity


def remind(
    last: AlertStatus, policy: AlertPolicy, now: datetime, *, muted: bool = False
) -> tuple[AlertStatus, tuple[AlertChange, ...]]:
    """What the clock makes due for an alert that fires: a repetition, or that another receiver is told.

    Which repetition it is follows from the time since it fired, and not from how often somebody looked. After a while
    in which nobody looked one is told, not all of them. What was silenced is told once the silence is over.

    Args:
        last: how the alert stands.
        policy: that of its monitor.
        now: the store's clock.
        muted: whether somebody silences the monitor now.
    """
    if not last.state.is_open or last.opened_at is None or muted:
        return last, ()
    status, changes = last, list[AlertChange]()
    if last.muted:
        status, change = told_again(status, AlertEvent.REPEATED)
        status = replace(status, muted=False, sent=(change.kind, change.severity), heard=status.slot)
        changes.append(change)
    if status.state is AlertState.ACKNOWLEDGED:
        return status, tuple(changes)
    passed = now - last.opened_at
    if policy.repeat is not None:
        number = passed // policy.repeat.every
        if number > status.repeat_no and status.repeats < policy.repeat.most:
            status = replace(status, repeats=status.repeats + 1, repeat_no=number)
            if not changes:
                status, change = told_again(status, AlertEvent.REPEATED)
                changes.append(change)
    for step in policy.escalate[status.escalated :]:
        if passed < step.after:
            break
        status, change = told_again(replace(status, escalated=status.escalated + 1), AlertEvent.ESCALATED)
        changes.append(replace(change, to=step.to))
    return status, tuple(changes)


def repeat_by_route(last: AlertStatus) -> tuple[AlertStatus, AlertChange]:
    """An alert that is told again because the route that it takes says so."""
    status, change = told_again(last, AlertEvent.REPEATED)
    return replace(status, repeats=status.repeats + 1), change


def acknowledge(last: AlertStatus, by: str) -> tuple[AlertStatus, AlertChange | None]:
    """The alert once `by` has taken it on; nothing changes where nothing fires, or somebody has."""
    if last.state is not AlertState.FIRING:
        return last, None
    status, change = told_again(last, AlertEvent.ACKNOWLEDGED)
    return replace(status, state=AlertState.ACKNOWLEDGED, acknowledged_by=by), replace(change, by=by, muted=True)


def release(
    last: AlertStatus, flagged: Mapping[str, Flagged], by: str
) -> tuple[AlertStatus, AlertChange | None, dict[str, Flagged]]:
    """The alert once `by` answers for those members that breached and are not in the population any more.

    What no evaluation can judge a person can: an employee who has left, a month that is over. The alert ends with the
    next evaluation, if nothing else is in its way. Members that are there and undecided are not let go.

    Returns:
        The status, what is recorded, and the members that are let go; nothing where there is none.
    """
    gone = {key: item for key, item in flagged.items() if item.now is MemberState.GONE and item.breached}
    if not gone or not last.state.is_open:
        return last, None, {}
    status, change = told_again(last, AlertEvent.RELEASED)
    let_go = {key: replace(item, breached=False) for key, item in gone.items()}
    return status, replace(change, by=by, gone=len(gone), muted=True), let_go


def release_group(
    last: AlertStatus, flagged: Flagged | None, by: str
) -> tuple[AlertStatus, AlertChange | None, Flagged | None]:
    """The alert of a group once `by` answers for the group, which is not there any more.

    It ends with the next evaluation that does not find the group either.

    Returns:
        The status, what is recorded, and how the group is followed from now on, if it is; nothing where it is there.
    """
    # One that was only ever undecided is not followed once it is gone.
    never_breached = flagged is None and last.kind is AlertKind.NO_DATA and last.clear is None
    if not last.state.is_open or not (never_breached or (flagged is not None and flagged.now is MemberState.GONE)):
        return last, None, None
    status, change = told_again(replace(last, let_go=True), AlertEvent.RELEASED)
    let_go = None if flagged is None else replace(flagged, breached=False)
    return status, replace(change, by=by, gone=1, muted=True), let_go


def told_again(status: AlertStatus, event: AlertEvent) -> tuple[AlertStatus, AlertChange]:
    """Something that is told of an alert as it stands."""
    if status.since is None:
        raise ValueError("nothing fires")
    told = status.told or AlertKind.NO_DATA
    ordinal = status.events + 1
    severity = status.severity or Severity.WARNING
    change = AlertChange(event, told, None, status.episode, ordinal, status.since, severity)
    return replace(status, events=ordinal), change
