"""Alerts of members that are not watched any more, since their monitor has other members now, or was removed. Pure.

No evaluation can judge them again, so nothing would ever end their alerts. They end as not watched, and never as
resolved: nothing was seen to end.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace

from alerts.members import Flagged
from alerts.reminding import told_again
from alerts.states import AlertEvent, AlertKind, AlertState
from alerts.status import AlertChange, AlertStatus
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Evaluation
from trivet.verdicts import Trigger

OTHER_MEMBERS = "the monitor has other members now: another object, or other groups"
REMOVED = "the monitor was removed"


def shape_of(definition: MonitorDefinition) -> str:
    """What the monitor's members are, as a text that is equal where one evaluation's keys mean the next one's."""
    if definition.grouping is None:
        return definition.object
    keys = sorted([key.property, key.period] for key in definition.grouping.keys)
    return f"{definition.object} grouped by {json.dumps(keys)}"


def is_news(last: AlertStatus, made: Evaluation) -> bool:
    """Whether an evaluation moves the alert at all.

    Decided by slot order, not by the order of arrival: a slot that is not later than the latest one changes nothing,
    so the same slot can come twice. Neither do replays, which speak of the past, and evaluations for an instant that
    had not come when they were made, which would keep out every slot until then.
    """
    if made.trigger is Trigger.REPLAY or made.slot > made.finished_at:
        return False
    return last.slot is None or made.slot > last.slot


def is_reshaped(last: AlertStatus, groups: Collection[str], flagged: Collection[str], made: Evaluation) -> bool:
    """Whether a completed evaluation is of other members than those that the alerts of its monitor are about.

    Args:
        last: how the monitor's own alert stands.
        groups: the keys of groups that have alerts of their own, which are not quiet.
        flagged: the keys of the members that are followed.
        made: the evaluation.
    """
    if last.slot is None or not is_news(last, made) or not isinstance(made.outcome, Counts):
        return False
    if last.shape is not None:
        return last.shape != shape_of(made.definition)
    # A row from before shapes were kept: the keys say by what names their members were told apart.
    grouping = made.definition.grouping
    if grouping is None:
        return bool(groups)
    names = {key.property for key in grouping.keys}
    return any(found != names for found in _names([*groups, *flagged]))


def _names(keys: Iterable[str]) -> Iterable[set[str]]:
    for key in keys:
        try:
            yield set(json.loads(key))
        except ValueError:
            # It was erased.
            continue


def is_about_members(status: AlertStatus, flagged: Iterable[Flagged]) -> bool:
    """Whether a monitor's own alert waits for members that breached, and not only for data."""
    of_breach = AlertKind.NO_DATA not in (status.told or status.kind, None)
    return status.state is not AlertState.QUIET and (
        of_breach or status.beyond or any(item.breached for item in flagged)
    )


def unwatch(last: AlertStatus, carried: int, *, heard: bool) -> tuple[AlertStatus, AlertChange | None]:
    """The alert once nobody watches what it is about, and what is told of that; nothing where nothing was told before.

    Args:
        last: how it stands.
        carried: how many members breached and were not seen compliant.
        heard: whether anybody heard of it in this episode.
    """
    if last.state is AlertState.QUIET:
        return last, None
    quiet = AlertStatus(slot=last.slot, since=last.slot, evaluation_id=last.evaluation_id, episode=last.episode)
    if not last.state.is_open:
        return quiet, None
    status, change = told_again(last, AlertEvent.UNWATCHED)
    # Who heard of it hears of its end, in a silence too; of what nobody heard of, nobody does.
    change = replace(change, carried=carried, muted=not heard)
    return replace(quiet, events=status.events), change
