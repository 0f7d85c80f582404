"""Members that were flagged, followed from one evaluation to the next. Pure.

A member is flagged once it breached or could not be decided. One that breached is let go by one thing only: that an
evaluation judged it, and found it compliant. One that cannot be decided now, or is not there any more, is carried.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from alerts.states import MemberState
from monitors.evaluation import Counts, Evaluation, Followed

MOST_BREACHED = 100_000
"""Breached members of one monitor that are followed one by one; of more, the first in the order of their keys."""
MOST_UNDECIDED = 10_000
"""Undecided members that are followed though they never breached: nothing hangs on them but the record."""

LOST = (MemberState.NO_DATA, MemberState.GONE)
"""How a member that breached stands when an evaluation looked for it and could not judge it."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A member that was flagged, as it stood after the latest evaluation that could say."""

    now: MemberState
    breached: bool
    """It breached, and was not seen compliant since."""
    since: datetime
    """The slot from which on it stands so."""
    told: int = 0
    """The episode in which people were told that it breached and cannot be judged; 0: in none."""

    @property
    def is_followed(self) -> bool:
        """Whether it is looked for again."""
        return self.now is not MemberState.COMPLIANT and (self.breached or self.now is not MemberState.GONE)

    def told_in(self, episode: int) -> Flagged:
        """The same member, once people were told in an episode that it breached and cannot be judged."""
        return replace(self, told=episode)


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A member that stands otherwise than before."""

    key: str
    was: MemberState | None
    """None: it was not flagged."""
    after: Flagged


@dataclass(frozen=True, slots=True)
class Following:
    """What an evaluation says of the members that were flagged, and of new ones."""

    changes: tuple[MemberChange, ...] = ()
    held: int = 0
    """Breached before, compliant now, and not recovered."""
    undecided: int = 0
    """Breached before, and undecided now."""
    gone: int = 0
    """Breached before, and not in the population now."""
    unseen: int = 0
    """Breached before, and not looked for, or in vain."""
    beyond: bool = False
    """There are breached members that are not followed one by one."""
    accepted: int = 0
    """Breached now, and somebody accepted that: counted among the breached, and no cause for an alert."""
    lost: tuple[tuple[str, Flagged], ...] = ()
    """Those of `undecided` and `gone` by key, as they stand now."""

    @property
    def unjudged(self) -> int:
        """Members that breached and that this evaluation could not judge."""
        return self.undecided + self.gone + self.unseen

    @property
    def carried(self) -> bool:
        """Whether anything that breached before is neither breached now nor seen compliant."""
        return bool(self.held or self.unjudged or self.beyond)


def follow(
    flagged: Mapping[str, Flagged],
    made: Evaluation,
    *,
    beyond: bool = False,
    accepted: Collection[str] = (),
    most_breached: int = MOST_BREACHED,
    most_undecided: int = MOST_UNDECIDED,
) -> Following:
    """What becomes of the flagged members by this evaluation.

    Args:
        flagged: members by `key_text`; those that are not followed any more may be among them.
        made: the evaluation.
        beyond: whether there were breached members that are not followed one by one.
        accepted: keys of members whose breach somebody accepted. That covers what is breached, or held; what cannot be
            judged any more, or is gone, is followed as any other.
        most_breached: see `MOST_BREACHED`.
        most_undecided: see `MOST_UNDECIDED`.
    """
    known = {key: item for key, item in flagged.items() if item.is_followed}
    if not isinstance(made.outcome, Counts):
        return Following(unseen=sum(item.breached for item in known.values()), beyond=beyond)
    found, cut = _found(known, made, most_breached, most_undecided)
    more = made.outcome.breach > len(made.breached)
    rows = sum(item.key_text in accepted for item in made.breached) if accepted else 0
    stays = beyond and (made.outcome.breach > rows or made.outcome.no_data > 0)
    following = _following(flagged, known, found, made, accepted)
    return replace(following, beyond=cut or more or stays, accepted=rows)


def _found(
    known: Mapping[str, Flagged], made: Evaluation, most_breached: int, most_undecided: int
) -> tuple[dict[str, MemberState], bool]:
    """The members that are breached or undecided now, by key, and whether breached ones are left out."""
    found = {item.key_text: MemberState.BREACH for item in made.breached[:most_breached]}
    cut = len(made.breached) > most_breached
    fresh = 0
    for item in made.undecided:
        key = item.key_text
        if key in known:
            found.setdefault(key, MemberState.NO_DATA)
        elif fresh < most_undecided and key not in found:
            fresh += 1
            found[key] = MemberState.NO_DATA
    return found, cut


def _following(
    flagged: Mapping[str, Flagged],
    known: Mapping[str, Flagged],
    found: Mapping[str, MemberState],
    made: Evaluation,
    accepted: Collection[str],
) -> Following:
    changes = [
        MemberChange(key, None, Flagged(now, now is MemberState.BREACH, made.slot, _told(flagged.get(key))))
        for key, now in found.items()
        if key not in known
    ]
    counts = dict.fromkeys(MemberState, 0)
    lost = list[tuple[str, Flagged]]()
    unseen = 0
    for key, item in known.items():
        now = found.get(key) or _looked_up(key, made.followed)
        if now is None:
            unseen += item.breached
            continue
        breached = (item.breached or now is MemberState.BREACH) and now is not MemberState.COMPLIANT
        counts[now] += item.breached and not (now is MemberState.HELD and key in accepted)
        after = item
        if now is not item.now or breached is not item.breached:
            after = Flagged(now, breached, made.slot, item.told)
            changes.append(MemberChange(key, item.now, after))
        if item.breached and now in LOST:
            lost.append((key, after))
    return Following(
        tuple(changes),
        counts[MemberState.HELD],
        counts[MemberState.NO_DATA],
        counts[MemberState.GONE],
        unseen,
        lost=tuple(lost),
    )


def _told(before: Flagged | None) -> int:
    return 0 if before is None else before.told


def _looked_up(key: str, followed: Followed | None) -> MemberState | None:
    if followed is None or key not in followed.asked:
        return None
    if key in followed.compliant:
        return MemberState.COMPLIANT
    return MemberState.HELD if key in followed.held else MemberState.GONE
