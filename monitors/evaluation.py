"""The evaluation record: what one look at one monitor's population established."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitors.baselines import BaselineUse, MeasuredValue
from monitors.definition import MonitorDefinition
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.verdicts import (
    EvaluationStatus,
    NotMadeReason,
    Reason,
    SlotCause,
    Trigger,
    Verdict,
    badge,
    worst_verdict,
)


@dataclass(frozen=True, slots=True)
class Member:
    """One breached or undecided member. All values are text as a person reads them."""

    verdict: Verdict
    key: Mapping[str, str | None]
    """Primary key properties, in the order of the key."""
    operands: Mapping[str, str | None]
    """Each operand of the condition, in the order of the text; exact."""
    provenance: tuple[Mapping[str, str | int | None], ...]
    """Where the member's row, and each deciding linked row, was read."""
    reason: Reason | None = None
    causes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Causes of each operand (or link) that counts, sorted."""
    partial: bool = False
    """Decided although some matching row was indeterminate."""

    def to_json(self) -> dict[str, Json]:
        """As an evaluation's `samples` hold it."""
        document: dict[str, Json] = {"key": dict(self.key)}
        if self.verdict is Verdict.NO_DATA:
            document["reason"] = self.reason
            document["causes"] = {name: list(causes) for name, causes in self.causes.items()}
        document["operands"] = dict(self.operands)
        document["provenance"] = [dict(item) for item in self.provenance]
        if self.verdict is Verdict.BREACH:
            document["partial"] = self.partial
        return document

    @property
    def key_text(self) -> str:
        """Its key as one text, by which it is found again in the next evaluation."""
        return key_text(self.key)


def key_text(key: Mapping[str, str | None]) -> str:
    """A member's key as one text: JSON in ASCII. Nothing is normalised, so that different keys stay different."""
    return json.dumps(dict(key), sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Followed:
    """What a look at the members came to that were flagged before and are neither breached nor undecided now.

    Keys as `key_text` spells them. Whoever was asked for and is not among the others is not in the population any more.
    """

    asked: frozenset[str] = frozenset()
    compliant: frozenset[str] = frozenset()
    """Judged, and recovered."""
    held: frozenset[str] = frozenset()
    """Compliant, and not as far from a breach as `recover_when` asks."""


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A key that members are linked by, and that no linked row has: one missing row, however many wait for it."""

    link: str
    object: str
    """The object type that the row is missing of."""
    key: Mapping[str, str | None]
    """The member's side of the link, in the order of the link's keys."""
    members: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The partition of a population, each part counted by its own predicate."""

    population: int
    breach: int
    no_data: int
    compliant: int
    partial: int
    duplicate_keys: int
    no_data_reasons: Mapping[Reason, int]
    unexpected: int = 0


@dataclass(frozen=True, slots=True)
class NotMade:
    """Why an evaluation could not be made."""

    reason: NotMadeReason
    message: str | None = None
    """What the engine, or we, have to say of it, on one line."""
    cause: SlotCause | None = None
    covers_after: str | None = None
    """Where it stands for many: every slot of the monitor after this instant (`trivet.clock.utc_text`) and before its
    own that has no evaluation ended as this one did."""


@dataclass(frozen=True, slots=True)
class FirstAttempt:
    """An attempt that failed as a second one might not."""

    started_at: datetime
    finished_at: datetime
    reason: NotMadeReason

    def to_json(self) -> dict[str, Json]:
        """As documents and the ledger hold it; without a message, since engines quote the values they trip over."""
        return {
            "started_at": utc_text(self.started_at),
            "finished_at": utc_text(self.finished_at),
            "reason": self.reason.value,
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation, made or not. Everything it says can be replayed from what it names."""

    evaluation_id: str
    definition: MonitorDefinition
    contract: Mapping[str, str]
    """Id, version and hash."""
    trigger: Trigger
    slot: datetime
    """The scheduled instant, with the offset that people read it in."""
    started_at: datetime
    finished_at: datetime
    outcome: Counts | NotMade
    engine: str
    engine_version: str
    breached: tuple[Member, ...] = ()
    undecided: tuple[Member, ...] = ()
    snapshot: Mapping[str, Json] | None = None
    """Identity of the data that was read; None where none could be opened."""
    queries_hash: str | None = None
    recorded_truncated: bool = False
    """Members, or measures of groups, beyond the hard limit were counted and not recorded."""
    measures: tuple[MeasuredValue, ...] = ()
    """What later evaluations of the monitor may look back on."""
    baselines: tuple[BaselineUse, ...] = ()
    """What this one looked back on."""
    first_attempt: FirstAttempt | None = None
    """What was tried in vain before; None where the first attempt stands."""
    followed: Followed | None = None
    """What became of members that were flagged before; None where nobody looked, and so nothing is known of them."""
    missing_keys: tuple[MissingKey, ...] = ()
    """Of members without a linked row (`right_missing`): the keys that most wait for, at most 100 of each link."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict; an evaluation that could not be made is no_data."""
        if isinstance(self.outcome, NotMade):
            return Verdict.NO_DATA
        return worst_verdict(self.outcome.breach, self.outcome.no_data)

    @property
    def status(self) -> EvaluationStatus:
        """Whether it reached counts."""
        return EvaluationStatus.NOT_MADE if isinstance(self.outcome, NotMade) else EvaluationStatus.COMPLETED

    @property
    def badge(self) -> str | None:
        """`4 breaches / 1 no-data`; None where nothing was counted."""
        return None if isinstance(self.outcome, NotMade) else badge(self.outcome.breach, self.outcome.no_data)

    @property
    def snapshot_name(self) -> str | None:
        """The warehouse's generation; where ingestion did not build it, what tells the file apart."""
        if self.snapshot is None:
            return None
        parts = [str(self.snapshot[name]) for name in ("device", "inode", "size", "modified_ns")]
        return str(self.snapshot["generation"] or "-".join(parts))

    def counts_json(self) -> dict[str, Json]:
        """The counts under their interface names; all null where the evaluation could not be made."""
        names = ("population", "breach", "no_data", "compliant", "partial", "duplicate_keys", "unexpected")
        if isinstance(self.outcome, NotMade):
            return dict.fromkeys(names)
        return {name: getattr(self.outcome, name) for name in names}

    def reasons_json(self) -> dict[str, Json]:
        """Undecided members by reason."""
        if isinstance(self.outcome, NotMade):
            return {}
        return {reason.value: count for reason, count in self.outcome.no_data_reasons.items()}

    def baselines_json(self) -> dict[str, Json]:
        """What it looked back on, under one key; nothing where its monitor has no baseline."""
        return {"baselines": {use.rule.name: use.to_json() for use in self.baselines}} if self.baselines else {}

    def first_attempt_json(self) -> dict[str, Json]:
        """What was tried in vain before, under one key; nothing where the first attempt stands."""
        return {} if self.first_attempt is None else {"first_attempt": self.first_attempt.to_json()}

    def to_json(self, ledger_seq: int | None) -> dict[str, Json]:
        """The document that `docs/reference/commands.md` describes."""
        not_made = self.outcome if isinstance(self.outcome, NotMade) else None
        shown = self.definition.samples
        return {
            "evaluation_id": self.evaluation_id,
            "monitor": self.definition.id,
            "definition_hash": self.definition.definition_hash,
            "contract": dict(self.contract),
            "trigger": self.trigger,
            "slot": self.slot.isoformat(timespec="seconds"),
            "started_at": utc_text(self.started_at),
            "finished_at": utc_text(self.finished_at),
            "verdict": self.verdict,
            "status": self.status,
            "reason": not_made.reason if not_made else None,
            "cause": not_made.cause if not_made else None,
            "message": not_made.message if not_made else None,
            **self.counts_json(),
            "no_data_reasons": self.reasons_json(),
            "badge": self.badge,
            "samples": {
                "breach": [member.to_json() for member in self.breached[:shown]],
                "no_data": [member.to_json() for member in self.undecided[:shown]],
            },
            "samples_truncated": {
                "breach": len(self.breached) > shown,
                "no_data": len(self.undecided) > shown,
            },
            "recorded_truncated": self.recorded_truncated,
            **self.baselines_json(),
            **self.first_attempt_json(),
            "engine": self.engine,
            "snapshot": self.snapshot_name,
            "ledger_seq": ledger_seq,
        }
