"""The life of one batch of evaluations, from top to bottom. This is the file to read first.

A batch is every due monitor of one object type. They share one snapshot, so that they speak of the
same data, and one transaction, so that verdicts, members and ledger entries stand together or not
at all.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.port import Engine, Snapshot
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation
from trivet.clock import Clock
from trivet.verdicts import Trigger
from worker.judging import Judgement, judge, warehouse_fault
from worker.recording import record


@dataclass(frozen=True, slots=True)
class Slot:
    """One monitor at one instant: what a batch is made of."""

    evaluation_id: str
    definition: MonitorDefinition
    at: datetime
    """The scheduled instant, with the offset that people read it in."""
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Recorded:
    """An evaluation and the ledger entry that binds it; None after a dry run."""

    evaluation: Evaluation
    ledger_seq: int | None


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates batches against one contract and one warehouse."""

    contract: Contract
    engine: Engine
    clock: Clock

    def evaluate(self, slots: Sequence[Slot], store: sa.Engine | None) -> Iterator[Recorded]:
        """Evaluates the slots batch by batch and records each batch as it is done.

        Args:
            slots: monitors to evaluate, in any order.
            store: the audit store; None for a dry run, which records nothing.
        """
        for batch in batches(slots):
            evaluations = list(self.judge_batch(batch))
            yield from self._record_batch(evaluations, store)

    def judge_batch(self, batch: Sequence[Slot]) -> Iterator[Evaluation]:
        """Judges the slots on one snapshot, and on a fresh one after a query that spoilt it."""
        waiting = list(batch)
        while waiting:
            try:
                with self.engine.snapshot() as snapshot:
                    while waiting:
                        started = self.clock.now()
                        judgement = judge(waiting[0].definition, self.contract, snapshot)
                        yield self._evaluation(waiting.pop(0), started, judgement, snapshot)
                        if judgement.spoilt:
                            break
            except Exception as error:
                # Opening failed, so nothing can be said of the data to any of those that wait.
                for slot in waiting:
                    yield self._evaluation(slot, self.clock.now(), Judgement(warehouse_fault(error)), None)
                return

    def _record_batch(self, evaluations: Sequence[Evaluation], store: sa.Engine | None) -> Iterator[Recorded]:
        if store is None:
            yield from (Recorded(evaluation, None) for evaluation in evaluations)
            return
        with store.begin() as connection:
            recorded = []
            for evaluation in evaluations:
                with connection.begin_nested():
                    recorded.append(Recorded(evaluation, record(connection, evaluation).seq))
        yield from recorded

    def _evaluation(self, slot: Slot, started: datetime, judgement: Judgement, snapshot: Snapshot | None) -> Evaluation:
        return Evaluation(
            evaluation_id=slot.evaluation_id,
            definition=slot.definition,
            contract=self.contract.reference(),
            trigger=slot.trigger,
            slot=slot.at,
            started_at=started,
            finished_at=self.clock.now(),
            outcome=judgement.outcome,
            engine=self.engine.name,
            engine_version=self.engine.version,
            breached=judgement.breached,
            undecided=judgement.undecided,
            snapshot=snapshot.identity.to_json() if snapshot is not None else None,
            queries_hash=judgement.queries_hash,
            recorded_truncated=judgement.recorded_truncated,
        )


def batches(slots: Iterable[Slot]) -> Iterator[list[Slot]]:
    """The slots of each object type, in the order of their monitors' names."""
    ordered = sorted(slots, key=lambda slot: (slot.definition.object, slot.definition.id, slot.at))
    for _, batch in groupby(ordered, key=lambda slot: slot.definition.object):
        yield list(batch)


def manual_slots(monitors: Sequence[MonitorDefinition], contract: Contract, at: datetime) -> list[Slot]:
    """Slots that a person asked for: each has an id of its own, whoever asked at the same instant before."""
    found = []
    for definition in monitors:
        named = definition.schedule.timezone if definition.schedule else None
        zone = ZoneInfo(named or contract.calendar.time_zone)
        identity = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
        found.append(Slot(identity, definition, at.astimezone(zone), Trigger.MANUAL))
    return found
