"""The closed list of types that a property can have, and what each can hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_DIGITS = 38
"""Digits that an exact decimal can hold (DuckDB, PostgreSQL numeric well beyond, Spark: 38)."""

INTEGER_DIGITS = 19
"""Digits of the largest signed 64-bit integer, the range of `integer`."""


class Kind(StrEnum):
    """The kind of a type, without its parameters."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class DataType:
    """A declared type. `precision` and `scale` are set for decimals only."""

    kind: Kind
    precision: int | None = None
    """Digits in all, 1 to 38."""
    scale: int | None = None
    """Digits after the point, 0 to `precision`."""

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        return self.kind.value

    @property
    def is_number(self) -> bool:
        """Whether values of this type are numbers."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)

    @property
    def engine_name(self) -> str | None:
        """The engine's type of the same values, of numbers and dates; None of the others."""
        match self.kind:
            case Kind.INTEGER:
                return "BIGINT"
            case Kind.DECIMAL:
                return f"DECIMAL({self.precision}, {self.scale})"
            case Kind.DOUBLE | Kind.DATE:
                return self.kind.value.upper()
            case _:
                return None

    @property
    def exact_digits(self) -> tuple[int, int] | None:
        """Digits before and after the point, where the type is exact; None for the others."""
        if self.kind is Kind.INTEGER:
            return INTEGER_DIGITS, 0
        if self.kind is Kind.DECIMAL and self.precision is not None and self.scale is not None:
            return self.precision - self.scale, self.scale
        return None


TEXT = DataType(Kind.TEXT)
INTEGER = DataType(Kind.INTEGER)
DOUBLE = DataType(Kind.DOUBLE)
BOOLEAN = DataType(Kind.BOOLEAN)
DATE = DataType(Kind.DATE)
TIMESTAMP = DataType(Kind.TIMESTAMP)
DURATION = DataType(Kind.DURATION)

_DECIMAL = re.compile(r"decimal\( *([0-9]{1,2}) *, *([0-9]{1,2}) *\)")
_PLAIN = {str(item): item for item in (TEXT, INTEGER, DOUBLE, BOOLEAN, DATE, TIMESTAMP, DURATION)}
TYPE_NAMES = (*_PLAIN, "decimal(precision,scale)")


def decimal(precision: int, scale: int) -> DataType:
    """The exact decimal type with `precision` digits, `scale` of them after the point."""
    if not (1 <= precision <= MAX_DIGITS and 0 <= scale <= precision):
        raise ValueError(
            f"decimal({precision},{scale}) is not a type: 1 <= precision <= {MAX_DIGITS}, scale <= precision"
        )
    return DataType(Kind.DECIMAL, precision, scale)


def parse_type(text: str) -> DataType | None:
    """The type that `text` spells, such as `integer` or `decimal(12,4)`; None if it spells none."""
    if text in _PLAIN:
        return _PLAIN[text]
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    precision, scale = int(match[1]), int(match[2])
    if not (1 <= precision <= MAX_DIGITS and 0 <= scale <= precision):
        return None
    return DataType(Kind.DECIMAL, precision, scale)
