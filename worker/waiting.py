"""The slots of a batch that are not judged yet, and what was tried in vain for them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from catalog.contract import Contract
from compiler.planning import CHUNK, why_readable
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation, FirstAttempt, NotMade
from trivet.verdicts import Trigger
from worker.claims import Claim

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Slot:
    """One monitor at one instant: what a batch is made of."""

    evaluation_id: str
    definition: MonitorDefinition
    at: datetime
    """The scheduled instant, with the offset that people read it in."""
    trigger: Trigger
    claim: Claim | None = None
    """The right to commit its result; None for one that nobody else can have, such as a person's."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Slots that are judged together, no monitor twice."""

    slots: tuple[Slot, ...]
    readable: bool = False
    """Whether only the readable queries are left to be tried."""
    spent: timedelta = timedelta()
    """How much of its time limit the first attempt took, of a slot that is tried again."""


class Waiting:
    """The slots of a batch that are not judged yet, in their order, those that are to be tried again last."""

    def __init__(self, batch: Sequence[Slot], contract: Contract) -> None:
        self._contract = contract
        self.slots = list(batch)
        self._failed: Counter[str] = Counter()
        self._tried: dict[str, tuple[FirstAttempt, timedelta]] = {}
        self._paused = False

    def next_portion(self) -> Portion | None:
        """The next slots that are judged together; None when all are judged, or wait for a pause."""
        if self.is_to_pause:
            return None
        found: list[Slot] = []
        for slot in self.slots[:CHUNK]:
            failed, spent = self._failed[slot.evaluation_id], self._spent(slot)
            if not found and spent:
                return Portion((slot,), readable=True, spent=spent)
            if not found and failed:
                return Portion((slot,), readable=failed > 1)
            alone = why_readable(slot.definition, self._contract) is not None
            if not found and alone:
                return Portion((slot,), readable=True)
            if failed or spent or alone or any(other.definition.id == slot.definition.id for other in found):
                break
            found.append(slot)
        return Portion(tuple(found)) if found else None

    def separate(self, portion: Portion) -> None:
        """What the portion shares failed: its first slot is judged alone next, or each if none was judged.

        A slot that failed alone is judged by the readable queries next, which never fail to say what is wrong.
        """
        blamed = portion.slots if self.slots[0] is portion.slots[0] else self.slots[:1]
        if len(portion.slots) == 1:
            self._failed[portion.slots[0].evaluation_id] = 2
        else:
            self._failed.update(slot.evaluation_id for slot in blamed)

    def put_off(self, slot: Slot, made: Evaluation, spent: timedelta) -> bool:
        """Whether a slot is to be tried again, after all others; it is once."""
        if slot.evaluation_id in self._tried or not isinstance(made.outcome, NotMade):
            return False
        attempt = FirstAttempt(made.started_at, made.finished_at, made.outcome.reason)
        self._tried[slot.evaluation_id] = attempt, spent
        self.slots.remove(slot)
        self.slots.append(slot)
        _log.warning("%s is tried once more: %s", slot.definition.id, attempt.reason)
        return True

    def put_off_all(self, attempt: FirstAttempt) -> bool:
        """Whether any slot is to be tried again, since none could be tried at all."""
        fresh = [slot for slot in self.slots if slot.evaluation_id not in self._tried]
        self._tried |= {slot.evaluation_id: (attempt, timedelta()) for slot in fresh}
        if fresh:
            _log.warning("the warehouse cannot be opened; once more for %s evaluations", len(fresh))
        return bool(fresh)

    def first_attempt(self, slot: Slot) -> FirstAttempt | None:
        """What was tried in vain for a slot."""
        return self._tried[slot.evaluation_id][0] if slot.evaluation_id in self._tried else None

    @property
    def is_to_pause(self) -> bool:
        """Whether only those are left that are tried again, and no time has passed for them yet."""
        return bool(self.slots) and self.slots[0].evaluation_id in self._tried and not self._paused

    def paused(self) -> None:
        """Time has passed; it does once for a batch."""
        self._paused = True

    def _spent(self, slot: Slot) -> timedelta:
        return self._tried[slot.evaluation_id][1] if slot.evaluation_id in self._tried else timedelta()
