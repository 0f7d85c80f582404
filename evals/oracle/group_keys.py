"""The rows of a grouped population, and what is expected of it, by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from catalog.contract import Contract
from catalog.expressions.tree import Function
from evals.oracle.calendar_periods import days_of
from evals.oracle.comparisons import Decision, Situation
from evals.oracle.conditions import decide
from evals.oracle.evaluation import Table, object_type_of, read_table, situation_of, units_of
from evals.oracle.functions import call_function
from evals.oracle.operands import Place
from evals.oracle.outcomes import Determinate, Instant, Outcome, Value, cause_of, value_of
from evals.oracle.units import ChangeUnits, change
from monitors.definition import MonitorDefinition
from monitors.grouping import DayRange, Grouping, LastPeriods
from trivet.verdicts import Cause

Key: TypeAlias = tuple[Value, ...]
Baselines: TypeAlias = Mapping[str, Mapping[Key, Value]]
"""By name, what a baseline comes to in each group that has a history."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is in scope, or perhaps in scope."""

    situation: Situation
    key: tuple[Outcome, ...]
    day: date | None
    """Local date of the period key, where there is one."""
    scope: Decision | None


@dataclass(slots=True)
class Group:
    """What belongs to one key."""

    rows: list[Row] = field(default_factory=list)
    expected: bool = False


class GroupedRows:
    """Every group of one evaluation, found or expected, and what has no key."""

    def __init__(
        self,
        contract: Contract,
        definition: MonitorDefinition,
        grouping: Grouping,
        tables: Mapping[str, Table],
        at: datetime,
        change_units: ChangeUnits = change,
        baselines: Baselines | None = None,
    ) -> None:
        self.contract, self.definition, self.grouping, self.tables, self.at = contract, definition, grouping, tables, at
        self.baselines = baselines or {}
        self.of = object_type_of(contract, definition.object)
        self.zone = ZoneInfo(contract.calendar.time_zone)
        self.place = Place(self.zone, at, units_of(self.of, contract), change_units)
        self.far_sides = [
            (link, read_table(object_type_of(contract, link.target), contract, tables))
            for link in contract.links_from(self.of.name)
        ]
        self.groups: dict[Key, Group] = {}
        self.keyless: list[tuple[str, Cause]] = []
        self.has_keyless = False

        if not grouping.keys:
            self.groups[()] = Group()
        for row in self._rows():
            self._place(row)
        for key in self._expected():
            self.groups.setdefault(key, Group()).expected = True

    def _rows(self) -> Iterator[Row]:
        for own in read_table(self.of, self.contract, self.tables):
            situation = situation_of(own, self.far_sides, self.place, self.definition.strict)
            scope = None if self.definition.where is None else decide(self.definition.where, situation)
            if scope is not None and scope.truth is False:
                continue
            day = None
            outcomes: list[Outcome] = []
            for key in self.grouping.keys:
                outcome = own[key.property]
                if key.period is not None:
                    outcome = self._local_day(outcome)
                    day = value_of(outcome)
                    if isinstance(day, date):
                        outcome = Determinate(days_of(key.period, day)[0])
                outcomes.append(outcome)
            yield Row(situation, tuple(outcomes), day if isinstance(day, date) else None, scope)

    def _local_day(self, outcome: Outcome) -> Outcome:
        moment = value_of(outcome)
        if isinstance(moment, Instant):
            return call_function(Function.DAY_OF, [moment], self.zone, self.at)
        return outcome

    def _place(self, row: Row) -> None:
        values = [value_of(outcome) for outcome in row.key]
        key = tuple(value for value in values if value is not None)
        if len(key) == len(values):
            self.groups.setdefault(key, Group()).rows.append(row)
            return
        self.has_keyless = True
        for named, outcome in zip(self.grouping.keys, row.key, strict=True):
            if (cause := cause_of(outcome)) is not None:
                self.keyless.append((named.property, cause))

    def _expected(self) -> Iterator[Key]:
        expect = self.grouping.expect
        if expect is None:
            return
        named: list[tuple[Value, ...]] = [()]
        if expect.object is not None:
            named = []
            for row in read_table(object_type_of(self.contract, expect.object), self.contract, self.tables):
                outcomes = [row[name] for name in expect.keys]
                values = [value_of(outcome) for outcome in outcomes]
                if None in values:
                    self.has_keyless = True
                    self.keyless += [
                        (f"{expect.object}.{name}", cause)
                        for name, outcome in zip(expect.keys, outcomes, strict=True)
                        if (cause := cause_of(outcome)) is not None
                    ]
                else:
                    named.append(tuple(value for value in values if value is not None))
        firsts = self._expected_periods()
        for plain in named:
            for first in firsts:
                rest = iter(plain)
                yield tuple(
                    first if key.period is not None and first is not None else next(rest) for key in self.grouping.keys
                )

    def _expected_periods(self) -> list[date | None]:
        """The first days of the expected periods; one None where the key has no period."""
        key = self.grouping.period
        days = self.expected_days()
        if key is None or key.period is None or days is None:
            return [None]
        found: list[date | None] = []
        day = days.first
        while day <= days.last:
            whole = days_of(key.period, day)
            found.append(whole[0])
            day = whole[-1] + timedelta(days=1)
        return found

    def expected_days(self) -> DayRange | None:
        """The days whose periods are expected."""
        expect, key = self.grouping.expect, self.grouping.period
        if expect is None or key is None or key.period is None:
            return None
        match expect.periods:
            case DayRange():
                return expect.periods
            case LastPeriods(count=count, current=current):
                last = self.at.astimezone(self.zone).date()
                if not current:
                    last = days_of(key.period, last)[0] - timedelta(days=1)
                first = days_of(key.period, last)[0]
                for _ in range(count - 1):
                    first = days_of(key.period, first - timedelta(days=1))[0]
                return DayRange(first, last)
        return None
