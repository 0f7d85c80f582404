"""Before the queries of a monitor with baselines: what is recorded of each group, and what earlier evaluations hold.

The earlier values enter the warehouse's snapshot as a held relation, so the queries stay the same from slot to slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from catalog.contract import Contract
from catalog.engines.port import HeldName, Snapshot
from catalog.expressions.baselines import BaselineRule
from catalog.expressions.printing import print_operand
from compiler.compiled import MeasuredQuery
from monitors.baselines import BaselineUse, MeasuredValue, group_key
from monitors.definition import MonitorDefinition
from monitors.measures import measure_hash
from trivet.verdicts import Reason


class DamagedHistory(Exception):
    """A recorded value is none. Its text says what to do."""


class Past(Protocol):
    """What one baseline looks back on."""

    @property
    def evaluations(self) -> tuple[str, ...]:
        """Ids of the evaluations whose values are taken, the latest slot first."""

    def comes_to(self, key: str, *, exact: bool) -> Decimal | Reason:
        """What the earlier values of a group come to, or why they come to nothing.

        Args:
            key: of the group, as `group_key` writes it.
            exact: whether the baseline's type is exact.
        """


LookBack: TypeAlias = Callable[[MonitorDefinition, BaselineRule, str, datetime], Past]
"""Finds what a baseline of a monitor looks back on: the monitor, the baseline, its `measure_hash`, and the slot."""


@dataclass(frozen=True, slots=True)
class NothingPast:
    """No evaluation was ever recorded."""

    evaluations: tuple[str, ...] = ()

    def comes_to(self, key: str, *, exact: bool) -> Decimal | Reason:
        """Nothing."""
        return Reason.INSUFFICIENT


def no_look_back(definition: MonitorDefinition, rule: BaselineRule, measure: str, at: datetime) -> Past:
    """For evaluations without a store."""
    return NothingPast()


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an evaluation takes from its groups before they are judged."""

    measures: tuple[MeasuredValue, ...]
    uses: tuple[BaselineUse, ...]
    truncated: bool
    """Whether there are more groups than are recorded."""


def prepare(
    definition: MonitorDefinition,
    contract: Contract,
    measured: MeasuredQuery,
    snapshot: Snapshot,
    look_back: LookBack,
    at: datetime,
    remaining: Callable[[], timedelta],
    most: int,
) -> Prepared:
    """Measures the groups, looks back, and fills the held relation that the queries read.

    Args:
        definition: the monitor.
        contract: what it was checked against.
        measured: its compiled query of measures.
        snapshot: the data.
        look_back: finds earlier values.
        at: the slot's instant.
        remaining: what is left of the evaluation's time.
        most: groups that are recorded at most.

    Raises:
        DamagedHistory: a recorded value is none.
        EngineFault: the engine failed.
    """
    groups = list(snapshot.stream(measured.query, remaining()))
    hashes = {of: measure_hash(definition, of, contract) for of in measured.measures}
    pasts = [look_back(definition, rule, hashes[rule.of], at) for rule in measured.held.rules]
    rows = (_held_row(measured, pasts, group) for group in groups)
    snapshot.supply(HeldName.BASELINES, measured.held.columns, rows, remaining())
    uses = [
        BaselineUse(rule, hashes[rule.of], past.evaluations)
        for rule, past in zip(measured.held.rules, pasts, strict=True)
    ]
    values = [
        value
        for number, of in enumerate(measured.measures)
        for value in _values(measured, number, hashes[of], groups[:most])
    ]
    return Prepared(tuple(values), tuple(uses), truncated=len(groups) > most)


def _key(measured: MeasuredQuery, group: Sequence[Any]) -> str:
    return group_key(measured.keys, group[: len(measured.keys)])


def _held_row(measured: MeasuredQuery, pasts: Sequence[Past], group: Sequence[Any]) -> list[str | None]:
    key = _key(measured, group)
    row: list[str | None] = list(group[: len(measured.keys)])
    for past, exact in zip(pasts, measured.held.exact, strict=True):
        found = past.comes_to(key, exact=exact)
        row += [None, found.value] if isinstance(found, Reason) else [f"{found:f}" if exact else str(found), None]
    return row


def _values(measured: MeasuredQuery, number: int, of_hash: str, groups: Sequence[Any]) -> Iterator[MeasuredValue]:
    place = len(measured.keys) + 2 * number
    name = print_operand(measured.measures[number])
    for group in groups:
        value, reason = group[place], group[place + 1]
        yield MeasuredValue(name, of_hash, _key(measured, group), value, Reason(reason) if reason else None)
