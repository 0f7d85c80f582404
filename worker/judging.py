"""Judging one monitor on one snapshot: run the three queries, tally, and check the partition law."""

from __future__ import annotations

import gc
import heapq
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import islice
from typing import TypeAlias

from catalog.contract import Contract, ObjectType
from catalog.engines.port import EngineFault, HeldName, QueryTimeout, Snapshot, WarehouseMissing, WarehouseUnsteady
from catalog.expressions.walking import condition_links, uses_clock
from compiler.compile import compile_groups, compile_monitor
from compiler.compiled import CompiledMonitor, HeldGroups, MemberQuery
from compiler.decoding import member_reader
from compiler.plan import conditions_of
from compiler.planning import why_not_held
from monitors.baselines import BaselineUse, MeasuredValue
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, Member, NotMade
from monitors.masking import Mask
from trivet.canonical import Json, content_hash
from trivet.errors import UnavailableError
from trivet.findings import did_you_mean
from trivet.verdicts import NotMadeReason, Reason, Verdict
from worker.baselines import DamagedHistory, LookBack, Prepared, no_look_back, prepare
from worker.masking import mask_of

RECORDED_MEMBERS = 1_000_000
"""Members of one verdict that are recorded at most; beyond them only the counts grow, and it is said."""

unkept_mask = partial(mask_of, None)
"""Hides values under a secret that ends with the process: for judgements that nobody keeps."""
_WITHHELD = "what is said of it is withheld, since the monitor reads masked properties"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one monitor came to on one snapshot."""

    outcome: Counts | NotMade
    breached: tuple[Member, ...] = ()
    undecided: tuple[Member, ...] = ()
    queries_hash: str | None = None
    recorded_truncated: bool = False
    measures: tuple[MeasuredValue, ...] = ()
    baselines: tuple[BaselineUse, ...] = ()
    spoilt: bool = False
    """A query failed inside the snapshot's transaction, so nothing more can be asked of it."""
    unsteady: bool = False
    """It failed as it might not a moment later."""


def judge(
    definition: MonitorDefinition,
    contract: Contract,
    snapshot: Snapshot,
    at: datetime,
    mask: Callable[[], Mask] = unkept_mask,
    look_back: LookBack = no_look_back,
    *,
    readable: bool = False,
    spent: timedelta = timedelta(),
) -> Judgement:
    """Judges every member of the population. Whatever goes wrong is a `NotMade`, never an exception.

    Args:
        definition: the monitor.
        contract: the contract that it was checked against.
        snapshot: the data.
        at: the slot's own instant, the only clock that a condition can look at.
        mask: gives the mask of values that nobody may see, if there are any.
        look_back: finds the values that earlier evaluations recorded, for monitors with baselines.
        readable: whether the queries are to make groups themselves, each its own, even where these could be held.
        spent: how much of the monitor's time limit an earlier attempt took.
    """
    hides, limit = False, time_limit(definition, contract)
    try:
        objects = involved_objects(definition, contract)
        if (fault := view_fault(objects, snapshot)) is not None:
            return Judgement(fault)
        physical, clock = physical_columns(objects, snapshot), clock_of(definition, at)
        compiled = compiled_monitor(definition, contract, physical, clock)
        hides = compiled.plan.reads_masked
        remaining, told_by = time_left(limit, spent), mask() if hides else UNMASKED
        asked: CompiledMonitor | HeldGroups = compiled
        if not readable and why_not_held(definition, contract, can_hold=snapshot.can_hold) is None:
            asked = compiled_groups(definition, contract, physical, clock)
            snapshot.hold(HeldName.GROUPS, asked.groups, remaining())
        if asked.measured is None:
            return _run(compiled, asked, snapshot, remaining, told_by)
        prepared = prepare(definition, contract, asked.measured, snapshot, look_back, at, remaining, RECORDED_MEMBERS)
        return _with_measures(_run(compiled, asked, snapshot, remaining, told_by), prepared)
    except (DamagedHistory, UnavailableError) as error:
        return Judgement(NotMade(NotMadeReason.ENGINE_ERROR, str(error)))
    except QueryTimeout:
        return Judgement(NotMade(NotMadeReason.TIMEOUT, over_time(limit)), spoilt=True)
    except EngineFault as error:
        # Engines quote the values that they trip over.
        message = _WITHHELD if hides else str(error)
        unsteady = isinstance(error, WarehouseUnsteady)
        return Judgement(NotMade(NotMadeReason.ENGINE_ERROR, message), spoilt=True, unsteady=unsteady)
    except Exception as error:
        # A fault of ours must not stop the other monitors, nor pass for a quiet night.
        _log.error("monitor %s could not be judged", definition.id, exc_info=None if hides else error)
        said = f"{type(error).__name__}: {_WITHHELD}" if hides else one_line(error)
        message = f"fault in Trivet: {said}"
        return Judgement(NotMade(NotMadeReason.ENGINE_ERROR, message), spoilt=True)


Physical: TypeAlias = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Physical column types as `compiler.plan.PhysicalColumns` has them, in a form that a cache can be asked with."""


def physical_columns(objects: Sequence[ObjectType], snapshot: Snapshot) -> Physical:
    """What the snapshot says of the views' columns."""
    return tuple((item.view, tuple((snapshot.columns(item.view) or {}).items())) for item in objects)


@lru_cache(maxsize=4096)
def compiled_monitor(
    definition: MonitorDefinition, contract: Contract, physical: Physical, clock: datetime | None
) -> CompiledMonitor:
    """Compiling costs more than running a small evaluation does, and depends on nothing but this."""
    return compile_monitor(definition, contract, {view: dict(columns) for view, columns in physical}, at=clock)


@lru_cache(maxsize=4096)
def compiled_groups(
    definition: MonitorDefinition, contract: Contract, physical: Physical, clock: datetime | None
) -> HeldGroups:
    """The queries over groups that are made once."""
    return compile_groups(definition, contract, {view: dict(columns) for view, columns in physical}, at=clock)


def clock_of(definition: MonitorDefinition, at: datetime) -> datetime | None:
    """The slot's instant where a condition looks at it; without a clock one compilation serves all slots."""
    looks = any(uses_clock(condition) for condition in conditions_of(definition))
    return at if looks or (definition.grouping is not None and definition.grouping.needs_slot) else None


def warehouse_fault(error: Exception) -> NotMade:
    """What a snapshot that could not be opened means for every monitor that wanted it."""
    if not isinstance(error, EngineFault):
        _log.error("the warehouse could not be opened", exc_info=error)
        return NotMade(NotMadeReason.ENGINE_ERROR, one_line(error))
    reason = NotMadeReason.VIEW_MISSING if isinstance(error, WarehouseMissing) else NotMadeReason.ENGINE_ERROR
    return NotMade(reason, str(error))


def involved_objects(definition: MonitorDefinition, contract: Contract) -> tuple[ObjectType, ...]:
    """The object types whose views a monitor reads."""
    names = [definition.object]
    for condition in conditions_of(definition):
        links = (contract.link(definition.object, name) for name in condition_links(condition))
        names += [link.target for link in links if link is not None]
    expect = definition.grouping.expect if definition.grouping is not None else None
    names += [expect.object] if expect is not None and expect.object is not None else []
    found = (contract.object_type(name) for name in dict.fromkeys(names))
    return tuple(item for item in found if item is not None)


def one_line(error: Exception) -> str:
    """An exception in words that fit an evaluation's message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def view_fault(objects: Sequence[ObjectType], snapshot: Snapshot) -> NotMade | None:
    """Why a view cannot be read as the contract says; None if it can."""
    for item in objects:
        columns = snapshot.columns(item.view)
        if columns is None:
            return NotMade(NotMadeReason.VIEW_MISSING, f"view {item.view} is not in the warehouse")
        for column in item.columns:
            if column not in columns:
                hint = did_you_mean(column, columns)
                return NotMade(NotMadeReason.VIEW_CHANGED, f"view {item.view} has no column '{column}'{hint}")
    return None


def _with_measures(found: Judgement, prepared: Prepared) -> Judgement:
    """The judgement with what later evaluations look back on; one that came to nothing leaves nothing."""
    if isinstance(found.outcome, NotMade):
        return found
    truncated = found.recorded_truncated or prepared.truncated
    return replace(found, measures=prepared.measures, baselines=prepared.uses, recorded_truncated=truncated)


def _run(
    compiled: CompiledMonitor,
    asked: CompiledMonitor | HeldGroups,
    snapshot: Snapshot,
    remaining: Callable[[], timedelta],
    mask: Mask,
) -> Judgement:
    rows = snapshot.run(asked.population, remaining())
    population, compliant, partial, unaccounted, duplicate_keys, *of_groups = (int(value) for value in rows[0])
    if len(of_groups) != int(compiled.plan.is_grouped):
        raise ValueError(f"the population query gave {len(rows[0])} counts")
    collecting = Collecting(snapshot, compiled.definition.object, mask)
    breached = collecting.collect(asked.breach, Verdict.BREACH, remaining())
    undecided = collecting.collect(asked.no_data, Verdict.NO_DATA, remaining())
    told = Told(population, compliant, partial, unaccounted, duplicate_keys, sum(of_groups))
    return conclude(compiled, told, breached, undecided)


def time_limit(definition: MonitorDefinition, contract: Contract) -> timedelta:
    """How long the queries of one evaluation may take."""
    return contract.limits.timeout if definition.timeout is None else definition.timeout


def over_time(limit: timedelta) -> str:
    """What is recorded of queries that were not done in time: an engine says only that it was interrupted."""
    return f"the queries took longer than the {limit.total_seconds():g} s that they may"


def time_left(timeout: timedelta, spent: timedelta = timedelta()) -> Callable[[], timedelta]:
    """What is left of a time that runs from now, or began before; asking after its end raises `QueryTimeout`."""
    deadline = time.monotonic() + (timeout - spent).total_seconds()

    def remaining() -> timedelta:
        left = deadline - time.monotonic()
        if left <= 0:
            raise QueryTimeout(over_time(timeout))
        return timedelta(seconds=left)

    return remaining


@dataclass(frozen=True, slots=True)
class Told:
    """What is counted beside the breached and the undecided members, each by its own predicate."""

    population: int
    compliant: int
    partial: int
    unaccounted: int
    """Members for which not exactly one of the three verdicts holds."""
    duplicate_keys: int
    unexpected: int = 0
    """Groups that nobody expected."""


def conclude(compiled: CompiledMonitor, told: Told, breached: Collected, undecided: Collected) -> Judgement:
    """The judgement that all these counts come to, or why they come to none."""
    unreasoned = undecided.count - sum(undecided.reasons.values())
    law = _Law(told.population, breached.count, undecided.count, told.compliant, told.unaccounted, unreasoned)
    queries: list[Json] = [compiled.breach.query.sql, compiled.no_data.query.sql, compiled.population.sql]
    queries += [compiled.measured.query.sql] if compiled.measured is not None else []
    queries_hash = content_hash(queries)
    if law.broken:
        return Judgement(NotMade(NotMadeReason.ACCOUNTING, law.message), queries_hash=queries_hash)
    if told.population == 0 and not compiled.definition.allow_empty:
        message = "no member is in the population; say `allow_empty: true` if that is fine"
        return Judgement(NotMade(NotMadeReason.POPULATION_EMPTY, message), queries_hash=queries_hash)
    return Judgement(
        Counts(
            told.population,
            breached.count,
            undecided.count,
            told.compliant,
            told.partial,
            told.duplicate_keys,
            undecided.reasons,
            told.unexpected,
        ),
        tuple(breached.members),
        tuple(undecided.members),
        queries_hash,
        recorded_truncated=breached.truncated or undecided.truncated,
    )


@dataclass(frozen=True, slots=True)
class _Law:
    """The partition law: breach + no_data + compliant = population, pairwise disjoint."""

    population: int
    breach: int
    no_data: int
    compliant: int
    unaccounted: int
    """Members for which not exactly one of the three predicates holds."""
    unreasoned: int
    """Undecided members without a reason."""

    @property
    def broken(self) -> bool:
        parts = self.breach + self.no_data + self.compliant
        return self.unaccounted != 0 or self.unreasoned != 0 or parts != self.population

    @property
    def message(self) -> str:
        return (
            f"{self.breach} breach + {self.no_data} no_data + {self.compliant} compliant against a population of "
            f"{self.population}, {self.unaccounted} members without exactly one verdict, {self.unreasoned} undecided "
            "ones without a reason; please report this fault"
        )


@dataclass(frozen=True, slots=True)
class Collected:
    """The members of one verdict."""

    members: list[Member]
    count: int
    """All of them, recorded or not."""
    partial: int
    reasons: Mapping[Reason, int]

    @property
    def truncated(self) -> bool:
        """Whether there are more than are recorded."""
        return self.count > len(self.members)


NOBODY = Collected([], 0, 0, {})
UNMASKED = Mask(b"")
"""For monitors that read no masked property."""


@dataclass(frozen=True, slots=True)
class Collecting:
    """Runs breach and no_data queries and reads their members."""

    snapshot: Snapshot
    object_name: str
    """Object type of the members."""
    mask: Mask

    def collect(self, query: MemberQuery, verdict: Verdict, timeout: timedelta) -> Collected:
        """The members that one query gives: all are counted, and the first of them kept."""
        tally = _Tally()
        with _no_collections():
            members = self._members(query, verdict, timeout, tally)
            if query.has_masked_key:
                # The query's own order is that of the values that nobody may see.
                kept = heapq.nsmallest(RECORDED_MEMBERS, members, key=_masked_order)
            else:
                kept = list(islice(members, RECORDED_MEMBERS))
                deque(members, maxlen=0)
        ordered = {reason: tally.reasons[reason] for reason in Reason if tally.reasons[reason]}
        return Collected(kept, tally.reasons.total(), tally.partial, ordered)

    def _members(self, query: MemberQuery, verdict: Verdict, timeout: timedelta, tally: _Tally) -> Iterator[Member]:
        read = member_reader(query, verdict, self.object_name, self.mask)
        for row in self.snapshot.stream(query.query, timeout):
            member = read(row)
            tally.reasons[member.reason] += 1
            tally.partial += member.partial
            yield member


@contextmanager
def _no_collections() -> Iterator[None]:
    """Members hold no cycles, and looking for some again and again among a million costs a third of reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(slots=True)
class _Tally:
    """What is counted while members are read, kept or not."""

    reasons: Counter[Reason | None] = field(default_factory=Counter)
    partial: int = 0


def _masked_order(member: Member) -> tuple[object, ...]:
    """By masked key, then by what else is shown; nothing first."""
    key = tuple((value is not None, value or "") for value in member.key.values())
    return key, json.dumps(member.to_json(), sort_keys=True)
