"""A monitor whose groups have alerts of their own: one evaluation, taken apart. Pure.

Each group's alert moves as a monitor's alert does, by a part of the evaluation that says of this group alone; so what
resolves an alert, and what does not, is decided in one place (`alerts.changes`). The monitor keeps an alert as well: it
tells that the evaluation could not be made, that less can be judged than before, and of groups that have no alert of
their own, because there are too many or because it told of them before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from alerts.changes import Step, advance
from alerts.members import Flagged, MemberChange
from alerts.states import AlertState
from alerts.status import AlertStatus
from monitors.alerting import NoDataPolicy, Threshold
from monitors.evaluation import Counts, Evaluation, Followed, Member, NotMade
from trivet.verdicts import Reason

MARK = "#"
"""Stands between a monitor's id and a group's number in the name of a group's alert: no id holds one."""
MOST_GROUPS = 1_000
"""Groups of one monitor that have alerts of their own at one time; those beyond are told of in the monitor's."""
MOST_APART = 3
"""Groups of one monitor that are told of one by one when they move at once; more are one message."""
_NONE: Mapping[str, str] = {}
_WHATEVER = NoDataPolicy(tolerate=Threshold(percent=Decimal(100)))


@dataclass(frozen=True, slots=True)
class GroupAlert:
    """The alert of one group."""

    number: int
    """Which of the monitor's groups, in the order in which they were first told of, from 1."""
    key: str
    """The group's key, as `monitors.evaluation.key_text` spells it."""
    status: AlertStatus

    @property
    def is_live(self) -> bool:
        """Whether evaluations move it though its group is in order: it is open or pending, or was lately."""
        return self.status.state is not AlertState.QUIET or "1" in self.status.history


@dataclass(frozen=True, slots=True)
class GroupStep:
    """What one evaluation came to for one group."""

    alert: GroupAlert
    """As it stands now."""
    part: Evaluation
    """What the evaluation says of it alone."""
    step: Step


@dataclass(frozen=True, slots=True)
class GroupsStep:
    """What one evaluation came to."""

    monitor: Step
    """For the monitor's own alert."""
    groups: tuple[GroupStep, ...] = ()
    """For the groups that moved, or may have."""

    @property
    def heard(self) -> tuple[MemberChange, ...]:
        """The groups that `Step.heard` names. One that has an alert of its own is told of by that, and by itself."""
        return self.monitor.heard

    @property
    def members(self) -> tuple[MemberChange, ...]:
        """The groups that stand otherwise than before."""
        return (*self.monitor.members, *(change for item in self.groups for change in item.step.members))


def name_of(monitor: str, number: int) -> str:
    """The name of a group's alert, as commands take it."""
    return f"{monitor}{MARK}{number}"


def group_of(key: str) -> dict[str, str | None]:
    """The group that a key names; nothing where the key was erased."""
    try:
        found: dict[str, str | None] = json.loads(key)
    except ValueError:
        return {}
    return found


def advance_groups(
    last: AlertStatus,
    groups: Sequence[GroupAlert],
    made: Evaluation,
    flagged: Mapping[str, Flagged],
    *,
    muted: bool = False,
    is_muted: Callable[[GroupAlert], bool] = lambda group: False,
    accepted: Mapping[str, str] = _NONE,
    most: int = MOST_GROUPS,
) -> GroupsStep:
    """How the alerts of a monitor and of its groups stand after an evaluation, and what is to be told.

    The monitor's own alert knows the latest slot, whatever groups moved by it: an evaluation that is not later changes
    none of them.

    Args:
        last: how the monitor's own alert stood.
        groups: the alerts that groups have or had.
        made: the evaluation.
        flagged: the groups that were flagged before, by key.
        muted: whether the monitor's own alert tells nobody.
        is_muted: whether a group's alert tells nobody.
        accepted: the groups whose breach somebody accepted: by key, the last day for which that holds.
        most: see `MOST_GROUPS`; none, where the monitor's groups are not to have alerts of their own any more.
    """
    if not (most or groups):
        return GroupsStep(advance(last, made, flagged, muted=muted, accepted=accepted))
    if isinstance(made.outcome, NotMade):
        moving = [item for item in groups if item.status.state is not AlertState.QUIET]
    else:
        # What a quiet alert of the monitor told of is over.
        followed = flagged if last.state is not AlertState.QUIET else {}
        moving = _moving(groups, made, followed, most)
    own = {item.key for item in moving}
    rest = {key: item for key, item in flagged.items() if key not in own}
    whole = advance(last, _rest(made, own), rest, muted=muted, accepted=accepted)
    if whole.status is last:
        return GroupsStep(whole)
    # The monitor's own alert tells of an evaluation that could not be made.
    silent = isinstance(made.outcome, NotMade)
    members = {item.key_text: item for item in (*made.breached, *made.undecided)}
    # The judged share is that of all groups.
    policy = replace(made.definition.alerting, judged_share=None)
    of_one = replace(made, definition=replace(made.definition, alerting=policy))
    steps = []
    for item in moving:
        part = _part(of_one, item, members.get(item.key))
        status = replace(item.status, let_go=False) if item.key in members else item.status
        known = {item.key: flagged[item.key]} if item.key in flagged else {}
        step = advance(status, part, known, muted=silent or is_muted(item), accepted=accepted)
        steps.append(GroupStep(replace(item, status=step.status), part, step))
    return GroupsStep(whole, tuple(steps))


def _moving(
    groups: Sequence[GroupAlert], made: Evaluation, flagged: Mapping[str, Flagged], most: int
) -> list[GroupAlert]:
    """The alerts of the groups that the evaluation moves, with those that it begins."""
    known = {item.key: item for item in groups}
    live = {item.key: item for item in groups if item.status.state is not AlertState.QUIET}
    # What the monitor's own alert told of stays there until it is seen compliant.
    kept = {key for key, item in flagged.items() if item.is_followed and item.breached and key not in live}
    listed = [key for key in _listed(made) if key not in live and key not in kept]
    number = max((item.number for item in groups), default=0)
    begun = list[GroupAlert]()
    for key in listed[: max(0, most - len(live))]:
        if key not in known:
            number += 1
        begun.append(known.get(key) or GroupAlert(number, key, AlertStatus()))
    # That it goes on being in order is counted for flapping. Of one that is not there there is nothing to tell.
    seen = made.followed.compliant if made.followed is not None else ()
    calm = [known[key] for key in seen if key in known and known[key].is_live and key not in live and key not in kept]
    return [*live.values(), *begun, *sorted(calm, key=lambda item: item.number)]


def _listed(made: Evaluation) -> Iterable[str]:
    """The keys of the groups that are breached, then of those that are undecided."""
    return dict.fromkeys(item.key_text for item in (*made.breached, *made.undecided))


def _rest(made: Evaluation, own: Collection[str]) -> Evaluation:
    """What the evaluation says of the monitor as a whole, and of groups without an alert of their own."""
    if not isinstance(made.outcome, Counts):
        return made
    breached = tuple(item for item in made.breached if item.key_text not in own)
    undecided = tuple(item for item in made.undecided if item.key_text not in own)
    outcome = replace(made.outcome, breach=made.outcome.breach - (len(made.breached) - len(breached)))
    definition = made.definition
    if not undecided and made.outcome.no_data == len(made.undecided):
        # Each undecided group is told by itself. All together they count in the judged share, and in nothing else.
        definition = replace(definition, no_data=_WHATEVER)
        if definition.alerting.judged_share is None:
            outcome = replace(outcome, no_data=0, no_data_reasons={})
    return replace(
        made,
        definition=definition,
        outcome=outcome,
        breached=breached,
        undecided=undecided,
        missing_keys=(),
    )


def _part(made: Evaluation, group: GroupAlert, member: Member | None) -> Evaluation:
    """What the evaluation says of one group; where it says nothing, that is no evidence, and it counts as undecided."""
    if isinstance(made.outcome, NotMade):
        return made
    followed, key = made.followed, group.key
    asked = followed is not None and key in followed.asked
    seen = followed is not None and (key in followed.compliant or key in followed.held)
    breached = (member,) if member is not None and member.reason is None else ()
    undecided = (member,) if member is not None and member.reason is not None else ()
    reason = member.reason if member is not None else None
    if member is None and not seen and not group.status.let_go:
        reason = Reason.LEFT_MISSING if asked else Reason.SCOPE_UNKNOWN
    no_data = int(reason is not None)
    outcome = Counts(1, len(breached), no_data, 1 - len(breached) - no_data, 0, 0, {reason: 1} if reason else {})
    only = frozenset({key})
    return replace(
        made,
        outcome=outcome,
        breached=breached,
        undecided=undecided,
        followed=None
        if followed is None
        else Followed(followed.asked & only, followed.compliant & only, followed.held & only),
        missing_keys=(),
    )
