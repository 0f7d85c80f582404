"""A digest: once a day, how every monitor stands. It is sent when all is quiet, too: what stays away is noticed.

One model, from which text, mail, chat and JSON are made. Nothing that is missing reads as fine: a monitor is compliant
only where its latest evaluation was made, on time, and found neither a breach nor missing data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from alerts.wording import shortened
from trivet.canonical import normal_text
from trivet.verdicts import Severity

PREFIX = "digest/"
"""What stands before a receiver's name where a notice is a digest, in place of a monitor's id: none holds a slash."""
MOST_MONITORS = 50
"""Monitors that a digest lists, the worst first; all are counted."""
MOST_NOTES = 20
"""Outages, ends and receivers that it lists of each."""
_LONGEST_TEXT = 200


class Standing(StrEnum):
    """How a monitor stands in a digest, the worst first."""

    BREACH = "breach"
    FIRING = "firing"
    """Its latest evaluation found no breach, and its alert goes on: not everything that breached was seen to end."""
    NO_DATA = "no_data"
    NOT_EVALUATED = "not_evaluated"
    """Its latest evaluation could not be made."""
    OVERDUE = "overdue"
    """It came due, and nobody evaluated it: what it found before is out of date."""
    NEVER = "never"
    """Nobody has evaluated it yet."""
    PAUSED = "paused"
    COMPLIANT = "compliant"


@dataclass(frozen=True, slots=True)
class DigestMonitor:
    """One monitor as a digest shows it. Times are as people read them, in the digest's time zone."""

    monitor: str
    standing: Standing
    badge: str | None = None
    """Of its latest evaluation; None where that could not be made."""
    judged: str | None = None
    """The judged share of its population in percent, cut and not rounded."""
    not_made: str | None = None
    """Why its latest evaluation could not be made; `cause` goes with it."""
    cause: str | None = None
    slot: str | None = None
    """Of its latest evaluation; None where there is none."""
    alert: str | None = None
    """State and kind of its alert while that is open: `firing breach`."""
    since: str | None = None
    """From when on the alert is open."""
    groups: int = 0
    """Alerts of single groups that are open."""
    acknowledged_by: str | None = None
    accepted: int = 0
    """Members whose breach is accepted, among those in breach."""
    silenced_until: str | None = None
    paused_until: str | None = None
    overdue_since: str | None = None
    missed: int = 0
    """Slots since the last digest that were not evaluated."""


@dataclass(frozen=True, slots=True)
class DigestNote:
    """An outage, something that ends soon, or a receiver that cannot be told."""

    what: str
    """Whom it concerns."""
    at: str
    """Since when, or until when."""
    words: str


@dataclass(frozen=True, slots=True)
class Digest:
    """What one digest says."""

    day: str
    """The day that it is for."""
    due: str
    """When it came due."""
    timezone: str
    """In which all its times are."""
    late: str | None = None
    """When it was written, where that was later than it should have been."""
    previous: str | None = None
    """When the digest before it came due; None for the first one."""
    total: int = 0
    """Monitors that are watched."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The same by how they stand; what none is, is left out."""
    missed: int = 0
    """Slots of all monitors since the last digest that were not evaluated."""
    disabled: int = 0
    """Monitors that their files disable."""
    monitors: tuple[DigestMonitor, ...] = ()
    outages: tuple[DigestNote, ...] = ()
    ending: tuple[DigestNote, ...] = ()
    """Silences and acceptances that end soon, the first to end first."""
    untold: tuple[DigestNote, ...] = ()
    """Receivers that cannot be told."""

    @property
    def severity(self) -> Severity:
        """`info` only where every monitor is compliant and nothing was missed."""
        if any(self.counts.get(item) for item in (Standing.BREACH, Standing.FIRING)):
            return Severity.CRITICAL
        fine = self.total == self.counts.get(Standing.COMPLIANT, 0) > 0
        return Severity.INFO if fine and not (self.missed or self.outages or self.untold) else Severity.WARNING

    def to_json(self) -> dict[str, Any]:
        """As a message holds it."""
        return {**asdict(self), "counts": dict(self.counts)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Digest:
        """What `to_json` wrote.

        Raises:
            ValueError, TypeError, KeyError: it is none.
        """
        monitors = tuple(
            DigestMonitor(**{**item, "standing": Standing(item["standing"])}) for item in document["monitors"]
        )
        notes = {name: tuple(DigestNote(**item) for item in document[name]) for name in ("outages", "ending", "untold")}
        return cls(**{**document, "monitors": monitors, **notes})


def digest_of(
    head: Digest,
    monitors: Sequence[DigestMonitor],
    outages: Sequence[DigestNote],
    ending: Sequence[DigestNote],
    untold: Sequence[DigestNote],
) -> Digest:
    """A digest with everything counted, and of each kind no more listed than a person reads.

    Args:
        head: day and times.
        monitors: all that are watched.
        outages: what keeps monitors from being judged.
        ending: what ends soon.
        untold: receivers that cannot be told.
    """
    rank = {standing: number for number, standing in enumerate(Standing)}
    ordered = sorted(monitors, key=lambda item: (rank[item.standing], not item.missed, item.monitor))
    counted = Counter(item.standing for item in monitors)
    return Digest(
        head.day,
        head.due,
        head.timezone,
        head.late,
        head.previous,
        len(monitors),
        {standing.value: counted[standing] for standing in Standing if counted[standing]},
        sum(item.missed for item in monitors),
        head.disabled,
        tuple(ordered[:MOST_MONITORS]),
        tuple(_capped(item) for item in outages[:MOST_NOTES]),
        tuple(_capped(item) for item in ending[:MOST_NOTES]),
        tuple(_capped(item) for item in untold[:MOST_NOTES]),
    )


def _capped(note: DigestNote) -> DigestNote:
    return DigestNote(*(shortened(normal_text(text), _LONGEST_TEXT) for text in (note.what, note.at, note.words)))
