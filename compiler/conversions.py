"""Both sides of a comparison brought to one type and one unit, in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from catalog.datatypes import DOUBLE, DataType, decimal
from catalog.expressions.operand_types import (
    Scope,
    compared_types,
    conversion_between,
    decimal_digits,
    type_of,
    whole_factors,
)
from catalog.expressions.tree import Literal, Operand
from catalog.units import Conversion
from compiler.dialects.dialect import Dialect


@dataclass(frozen=True, slots=True)
class SideConversion:
    """What is done to each value of one side of a comparison."""

    dialect: Dialect
    of: DataType
    to: DataType | None = None
    """The type of both sides; None where each stays as it is."""
    factor: int = 1
    addend: int = 0
    """Whole numbers by which exact values are scaled."""
    unit: Conversion | None = None
    """How a double is brought to the unit of the other side."""
    is_literal: bool = False

    def __call__(self, value: str) -> str:
        """The value of the side, or an end of its interval, as it is compared."""
        if self.to == DOUBLE:
            double = self.dialect.to_double(value, self.of)
            return double if self.unit is None else converted_double(double, self.unit, self.dialect)
        if (self.factor, self.addend) != (1, 0):
            value = self._scaled(value)
        elif self.to is None or self.of == self.to or self.is_literal:
            # A literal stands in its own smallest type, which every engine widens without loss.
            return value
        return f"CAST({value} AS {self.dialect.physical_type(self.to)})" if self.to is not None else value

    def _scaled(self, value: str) -> str:
        whole = self.dialect.physical_type(decimal(38, 0))
        wide = self.dialect.physical_type(decimal(38, (self.of.exact_digits or (0, 0))[1]))
        product = f"CAST({value} AS {wide}) * CAST({self.factor} AS {whole})"
        return f"({product} + CAST({self.addend} AS {whole}))" if self.addend else f"({product})"


def conversions(left: Operand, right: Operand, scope: Scope, dialect: Dialect) -> tuple[SideConversion, SideConversion]:
    """What is done to the left and to the right side before they are compared."""
    of_left, of_right = type_of(left, scope), type_of(right, scope)
    literals = isinstance(left, Literal), isinstance(right, Literal)
    if not (of_left.is_number and of_right.is_number):
        return SideConversion(dialect, of_left), SideConversion(dialect, of_right)
    unit = conversion_between(right, left, scope)
    if DOUBLE in (of_left, of_right):
        # The side in the smaller unit is converted, which never takes a double beyond its range.
        to_left = unit if unit is not None and unit.factor <= 1 else None
        to_right = unit.inverted() if unit is not None and to_left is None else None
        return (
            SideConversion(dialect, of_left, DOUBLE, unit=to_right),
            SideConversion(dialect, of_right, DOUBLE, unit=to_left),
        )
    common = compared_types(left, right, scope)
    if unit is None:
        to = None if of_left == of_right else common
        return tuple(  # type: ignore[return-value]
            SideConversion(dialect, of, to, is_literal=is_literal)
            for of, is_literal in zip((of_left, of_right), literals, strict=True)
        )
    factor, times, plus = whole_factors(unit)
    return SideConversion(dialect, of_left, common, factor), SideConversion(dialect, of_right, common, times, plus)


def converted_double(double: str, conversion: Conversion, dialect: Dialect) -> str:
    """A double in another unit, rounded to 12 significant digits as a quotient is."""
    moved = f" + {_double(conversion.offset)}" if conversion.offset else ""
    return dialect.twelve_digits(f"{double} * {_double(conversion.factor)}{moved}")


def added(value: str, of: DataType, conversion: Conversion, dialect: Dialect) -> tuple[str, DataType]:
    """The right side of a sum in the unit of the left one: exact where the factor is a decimal, or perhaps infinite."""
    if of == DOUBLE or not conversion.is_terminating:
        return converted_double(dialect.to_double(value, of), conversion, dialect), DOUBLE
    digits = decimal_digits(conversion.factor)
    scale = (of.exact_digits or (0, 0))[1]
    wide, point = (dialect.physical_type(decimal(38, places)) for places in (scale, digits))
    factor = Decimal(int(conversion.factor * 10**digits)).scaleb(-digits)
    return f"CAST({value} AS {wide}) * CAST({factor:f} AS {point})", decimal(38, scale + digits)


def _double(number: Fraction) -> str:
    # As text, which every engine rounds once.
    return f"CAST('{float(number)!r}' AS DOUBLE)"
