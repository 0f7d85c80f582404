"""A clock that ran ahead and was set right, as the ledger tells it: the marks of monitors were set back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ledger.append import Draft
from ledger.entries import EntryType
from trivet.canonical import Json
from trivet.clock import utc_text

PAYLOAD_VERSION = 1


def set_back_draft(marks: Mapping[str, str], now: datetime) -> Draft:
    """The entry by which others know from where monitors are planned again.

    Args:
        marks: by monitor, the instant after which slots are due again.
        now: the present, by the clock that was set right.
    """
    monitors: list[Json] = [{"id": name, "planned_until": until} for name, until in sorted(marks.items())]
    payload: dict[str, Json] = {"schema": PAYLOAD_VERSION, "set_back_at": utc_text(now), "monitors": monitors}
    return Draft(EntryType.CLOCK_SET_BACK, uuid.uuid4().hex, payload)


def read_set_back(payload: Mapping[str, Any]) -> dict[str, str]:
    """The marks of an entry.

    Raises:
        KeyError: it lacks them.
        TypeError: they are something else.
    """
    return {str(item["id"]): str(item["planned_until"]) for item in payload["monitors"]}
