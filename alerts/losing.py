"""Members that breached and cannot be judged now, while others are in breach: who of them is news. Pure.

What the alert is about stays the same, so without this the person on call would hear of them with the next repetition.
Each is told of once in an episode: one that is now in breach and now undecided does not call anybody again and again.
"""

from __future__ import annotations

from collections.abc import Collection

from alerts.assessing import Assessment
from alerts.members import MemberChange
from alerts.states import MemberState
from alerts.status import AlertChange, AlertStatus
from monitors.evaluation import Evaluation


def untold(
    status: AlertStatus, seen: Assessment, made: Evaluation, reached: Collection[str], *, muted: bool
) -> tuple[str, ...]:
    """The keys of those that people are to be told of by this evaluation, in order.

    One that is gone always counts; one that is undecided only where missing data of its reason is told of, and has
    lasted for as long as that asks.

    Args:
        status: how the alert stands.
        seen: what the evaluation says.
        made: the evaluation.
        reached: the runs towards `for` that are long enough.
        muted: whether somebody silenced the monitor. Then only what this evaluation did to them is written down, and
            people are told by the first evaluation after the silence.
    """
    fresh = {
        key: item.now
        for key, item in seen.following.lost
        if item.told != status.episode
        and (status.heard is None or item.since > status.heard)
        and (item.since == made.slot or not muted)
    }
    if not fresh:
        return ()
    loud = {name for item in seen.excesses if item.is_loud and item.run in reached for name in item.reasons}
    told = {item.key_text for item in made.undecided if item.reason is not None and item.reason.value in loud}
    return tuple(sorted(key for key, now in fresh.items() if now is MemberState.GONE or key in told))


def heard_of(seen: Assessment, status: AlertStatus, change: AlertChange | None) -> tuple[MemberChange, ...]:
    """The members that breached and cannot be judged, once people were sent a notice in which they are counted."""
    if change is None or change.muted or not status.state.is_open:
        return ()
    fresh = ((key, item) for key, item in seen.following.lost if item.told != status.episode)
    return tuple(MemberChange(key, item.now, item.told_in(status.episode)) for key, item in fresh)
