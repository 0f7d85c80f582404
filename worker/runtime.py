"""The daemon's work, whoever gives it its ticks: plan, hand out, evaluate, deliver.

`worker/embedded.py` calls it from APScheduler and threads, `worker/tasks.py` from Celery. Neither
decides anything.
"""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import sqlalchemy as sa

from catalog.contract import Contract
from monitors.definition import MonitorDefinition
from trivet.clock import Clock
from trivet.logs import concerning
from worker.claims import OpenSlot, SlotKey, claim, following_slots, hand_out, take_over
from worker.due import Refresh
from worker.evaluate import Evaluator, Recorded, scheduled_slot, tell
from worker.heartbeat import heartbeat
from worker.in_force import Definitions, InForce, Superseded
from worker.lifesign import LifeSign
from worker.planner import Planner
from worker.planning import ON_TIME
from worker.processes import Daemon, mark_end, mark_tick
from worker.stores import read_only
from worker.troubles import Troubles
from worker.turns import Turns
from worker.waiting import Slot

LONGEST_BATCH = timedelta(minutes=10)
"""What the time limits of a batch's monitors may come to; beyond it, the slots of one object type are split."""
LONGEST_FURTHER = timedelta(seconds=20)
"""How long after its beginning a batch still goes on with further slots of its monitors."""
_log = logging.getLogger(__name__)


def process_name() -> str:
    """A new name for this process, which no other has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Slots of one object type that are handed to a runner together."""

    keys: tuple[SlotKey, ...]
    limit: timedelta
    """What the time limits of its monitors come to: how long it takes at most."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What one tick came to."""

    batches: tuple[Batch, ...]
    passed_over: tuple[Recorded, ...]
    """Slots that were recorded as not evaluated."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts of one daemon process."""

    store: sa.Engine
    clock: Clock
    """The store's, by which leases end."""
    lease: timedelta
    in_force: InForce
    evaluator: Callable[[Contract], Evaluator]
    deliver: Callable[[], None] | None = None
    """Sends what waits in the outbox; None where nothing is to be sent."""
    seal: Callable[[bool], None] | None = None
    """Makes a checkpoint of the ledger if one is due (or, told so, if anything is uncovered), and copies it to the
    witnesses; None without a key."""
    daemon: Daemon | None = None
    """As what it ticks; None keeps that to itself."""
    life_sign: LifeSign | None = None
    """Tells somebody outside of every tick that went well; None where nobody wants it."""
    published: Callable[[], Sequence[Refresh] | None] = lambda: None
    """The warehouses that were published; see `worker.refreshes`."""
    on_time: timedelta = ON_TIME
    """A slot that is looked at later than this after its start came due while nothing ran."""
    process: str = field(default_factory=process_name)
    """Names this process among all that ever were."""
    troubles: Troubles = field(default_factory=Troubles)
    turns: Turns = field(default_factory=Turns)
    look_at_files: Callable[[Definitions | None], None] | None = None
    """Tells where the workspace's files differ from what is in force."""

    def take_over(self, process: str) -> None:
        """Gives back what an earlier process held that is known to be dead, so that nobody waits for its leases.

        Args:
            process: its name; empty where it is not known.
        """
        with self.store.begin() as connection:
            take_over(connection, process, self.clock.now())

    def tick(self) -> Tick:
        """Plans what came due, ends what was begun too often, and says what is to be run.

        While another process plans it says only what is to be run, and sends no sign of life: it saw nobody plan.
        """
        found = self.in_force.current()
        if self.look_at_files is not None:
            self.look_at_files(found)
        with self.turns.taken(self.store, self.lease) as plans:
            passed_over = self._plan_latest(found) if plans else ()
        with self.store.begin() as connection:
            now = self.clock.now()
            waiting = hand_out(connection, now, self.lease)
            if self.daemon is not None:
                mark_tick(connection, self.daemon, now)
        if self.life_sign is not None and plans:
            self.life_sign.after_tick()
        if found is None:
            return Tick((), passed_over)
        return Tick(tuple(batches_of(waiting, found.monitors, found.contract.limits.timeout)), passed_over)

    def plan(self, found: Definitions) -> tuple[Recorded, ...]:
        """Plans what came due by these definitions, and gives the slots that were recorded as not evaluated.

        Raises:
            Superseded: others are in force by now.
        """
        planner = Planner(
            self.evaluator(found.contract),
            self.store,
            self.clock,
            self.published,
            self.on_time,
            self.troubles,
            found.require_latest,
        )
        ended = (*planner.give_up(found.monitors), *planner.withdraw(found.monitors, self.lease))
        return (*ended, *planner.plan(found.monitors))

    def _plan_latest(self, found: Definitions | None) -> tuple[Recorded, ...]:
        if found is None:
            return ()
        try:
            passed_over = self.plan(found)
        except Superseded:
            _log.info("something else was published; the next tick goes by that")
            return ()
        for item in passed_over:
            tell(item)
        return passed_over

    def end(self) -> None:
        """Says that nobody ticks here any more."""
        if self.daemon is not None:
            with self.store.begin() as connection:
                mark_end(connection, self.daemon, self.clock.now())

    def evaluate(self, keys: Sequence[SlotKey], goes_on: Callable[[], bool] = lambda: True) -> Iterator[Recorded]:
        """Claims the slots and evaluates those that were to be had; the others are somebody else's.

        Where more slots of the same monitors wait, it goes on with them for a while: a monitor that has to catch up
        would otherwise do so at the pace of the ticks.

        Args:
            keys: the slots.
            goes_on: asked before each further round.
        """
        until = self.clock.now() + LONGEST_FURTHER
        while keys:
            found = self.in_force.current()
            if found is None:
                return
            owner = f"{self.process}:{uuid.uuid4().hex}"
            slots = self._claim(keys, {definition.id: definition for definition in found.monitors}, owner)
            keeping: Callable[[], AbstractContextManager[None]]
            keeping = partial(heartbeat, self.store, owner, self.clock, self.lease)
            yield from self.evaluator(found.contract).evaluate(slots, self.store, keeping)
            if not slots or not goes_on() or self.clock.now() >= until:
                return
            with read_only(self.store).connect() as connection:
                keys = following_slots(connection, {slot.definition.id for slot in slots})

    def _claim(self, keys: Sequence[SlotKey], monitors: Mapping[str, MonitorDefinition], owner: str) -> list[Slot]:
        slots = []
        with self.store.begin() as connection:
            for key in sorted(keys):
                definition = monitors.get(key.monitor)
                if definition is None:
                    with concerning(monitor=key.monitor, slot=key.scheduled_for):
                        _log.warning("there is no such monitor here")
                    continue
                claimed = claim(connection, key, definition, owner, self.clock.now(), self.lease)
                if claimed is not None:
                    slots.append(scheduled_slot(definition, claimed.at, claimed))
        return slots


def batches_of(
    waiting: Sequence[OpenSlot], monitors: Sequence[MonitorDefinition], timeout: timedelta
) -> Iterator[Batch]:
    """The batches that slots are run in: by object type, and not longer than a batch may take.

    A slot that was begun before may be what ended its process. It runs alone, so that it can end
    no other a second time. Slots of monitors that are not known are left out.

    Args:
        waiting: in any order.
        monitors: every monitor that is known.
        timeout: of monitors that name none.
    """
    known = {definition.id: definition for definition in monitors}
    open_batches: dict[str, Batch] = {}
    for item in waiting:
        definition = known.get(item.key.monitor)
        if definition is None:
            continue
        limit = timeout if definition.timeout is None else definition.timeout
        if item.attempt:
            yield Batch((item.key,), limit)
            continue
        batch = open_batches.pop(definition.object, Batch((), timedelta()))
        if batch.keys and batch.limit + limit > LONGEST_BATCH:
            yield batch
            batch = Batch((), timedelta())
        open_batches[definition.object] = Batch((*batch.keys, item.key), batch.limit + limit)
    yield from open_batches.values()
