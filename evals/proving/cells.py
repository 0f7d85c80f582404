"""From values to cells: as text and as the engine's own types, and those that lie right beside a value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias

from catalog.datatypes import DataType, Kind
from evals.proving.bounds import Scalar

Cell: TypeAlias = object
"""What a row holds in one column: a Python value of the column's type, None for NULL."""

VARCHAR = "VARCHAR"
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_OTHERS = {"DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL"}
_DECIMAL = re.compile(r"DECIMAL\(([0-9]+),([0-9]+)\)")
_LONG_NAMES = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ"}
_LEAST_TIME = timedelta(microseconds=1)
_MOST_DIGITS = 60


def known_type(physical: str) -> str:
    """The physical type under the name that is used here; VARCHAR for a type of which no cells are made."""
    name = _LONG_NAMES.get(physical, physical)
    return name if name in _OTHERS or name in _INTEGERS or _DECIMAL.fullmatch(name) else VARCHAR


def around(value: Scalar, of: DataType) -> Iterator[Scalar]:
    """A value, and its neighbours in a type: the next smaller and the next larger one; of a number a large one too."""
    yield value
    try:
        match value:
            case bool():
                yield not value
            case Decimal():
                yield from _near_number(value, of)
            case str():
                yield from (value.swapcase(), f"{value} ", f"{value}a", value[:-1])
            case datetime():
                yield from (value - _LEAST_TIME, value + _LEAST_TIME)
            case date():
                yield from (value - timedelta(days=1), value + timedelta(days=1))
            case timedelta():
                yield from (value - _LEAST_TIME, value + _LEAST_TIME)
    except (ArithmeticError, ValueError):
        return


def _near_number(value: Decimal, of: DataType) -> Iterator[Decimal]:
    yield 2 * value + 1  # Far enough that an average of such values is beyond the bound as well.
    if of.kind is Kind.DOUBLE:
        number = float(value)
        if math.isfinite(number):
            yield from (Decimal(repr(math.nextafter(number, end))) for end in (-math.inf, math.inf))
        return
    step = Decimal(1).scaleb(-(of.scale or 0))
    yield from (value - step, value + step)


def cells_of(value: Scalar, physical: str) -> Iterator[Cell]:
    """The cells of a column that hold a value; none where its type cannot."""
    if physical == VARCHAR:
        yield from _texts(value)
        return
    match value:
        case bool():
            if physical == "BOOLEAN":
                yield value
        case Decimal():
            yield from _numbers(value, physical)
        case datetime():
            yield from _times(value, physical)
        case date():
            if physical == "DATE":
                yield value
            yield from _times(datetime.combine(value, time()), physical)
        case timedelta():
            if physical == "INTERVAL":
                yield value
        case str():
            return


def _numbers(value: Decimal, physical: str) -> Iterator[Cell]:
    if physical in _INTEGERS:
        if value == value.to_integral_value() and abs(value) < 2 ** (_INTEGERS[physical] - 1):
            yield int(value)
    elif physical == "DOUBLE":
        yield float(value)
    elif (match := _DECIMAL.fullmatch(physical)) is not None:
        precision, scale = int(match[1]), int(match[2])
        if value == 0 or (value.adjusted() < precision - scale and value == round(value, scale)):
            yield round(value, scale)


def _times(value: datetime, physical: str) -> Iterator[Cell]:
    if physical == "TIMESTAMP":
        yield value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    elif physical == "TIMESTAMPTZ":
        yield value if value.tzinfo else value.replace(tzinfo=UTC)


def _texts(value: Scalar) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bool():
            yield "true" if value else "false"
        case Decimal():
            if abs(value.adjusted()) < _MOST_DIGITS:
                yield f"{value:f}"
        case datetime() | date():
            yield value.isoformat()
        case timedelta():
            yield _duration_text(value)


def _duration_text(length: timedelta) -> str:
    micros = abs(length // _LEAST_TIME)
    fraction = f".{micros % 1_000_000:06d}" if micros % 1_000_000 else ""
    return f"{'-' if length < timedelta(0) else ''}PT{micros // 1_000_000}{fraction}S"
