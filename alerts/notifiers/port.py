"""The port: what can tell someone. How it ended is a value; an implementation raises nothing that it foresees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Notice:
    """What is sent to one address."""

    key: str
    """The same on every attempt, so that a receiver can drop what it had."""
    payload: str
    """The JSON of `alerts.message.Message`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The receiver said that it took it."""


@dataclass(frozen=True, slots=True)
class NotSent:
    """It did not arrive."""

    error: str
    """For a person; without secrets and without text that the receiver chose."""
    final: bool = False
    """The receiver is gone for good, and said so: nothing is sent there any more."""
    wait: timedelta | None = None
    """How long the receiver asked us to wait."""


@dataclass(frozen=True, slots=True)
class MaybeSent:
    """It may have arrived: the call ended before an answer came."""

    error: str


Ending: TypeAlias = Sent | NotSent | MaybeSent


class Notifier(Protocol):
    """One address."""

    @property
    def resends(self) -> bool:
        """Whether what may have arrived is sent again: safe where the receiver drops a key that it had."""

    def send(self, notice: Notice) -> Ending:
        """Tells it once, within a bounded time."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """Stands for an address that cannot be built, such as one whose secret is missing."""

    problem: str
    resends: bool = False
    """As for what was sent before it became unusable."""

    def send(self, notice: Notice) -> Ending:
        """Says why."""
        return NotSent(self.problem)
