"""The two sides of a proof: the product's plans, and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from catalog.contract import Contract
from catalog.engines.duckdb_fixture import FixtureTable
from catalog.engines.port import Engine, Snapshot
from catalog.units import NotConverted, convert
from compiler.planning import PlanKind
from evals.oracle.evaluation import OracleResult
from evals.oracle.evaluation import judge as judge_rows
from evals.oracle.group_keys import Baselines
from evals.oracle.groups import judge_groups
from evals.oracle.units import Change, UnknownUnit, change
from evals.proving.agreement import Expected, differences
from evals.proving.data_sets import DataSet
from monitors.definition import MonitorDefinition
from monitors.masking import Mask
from worker.judging import Judgement, judge
from worker.scanning import judge_together

Fixture: TypeAlias = Callable[[Mapping[str, FixtureTable]], Engine]
"""Makes a warehouse of tables, by the names of the views that they stand for."""
Plan: TypeAlias = Callable[[MonitorDefinition, Contract, Snapshot, datetime], Judgement]

_MASK = Mask(b"a proof keeps nothing")
_TIMEOUT = timedelta(minutes=5)
"""So long that a busy machine makes no difference."""


def _pair(definition: MonitorDefinition, contract: Contract, snapshot: Snapshot, at: datetime) -> Judgement:
    return judge(definition, contract, snapshot, at, lambda: _MASK, readable=True)


def _groups(definition: MonitorDefinition, contract: Contract, snapshot: Snapshot, at: datetime) -> Judgement:
    return judge(definition, contract, snapshot, at)


def _scan(definition: MonitorDefinition, contract: Contract, snapshot: Snapshot, at: datetime) -> Judgement:
    (found,) = judge_together([(definition, at)], contract, snapshot)
    return found


def _large_scan(definition: MonitorDefinition, contract: Contract, snapshot: Snapshot, at: datetime) -> Judgement:
    (found,) = judge_together([(definition, at)], contract, snapshot, small_view=0)
    return found


PAIR: str = PlanKind.PAIR.value
SCAN: str = PlanKind.SCAN.value
GROUPS: str = PlanKind.GROUPS.value
PLANS: Mapping[str, Sequence[Plan]] = {PAIR: (_pair,), SCAN: (_scan, _large_scan), GROUPS: (_groups,)}
"""Every way in which one monitor is judged, by the name of its plan. Those of one plan take turns."""


@dataclass(slots=True)
class Units:
    """How the oracle changes units: by its own sizes, and by the library's where it has none."""

    from_library: set[str] = field(default_factory=set)
    """Units of which the library's sizes were taken."""

    def change(self, of: str | None, to: str | None) -> Change | None:
        """How a value in one unit becomes one in another.

        Raises:
            UnknownUnit: neither knows how.
        """
        try:
            return change(of, to)
        except UnknownUnit:
            found = convert(of or "", to or "")
            if isinstance(found, NotConverted):
                raise
            self.from_library |= {of or "", to or ""}
            return Change(found.factor, found.offset)


@dataclass(frozen=True, slots=True)
class Judges:
    """Both sides, for one monitor."""

    definition: MonitorDefinition
    contract: Contract
    fixture: Fixture
    plans: Mapping[str, Sequence[Plan]]
    units: Units = field(default_factory=Units)

    def expected(self, data_set: DataSet) -> Expected:
        """What the oracle says of a data set."""
        definition, tables, at = self.definition, data_set.tables, data_set.at
        if definition.grouping is not None:
            # No masked property may be in a monitor of groups.
            # Nor has made-up data a history.
            unknown: Baselines = {rule.name: {} for rule in definition.baselines}
            return judge_groups(self.contract, definition, tables, at, self.units.change, unknown)
        rows: OracleResult = judge_rows(
            self.contract,
            definition.object,
            definition.breach_when,
            definition.where,
            definition.strict,
            tables,
            at,
            self.units.change,
        )
        return replace(rows, members=tuple(replace(item, key=self._masked(item.key)) for item in rows.members))

    def found(self, data_set: DataSet, plans: Sequence[str]) -> Iterator[tuple[str, Judgement]]:
        """What plans say of a data set."""
        tables = {view: FixtureTable(table.columns, table.rows) for view, table in data_set.tables.items()}
        with self.fixture(tables).snapshot() as snapshot:
            for name in plans:
                plan = self.plans[name][data_set.number // 2 % len(self.plans[name])]
                yield name, plan(self.definition, self.contract, snapshot, data_set.at)

    def differences(self, data_set: DataSet, plan: str) -> list[str]:
        """Where a plan and the oracle differ on a data set."""
        expected = self.expected(data_set)
        return [line for name, found in self.found(data_set, [plan]) for line in differences(found, expected, by=name)]

    def _masked(self, key: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """The oracle knows no secret, so the keys that nobody may see are masked here."""
        of = self.contract.object_type(self.definition.object)
        if of is None:
            return key
        found = [of.find_property(name) for name in of.primary_key]
        return tuple(
            _MASK.key(of.name, item.name, part) if item is not None and item.masked and part is not None else part
            for item, part in zip(found, key, strict=True)
        )


def judges_of(
    definition: MonitorDefinition, contract: Contract, fixture: Fixture, plans: Mapping[str, Sequence[Plan]]
) -> Judges:
    """Both sides of a monitor, without what decides no verdict: the digits shown, and that there must be members."""
    objects = tuple(
        replace(item, properties=tuple(replace(part, display_scale=None) for part in item.properties))
        for item in contract.object_types
    )
    judged = replace(definition, allow_empty=True, timeout=_TIMEOUT)
    return Judges(judged, replace(contract, object_types=objects), fixture, plans)
