"""The planner: from definitions and watermarks to slots in the store. It runs nothing itself.

A scheduler only wakes it. What is due follows from the stored watermark, so a tick that comes late,
twice or not at all loses no slot and doubles none, and any number of planners are as good as one.
What becomes of the slots that came due is decided by `worker/planning.py`; each one that is not to be
run is recorded as not evaluated, with its cause.

Many monitors are planned in one transaction. Where one of them makes it fail, each is planned in one
of its own, so that it alone is held up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa

from ledger.append import append_all
from ledger.texts import missing_texts
from monitors.definition import MonitorDefinition
from monitors.evaluation import Evaluation
from trivet.clock import Clock, utc_text
from trivet.errors import CheckFailedError, UnavailableError
from trivet.verdicts import SlotCause
from worker import claims
from worker.due import Refresh
from worker.evaluate import Evaluator, Recorded, scheduled_slot
from worker.in_force import Superseded
from worker.pauses import Pause, pauses_after
from worker.planned_slots import (
    NewSlot,
    insert_slots,
    insert_watermarks,
    move_watermarks,
    note_judges,
    note_jumps,
    note_refreshes,
    open_slots,
    pass_over,
    set_back,
    watermarks,
)
from worker.planning import ON_TIME, Mark, OpenSlots, Plan, Present, first_mark, plan_monitor
from worker.publishing import published_texts
from worker.reconstruction import contract_of, definition_of
from worker.set_backs import SetBack, set_back_draft
from worker.tables import SlotState
from worker.troubles import Troubles

_PER_TRANSACTION = 500
"""Monitors that are planned together, so that no transaction holds the store for long."""
_PASSED_OVER_PER_TRANSACTION = 1000
"""After so many slots that were passed over the other monitors are left to the next transaction: after an outage each
may have a thousand, and whoever records an evaluation waits for the planner meanwhile."""
_CRASHED = f"it was begun {claims.MOST_ATTEMPTS} times, and the process ended each time before a result was there"
_REMOVED = "the monitor was removed from the files before anybody ended it"
_MOST_ALONE = 5
"""So many monitors in a row are tried by themselves when planning many of them failed."""
_NO_MARK = Mark("")
_STORE_FAULTS = (UnavailableError, CheckFailedError, Superseded)
"""Faults that are none of a monitor's: nothing can be planned until they are mended."""


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the monitors of one workspace."""

    evaluator: Evaluator
    store: sa.Engine
    clock: Clock
    """The store's: all planners must agree on the time."""
    published: Callable[[], Sequence[Refresh] | None] = lambda: None
    """The warehouses that were published; see `worker.refreshes`."""
    on_time: timedelta = ON_TIME
    troubles: Troubles = field(default_factory=Troubles)
    require_latest: Callable[[sa.Connection], None] | None = None
    """Raises `Superseded` where other definitions are in force by now. It is asked once the watermarks are locked,
    which whoever publishes locks as well: so no slot is planned by what was replaced."""

    def plan(self, monitors: Sequence[MonitorDefinition]) -> list[Recorded]:
        """Writes down every slot that came due, and gives those that were passed over.

        The first look at a monitor starts its watermark: nothing before it is due.
        """
        recorded: list[Recorded] = []
        refreshes = any(item.schedule is not None and item.schedule.after_refresh for item in monitors)
        published = self.published() if refreshes else None
        waiting = sorted(monitors, key=lambda definition: definition.id)
        while waiting:
            portion = waiting[:_PER_TRANSACTION]
            try:
                planned, passed_over = self._plan_some(portion, published)
            except _STORE_FAULTS:
                raise
            except Exception:
                planned, passed_over = len(portion), list(self._plan_each(portion, published))
            recorded += passed_over
            waiting = waiting[planned:]
        return recorded

    def give_up(self, monitors: Sequence[MonitorDefinition]) -> list[Recorded]:
        """Ends the slots that were begun too often, and gives them."""
        known = {definition.id: definition for definition in monitors}
        with self.store.begin() as connection:
            spent = claims.spent_slots(connection, self.clock.now())
        recorded: list[Recorded] = []
        for item in spent:
            definition = known.get(item.key.monitor)
            if definition is not None:
                quarantine = partial(self._quarantine, definition, item.at)
                recorded += self._by_itself(definition.id, "be given up", quarantine)
        return recorded

    def withdraw(self, monitors: Sequence[MonitorDefinition], grace: timedelta) -> list[Recorded]:
        """Ends the slots of monitors that are not in the files any more, and gives them.

        Args:
            monitors: those that are.
            grace: how long a slot is left to others, whose files may be newer than ours.
        """
        known = {definition.id for definition in monitors}
        now = self.clock.now()
        with self.store.begin() as connection:
            left = claims.abandoned_slots(connection, known, now - grace, now)
        slots: defaultdict[str, list[claims.OpenSlot]] = defaultdict(list)
        for item in left:
            slots[item.key.monitor].append(item)
        recorded: list[Recorded] = []
        for monitor, items in sorted(slots.items()):
            recorded += self._by_itself(monitor, "be withdrawn", partial(self._withdraw, monitor, items, now))
        return recorded

    def _plan_each(
        self, monitors: Sequence[MonitorDefinition], published: Sequence[Refresh] | None
    ) -> Iterator[Recorded]:
        failed = 0
        for number, definition in enumerate(monitors):
            try:
                _, passed_over = self._plan_some([definition], published)
            except _STORE_FAULTS:
                raise
            except Exception as error:
                if failed == number >= _MOST_ALONE:
                    # It is no monitor's fault, and thousands need not be tried and told.
                    raise
                failed += 1
                self.troubles.met(definition.id, "be planned", error)
            else:
                yield from passed_over

    def _plan_some(
        self, monitors: Sequence[MonitorDefinition], published: Sequence[Refresh] | None
    ) -> tuple[int, list[Recorded]]:
        """Plans the first of the monitors, at least one, in one transaction, and says how many."""
        with self.store.begin() as connection:
            present = Present(self.clock.now(), self.evaluator.contract.calendar.time_zone, self.on_time, published)
            marks = watermarks(connection, [definition.id for definition in monitors])
            if self.require_latest is not None:
                self.require_latest(connection)
            looked_at, plans = self._decide(connection, monitors, marks, present)
            new = [item for item in monitors[:looked_at] if item.id not in marks and _comes_due(item)]
            insert_watermarks(connection, {item.id: first_mark(item, present) for item in new})
            made = sorted(
                self._write_slots(connection, plans), key=lambda item: (item.definition.id, utc_text(item.slot))
            )
            self._move_watermarks(connection, plans, marks, present)
            self._publish(connection, [*new, *(plan.definition for plan in plans)], marks)
            recorded = self.evaluator.write_all(connection, made)
        for plan in plans:
            self.troubles.over(plan.definition.id, "be planned")
        return looked_at, recorded

    def _decide(
        self,
        connection: sa.Connection,
        monitors: Sequence[MonitorDefinition],
        marks: dict[str, Mark],
        present: Present,
    ) -> tuple[int, list[Plan]]:
        """How many monitors were looked at, and the plans of those that were planned before."""
        slots = open_slots(connection, list(marks), present.now)
        pauses = _by_monitor(_pauses_since(connection, marks, present.now))
        plans: list[Plan] = []
        looked_at = passed_over = 0
        for definition in monitors:
            if passed_over >= _PASSED_OVER_PER_TRANSACTION:
                break
            looked_at += 1
            name = definition.id
            if name not in marks:
                continue
            try:
                plan = plan_monitor(definition, marks[name], slots.get(name, OpenSlots()), pauses[name], present)
            except Exception as error:
                self.troubles.met(name, "be planned", error)
                continue
            passed_over += len(plan.skipped) + len(plan.overtaken)
            plans.append(plan)
        return looked_at, plans

    def _write_slots(self, connection: sa.Connection, plans: Sequence[Plan]) -> Iterator[Evaluation]:
        """Writes the slots, and gives the evaluations of those that are not to be run."""
        new = [NewSlot(plan.definition, at, SlotState.PLANNED) for plan in plans for at in plan.run]
        new += [NewSlot(plan.definition, item.at, SlotState.DONE) for plan in plans for item in plan.skipped]
        inserted = insert_slots(connection, new)
        ended = pass_over(
            connection,
            {claims.key_of(plan.definition, item.at): plan.definition for plan in plans for item in plan.overtaken},
        )
        for plan in plans:
            for items, written in ((plan.overtaken, ended), (plan.skipped, inserted)):
                for item in items:
                    if claims.key_of(plan.definition, item.at) in written:
                        yield self._not_evaluated(plan.definition, item.at, item.cause, item.message, item.covers_after)

    def _move_watermarks(
        self, connection: sa.Connection, plans: Sequence[Plan], marks: dict[str, Mark], present: Present
    ) -> None:
        seen = {plan.definition.id: plan.refresh for plan in plans if plan.refresh is not None}
        note_refreshes(connection, {name: text for name, text in seen.items() if marks[name].refresh != text})
        began = {plan.definition.id: marks[plan.definition.id].planned_until for plan in plans if plan.jumped}
        note_jumps(connection, began, present.now)
        back = {name: until for name, mark in marks.items() if (until := mark.set_back_to(present.now)) is not None}
        set_back(connection, back)
        if back:
            found = [SetBack(name, marks[name].planned_until, until) for name, until in back.items()]
            append_all(connection, [set_back_draft(found, present.now)])
        move_watermarks(connection, [plan.definition.id for plan in plans], present.now)

    def _publish(
        self, connection: sa.Connection, definitions: Sequence[MonitorDefinition], marks: dict[str, Mark]
    ) -> None:
        """Publishes by what slots are planned from now on, where that is new, so that nobody needs the files for it."""
        contract = self.evaluator.contract
        judged = [
            item
            for item in definitions
            if _comes_due(item) and marks.get(item.id, _NO_MARK).judges != (item.definition_hash, contract.hash)
        ]
        if judged:
            note_judges(connection, judged, contract.hash)
            append_all(connection, missing_texts(connection, published_texts(contract, judged)))

    def _quarantine(self, definition: MonitorDefinition, at: datetime) -> list[Recorded]:
        with self.store.begin() as connection:
            if not claims.quarantine(connection, definition, at, self.clock.now()):
                return []
            made = self._not_evaluated(definition, at, SlotCause.CRASHED, _CRASHED)
            return self.evaluator.write_all(connection, [made])

    def _withdraw(self, monitor: str, slots: Sequence[claims.OpenSlot], now: datetime) -> list[Recorded]:
        """Ends slots under the definition by which they were planned last, which the ledger holds."""
        with self.store.begin() as connection:
            mark = watermarks(connection, [monitor])[monitor]
            contract = contract_of(connection, mark.contract_hash or "")
            definition = definition_of(connection, mark.definition_hash or "", contract)
            ended = [item.at for item in slots if claims.withdraw(connection, definition, item.at, now)]
            judged = self.evaluator.under(contract)
            made = [judged.not_evaluated(scheduled_slot(definition, at), SlotCause.REMOVED, _REMOVED) for at in ended]
            return judged.write_all(connection, made)

    def _by_itself(self, monitor: str, doing: str, work: Callable[[], list[Recorded]]) -> list[Recorded]:
        """What came of work that concerns one monitor; where it fails, the others' is done all the same."""
        try:
            recorded = work()
        except _STORE_FAULTS:
            raise
        except Exception as error:
            self.troubles.met(monitor, doing, error)
            return []
        self.troubles.over(monitor, doing)
        return recorded

    def _not_evaluated(
        self, definition: MonitorDefinition, at: datetime, cause: SlotCause, message: str, covers: str | None = None
    ) -> Evaluation:
        return self.evaluator.not_evaluated(scheduled_slot(definition, at), cause, message, covers)


def _comes_due(definition: MonitorDefinition) -> bool:
    return definition.enabled and definition.schedule is not None


def _pauses_since(connection: sa.Connection, marks: dict[str, Mark], now: datetime) -> list[Pause]:
    """The pauses that can matter: those that were not over at the earliest mark."""
    earliest = min((mark.planned_until for mark in marks.values()), default=None)
    return [] if earliest is None else pauses_after(connection, min(datetime.fromisoformat(earliest), now))


def _by_monitor(pauses: Iterable[Pause]) -> defaultdict[str, list[Pause]]:
    found: defaultdict[str, list[Pause]] = defaultdict(list)
    for item in pauses:
        found[item.monitor].append(item)
    return found
