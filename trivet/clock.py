"""The clock, passed in: nothing in the project asks the operating system for the time itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """A source of the current instant."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is moved: for tests and for evaluations at a given time."""

    def __init__(self, instant: datetime) -> None:
        self.instant = instant

    def now(self) -> datetime:
        """The instant that was set."""
        return self.instant


def utc_text(instant: datetime) -> str:
    """An instant as stored and hashed: `2026-11-30T06:00:00.000000Z`, always six fraction digits.

    Raises:
        ValueError: it has no time zone; the machine's own must never be taken for it.
    """
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone")
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def is_time_zone(name: str) -> bool:
    """Whether `name` is an IANA time zone that this machine knows, such as `Australia/Sydney`."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
