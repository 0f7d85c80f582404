"""What each column's cells are drawn from: the values that matter to a monitor, and all that only looks like one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from catalog.contract import Contract, LinkType, ObjectType, Property
from catalog.datatypes import Kind
from catalog.expressions.tree import Condition
from evals.oracle.evaluation import units_of
from evals.proving import pools
from evals.proving.bounds import Scalar, Surroundings, bounds_of
from evals.proving.cells import VARCHAR, Cell, around, cells_of
from monitors.definition import MonitorDefinition

_CLASSES: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.INTEGER: (Decimal,),
    Kind.DECIMAL: (Decimal,),
    Kind.DOUBLE: (Decimal,),
    Kind.BOOLEAN: (bool,),
    Kind.DATE: (date,),
    Kind.TIMESTAMP: (datetime, date),
    Kind.DURATION: (timedelta,),
}
_OPEN = 2
"""How much oftener an open end is drawn than each date."""
_ON_THE_BOUND = 4
"""How much oftener the bound itself is drawn than each value beside it."""
_MOSTLY = 4
"""How much oftener one value of a key is drawn than each other."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The cells of one column."""

    ordinary: tuple[Cell, ...]
    odd: tuple[Cell, ...]
    """Drawn now and then."""
    is_value: bool = False
    """Whether conditions compare it, and neither rows nor dates are matched by it."""
    unsettles: bool = False
    """Whether a cell in it can leave the value beside it without one: a cause, or the side of a bound."""


@dataclass(frozen=True, slots=True)
class Views:
    """The object types whose views an evaluation of one monitor looks at, and what their properties are for."""

    definition: MonitorDefinition
    contract: Contract
    objects: tuple[ObjectType, ...]
    """That of the members first."""
    keys: frozenset[tuple[str, str]]
    """Object type and property of all that rows are matched or grouped by."""
    days: frozenset[tuple[str, str]]
    """Of the dates by which linked rows are in force."""
    ends: frozenset[tuple[str, str]]
    """Of those, the dates on which rows end."""

    @property
    def links(self) -> tuple[LinkType, ...]:
        """Every link of the members."""
        return self.contract.links_from(self.definition.object)


def views_of(definition: MonitorDefinition, contract: Contract) -> Views:
    """The views of a monitor: its own, those behind its object type's links, and that of the expected members."""
    links = contract.links_from(definition.object)
    grouping = definition.grouping
    expect = grouping.expect if grouping is not None else None
    keys = [(link.source, name) for link in links for name in link.source_keys]
    keys += [(link.target, name) for link in links for name in link.target_keys]
    keys += [(definition.object, key.property) for key in (grouping.keys if grouping is not None else ())]
    names = [definition.object, *(link.target for link in links)]
    if expect is not None and expect.object is not None:
        names.append(expect.object)
        keys += [(expect.object, name) for name in expect.keys]
    dated = [(link, link.as_of) for link in links if link.as_of is not None]
    ends = {(link.target, dates.valid_to) for link, dates in dated if dates.valid_to is not None}
    days = {(link.source, dates.date) for link, dates in dated} | {
        (link.target, dates.valid_from) for link, dates in dated
    }
    found = (contract.object_type(name) for name in dict.fromkeys(names))
    objects = tuple(item for item in found if item is not None)
    return Views(definition, contract, objects, frozenset(keys), frozenset(days | ends), frozenset(ends))


def conditions_of(definition: MonitorDefinition) -> list[Condition]:
    """The conditions of a monitor."""
    return [definition.breach_when] if definition.where is None else [definition.where, definition.breach_when]


class Columns:
    """The pools of every column of a monitor's views, for one slot and one set of physical types."""

    def __init__(self, views: Views, physical: Mapping[str, Mapping[str, str]], at: datetime) -> None:
        """Args: the views; the physical type of each column, by view and column; the slot's instant."""
        self._views = views
        self._physical = physical
        self._bounds: dict[tuple[str, str], list[Scalar]] = {}
        near = Surroundings(at, ZoneInfo(views.contract.calendar.time_zone), units_of(views.objects[0], views.contract))
        objects = {link.name: link.target for link in views.links}
        for condition in conditions_of(views.definition):
            for ref, value in bounds_of(condition, near):
                owner = views.definition.object if ref.link is None else objects[ref.link]
                if _is_of(value, views.contract, owner, ref.name):
                    self._bounds.setdefault((owner, ref.name), []).append(value)

    def of(self, item: ObjectType) -> dict[str, Pool]:
        """The pools of a view, by column. A column of several properties is drawn for the first of them."""
        found: dict[str, Pool] = {}
        for declared in item.properties:
            for column, pool in self._of_property(item, declared).items():
                found.setdefault(column, pool)
        for _, column in item.provenance.named():
            found.setdefault(column, self._text_pool(item, column, ("a.csv", "1", None), ()))
        return found

    def days(self, item: ObjectType, name: str, days: Iterable[date]) -> tuple[Cell, ...]:
        """Cells of a date or timestamp that lie on given days."""
        physical = self._physical[item.view][name]
        return tuple(cell for day in days for cell in cells_of(day, physical))

    def _of_property(self, item: ObjectType, declared: Property) -> dict[str, Pool]:
        columns = {declared.name: self._values(item, declared)}
        if declared.raw is not None:
            columns[declared.raw] = self._text_pool(item, declared.raw, ("as printed", None), ())
        if declared.cause is not None:
            causes = self._text_pool(item, declared.cause, pools.CAUSES, pools.ODD_CAUSES)
            columns[declared.cause] = replace(causes, unsettles=True)
        if declared.censored is not None:
            # Of most values nothing is said, so that these are compared as they are.
            sides = (*pools.SIDES[:2] * 3, *pools.SIDES[2:])
            bounds = self._text_pool(item, declared.censored.side, sides, pools.ODD_SIDES)
            columns[declared.censored.side] = replace(bounds, unsettles=True)
            columns[declared.censored.limit] = self._limits(item, declared, declared.censored.limit)
        return columns

    def _values(self, item: ObjectType, declared: Property) -> Pool:
        place, kind = (item.name, declared.name), declared.type.kind
        physical = self._physical[item.view][declared.name]
        near = self._near(place, declared)
        marks = self._scalars_as_text(declared.missing, physical)
        if place in self._views.keys:
            # One value above all, since a link by several keys meets nothing otherwise.
            key = [*pools.KEY_VALUES[kind][:1] * _MOSTLY, *pools.KEY_VALUES[kind][1:], *self._key_bounds(kind)]
            return Pool(self._cells(key, physical), self._odd(pools.ODD_KEYS.get(kind, ()), physical) + marks)
        if place in self._views.ends:
            ordinary = (None,) * _OPEN + self._cells([*pools.VALUES[kind], *near], physical)
            return Pool(ordinary, self._odd(pools.ODD_ENDS, physical) + marks)
        if place in self._views.days:
            ordinary = self._cells([*pools.VALUES[kind], *near, *near], physical)
            return Pool(ordinary, self._odd(pools.ODD_STARTS, physical) + marks)
        if declared.name in item.primary_key:
            names = self._scalars_as_text(pools.IDENTIFIERS, physical) if kind is Kind.TEXT else ()
            return Pool(names or self._cells(pools.VALUES[kind], physical), self._odd((), physical))
        bounds = self._cells(self._bounds.get(place, ()), physical) * _ON_THE_BOUND + self._cells(near, physical)
        beside = [other for value in pools.VALUES[kind][:2] for other in around(value, declared.type)]
        ordinary = bounds + self._cells([*pools.VALUES[kind], *([] if bounds else beside)], physical)
        ordinary += self._as_written(kind, physical)
        return Pool(ordinary, self._odd(pools.ODD[kind], physical) + marks, is_value=True)

    def _limits(self, item: ObjectType, declared: Property, column: str) -> Pool:
        physical = self._physical[item.view][column]
        near = self._near((item.name, declared.name), declared)
        texts = self._scalars_as_text(pools.LIMITS.get(declared.type.kind, ()), physical)
        return Pool(texts + self._cells([*pools.VALUES[declared.type.kind], *near], physical), self._odd((), physical))

    def _near(self, place: tuple[str, str], declared: Property) -> list[Scalar]:
        return [other for value in self._bounds.get(place, ()) for other in around(value, declared.type)]

    def _key_bounds(self, kind: Kind) -> Iterator[Scalar]:
        """Bounds of any key of a kind, since rows meet only where both sides have one of them."""
        for item in self._views.objects:
            for declared in item.properties:
                if declared.type.kind is kind and (item.name, declared.name) in self._views.keys:
                    yield from self._bounds.get((item.name, declared.name), ())

    def _cells(self, values: Iterable[Scalar], physical: str) -> tuple[Cell, ...]:
        return tuple(cell for value in values for cell in cells_of(value, physical))

    def _as_written(self, kind: Kind, physical: str) -> tuple[Cell, ...]:
        """Ordinary values in other spellings."""
        return pools.ORDINARY[kind] if physical == VARCHAR else ()

    def _odd(self, texts: Iterable[str | None], physical: str) -> tuple[Cell, ...]:
        if physical == VARCHAR:
            return (*pools.BLANKS, *texts)
        return (None, *pools.TYPED.get(physical, ()))

    def _text_pool(
        self, item: ObjectType, column: str, ordinary: Iterable[str | None], odd: Iterable[str | None]
    ) -> Pool:
        physical = self._physical[item.view][column]
        return Pool(self._scalars_as_text(ordinary, physical) or (None,), self._scalars_as_text(odd, physical))

    def _scalars_as_text(self, texts: Iterable[str | None], physical: str) -> tuple[Cell, ...]:
        return tuple(texts) if physical == VARCHAR else ()


def _is_of(value: Scalar, contract: Contract, owner: str, name: str) -> bool:
    """Whether a value is of the kind that a property is declared to have."""
    of = contract.object_type(owner)
    declared = of.find_property(name) if of is not None else None
    return declared is not None and type(value) in _CLASSES[declared.type.kind]
