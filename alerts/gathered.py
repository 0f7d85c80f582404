"""Several notices in one message. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from alerts.message import Message
from alerts.states import AlertEvent, AlertKind
from trivet.clock import utc_text
from trivet.verdicts import Severity, Verdict

MOST_LISTED = 200
"""Alerts that a message lists, the loudest first; of what kinds there are how many is said of all."""
_OTHER = "other"
_ENDS = (AlertEvent.UNWATCHED.value, AlertEvent.RESOLVED.value)
_WITHOUT_MEMBERS: Mapping[str, Any] = {"members": (), "missing": (), "newly_unjudged_keys": (), "detail": None}


def gathered_message(by: Mapping[str, str], notices: Sequence[Message], now: datetime) -> Message:
    """One message of several notices, as a person is to read them: one line for each alert, the loudest first.

    Of an alert that moved while it waited, the latest notice is shown, and which came before it. Members stay in the
    notices' own rows: what is in no message need not be erased from it.

    Args:
        by: what the notices have in common; a name without a text is left out.
        notices: in the order in which they were written.
        now: the instant at which they are gathered.
    """
    latest: dict[str, Message] = {}
    for item in notices:
        before = latest.pop(item.name, None)
        earlier = (*before.earlier, before.event) if before is not None else ()
        latest[item.name] = replace(item, **_WITHOUT_MEMBERS, earlier=earlier)
    alerts = sorted(latest.values(), key=_place)
    open_ones = [item.severity for item in alerts if item.event is not AlertEvent.RESOLVED]
    kinds = Counter(_kind(item) for item in alerts)
    return Message(
        AlertEvent.GATHERED,
        f"{len(alerts):,} alert{'' if len(alerts) == 1 else 's'}",
        utc_text(now),
        severity=max(open_ones, key=lambda item: item.rank, default=Severity.INFO),
        notices=tuple(alerts[:MOST_LISTED]),
        kinds={name: kinds[name] for name in (*AlertKind, *_ENDS, _OTHER) if name in kinds},
        is_fine=all(_is_fine(item) for item in alerts),
        by={name: text for name, text in by.items() if text},
    )


def is_fine(message: Message) -> bool:
    """Whether a message may be shown in the colour of what is in order.

    A gathered one only where everything in it ended, and nothing in it was left undecided; a digest only where every
    monitor is compliant and nothing was missed.
    """
    if message.event is AlertEvent.DIGEST:
        return message.severity is Severity.INFO
    if message.event is AlertEvent.GATHERED:
        return message.is_fine
    return message.event in (AlertEvent.RESOLVED, AlertEvent.TEST)


def _is_fine(notice: Message) -> bool:
    over = notice.event is AlertEvent.RESOLVED
    return over and notice.not_made is None and not notice.counts.get(Verdict.NO_DATA)


def _kind(notice: Message) -> str:
    if notice.event.is_end:
        return notice.event.value
    return notice.kind.value if notice.kind is not None else _OTHER


def _place(message: Message) -> tuple[bool, int, str, str]:
    over = message.event is AlertEvent.RESOLVED
    return over, -message.severity.rank, message.title, message.name
