"""What only the data shows: whether a contract's keys are keys, its links meet, and its monitors decide anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeAlias

from catalog.contract import Contract, LinkType, ObjectType, Property
from catalog.engines.port import Engine, EngineFault, QueryTimeout, Snapshot
from monitors.definition import MonitorDefinition
from monitors.evaluation import Member, NotMade
from trivet.findings import Finding
from trivet.verdicts import Reason
from worker.aging import aged, stale_sources
from worker.baselines import LookBack, no_look_back
from worker.judging import Judgement, judge, time_left, unkept_mask
from worker.live_domains import domain_tells
from worker.live_links import link_tells
from worker.live_look import Told, counted, look_at, repeated_key
from worker.places import NOWHERE, Places, Where

_MOST_KINDS = 3
_REASONS = {
    Reason.SCOPE_UNKNOWN: "`where` cannot be decided",
    Reason.LEFT_MISSING: "there is no row",
    Reason.LEFT_NULL: "an own value cannot be read",
    Reason.RIGHT_MISSING: "no linked row matches",
    Reason.RIGHT_NULL: "no linked row has a value that can be read",
    Reason.RIGHT_AMBIGUOUS: "linked rows decide differently",
    Reason.INSUFFICIENT: "there are too few values",
    Reason.SOURCE_STALE: "a source is too old",
}

_Tells: TypeAlias = Callable[[Snapshot], Iterator[Told]]


@dataclass(frozen=True, slots=True)
class LiveReport:
    """What the data shows, in the order in which it was looked at."""

    findings: tuple[Finding, ...]
    """As things stand, a link or a monitor can decide nothing."""
    warnings: tuple[Finding, ...]
    """Something is decided, and the data is not as the contract says."""


def check_live(
    contract: Contract,
    monitors: Sequence[MonitorDefinition],
    engine: Engine,
    contract_file: str,
    at: datetime,
    look_back: LookBack = no_look_back,
    places: Places = NOWHERE,
) -> LiveReport:
    """Holds a contract and the enabled monitors against the data. Nothing is recorded.

    Args:
        contract: every view and column that it declares must be there.
        monitors: judged as an evaluation judges them, if they are enabled.
        engine: the warehouse.
        contract_file: how findings name the contract.
        at: the instant for conditions that look at the clock.
        look_back: finds the values that earlier evaluations recorded.
        places: of contract and monitors in their files.

    Raises:
        EngineFault: the warehouse cannot be opened.
    """
    findings: list[Finding] = []
    warnings: list[Finding] = []
    files = {_monitor_place(item): item.file for item in monitors}
    for where, about, tells in _looks(contract, monitors, at, look_back):
        for told in _look(tells, engine):
            finding = places.finding(where, files.get(where, contract_file), f"{about}: {told.message}")
            (findings if told.is_fault else warnings).append(finding)
    return LiveReport(tuple(findings), tuple(warnings))


def _looks(
    contract: Contract, monitors: Sequence[MonitorDefinition], at: datetime, look_back: LookBack
) -> Iterator[tuple[Where, str, _Tells]]:
    """Everything that is looked at: where its file speaks of it, its name, and what it tells of a snapshot."""
    for item in contract.object_types:
        place = ("object_types", item.name)
        yield (*place, "primary_key"), item.name, partial(_key_tells, contract, item)
        if item.max_age is not None:
            yield (*place, "max_age"), item.name, partial(_age_tells, contract, item, at)
        for declared in item.properties:
            if declared.domain is not None:
                where = (*place, "properties", declared.name, "domain")
                yield where, f"{item.name}.{declared.name}", partial(_domain_tells, contract, item, declared)
    for link in contract.link_types:
        yield (
            ("link_types", f"{link.source}.{link.name}"),
            f"link {link.source}.{link.name}",
            partial(_link_tells, contract, link),
        )
    for definition in monitors:
        if definition.enabled:
            yield (
                _monitor_place(definition),
                f"monitor {definition.id}",
                partial(_monitor_tells, contract, definition, at, look_back),
            )


def _monitor_place(definition: MonitorDefinition) -> Where:
    return ("monitors", definition.id, "breach_when")


def _look(tells: _Tells, engine: Engine) -> Iterator[Told]:
    """Looks on a snapshot of its own: after a fault, such as a time limit, a snapshot is spent."""
    with engine.snapshot() as snapshot:
        try:
            yield from tells(snapshot)
        except QueryTimeout as error:
            yield Told(f"could not be looked at within the contract's time limit: {error}", is_fault=False)
        except EngineFault as error:
            yield Told(f"could not be looked at: {error}", is_fault=True)


def _age_tells(contract: Contract, of: ObjectType, at: datetime, snapshot: Snapshot) -> Iterator[Told]:
    for _, told in stale_sources([of], contract, snapshot, at, time_left(contract.limits.timeout)):
        yield Told(f"{told}: whoever does not breach is no_data (source_stale)", is_fault=False)


def _key_tells(contract: Contract, of: ObjectType, snapshot: Snapshot) -> Iterator[Told]:
    look = look_at(contract, snapshot)
    rows, unkeyed = look.numbers(look.queries.keys(of, of.primary_key))
    if unkeyed:
        key = f"{'a part of ' if len(of.primary_key) > 1 else ''}the primary key ({', '.join(of.primary_key)})"
        message = f"in {unkeyed:,} of {counted(rows, 'row')} of {of.view} {key} cannot be read; such rows are judged, "
        yield Told(f"{message}and cannot be told apart", is_fault=False)
    if (found := repeated_key(look, of, of.primary_key)) is not None:
        message = f"the primary key repeats: {found}; each row is judged, and counted, as a member of its own"
        yield Told(message, is_fault=False)


def _link_tells(contract: Contract, link: LinkType, snapshot: Snapshot) -> Iterator[Told]:
    return link_tells(look_at(contract, snapshot), link)


def _domain_tells(contract: Contract, of: ObjectType, declared: Property, snapshot: Snapshot) -> Iterator[Told]:
    return domain_tells(look_at(contract, snapshot), of, declared)


def _monitor_tells(
    contract: Contract, definition: MonitorDefinition, at: datetime, look_back: LookBack, snapshot: Snapshot
) -> Iterator[Told]:
    found = judge(definition, contract, snapshot, at, look_back=look_back)
    found = aged(found, definition, contract, snapshot, at, unkept_mask)
    outcome = found.outcome
    if isinstance(outcome, NotMade):
        yield Told(f"could not be evaluated: {outcome.reason}: {outcome.message}", is_fault=True)
    elif outcome.population and outcome.no_data == outcome.population:
        members = "its only member is" if outcome.population == 1 else f"all {outcome.population:,} members are"
        yield Told(f"decides nothing: {members} no_data: {'; '.join(_kinds(found))}", is_fault=not _waits(found))


def _waits(found: Judgement) -> bool:
    """Whether members may be undecided only because there is no history yet, which is what time is for."""
    short = any(len(use.evaluations) < use.rule.min_history for use in found.baselines)
    return short and all(member.reason is Reason.INSUFFICIENT for member in found.undecided)


def _kinds(found: Judgement) -> Iterator[str]:
    """The reasons of undecided members with their causes, the commonest first."""
    kinds = Counter((member.reason, _causes(member)) for member in found.undecided)
    for (reason, causes), count in kinds.most_common(_MOST_KINDS):
        if reason is not None:
            yield f"{count:,} {reason} ({_REASONS[reason]}{f'; {causes}' if causes else ''})"
    if len(kinds) > _MOST_KINDS:
        yield "and others"


def _causes(member: Member) -> str:
    return "; ".join(f"{operand}: {', '.join(causes)}" for operand, causes in sorted(member.causes.items()))
