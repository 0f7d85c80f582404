"""Judging the monitors of one object type together, in one pass over its view.

The pass counts what is settled and keeps the rest; the readable queries then judge those rows alone.
So whatever runs, members, reasons and causes come from the same texts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

from catalog.contract import Contract
from catalog.engines.port import EngineFault, HeldName, QueryTimeout, Snapshot
from catalog.referee.certified import CertifiedQuery
from compiler.compile_scan import compile_held, compile_row_count, compile_scan
from compiler.compiled import CompiledMonitor, CompiledScan, HeldMonitor
from compiler.planning import SMALL_VIEW, PlanKind, choose, why_no_pass, why_readable
from monitors.definition import MonitorDefinition
from monitors.evaluation import NotMade
from monitors.masking import Mask
from trivet.verdicts import NotMadeReason, Verdict
from worker.baselines import LookBack, no_look_back
from worker.judging import (
    NOBODY,
    UNMASKED,
    Collecting,
    Judgement,
    Physical,
    Told,
    clock_of,
    compiled_monitor,
    conclude,
    involved_objects,
    judge,
    over_time,
    physical_columns,
    time_left,
    time_limit,
    view_fault,
)

_log = logging.getLogger(__name__)


Due: TypeAlias = tuple[MonitorDefinition, datetime]
"""A monitor and the instant of its slot, the only clock that its conditions can look at."""


@dataclass(frozen=True, slots=True)
class ScanCounts:
    """What one pass tells of one monitor."""

    rows: int
    """Of the view."""
    settled: int
    """Compliant members."""
    outside: int
    """Rows that are no members."""
    partial: int
    """Of the settled ones."""
    breach: int
    undecided: int
    open: int
    """Rows that the pass cannot judge; they are among breach and undecided."""
    left: int
    """Rows that are neither settled nor outside."""


def judge_many(
    due: Sequence[Due],
    contract: Contract,
    snapshot: Snapshot,
    mask: Callable[[], Mask],
    look_back: LookBack = no_look_back,
    *,
    readable: bool = False,
    spent: timedelta = timedelta(),
) -> Iterator[Judgement | None]:
    """Judges monitors of one object type, each of them once, in their order.

    Whatever goes wrong for one monitor is a `NotMade`. Where what they share fails, `None` ends the judgements: the
    monitor whose turn it was is to be judged alone then, or each of them if it was the first one's turn.

    Args:
        due: the monitors and the instants of their slots.
        contract: what they are checked against.
        snapshot: the data.
        mask: gives the mask of values that nobody may see, if there are any.
        look_back: finds the values that earlier evaluations recorded; monitors that need any are judged readably.
        readable: whether the readable queries are to judge them, whatever the rule says.
        spent: how much of its time limit an earlier attempt took, of a monitor that is judged alone.
    """
    definitions = [definition for definition, _ in due]
    if readable or spent or not _can_scan(definitions, contract, snapshot):
        yield from (judge(definition, contract, snapshot, at, mask, look_back, spent=spent) for definition, at in due)
        return
    try:
        faults = [view_fault(involved_objects(definition, contract), snapshot) for definition in definitions]
        sound = [item for item, fault in zip(due, faults, strict=True) if fault is None]
        judged = _judged(sound, contract, snapshot, mask)
        for fault in faults:
            yield next(judged) if fault is None else Judgement(fault)
    except QueryTimeout:
        told = NotMade(NotMadeReason.TIMEOUT, over_time(time_limit(definitions[0], contract)))
        yield Judgement(told, spoilt=True) if len(definitions) == 1 else None
    except EngineFault as error:
        # Not its text, which may quote values; whichever monitor it comes from records it.
        _log.warning(
            "%s monitors of %s are judged apart: %s", len(definitions), definitions[0].object, type(error).__name__
        )
        yield None
    except Exception:
        # A fault of ours in the plan that saves time must not cost an evaluation.
        _log.exception("%s monitors of %s are judged apart", len(definitions), definitions[0].object)
        yield None


def _judged(
    sound: Sequence[Due], contract: Contract, snapshot: Snapshot, mask: Callable[[], Mask]
) -> Iterator[Judgement]:
    """The judgements of monitors whose views are as declared, by the plan that the rule chooses."""
    if sound and _scans([definition for definition, _ in sound], contract, snapshot):
        yield from judge_together(sound, contract, snapshot)
    else:
        yield from (judge(definition, contract, snapshot, at, mask) for definition, at in sound)


def _can_scan(definitions: Sequence[MonitorDefinition], contract: Contract, snapshot: Snapshot) -> bool:
    """Whether one pass can judge the monitors at all. The engine is asked nothing yet."""
    if why_no_pass(contract, can_hold=snapshot.can_hold) is not None:
        return False
    return all(why_readable(definition, contract) is None for definition in definitions)


def _scans(definitions: Sequence[MonitorDefinition], contract: Contract, snapshot: Snapshot) -> bool:
    """Whether the rule chooses a pass over the view."""
    if len(definitions) > 1:
        return choose(len(definitions), None).kind is PlanKind.SCAN
    (definition,) = definitions
    rows = snapshot.remembered(_row_count(definition.object, contract), time_limit(definition, contract))
    return choose(1, int(rows[0][0])).kind is PlanKind.SCAN


@lru_cache(maxsize=256)
def _row_count(name: str, contract: Contract) -> CertifiedQuery:
    object_type = contract.object_type(name)
    if object_type is None:
        raise LookupError(f"the contract has no object type {name}")
    return compile_row_count(object_type, contract)


def judge_together(
    due: Sequence[Due],
    contract: Contract,
    snapshot: Snapshot,
    small_view: int | None = None,
) -> Iterator[Judgement]:
    """Judges monitors of one object type, each of them once, in their order. Their views must be as declared.

    Raises:
        EngineFault: the engine failed, and nothing more can be asked of the snapshot. No judgement was given yet,
            or the next one would have been that of the monitor at fault.
    """
    definitions = [definition for definition, _ in due]
    clocks = tuple(clock_of(definition, at) for definition, at in due)
    objects = {item.name: item for definition in definitions for item in involved_objects(definition, contract)}
    physical = physical_columns(list(objects.values()), snapshot)
    scan = compiled_scan(tuple(definitions), contract, physical, clocks)
    counts = _run_scan(scan, definitions, contract, snapshot)
    small = SMALL_VIEW if small_view is None else small_view
    for definition, clock, found in zip(definitions, clocks, counts, strict=True):
        own = physical_columns(involved_objects(definition, contract), snapshot)
        compiled = compiled_monitor(definition, contract, own, clock)
        asked: CompiledMonitor | HeldMonitor = compiled
        if found.rows >= small and found.left:
            asked = compiled_held(definition, contract, own, clock)
        yield _judge_one(compiled, asked, found, scan, snapshot, time_limit(definition, contract))


def _run_scan(
    scan: CompiledScan, definitions: Sequence[MonitorDefinition], contract: Contract, snapshot: Snapshot
) -> list[ScanCounts]:
    remaining = time_left(min(time_limit(item, contract) for item in definitions))
    snapshot.hold(HeldName.TALLY, scan.tally, remaining())
    rows, *settled = (int(value) for value in snapshot.run(scan.settled, remaining())[0])
    marked = [0] * (4 * len(definitions))
    if any(settled[index] + settled[index + 1] != rows for index in range(0, len(settled), 3)):
        snapshot.hold(HeldName.UNSETTLED, scan.unsettled, remaining())
        marked = [int(value) for value in snapshot.run(scan.marked, remaining())[0]]
    return [
        ScanCounts(rows, *settled[index * 3 : index * 3 + 3], *marked[index * 4 : index * 4 + 4])
        for index in range(len(definitions))
    ]


def _judge_one(
    compiled: CompiledMonitor,
    asked: CompiledMonitor | HeldMonitor,
    found: ScanCounts,
    scan: CompiledScan,
    snapshot: Snapshot,
    timeout: timedelta,
) -> Judgement:
    remaining = time_left(timeout)
    collecting = Collecting(snapshot, compiled.definition.object, UNMASKED)
    breached = collecting.collect(asked.breach, Verdict.BREACH, remaining()) if found.breach else NOBODY
    undecided = collecting.collect(asked.no_data, Verdict.NO_DATA, remaining()) if found.undecided else NOBODY
    population, compliant = found.rows - found.outside, found.settled
    partial = found.partial + breached.partial
    unaccounted = found.rows - found.settled - found.outside - found.left
    if found.open:
        rows = snapshot.run(asked.population, remaining())
        population, compliant, partial, unaccounted, _ = (int(value) for value in rows[0])
        if isinstance(asked, HeldMonitor):
            population, compliant = population + found.settled, compliant + found.settled
            partial += found.partial
    repeated, without_key = (int(value) for value in snapshot.remembered(scan.keys, remaining())[0])
    duplicate_keys = repeated + without_key
    if duplicate_keys and compiled.definition.where is not None:
        # Of keys that repeat in the view, not all need do so in the population.
        duplicate_keys = int(snapshot.run(compiled.population, remaining())[0][4])
    told = Told(population, compliant, partial, unaccounted, duplicate_keys)
    return conclude(compiled, told, breached, undecided)


@lru_cache(maxsize=256)
def compiled_scan(
    definitions: tuple[MonitorDefinition, ...],
    contract: Contract,
    physical: Physical,
    clocks: tuple[datetime | None, ...],
) -> CompiledScan:
    """The pass for these monitors, compiled once for a view that stays what it is."""
    return compile_scan(definitions, contract, {view: dict(columns) for view, columns in physical}, clocks=clocks)


@lru_cache(maxsize=4096)
def compiled_held(
    definition: MonitorDefinition, contract: Contract, physical: Physical, clock: datetime | None
) -> HeldMonitor:
    """The queries over what a pass leaves to one monitor."""
    return compile_held(definition, contract, {view: dict(columns) for view, columns in physical}, at=clock)
