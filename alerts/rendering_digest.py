"""A digest as text, line by line. Words that engines and people wrote pass `shown`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from alerts.digests import Digest, DigestMonitor, DigestNote, Standing
from alerts.wording import NOT_MADE, SLOT_CAUSES, visible
from trivet.verdicts import NotMadeReason, SlotCause

ITEM = "- "
_WORDS = {
    Standing.BREACH: "in breach",
    Standing.FIRING: "still firing",
    Standing.NO_DATA: "no data",
    Standing.NOT_EVALUATED: "not evaluated",
    Standing.OVERDUE: "overdue",
    Standing.NEVER: "never evaluated",
    Standing.PAUSED: "paused",
    Standing.COMPLIANT: "compliant",
}


def digest_subject(digest: Digest) -> str:
    """How many monitors stand how, the worst first."""
    return f"{digest.day}: {_counts(digest)}"


def digest_lines(digest: Digest, shown: Callable[[str], str]) -> Iterator[str]:
    """The rest, line by line; one that begins with `ITEM` belongs to the list that the line before it begins."""
    yield _first(digest)
    if digest.late is not None:
        yield f"Late: it was due at {digest.due} and written at {digest.late}, since nothing ran in between."
    yield _missed(digest)
    if digest.disabled:
        yield f"{_count(digest.disabled, 'more monitor')} disabled in their files."
    if digest.monitors:
        yield ""
        few = len(digest.monitors) < digest.total
        yield f"Monitors, {len(digest.monitors)} of {digest.total:,}, the worst first:" if few else "Monitors:"
        yield from (f"{ITEM}{visible(item.monitor)}: {'; '.join(_monitor(item, shown))}" for item in digest.monitors)
    yield from _notes("Outages:", "since", digest.outages, shown)
    yield from _notes("Ends soon:", "until", digest.ending, shown)
    yield from _notes("Receivers that cannot be told:", "since", digest.untold, shown)
    yield ""
    yield f"Times are those of {digest.timezone}."
    yield "It comes every day. If it stays away nobody is told of anything: `trivet doctor` says why."


def _first(digest: Digest) -> str:
    """What is read first: only where all is well it sounds so."""
    if not digest.total:
        return "No monitor is watched."
    fine, are = digest.counts.get(Standing.COMPLIANT, 0), "is" if digest.total == 1 else "are"
    every = "All" if fine == digest.total > 1 else f"{fine:,} of"
    return f"{every} {_count(digest.total, 'monitor')} {are} compliant."


def _counts(digest: Digest) -> str:
    parts = [f"{count:,} {_WORDS[Standing(name)]}" for name, count in digest.counts.items()]
    return ", ".join(parts) or "no monitor is watched"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _missed(digest: Digest) -> str:
    if digest.previous is None:
        return "It is the first digest for this receiver."
    were = "was" if digest.missed == 1 else "were"
    missed = _count(digest.missed, "slot") if digest.missed else "no slot"
    return f"Since the last one, of {digest.previous}, {missed} {were if digest.missed else 'was'} missed."


def _monitor(item: DigestMonitor, shown: Callable[[str], str]) -> Iterator[str]:
    judged = f", judged {item.judged}%" if item.judged is not None else ""
    if item.badge is not None:
        yield f"{_WORDS[item.standing]}, {item.badge}{judged}, {item.slot}"
    elif item.slot is not None:
        not_made = "" if item.standing is Standing.NOT_EVALUATED else ", not evaluated"
        yield f"{_WORDS[item.standing]}{not_made}, {_why(item)}, {item.slot}"
    else:
        yield _WORDS[item.standing]
    if item.accepted:
        yield f"of the breaches {item.accepted:,} accepted"
    if item.alert is not None:
        by = f" by {shown(item.acknowledged_by)}" if item.acknowledged_by else ""
        yield f"alert {item.alert}{by} since {item.since}"
    if item.groups:
        yield f"{_count(item.groups, 'group alert')} open"
    if item.overdue_since is not None:
        yield f"overdue since {item.overdue_since}"
    if item.missed:
        yield f"{_count(item.missed, 'slot')} missed"
    if item.silenced_until is not None:
        yield f"silenced until {item.silenced_until}"
    if item.paused_until is not None:
        yield f"paused until {item.paused_until}"


def _why(item: DigestMonitor) -> str:
    if item.cause is not None:
        return SLOT_CAUSES[SlotCause(item.cause)]
    return NOT_MADE[NotMadeReason(item.not_made)] if item.not_made is not None else "no reason"


def _notes(heading: str, word: str, notes: Sequence[DigestNote], shown: Callable[[str], str]) -> Iterator[str]:
    if notes:
        yield ""
        yield heading
        yield from (f"{ITEM}{visible(item.what)}, {word} {item.at}: {shown(item.words)}" for item in notes)
