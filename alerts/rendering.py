"""A message as text. Text from data passes the given `shown`, which makes it harmless for the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from alerts.breakdowns import PREFIX as ABOUT_RECEIVER
from alerts.gathered import is_fine
from alerts.message import Message
from alerts.outages import PREFIX as ABOUT_OUTAGE
from alerts.rendering_digest import ITEM, digest_lines, digest_subject
from alerts.shown import ShownMember
from alerts.states import AlertEvent, AlertKind
from alerts.wording import CAUSES, NOT_MADE, REASONS, SLOT_CAUSES, inactive, shortened, shortened_inside, visible
from trivet.verdicts import Cause, NotMadeReason, Reason, SlotCause, Verdict

Shown = Callable[[str], str]
"""`visible` or `inactive` of `alerts/wording.py`."""

_LONGEST_SUBJECT = 200
_LONGEST_LINE = 300
_LONGEST_CELL = 60
_KNOWN = frozenset(Cause)
_MOST_NAMED = 3
MOST_ALERTS = 25
"""Alerts of a gathered message that are shown; how many more there are is said."""

_ABOUT = {
    AlertKind.BREACH: "breach",
    AlertKind.NO_DATA: "no data",
    AlertKind.UNJUDGED: "was breach, now unjudged",
}


_WANTS_SOMEBODY = (AlertEvent.FIRED, AlertEvent.CHANGED, AlertEvent.REPEATED, AlertEvent.ESCALATED)


def subject(message: Message) -> str:
    """One line: how loud, which monitor, and what happened."""
    if message.event is AlertEvent.GATHERED:
        common = f" ({_in_common(message)})" if message.by else ""
        return shortened(f"[{_mark_of_all(message)}] {_tally(message)}{common}", _LONGEST_SUBJECT)
    named = (AlertEvent.RESOLVED, AlertEvent.TEST, AlertEvent.DIGEST)
    mark = message.event if message.event in named else message.severity
    happened = _happened(message)
    if message.digest is not None:
        return shortened(f"[{mark}] {happened}", _LONGEST_SUBJECT)
    line = f"[{mark}] {_title(message)}" + (f": {happened}" if happened else "")
    return shortened(line, _LONGEST_SUBJECT)


def _title(message: Message) -> str:
    """The monitor's title; of a group's alert, with the group, of which no program makes a link."""
    group = f" ({_pairs(message.group, inactive)})" if message.group else ""
    return visible(message.title) + group


def _named(message: Message) -> str:
    """The alert's name, as a shell takes it."""
    return f"'{message.alert}'" if message.alert else message.monitor


def body(message: Message, shown: Shown) -> str:
    """The rest: badge and reasons, members, and where to look."""
    return "\n".join(lines(message, shown))


def lines(message: Message, shown: Shown) -> Iterator[str]:
    """The same, line by line. One that begins with `ITEM` belongs to the list that the line before it begins."""
    return (shortened(line, _LONGEST_LINE) for line in _lines(message, shown))


def _happened(message: Message) -> str:
    match message.event:
        case AlertEvent.TEST:
            return ""
        case AlertEvent.DIGEST:
            return digest_subject(message.digest) if message.digest is not None else ""
        case AlertEvent.RESOLVED:
            if message.monitor.startswith(ABOUT_RECEIVER):
                return ""
            if message.kind is AlertKind.NO_DATA:
                return "judged again"
            return "no breach is left but accepted ones" if message.accepted else "compliant again"
        case AlertEvent.FIRED:
            return _about(message)
        case AlertEvent.CHANGED:
            return _changed(message)
        case AlertEvent.FLAPPING:
            return "it comes and goes; the next message is sent once it is steady"
        case AlertEvent.REPEATED:
            return "was breach, still unjudged" if message.kind is AlertKind.UNJUDGED else f"still {_about(message)}"
        case AlertEvent.ESCALATED:
            return f"{_about(message)}, and nobody has acknowledged it"
        case AlertEvent.ACKNOWLEDGED:
            return f"{_about(message)}, acknowledged"
        case AlertEvent.RELEASED:
            return f"{_about(message)}, members that are gone were let go"
        case AlertEvent.UNWATCHED:
            return f"{_about(message)}, not watched any more"
        case AlertEvent.GATHERED:
            return _tally(message)


def about(kind: AlertKind | None) -> str:
    """What an alert is about, in words."""
    return _ABOUT[kind] if kind else ""


def _about(message: Message) -> str:
    return about(message.kind)


def _changed(message: Message) -> str:
    if not message.newly_unjudged:
        return _otherwise(message)
    keys = "; ".join(_pairs(key, inactive) for key in message.newly_unjudged_keys[:_MOST_NAMED])
    more = ", …" if message.newly_unjudged > _MOST_NAMED else ""
    named = f": {keys}{more}" if keys else ""
    lost = f"{message.newly_unjudged:,} more {_was(message.newly_unjudged)} breach, now unjudged{named}"
    is_same = (message.was, message.was_severity) == (message.kind, message.severity)
    return lost if is_same else f"{_otherwise(message)}; {lost}"


def _otherwise(message: Message) -> str:
    """What a change is, but for members that cannot be judged any more."""
    if message.was is message.kind and message.was_severity is not None:
        return f"{_about(message)}, {message.severity} now and {message.was_severity} before"
    match message.kind, message.was:
        case AlertKind.BREACH, AlertKind.NO_DATA:
            return "was no data, now breach"
        case AlertKind.BREACH, AlertKind.UNJUDGED:
            return "judged again, and breach"
        case AlertKind.NO_DATA, AlertKind.BREACH | AlertKind.UNJUDGED:
            over = "no breach is left but accepted ones" if message.accepted else "the breach is over"
            return f"{over}, and there is no data"
        case _:
            return _about(message)


def _lines(message: Message, shown: Shown) -> Iterator[str]:
    if message.event is AlertEvent.TEST:
        yield "This is a test. Nothing is wrong, and no alert belongs to it."
        return
    if message.digest is not None:
        yield from digest_lines(message.digest, shown)
        return
    if message.event is AlertEvent.GATHERED:
        yield from _gathered(message)
        return
    if message.monitor.startswith(ABOUT_RECEIVER):
        yield shown(message.detail or "")
        yield "What it was not told is in the store: `trivet alerts list` shows what fires."
        return
    if message.monitor_count or message.monitors or message.monitor.startswith(ABOUT_OUTAGE):
        yield from _outage(message, shown)
        return
    if message.event is AlertEvent.UNWATCHED:
        yield f"Nothing was seen to end. The alert is over, since {visible(message.detail or 'nobody watches it')}."
        yield "What its latest evaluation found:"
    yield _finding(message)
    if message.accepted_until is not None:
        yield _accepted(message.accepted, *message.accepted_until)
    if message.detail and message.event is not AlertEvent.UNWATCHED:
        yield shown(message.detail)
    if message.judged_share is not None:
        yield f"judged: {message.judged_share[1]}% of all members, before {message.judged_share[0]}%"
    if not message.event.is_end:
        yield from _carried(message)
    if message.counts and not message.alert:
        yield f"{message.counts['population']:,} members, {message.counts[Verdict.COMPLIANT]:,} of them compliant"
    if message.condition:
        yield f"in breach when {visible(message.condition)}"
    yield f"monitor {message.monitor}, slot {message.slot}, since {message.since}"
    if message.alert:
        whole = f"; of all groups: {message.whole}" if message.whole else ""
        yield f"group {_pairs(message.group, shown) or 'erased'}{whole}"
    for verdict, heading in ((Verdict.BREACH, "Breached"), (Verdict.NO_DATA, "Not decided")):
        of_verdict = [item for item in message.members if item.verdict == verdict]
        # Of a group that is not there nothing can be listed.
        total = message.counts.get(verdict, 0) if of_verdict or not message.alert else 0
        yield from _members(of_verdict, heading, total, shown)
    yield from _missing(message, shown)
    yield ""
    if message.ledger_seq is not None:
        yield f"Recorded: trivet ledger show {message.ledger_seq}"
    if message.event is not AlertEvent.UNWATCHED:
        yield f"All members, as of now: trivet evaluate {message.monitor} --dry-run --json"
    if message.event in _WANTS_SOMEBODY:
        yield f"Take it on: trivet alerts ack {_named(message)} --owner NAME"
    if message.contract:
        yield f"Contract: {visible(message.contract)}"
    if message.runbook:
        yield f"Runbook: {visible(message.runbook)}"
    if message.owner:
        yield f"Owner: {visible(message.owner)}"


def _mark_of_all(message: Message) -> str:
    """How loud the loudest is; `resolved` only where everything in it ended and was decided."""
    return AlertEvent.RESOLVED if is_fine(message) else message.severity


def _tally(message: Message) -> str:
    """How many alerts, and of what kinds."""
    named = {kind.value: about for kind, about in _ABOUT.items()} | {AlertEvent.UNWATCHED.value: "not watched any more"}
    counted = ", ".join(f"{count:,} {named.get(kind, kind)}" for kind, count in message.kinds.items())
    return f"{message.title}: {counted}"


def _in_common(message: Message) -> str:
    return ", ".join(f"{name} {visible(text)}" for name, text in message.by.items())


def _gathered(message: Message) -> Iterator[str]:
    """One line for each alert, with its own badge; then how to read one in full and take it on."""
    yield _tally(message)
    if message.by:
        yield f"In common: {_in_common(message)}"
    yield ""
    yield from (ITEM + _alert_line(item) for item in message.notices[:MOST_ALERTS])
    more = sum(message.kinds.values()) - len(message.notices[:MOST_ALERTS])
    if more > 0:
        yield f"and {more:,} more: trivet alerts list"
    yield ""
    yield "One in full: trivet alerts show MONITOR"
    if any(item.event in _WANTS_SOMEBODY for item in message.notices):
        yield "Take one on: trivet alerts ack MONITOR --owner NAME"


def _alert_line(item: Message) -> str:
    mark = item.event if item.event is AlertEvent.RESOLVED else item.severity
    earlier = f" ({', '.join(item.earlier)} before that)" if item.earlier else ""
    title = shortened(_title(item), 2 * _LONGEST_CELL)
    since = f", since {item.since}" if item.since else ""
    return f"[{mark}] {title}: {_happened(item)}{earlier}; {_in_short(item)}; monitor {item.name}{since}"


def _in_short(item: Message) -> str:
    """The badge, with the codes of what could not be decided, and how many are accepted or carried."""
    reasons = ", ".join(f"{count} {name}" for name, count in item.no_data_reasons.items())
    badge = f"not evaluated ({item.not_made or 'no reason'})" if item.badge is None else item.badge
    carried = f"; {_were(item.carried)} breach, now unjudged" if item.carried else ""
    accepted = f"; of the breaches {item.accepted:,} accepted" if item.accepted else ""
    return badge + (f" ({reasons})" if reasons else "") + accepted + carried


def _carried(message: Message) -> Iterator[str]:
    """Whom nothing was heard of: an alert stays until they are judged."""
    if message.carried:
        gone = f", {message.gone:,} of them not there any more" if message.gone else ""
        yield f"{_were(message.carried)} breach, now unjudged{gone}. The alert stays until it is judged compliant."
    elif message.kind is AlertKind.UNJUDGED:
        yield "There was a breach, and this evaluation could not judge it. The alert stays until it is judged."
    if message.held:
        yield f"{_were(message.held)} breach, now compliant, and not recovered as far as the monitor asks."


def _accepted(count: int, first: str, last: str) -> str:
    """Breaches that are counted, and that this message is not about."""
    if first == last:
        return f"of the breaches {count:,} accepted until {first}"
    return f"of the breaches {count:,} accepted, the first until {first}, the last until {last}"


def _were(count: int) -> str:
    return f"{count:,} {_was(count)}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _missing(message: Message, shown: Shown) -> Iterator[str]:
    """One missing row is one line, however many members wait for it."""
    if message.missing:
        yield ""
        yield "Missing rows:"
    for item in message.missing:
        count = f"{item.members:,} member{'' if item.members == 1 else 's'}"
        yield f"{ITEM}{visible(item.object)} has none for {_pairs(item.key, shown)}: {count}"


def _outage(message: Message, shown: Shown) -> Iterator[str]:
    if message.event is AlertEvent.RESOLVED:
        yield "Every monitor that could not be judged was judged again."
    elif message.event is AlertEvent.UNWATCHED:
        yield "Nothing was seen to end. The last monitor that could not be judged was removed."
    else:
        yield _finding(message)
        if message.detail:
            yield shown(message.detail)
    yield f"slot {message.slot}, since {message.since}"
    if message.monitor_count:
        yield ""
        few = len(message.monitors) < message.monitor_count
        total = f", {len(message.monitors)} of {message.monitor_count:,}" if few else ""
        yield f"Not judged{total}:"
        yield from (f"{ITEM}{visible(name)}" for name in message.monitors)
    if message.event in _WANTS_SOMEBODY and message.monitor:
        yield ""
        yield f"Take it on: trivet alerts ack {visible(message.monitor)} --owner NAME"


def _finding(message: Message) -> str:
    if message.badge is None:
        cause = f", {message.cause}: {SLOT_CAUSES[SlotCause(message.cause)]}" if message.cause else ""
        why = f"{message.not_made}: {NOT_MADE[NotMadeReason(message.not_made)]}" if message.not_made else "no reason"
        return f"not evaluated ({why}{cause})"
    reasons = "; ".join(f"{count} {name}: {REASONS[Reason(name)]}" for name, count in message.no_data_reasons.items())
    return f"{message.badge} ({reasons})" if reasons else message.badge


def _members(members: Sequence[ShownMember], heading: str, total: int, shown: Shown) -> Iterator[str]:
    if not total:
        return
    yield ""
    yield f"{heading}, {len(members)} of {total:,}:" if len(members) < total else f"{heading}:"
    for item in members:
        parts = [_pairs(item.key, shown), _pairs(item.operands, shown)]
        if item.was_breach:
            parts.append("was breach")
        if item.reason:
            parts.append(f"{item.reason} ({REASONS[Reason(item.reason)]})")
        parts += [f"{_name(name)} {_causes(causes)}" for name, causes in item.causes.items()]
        if item.provenance:
            parts.append("read from " + " and ".join(_read_from(place, shown) for place in item.provenance))
        if item.accepted_until:
            parts.append(f"accepted until {item.accepted_until}")
        yield ITEM + "; ".join(part for part in parts if part)


def _causes(causes: Sequence[str]) -> str:
    return ", ".join(f"{cause} ({CAUSES[Cause(cause)]})" if cause in _KNOWN else visible(cause) for cause in causes)


def _read_from(place: str, shown: Shown) -> str:
    """Its end, the page or the row, is what a person looks for."""
    return shortened_inside(shown(place), _LONGEST_CELL)


def _pairs(values: Mapping[str, str | None], shown: Shown) -> str:
    return ", ".join(f"{_name(name)} {_cell(value, shown)}" for name, value in values.items())


def _name(text: str) -> str:
    """An operand as the condition prints it: words of the monitor, not of the data."""
    return shortened(visible(text), _LONGEST_CELL)


def _cell(value: str | None, shown: Shown) -> str:
    if value is None:
        return "—"
    return shortened(shown(value), _LONGEST_CELL) if value.strip() else "(blank)"
