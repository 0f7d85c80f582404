"""A clock that ran ahead and was set right, as the ledger tells it: the marks of monitors were set back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.append import Draft
from ledger.entries import EntryType
from trivet.canonical import Json
from trivet.clock import utc_text

PAYLOAD_VERSION = 1


@dataclass(frozen=True, slots=True)
class SetBack:
    """One monitor's mark that was set back."""

    monitor: str
    was: str
    """Up to this instant slots were planned by the clock that ran ahead; as `trivet.clock.utc_text` writes it."""
    planned_until: str
    """After this instant they are planned again."""


def set_back_draft(marks: Sequence[SetBack], now: datetime) -> Draft:
    """The entry by which others know from where monitors are planned again.

    Args:
        marks: those that were set back.
        now: the present, by the clock that was set right.
    """
    monitors: list[Json] = [
        {"id": item.monitor, "was": item.was, "planned_until": item.planned_until}
        for item in sorted(marks, key=lambda item: item.monitor)
    ]
    payload: dict[str, Json] = {"schema": PAYLOAD_VERSION, "set_back_at": utc_text(now), "monitors": monitors}
    return Draft(EntryType.CLOCK_SET_BACK, uuid.uuid4().hex, payload)


def read_set_backs(payload: Mapping[str, Any]) -> list[SetBack]:
    """The marks of an entry.

    Raises:
        KeyError: it lacks them.
        TypeError: they are something else.
    """
    return [SetBack(str(item["id"]), str(item["was"]), str(item["planned_until"])) for item in payload["monitors"]]
