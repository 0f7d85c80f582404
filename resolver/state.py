"""What the stages hand on: the state of one question, and the parts that they work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from catalog.contract import Contract
from catalog.engines.port import QuestionEngine
from catalog.referee.certified import CertifiedQuery
from catalog.referee.decisions import Abstained, Escalated
from catalog.wording import VerifiedQuery
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts
from resolver.candidates import Candidate, Dropped, Proposal, Proposer
from resolver.drafting import Draft
from resolver.outcome import NOTHING_ABSENT, Absence, Agreement, Assumption, Claim, Refusal, ResultTable
from resolver.plan import MonitorQuestion
from resolver.ports import Judged, JudgeMonitor
from resolver.question import Question
from resolver.vocabulary import Linked
from trivet.canonical import Json


@dataclass(frozen=True, slots=True)
class Ready:
    """A proposal that may run: a certified query, or a monitor to judge."""

    run: CertifiedQuery | MonitorQuestion


@dataclass(frozen=True, slots=True)
class Declined:
    """A proposal that says that the question cannot be answered."""

    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A proposal whose run failed."""

    message: str
    too_costly: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """A proposal that ran, with its result."""

    run: CertifiedQuery | MonitorQuestion
    table: ResultTable
    judged: Judged | None = None
    counts: Counts | None = None
    """Of a judged monitor."""
    snapshot: Mapping[str, Json] | None = None
    """Identity of the data that was read."""


Fate = Dropped | Declined | Abstained | Escalated | Ready | Failed | Ran
"""What became of a proposal so far."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A proposal and what became of it."""

    candidate: Candidate
    fate: Fate
    sql: str | None = None
    """Its SQL as proposed or compiled; None of a monitor and of what was dropped before."""


@dataclass(frozen=True, slots=True)
class State:
    """One question on its way. A stage adds to it and takes nothing away."""

    question: Question
    linked: Linked | None = None
    verified: VerifiedQuery | None = None
    """The verified question that it is."""
    proposal: Proposal | None = None
    weighed: tuple[Weighed, ...] = ()
    winner: Weighed | None = None
    agreement: Agreement | None = None
    absence: Absence = NOTHING_ABSENT
    provenance: tuple[Mapping[str, Json], ...] = ()
    monitor: Mapping[str, Json] | None = None
    drafted: Draft | None = None
    assumptions: tuple[Assumption, ...] = ()
    claims: tuple[Claim, ...] = ()
    timings_ms: Mapping[str, int] = field(default_factory=dict)

    @property
    def ran(self) -> Ran:
        """The winner's run; only after consensus."""
        if self.winner is None or not isinstance(self.winner.fate, Ran):
            raise LookupError("no proposal has won yet")
        return self.winner.fate


@dataclass(frozen=True, slots=True)
class Stopped:
    """The question ends here."""

    state: State
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Parts:
    """What the stages work with."""

    contract: Contract
    monitors: tuple[MonitorDefinition, ...]
    proposer: Proposer
    engine: QuestionEngine
    judge: JudgeMonitor
    threshold: Decimal

    def monitor(self, identifier: str) -> MonitorDefinition:
        """The monitor of that id."""
        return next(item for item in self.monitors if item.id == identifier)
