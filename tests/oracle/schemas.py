"""Hypothesis strategies for small contracts and for tables that fit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from catalog.contract import (
    Calendar,
    Cardinality,
    CensoredColumns,
    Contract,
    EffectiveDates,
    LinkType,
    ObjectType,
    Property,
    Restates,
)
from catalog.datatypes import (
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    INTEGER,
    TEXT,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)
from evals.oracle.evaluation import Table
from evals.oracle.units import FAMILIES
from tests.oracle import cells

MEMBER = "member"
MAX_ROWS = 8

_KEY_TYPES = (TEXT, INTEGER, DATE)
_NUMBERS = (decimal(12, 4), INTEGER, DOUBLE, decimal(38, 10), decimal(18, 0))
_VALUE_TYPES = (*_NUMBERS, *_NUMBERS, TEXT, DATE, BOOLEAN, TIMESTAMP, DURATION)
_MISSING: tuple[tuple[str, ...], ...] = ((), (), ("n/a",), ("TBC", "-1"))
_LINK_NAMES = ("governed_by", "limited_by")
_TARGETS = ("floor", "ceiling")
_CARDINALITIES = (
    Cardinality.MANY_TO_ONE,
    Cardinality.ONE_TO_ONE,
    Cardinality.MANY_TO_MANY,
    Cardinality.ONE_TO_MANY,
)
# A property may be named as SQL names a clause.
_MEMBER_VALUES = ("x", "order", "y")
_TARGET_VALUES = ("u", "group")


@dataclass(frozen=True, slots=True)
class Schema:
    """A contract, and the columns that hold its views."""

    contract: Contract
    columns: Mapping[str, Mapping[str, str]]
    """DuckDB type text by view and column."""
    pools: Mapping[str, Mapping[str, st.SearchStrategy[object]]]
    """What each column's cells are drawn from, by view and column."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A property, and how the warehouse holds it."""

    property: Property
    physical: Mapping[str, str]
    pools: Mapping[str, st.SearchStrategy[object]]


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A member object type, up to two links, and the object types behind them."""
    units = draw(st.sampled_from([(None,), *FAMILIES]))
    themes = draw(st.lists(st.sampled_from(_VALUE_TYPES), min_size=1, max_size=2, unique=True))
    keys = draw(st.lists(st.sampled_from(_KEY_TYPES), min_size=1, max_size=2))
    day = draw(st.sampled_from([DATE, DATE, TIMESTAMP]))
    count = draw(st.sampled_from([1, 1, 1, 2, 2, 0]))
    names = [draw(st.sampled_from([*_TARGETS[: index + 1] * 2, MEMBER])) for index in range(count)]
    member = [
        _plain("id", TEXT, cells.identifiers()),
        *_key_columns(draw, keys),
        _plain("on", day, cells.starts(day)),
    ]
    member += [draw(_values(name, draw(st.sampled_from(themes)), units)) for name in _MEMBER_VALUES]
    objects = {MEMBER: member}
    for name in names:
        if name not in objects:
            dates = [_plain("starts", day, cells.starts(day)), _plain("ends", day, cells.ends(day))]
            values = [draw(_values(value, draw(st.sampled_from(themes)), units)) for value in _TARGET_VALUES]
            objects[name] = [*_key_columns(draw, keys), *dates, *values]
    links = [draw(_links(link, target, len(keys))) for link, target in zip(_LINK_NAMES, names, strict=False)]
    return _schema(objects, tuple(links), draw(st.sampled_from(["UTC", "UTC", "Australia/Sydney"])))


def _schema(objects: Mapping[str, list[_Column]], links: tuple[LinkType, ...], time_zone: str) -> Schema:
    object_types = tuple(
        ObjectType(
            name=name,
            view=f"ontology.{name}",
            primary_key=("id",) if name == MEMBER else ("key_1",),
            properties=tuple(column.property for column in columns),
        )
        for name, columns in objects.items()
    )
    contract = Contract(
        id="world",
        version="1.0.0",
        status="draft",
        hash="0" * 64,
        object_types=object_types,
        link_types=links,
        calendar=Calendar(time_zone=time_zone),
    )
    views = {item.view: objects[item.name] for item in object_types}
    return Schema(
        contract,
        {view: {name: kind for item in items for name, kind in item.physical.items()} for view, items in views.items()},
        {view: {name: pool for item in items for name, pool in item.pools.items()} for view, items in views.items()},
    )


def _plain(name: str, data_type: DataType, pool: st.SearchStrategy[object]) -> _Column:
    return _Column(Property(name, data_type), {name: "VARCHAR"}, {name: pool})


def _key_columns(draw: st.DrawFn, keys: list[DataType]) -> list[_Column]:
    columns = []
    for number, data_type in enumerate(keys, start=1):
        name = f"key_{number}"
        typed = {Kind.INTEGER: "BIGINT", Kind.DATE: "DATE"}.get(data_type.kind, "VARCHAR")
        physical = draw(st.sampled_from(["VARCHAR", "VARCHAR", typed]))
        missing = draw(st.sampled_from([(), ("n/a",)]))
        pool = cells.keys(data_type, physical)
        columns.append(_Column(Property(name, data_type, missing=missing), {name: physical}, {name: pool}))
    return columns


@st.composite
def _values(draw: st.DrawFn, name: str, data_type: DataType, units: tuple[str | None, ...]) -> _Column:
    """A property that conditions compare, sometimes with companion columns; a number in one of the units."""
    physical = draw(cells.physical_types(data_type))
    has_cause, is_censored = draw(st.sampled_from([(False, False)] * 3 + [(True, False), (False, True), (True, True)]))
    types, pools = {name: physical}, {name: cells.cells(data_type, physical)}
    cause = f"{name}_cause" if has_cause else None
    if cause:
        types[cause], pools[cause] = "VARCHAR", cells.causes()
    censored = None
    if is_censored and cells.can_be_censored(data_type):
        censored = CensoredColumns(f"{name}_side", f"{name}_limit")
        types |= {censored.side: "VARCHAR", censored.limit: "VARCHAR"}
        pools |= {censored.side: cells.sides(), censored.limit: cells.limits(data_type)}
    declared = Property(
        name,
        data_type,
        unit=draw(st.sampled_from(units)) if data_type.is_number else None,
        missing=draw(st.sampled_from(_MISSING)),
        cause=cause,
        censored=censored,
        non_negative=data_type.is_number and draw(st.booleans()),
    )
    return _Column(declared, types, pools)


@st.composite
def _links(draw: st.DrawFn, name: str, target: str, key_count: int) -> LinkType:
    """A link on the first or on all keys, dated or not."""
    keys = tuple(f"key_{number}" for number in range(1, draw(st.integers(1, key_count)) + 1))
    cardinality = draw(st.sampled_from(_CARDINALITIES))
    dated = target != MEMBER and draw(st.sampled_from([True, True, False]))
    return LinkType(name, MEMBER, keys, target, keys, cardinality, as_of=draw(_dates(keys)) if dated else None)


@st.composite
def _dates(draw: st.DrawFn, keys: tuple[str, ...]) -> EffectiveDates:
    restates = draw(st.sampled_from(Restates))
    within = draw(st.sampled_from([(), keys[:1], keys])) if restates is Restates.ALL else ()
    return EffectiveDates("on", "starts", restates, draw(st.sampled_from([None, "ends"])), within)


@st.composite
def tables(draw: st.DrawFn, schema: Schema) -> dict[str, Table]:
    """A table for each view of the contract."""
    filled = {}
    for view, pools in schema.pools.items():
        # Left to itself, Hypothesis draws short lists, in which hardly any rows meet.
        least = draw(st.sampled_from([3, 2, 4, 1, 0, 5]))
        rows = st.lists(st.fixed_dictionaries(dict(pools)), min_size=least, max_size=MAX_ROWS)
        filled[view] = Table(schema.columns[view], draw(rows))
    return filled
