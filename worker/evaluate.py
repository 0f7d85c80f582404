"""The life of one batch of evaluations, from top to bottom. This is the file to read first.

A batch is every due monitor of one object type. They share one snapshot, so that they speak of the
same data, and one transaction, so that verdicts, members and ledger entries stand together or not
at all.
"""

from __future__ import annotations

import hashlib
import logging
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from catalog.contract import Contract
from catalog.engines.port import Engine, Snapshot, WarehouseUnsteady
from compiler.planning import why_readable
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation, FirstAttempt, MissingKey, NotMade
from monitors.masking import Mask
from trivet.clock import Clock, utc_text
from trivet.errors import UnavailableError
from trivet.logs import concerning
from trivet.verdicts import NotMadeReason, SlotCause, Trigger
from worker.aging import aged
from worker.baselines import LookBack, no_look_back
from worker.claims import Claim, finish, slot_evaluation_id
from worker.following import FlaggedKeys, Looking
from worker.history import StoreHistory
from worker.judging import Judgement, time_limit, warehouse_fault
from worker.masking import mask_of
from worker.publishing import published_texts
from worker.recording import record_all
from worker.scanning import judge_many
from worker.waiting import Slot, Waiting

_log = logging.getLogger(__name__)
RETRY_AFTER = timedelta(seconds=1)
"""Between two attempts: a file that is copied or swapped is whole again by then."""


def _sleep(duration: timedelta) -> None:
    time.sleep(duration.total_seconds())


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
    after_record: Callable[[sa.Connection, Sequence[Evaluation]], object] | None = None
    """Called with evaluations once they are recorded, in the same savepoint: both stand, or neither."""
    look_back: LookBack = no_look_back
    """Finds earlier values for a dry run; an evaluation that is recorded looks back in its own store."""
    pause: Callable[[timedelta], object] = _sleep
    """Lets time pass before what failed is tried again."""

    def under(self, contract: Contract) -> Evaluator:
        """The same evaluator for what was planned under another contract."""
        return replace(self, contract=contract)

    def evaluate(
        self,
        slots: Sequence[Slot],
        store: sa.Engine | None,
        keeping: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Iterator[Recorded]:
        """Evaluates the slots batch by batch and records each batch as it is done.

        Args:
            slots: monitors to evaluate, in any order.
            store: the audit store; None for a dry run, which records nothing.
            keeping: keeps the slots' claims while a batch is judged.

        Raises:
            UnavailableError: the store cannot be used.
            Exception: some evaluation could not be recorded; all others were, and were given before.
        """
        fault = None
        for batch in batches(slots, self.contract):
            with keeping():
                evaluations = self.judge_batch(batch, store)
            fault = (yield from self._record_batch(batch, evaluations, store)) or fault
        if fault is not None:
            raise fault

    def judge_batch(self, batch: Sequence[Slot], store: sa.Engine | None) -> list[Evaluation]:
        """Judges the slots on one snapshot, and on a fresh one after a query that spoilt it; gives them in order.

        What failed as it might not a moment later is tried once more, within the monitor's time limit.
        """
        mask = partial(mask_of, store)
        look_back = self.look_back if store is None else StoreHistory(store, self.contract)
        flagged = FlaggedKeys(store, {slot.definition.id for slot in batch})
        waiting, made = Waiting(batch, self.contract), dict[str, Evaluation]()
        longest = max((time_limit(slot.definition, self.contract) for slot in batch), default=None)
        while waiting.slots:
            if waiting.is_to_pause:
                self.pause(RETRY_AFTER)
                waiting.paused()
            started = self.clock.now()
            try:
                with self.engine.snapshot(longest) as snapshot:
                    for item in self._judge_waiting(waiting, snapshot, mask, look_back, flagged):
                        made[item.evaluation_id] = item
            except Exception as error:
                fault = warehouse_fault(error)
                tried = FirstAttempt(started, self.clock.now(), fault.reason)
                if isinstance(error, WarehouseUnsteady) and waiting.put_off_all(tried):
                    continue
                # Nothing can be said of the data to any of those that wait.
                for slot in waiting.slots:
                    made[slot.evaluation_id] = self._evaluation(
                        slot, started, Judgement(fault), None, waiting.first_attempt(slot)
                    )
                waiting.slots.clear()
        return [made[slot.evaluation_id] for slot in batch]

    def _judge_waiting(
        self,
        waiting: Waiting,
        snapshot: Snapshot,
        mask: Callable[[], Mask],
        look_back: LookBack,
        flagged: FlaggedKeys,
    ) -> Iterator[Evaluation]:
        """Judges as many as the snapshot answers for."""
        looking = Looking(self.contract, snapshot, mask, look_back)
        told = self.after_record is not None
        more = len({slot.definition.id for slot in waiting.slots}) < len(waiting.slots)
        while portion := waiting.next_portion():
            started, began = self.clock.now(), time.monotonic()
            due = [(slot.definition, slot.at) for slot in portion.slots]
            judged = judge_many(
                due, self.contract, snapshot, mask, look_back, readable=portion.readable, spent=portion.spent
            )
            for slot in portion.slots:
                with _concerning(slot):
                    judgement = next(judged)
                if judgement is None:
                    waiting.separate(portion)
                    return
                judgement = aged(judgement, slot.definition, self.contract, snapshot, slot.at, mask)
                made = self._evaluation(slot, started, judgement, snapshot, waiting.first_attempt(slot))
                if judgement.unsteady and waiting.put_off(slot, made, timedelta(seconds=time.monotonic() - began)):
                    return
                with _concerning(slot):
                    keys = flagged.of(slot.definition.id)
                    followed, spoilt = looking.follow(slot.definition, slot.at, keys, judgement)
                if more:
                    flagged.judged(slot.definition, judgement)
                missing: tuple[MissingKey, ...] = ()
                if told and not spoilt:
                    missing, spoilt = looking.missing_keys(slot.definition, slot.at, judgement)
                yield replace(made, followed=followed, missing_keys=missing)
                waiting.slots.pop(0)
                if spoilt:
                    return

    def not_evaluated(self, slot: Slot, cause: SlotCause, message: str, covers_after: str | None = None) -> Evaluation:
        """The evaluation of a slot that came due and that nobody will evaluate; see `NotMade.covers_after`."""
        outcome = NotMade(NotMadeReason.NOT_EVALUATED, message, cause, covers_after)
        return self._evaluation(slot, self.clock.now(), Judgement(outcome), None)

    def write(self, connection: sa.Connection, made: Evaluation) -> Recorded:
        """Records one evaluation, and what follows from it, inside the caller's transaction."""
        (recorded,) = self.write_all(connection, [made])
        return recorded

    def write_all(self, connection: sa.Connection, made: Sequence[Evaluation]) -> list[Recorded]:
        """Records evaluations, and what follows from them, inside the caller's transaction: all or none."""
        if not made:
            return []
        texts = published_texts(self.contract, {item.definition.id: item.definition for item in made}.values())
        with connection.begin_nested():
            entries = record_all(connection, made, texts)
            if self.after_record is not None:
                self.after_record(connection, made)
        return [Recorded(item, entry.seq) for item, entry in zip(made, entries, strict=True)]

    def _record_batch(
        self, batch: Sequence[Slot], evaluations: Sequence[Evaluation], store: sa.Engine | None
    ) -> Generator[Recorded, None, Exception | None]:
        """Gives what was recorded, and returns why some of it could not be."""
        if store is None:
            yield from (Recorded(evaluation, None) for evaluation in evaluations)
            return None
        recorded, fault = self._record_together(batch, evaluations, store)
        for item in recorded:
            tell(item)
        yield from recorded
        return fault

    def _record_together(
        self, batch: Sequence[Slot], evaluations: Sequence[Evaluation], store: sa.Engine
    ) -> tuple[list[Recorded], Exception | None]:
        """One transaction for the batch; where that fails, and not for want of the store, one for each of its slots."""
        try:
            return self._record(batch, evaluations, store), None
        except UnavailableError:
            raise
        except Exception as error:
            if len(batch) == 1:
                return [], error
            _log.error("%s evaluations cannot be recorded together, so each is by itself: %s", len(batch), error)
        return self._record_each(batch, evaluations, store)

    def _record_each(
        self, batch: Sequence[Slot], evaluations: Sequence[Evaluation], store: sa.Engine
    ) -> tuple[list[Recorded], Exception | None]:
        """What could be recorded, one by one, and the first fault of those that could not.

        Their claims end unused, so others try them again, and give them up in the end.
        """
        recorded: list[Recorded] = []
        first = None
        for slot, evaluation in zip(batch, evaluations, strict=True):
            try:
                recorded += self._record([slot], [evaluation], store)
            except UnavailableError:
                raise
            except Exception as error:
                first = first or error
                with _concerning(slot):
                    _log.error("%s at %s cannot be recorded: %s", slot.definition.id, utc_text(slot.at), error)
        return recorded, first

    def _record(self, batch: Sequence[Slot], evaluations: Sequence[Evaluation], store: sa.Engine) -> list[Recorded]:
        """Records the evaluations of slots that are still claimed: all or none."""
        with store.begin() as connection:
            ended = finish(connection, [slot.claim for slot in batch if slot.claim is not None])
            recorded = []
            for slot, evaluation in zip(batch, evaluations, strict=True):
                if slot.claim is not None and slot.claim.key not in ended:
                    with _concerning(slot):
                        _log.warning("%s at %s: taken over, result dropped", slot.definition.id, utc_text(slot.at))
                    continue
                with _concerning(slot):
                    recorded.append(self.write(connection, evaluation))
        return recorded

    def _evaluation(
        self,
        slot: Slot,
        started: datetime,
        judgement: Judgement,
        snapshot: Snapshot | None,
        first_attempt: FirstAttempt | None = None,
    ) -> Evaluation:
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
            measures=judgement.measures,
            baselines=judgement.baselines,
            first_attempt=first_attempt,
        )


def tell(recorded: Recorded) -> None:
    """Logs what a recorded evaluation came to."""
    made = recorded.evaluation
    outcome = made.outcome
    # Not its message: an engine quotes the values that it trips over, and logs go to more readers than the store.
    told = (outcome.reason, outcome.cause or "") if isinstance(outcome, NotMade) else (made.badge,)
    with concerning(monitor=made.definition.id, slot=made.slot, evaluation_id=made.evaluation_id):
        _log.info("%s, ledger entry %s: %s", made.verdict, recorded.ledger_seq, " ".join(filter(None, told)))


def _concerning(slot: Slot) -> AbstractContextManager[None]:
    return concerning(monitor=slot.definition.id, slot=slot.at, evaluation_id=slot.evaluation_id)


def batches(slots: Iterable[Slot], contract: Contract) -> Iterator[list[Slot]]:
    """The slots of each object type, in the order of their monitors' names; those that no pass can judge come last."""

    def place(slot: Slot) -> tuple[str, bool, str, datetime]:
        alone = why_readable(slot.definition, contract) is not None
        return slot.definition.object, alone, slot.definition.id, slot.at

    ordered = sorted(slots, key=place)
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


def scheduled_slot(definition: MonitorDefinition, at: datetime, claim: Claim | None = None) -> Slot:
    """A slot of a schedule: its id follows from the definition and the instant."""
    return Slot(slot_evaluation_id(definition, at), definition, at, Trigger.SCHEDULE, claim)
