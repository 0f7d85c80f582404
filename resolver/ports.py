"""What the resolver needs from outside: a monitor judged, and an outcome written down. The wiring fills them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Member, NotMade
from resolver.outcome import Outcome
from trivet.canonical import Json


@dataclass(frozen=True, slots=True)
class Judged:
    """What a monitor came to on the present data."""

    outcome: Counts | NotMade
    breached: tuple[Member, ...]
    undecided: tuple[Member, ...]
    sql: str | None
    """The breach query and the no_data query as they were run; None where they were not."""
    views: tuple[str, ...]
    """The governed views that were read."""
    snapshot: Mapping[str, Json] | None = None
    """Identity of the data that was read."""


class JudgeMonitor(Protocol):
    """Judges a monitor now, without recording an evaluation."""

    def __call__(self, definition: MonitorDefinition) -> Judged:
        """Every member's verdict; whatever goes wrong is a `NotMade`."""


class Recorder(Protocol):
    """Writes an outcome down."""

    def record(self, outcome: Outcome) -> int | None:
        """The ledger entry that binds it; None where nothing is recorded."""


class NoRecorder:
    """Records nothing: for tests, and for questions that leave no trace."""

    def record(self, outcome: Outcome) -> int | None:
        """None."""
        return None


NO_RECORDER: Recorder = NoRecorder()
"""What a resolver records with where nothing else is given."""
