"""What becomes of one monitor's slots that came due: pure, from what is known of it to what is to be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from zoneinfo import ZoneInfo

from monitors.definition import MonitorDefinition, Schedule
from trivet.clock import utc_text
from trivet.scheduling import CatchUp
from trivet.verdicts import SlotCause
from worker.due import MOST_SLOTS, Due, DueSlot, Refresh, due_refreshes, due_slots
from worker.pauses import Pause

ON_TIME = timedelta(minutes=1)
"""A slot that is looked at later than this after its start came due while nothing ran."""
_MISSED = "nothing was running when it came due"
_WAITED = "nobody began it before the next slot came due"
_OVERRUN = "the evaluation before it was still running when the next slot came due"
_TOO_MANY = f"more than {MOST_SLOTS} slots of the monitor waited"
_JUMPED = f"more than {MOST_SLOTS} slots came due at once: the clock jumped, or nothing was running for as long"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a monitor was planned."""

    planned_until: str
    """The instant as `trivet.clock.utc_text` writes it."""
    refresh: str | None = None
    """The warehouse that was seen last; empty where there was none, None where nobody looked."""
    definition_hash: str | None = None
    contract_hash: str | None = None
    """By what its slots were planned last."""
    jumped_from: str | None = None
    jumped_until: str | None = None
    """Between these instants more slots came due at once than are written."""

    @property
    def judges(self) -> tuple[str | None, str | None]:
        """By which definition and contract its slots were planned last."""
        return self.definition_hash, self.contract_hash

    def set_back_to(self, now: datetime) -> str | None:
        """Where the mark belongs, if the clock had jumped too far and went back; None if it stays.

        Otherwise the monitor would rest until the time that a wrong clock once showed. Slots that were written ahead
        stay as they are.
        """
        present = utc_text(now)
        if self.jumped_from is None or present >= min(self.planned_until, self.jumped_until or ""):
            return None
        return max(present, self.jumped_from)


@dataclass(frozen=True, slots=True)
class OpenSlots:
    """The slots of a monitor that are not at their end."""

    waiting: tuple[datetime, ...] = ()
    """Those that nobody has begun, oldest first."""
    running: bool = False
    """Whether somebody works on one."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A slot that will not be evaluated."""

    at: datetime
    cause: SlotCause
    message: str
    covers_after: str | None = None
    """Where it stands for many: see `monitors.evaluation.NotMade`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one monitor's slots come to."""

    definition: MonitorDefinition
    run: tuple[datetime, ...] = ()
    """Slots that wait for a runner from now on."""
    skipped: tuple[PassedOver, ...] = ()
    """Slots that never do, oldest first."""
    overtaken: tuple[PassedOver, ...] = ()
    """Slots that have waited, and do no more, oldest first."""
    refresh: str | None = None
    """The warehouse that was seen now; None where that is no matter."""
    jumped: bool = False
    """More slots came due at once than are written."""


@dataclass(frozen=True, slots=True)
class Present:
    """What the planner knows beside a monitor's own rows."""

    now: datetime
    zone: str
    """The contract's time zone, for schedules that name none."""
    on_time: timedelta = ON_TIME
    published: Sequence[Refresh] | None = None
    """The warehouses that are known; None where nobody could or need look."""


def plan_monitor(
    definition: MonitorDefinition, mark: Mark, slots: OpenSlots, pauses: Sequence[Pause], present: Present
) -> Plan:
    """What is to be written of a monitor.

    Args:
        definition: the monitor.
        mark: how far it was planned.
        slots: its slots that are not at their end.
        pauses: those of this monitor that were not over at its mark.
        present: the rest.
    """
    schedule, now = definition.schedule, present.now
    refresh = _seen_refresh(definition, present)
    if schedule is None or not definition.enabled:
        return Plan(definition, refresh=refresh)
    due = _due(definition.id, schedule, mark, present)
    paused = [(slot, found) for slot in due.slots if (found := _pause_at(pauses, slot.starts)) is not None]
    resting = {slot for slot, _ in paused}
    run, missed = _chosen(schedule.catch_up, [slot for slot in due.slots if slot not in resting], due.cut, present)
    paused_now = _pause_at(pauses, now)
    if paused_now is not None:
        paused += [(slot, paused_now) for slot in run]
        run = []
    cause, message = (SlotCause.CLOCK_JUMP, _JUMPED) if due.cut else (SlotCause.MISSED, _MISSED)
    skipped = chain(
        (PassedOver(slot.at, SlotCause.PAUSED, found.words()) for slot, found in paused),
        (PassedOver(slot.at, cause, message) for slot in missed),
    )
    # Times of one zone compare by the wall clock, which shows an hour twice in autumn.
    ordered = sorted(skipped, key=lambda item: item.at.astimezone(UTC))
    if due.cut:
        ordered[:1] = [_with_those_before(ordered[0], mark.planned_until)]
    begun = tuple(slot.at for slot in run)
    overtaken = tuple(_overtaken(schedule, slots, begun, paused_now))
    return Plan(definition, begun, tuple(ordered), overtaken, refresh, due.cut)


def first_mark(definition: MonitorDefinition, present: Present) -> Mark:
    """The mark with which the planning of a monitor begins: nothing before it is due."""
    return Mark(utc_text(present.now), _seen_refresh(definition, present))


def _seen_refresh(definition: MonitorDefinition, present: Present) -> str | None:
    """The warehouse that a monitor's schedule has seen by now, as its mark holds it; None where it is no matter."""
    if present.published is None or definition.schedule is None or not definition.schedule.after_refresh:
        return None
    return present.published[-1].name if present.published else ""


def _due(monitor: str, schedule: Schedule, mark: Mark, present: Present) -> Due:
    zone = ZoneInfo(schedule.timezone or present.zone)
    if not schedule.after_refresh:
        return due_slots(schedule, zone, datetime.fromisoformat(mark.planned_until), present.now, monitor)
    if mark.refresh is None or present.published is None:
        return Due()
    return due_refreshes(present.published, mark.refresh, zone)


def _pause_at(pauses: Sequence[Pause], instant: datetime) -> Pause | None:
    return next((item for item in pauses if item.covers(instant)), None)


def _chosen(catch_up: CatchUp, due: list[DueSlot], cut: bool, present: Present) -> tuple[list[DueSlot], list[DueSlot]]:
    """Those that are run, and those that are not."""
    if catch_up is CatchUp.ALL and not cut:
        return due, []
    latest = due[-1:]
    if catch_up is CatchUp.NONE and latest and present.now - latest[0].starts > present.on_time:
        return [], due
    return latest, due[:-1]


def _overtaken(schedule: Schedule, slots: OpenSlots, run: Sequence[datetime], paused: Pause | None) -> list[PassedOver]:
    """Slots that have waited and are not to be begun any more."""
    if paused is not None:
        return [PassedOver(at, SlotCause.PAUSED, paused.words()) for at in slots.waiting]
    cause, message = (SlotCause.OVERRUN, _OVERRUN) if slots.running else (SlotCause.MISSED, _WAITED)
    if schedule.catch_up is CatchUp.ALL:
        beyond = max(0, len(slots.waiting) + len(run) - MOST_SLOTS)
        return [PassedOver(at, cause, _TOO_MANY) for at in slots.waiting[:beyond]]
    return [PassedOver(at, cause, message) for at in slots.waiting if run and at < run[-1]]


def _with_those_before(oldest: PassedOver, mark: str) -> PassedOver:
    message = f"{oldest.message}; so were all slots before it, after {mark}"
    return PassedOver(oldest.at, oldest.cause, message, mark)
