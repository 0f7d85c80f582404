"""Data that is too old for a verdict: then breaches stand, and every other member is no_data, `source_stale`.

The rule is that of `max_age` in the contract: a source is as old as its ingestion, or as the youngest date that its
rows have. It is asked after the queries, so that no plan needs to know of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from catalog.contract import Contract, MaxAge, ObjectType
from catalog.engines.port import QueryTimeout, Snapshot
from catalog.expressions.tree import Call, Comparison, ComparisonOperator, Function, Literal, PropertyRef
from compiler.compile import compile_others
from compiler.compiled import MemberQuery
from monitors.definition import MonitorDefinition
from monitors.evaluation import Counts, NotMade
from monitors.masking import Mask
from trivet.durations import duration_text
from trivet.verdicts import NotMadeReason, Reason, Verdict
from worker.judging import (
    UNMASKED,
    Collected,
    Collecting,
    Judgement,
    Physical,
    clock_of,
    compiled_monitor,
    involved_objects,
    over_time,
    physical_columns,
    time_left,
    time_limit,
)
from worker.refreshes import ingested_at

_log = logging.getLogger(__name__)


def aged(
    judged: Judgement,
    definition: MonitorDefinition,
    contract: Contract,
    snapshot: Snapshot,
    at: datetime,
    mask: Callable[[], Mask],
) -> Judgement:
    """What a judgement becomes by the age of the data behind it; itself where nothing is too old.

    Args:
        judged: what the monitor came to; its baselines, if it has any, are still held by the snapshot.
        definition: the monitor.
        contract: what it was checked against.
        snapshot: the data.
        at: the slot's instant, from which age is counted back.
        mask: gives the mask of values that nobody may see, if there are any.
    """
    objects = [item for item in involved_objects(definition, contract) if item.max_age is not None]
    if not objects or not isinstance(judged.outcome, Counts) or judged.spoilt:
        return judged
    limit = time_limit(definition, contract)
    try:
        remaining = time_left(limit)
        stale = next(stale_sources(objects, contract, snapshot, at, remaining), None)
        if stale is None or judged.outcome.breach == judged.outcome.population:
            return judged
        _log.warning("%s: %s: %s, so whoever does not breach is no_data", definition.id, *stale)
        return _with_others(judged, judged.outcome, _others(definition, contract, snapshot, at, mask, remaining))
    except QueryTimeout:
        return Judgement(NotMade(NotMadeReason.TIMEOUT, over_time(limit)), spoilt=True)
    except Exception as error:
        # Not its text, which may quote values that are masked.
        _log.error("monitor %s: how old its data is could not be asked: %s", definition.id, type(error).__name__)
        message = f"how old the data is could not be asked: {type(error).__name__}"
        return Judgement(NotMade(NotMadeReason.ENGINE_ERROR, message), spoilt=True)


def _others(
    definition: MonitorDefinition,
    contract: Contract,
    snapshot: Snapshot,
    at: datetime,
    mask: Callable[[], Mask],
    remaining: Callable[[], timedelta],
) -> Collected:
    """Every member that does not breach."""
    physical, clock = physical_columns(involved_objects(definition, contract), snapshot), clock_of(definition, at)
    reads_masked = compiled_monitor(definition, contract, physical, clock).plan.reads_masked
    collecting = Collecting(snapshot, definition.object, mask() if reads_masked else UNMASKED)
    query = _compiled_others(definition, contract, physical, clock)
    return collecting.collect(query, Verdict.NO_DATA, remaining())


def _with_others(judged: Judgement, counts: Counts, others: Collected) -> Judgement:
    if counts.breach + others.count != counts.population:
        message = f"{counts.breach} breach + {others.count} others against a population of {counts.population}"
        return Judgement(NotMade(NotMadeReason.ACCOUNTING, f"{message}; please report this fault"))
    outcome = replace(
        counts,
        no_data=others.count,
        compliant=0,
        partial=sum(member.partial for member in judged.breached),
        no_data_reasons={Reason.SOURCE_STALE: others.count},
    )
    truncated = judged.recorded_truncated or others.truncated
    return replace(judged, outcome=outcome, undecided=tuple(others.members), recorded_truncated=truncated)


def stale_sources(
    objects: list[ObjectType], contract: Contract, snapshot: Snapshot, at: datetime, remaining: Callable[[], timedelta]
) -> Iterator[tuple[str, str]]:
    """The object types whose data is too old at an instant, each with what is said of it.

    Raises:
        EngineFault: the engine could not answer.
    """
    for item in objects:
        if item.max_age is None:
            continue
        if item.max_age.property is not None:
            if not _has_young_row(item, item.max_age, contract, snapshot, at, remaining):
                yield item.name, f"no {item.max_age.property} lies within {duration_text(item.max_age.limit)}"
        elif at - ingested_at(snapshot.identity) > item.max_age.limit:
            yield item.name, f"ingested more than {duration_text(item.max_age.limit)} ago"


def _has_young_row(
    item: ObjectType,
    rule: MaxAge,
    contract: Contract,
    snapshot: Snapshot,
    at: datetime,
    remaining: Callable[[], timedelta],
) -> bool:
    """Whether some row's date is certain and young enough: asked as a monitor would, so it is read as there."""
    age = Call(Function.AGE, (PropertyRef(str(rule.property)),))
    old = Comparison(ComparisonOperator.GREATER, age, Literal(rule.limit))
    asked = MonitorDefinition(id=f"{item.name}.max_age", object=item.name, breach_when=old)
    compiled = compiled_monitor(asked, contract, physical_columns([item], snapshot), at)
    (_, young, *_), *_ = snapshot.run(compiled.population, remaining())
    return int(young) > 0


@lru_cache(maxsize=1024)
def _compiled_others(
    definition: MonitorDefinition, contract: Contract, physical: Physical, clock: datetime | None
) -> MemberQuery:
    return compile_others(definition, contract, {view: dict(columns) for view, columns in physical}, at=clock)
