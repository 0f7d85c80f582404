"""Data sets for one monitor, each from its seed and number alone: the same seed makes the same data everywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from catalog.contract import ObjectType
from catalog.periods import Period, first_day, shifted
from evals.oracle.evaluation import Table
from evals.proving import pools
from evals.proving.cells import VARCHAR, Cell, known_type
from evals.proving.columns import Columns, Pool, Views
from monitors.grouping import DayRange, Grouping

Physical = Mapping[str, Mapping[str, str]]
"""Type of each column, by view and column."""
Row = dict[str, Cell]

_ODD_SHARES = (0.02, 0.08, 0.08, 0.25)
"""How much of the cells of one data set is odd: little, so that much is decided, or much, so that all is met."""
_MEMBERS = (4, 6, 8, 10)
_LINKED = (1, 2, 2, 3, 4, 6, 0)
_REPEATED = 0.15
"""Of the data sets of a view, how many have a row that stands there twice."""
_ALIKE = 0.35
"""Of the columns that are compared, how many hold one or two values in a data set."""
_NEAREST = 6
"""Of the values that such a column can hold, those that stand first: the bounds, and what lies beside them."""
_MOST_IN_A_GROUP = 400
"""Rows that are made so that one group has as many inputs as it needs."""
_MISSED = 0.1
"""Of the parts of a period, how many have no row."""
_SETTLED = 0.6
"""Of the groups that are made to have enough inputs, how many have nothing odd in them."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """What one evaluation looks at."""

    number: int
    """From 1."""
    at: datetime
    """The slot's instant."""
    tables: Mapping[str, Table]
    """By the name of the view."""


class DataSets:
    """Makes the data sets of one monitor."""

    def __init__(self, views: Views, physical: Physical | None, seed: int) -> None:
        """Args: the views; the warehouse's column types, None where it is not there; the seed."""
        self._views = views
        self._seed = seed
        self._zone = ZoneInfo(views.contract.calendar.time_zone)
        as_text = {item.view: dict.fromkeys(item.columns, VARCHAR) for item in views.objects}
        as_found = {
            view: {name: known_type((physical or {}).get(view, {}).get(name, VARCHAR)) for name in columns}
            for view, columns in as_text.items()
        }
        self._types = [as_text] if as_found == as_text else [as_found, as_text]
        self._columns = {
            (index, at): Columns(views, types, at) for index, types in enumerate(self._types) for at in pools.SLOTS
        }

    def __getitem__(self, number: int) -> DataSet:
        """The data set of a number."""
        chance = random.Random(f"{self._seed}/{number}")  # noqa: S311 - a proof must be repeatable, not secret.
        at = chance.choice(pools.SLOTS)
        index = number % len(self._types)
        making = _Making(self._views, self._columns[index, at], chance, at, self._zone)
        tables = {item.view: Table(self._types[index][item.view], making.rows(item)) for item in self._views.objects}
        return DataSet(number, at, tables)


@dataclass(slots=True)
class _Making:
    """One data set in the making."""

    views: Views
    columns: Columns
    chance: random.Random
    at: datetime
    zone: ZoneInfo
    odd_share: float = 0

    def __post_init__(self) -> None:
        self.odd_share = self.chance.choice(_ODD_SHARES)

    def rows(self, item: ObjectType) -> list[Row]:
        """The rows of a view."""
        of = {name: self._narrowed(pool) for name, pool in self.columns.of(item).items()}
        grouping = self.views.definition.grouping
        is_member = item.name == self.views.definition.object
        if is_member and grouping is not None and (period := grouping.period) is not None and period.period is not None:
            days = self._days_near(grouping, period.period)
            of[period.property] = Pool(self.columns.days(item, period.property, days), of[period.property].odd)
        rows = [self._row(of) for _ in range(self.chance.choice(_MEMBERS if is_member else _LINKED))]
        if is_member and grouping is not None:
            rows += self._group(item, grouping, of)
        if rows and self.chance.random() < _REPEATED:
            rows.append(dict(self.chance.choice(rows)))
        self.chance.shuffle(rows)
        return rows

    def _narrowed(self, pool: Pool) -> Pool:
        """Now and then, a column holds hardly more than one value: so averages come near a bound, and beyond it."""
        if not pool.is_value or self.chance.random() >= _ALIKE:
            return pool
        near = tuple(dict.fromkeys(pool.ordinary))[:_NEAREST]
        return replace(pool, ordinary=tuple(self.chance.choices(near or (None,), k=self.chance.choice((1, 1, 2)))))

    def _row(self, of: Mapping[str, Pool]) -> Row:
        return {name: self._cell(pool) for name, pool in of.items()}

    def _cell(self, pool: Pool) -> Cell:
        if pool.odd and (not pool.ordinary or self.chance.random() < self.odd_share):
            return self.chance.choice(pool.odd)
        return self.chance.choice(pool.ordinary or (None,))

    def _group(self, item: ObjectType, grouping: Grouping, of: Mapping[str, Pool]) -> Iterator[Row]:
        """Rows of one key, as many as make a figure: chance alone would hardly ever bring them together."""
        if self.chance.random() < 0.3:
            return
        key = self._row({named.property: Pool(of[named.property].ordinary, ()) for named in grouping.keys})
        # So many inputs are hardly ever all determinate by chance alone.
        settled = {name: _settled(pool) for name, pool in of.items()} if self.chance.random() < _SETTLED else of
        wanted = self.chance.choice((grouping.min_count, grouping.min_count, grouping.min_count - 1))
        for _ in range(min(wanted + 1, _MOST_IN_A_GROUP)):
            yield {**self._row(settled), **key}
        period, coverage = grouping.period, grouping.min_coverage
        if coverage is None or coverage.per is None or period is None or period.period is None:
            return
        first = self._a_day(grouping, period.period)
        for day in list(_parts(period.period, first, coverage.per))[:_MOST_IN_A_GROUP]:
            if self.chance.random() >= _MISSED:
                days = self.columns.days(item, period.property, [day])
                yield {**self._row(settled), **key, period.property: self.chance.choice(days or (None,))}

    def _days_near(self, grouping: Grouping, period: Period) -> list[date]:
        """A day of some period, and days of those before and after it, since figures are compared over time."""
        first = first_day(period, self._a_day(grouping, period))
        found = [first, first]
        for by in (-1, -1, 1, -2):
            try:
                found.append(shifted(period, first, by) + timedelta(days=self.chance.choice((0, 0, 1, 20))))
            except OverflowError:
                continue
        return found

    def _a_day(self, grouping: Grouping, period: Period) -> date:
        today = self.at.astimezone(self.zone).date()
        expect = grouping.expect
        if expect is None or expect.periods is None:
            return today
        days = expect.days(period, self.at, self.zone)
        return self._day_of(days)

    def _day_of(self, days: DayRange) -> date:
        return days.first + timedelta(days=self.chance.randint(0, max((days.last - days.first).days, 0)))


def _settled(pool: Pool) -> Pool:
    return Pool((None,) if pool.unsettles else pool.ordinary, ())


def _parts(period: Period, day: date, per: Period) -> Iterator[date]:
    """The first day of each part of the period that a day lies in."""
    part = first = first_day(period, day)
    while first_day(period, part) == first:
        yield part
        try:
            part = shifted(per, part, 1)
        except OverflowError:
            return


def shown_rows(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Rows as a person reads them: each cell that holds something, by its column."""
    return [", ".join(f"{name} {cell!r}" for name, cell in row.items() if cell is not None) or "(NULL)" for row in rows]
