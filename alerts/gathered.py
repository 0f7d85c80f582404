"""Several notices in one message. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from alerts.message import Message
from alerts.states import AlertEvent
from trivet.clock import utc_text
from trivet.verdicts import Severity, Verdict


def gathered_message(by: Mapping[str, str], notices: Sequence[Message], now: datetime) -> Message:
    """One message of several notices, as a person is to read them: one line for each alert, the loudest first.

    Of an alert that moved while it waited, the latest notice is shown, and which came before it. Members stay in the
    notices' own rows: what is in no message need not be erased from it.

    Args:
        by: what the notices have in common; a name without a text is left out.
        notices: in the order in which they were written.
        now: the instant at which they are gathered.
    """
    latest: dict[tuple[str, int], Message] = {}
    for item in notices:
        name = (item.monitor, item.episode)
        before = latest.pop(name, None)
        earlier = (*before.earlier, before.event) if before is not None else ()
        latest[name] = replace(item, members=(), missing=(), detail=None, earlier=earlier)
    shown = sorted(latest.values(), key=_place)
    open_ones = [item.severity for item in shown if item.event is not AlertEvent.RESOLVED]
    return Message(
        AlertEvent.GATHERED,
        f"{len(shown)} alert{'' if len(shown) == 1 else 's'}",
        utc_text(now),
        severity=max(open_ones, key=lambda item: item.rank, default=Severity.INFO),
        notices=tuple(shown),
        by={name: text for name, text in by.items() if text},
    )


def is_fine(message: Message) -> bool:
    """Whether a message may be shown in the colour of what is in order.

    A gathered one only where everything in it ended, and nothing in it was left undecided.
    """
    if message.event is not AlertEvent.GATHERED:
        return message.event in (AlertEvent.RESOLVED, AlertEvent.TEST)
    return all(
        item.event is AlertEvent.RESOLVED and item.not_made is None and not item.counts.get(Verdict.NO_DATA)
        for item in message.notices
    )


def _place(message: Message) -> tuple[bool, int, str, str, int]:
    over = message.event is AlertEvent.RESOLVED
    return over, -message.severity.rank, message.title, message.monitor, message.episode
