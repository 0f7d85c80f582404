"""Aggregates in SQL: what is gathered over the rows of a group, and the figure that it comes to.

Exact numbers stay exact whatever the order of the rows. Doubles are added with compensation and
rounded to 12 significant digits, so that the order in which an engine meets them does not show.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.datatypes import DOUBLE, INTEGER, MAX_DIGITS, DataType, Kind, decimal
from catalog.expressions.aggregates import SUM_DIGITS, figure_type, operand_of
from catalog.expressions.checking import Scope, type_of
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Aggregate, AggregateFunction, Change
from compiler.dialects.dialect import Dialect
from compiler.pruning import Selection

_HALF = 10**19
"""What a wide decimal's digits are split by, so that neither part of a sum can overflow."""


def known(aggregate: str) -> str:
    """Of a row whether it is a determinate input; of a group how many are."""
    return f"{aggregate} known"


def taken(aggregate: str) -> str:
    """What enters the aggregate, NULL where nothing does."""
    return f"{aggregate} input"


@dataclass(frozen=True, slots=True)
class FigureSql:
    """Writes the aggregates over the rows of one scope."""

    scope: Scope
    dialect: Dialect

    def gathered(self, aggregate: Aggregate) -> list[Selection]:
        """What is gathered of the inputs of a group, over the gathered rows AS g."""
        name = print_operand(aggregate)
        value = self._column(taken(name))
        match aggregate.function:
            case AggregateFunction.COUNT:
                return []
            case AggregateFunction.SUM | AggregateFunction.AVG:
                return self._sums(name, value, self._of(aggregate))
            case AggregateFunction.MIN:
                return [(f"MIN({value})", f"{name} least")]
            case AggregateFunction.MAX:
                return [(f"MAX({value})", f"{name} greatest")]
            case AggregateFunction.MEDIAN:
                return self._middle(name, value, self._of(aggregate))
            case AggregateFunction.SHARE | AggregateFunction.NULL_SHARE:
                return [(f"COUNT(*) FILTER (WHERE {value})", f"{name} satisfied")]
            case AggregateFunction.COUNT_DISTINCT:
                return [(f"COUNT(DISTINCT {value})", f"{name} different")]

    def figure(self, aggregate: Aggregate) -> str:
        """The figure over the groups AS g; NULL where arithmetic fails, whatever where there is no input."""
        name = print_operand(aggregate)
        count = self._column(known(name))
        match aggregate.function:
            case AggregateFunction.COUNT:
                return count
            case AggregateFunction.SUM:
                return self._sum(name, self._of(aggregate), figure_type(aggregate, self.scope))
            case AggregateFunction.AVG:
                return self._quotient(self._sum_as_double(name, self._of(aggregate)), count)
            case AggregateFunction.MIN:
                return self._column(f"{name} least")
            case AggregateFunction.MAX:
                return self._column(f"{name} greatest")
            case AggregateFunction.MEDIAN:
                return self._median(name, self._of(aggregate), figure_type(aggregate, self.scope))
            case AggregateFunction.SHARE | AggregateFunction.NULL_SHARE:
                return self._quotient(f"CAST({self._column(f'{name} satisfied')} AS DOUBLE)", count)
            case AggregateFunction.COUNT_DISTINCT:
                return self._column(f"{name} different")

    def change(self, change: Change, current: str, before: str) -> tuple[str, str]:
        """The change from one figure to another, NULL where it fails, and the cause of that."""
        of = figure_type(change.operand, self.scope)
        difference = self._difference(of, figure_type(change, self.scope), current, before)
        if not change.relative:
            return difference, "'overflow'"
        exact = of.kind is not Kind.DOUBLE
        size = self.dialect.to_double(before, of)
        amount = self._difference(of, _one_wider(of), current, before) if exact else f"{current} - {before}"
        above = self.dialect.to_double(amount, _one_wider(of)) if exact else f"({amount})"
        quotient = self.dialect.finite(self.dialect.twelve_digits(f"{above} / NULLIF(ABS({size}), 0)"))
        return quotient, f"CASE WHEN {size} = 0 THEN 'division_by_zero' ELSE 'overflow' END"

    def _difference(self, of: DataType, result: DataType, current: str, before: str) -> str:
        match of.kind:
            case Kind.INTEGER | Kind.DURATION:
                return self.dialect.guarded(f"CAST({current} AS BIGINT) - CAST({before} AS BIGINT)")
            case Kind.DECIMAL:
                physical = self.dialect.physical_type(decimal(MAX_DIGITS, of.scale or 0))
                exact = f"CAST({current} AS {physical}) - CAST({before} AS {physical})"
                return self.dialect.guarded(f"CAST({exact} AS {self.dialect.physical_type(result)})")
            case Kind.DATE:
                return self.dialect.days_between(current, before)
            case Kind.TIMESTAMP:
                return self.dialect.microseconds_between(current, before)
            case _:
                return self.dialect.finite(self.dialect.twelve_digits(f"{current} - {before}"))

    def _of(self, aggregate: Aggregate) -> DataType:
        return type_of(operand_of(aggregate), self.scope)

    def _column(self, name: str) -> str:
        return f"g.{self.dialect.identifier(name)}"

    def _sums(self, name: str, value: str, of: DataType) -> list[Selection]:
        if of.kind is Kind.DOUBLE:
            # Only the sum of the sizes tells whatever the order whether the range of doubles was left.
            return [
                (self.dialect.compensated_sum(value), f"{name} sum"),
                (self.dialect.compensated_sum(f"ABS({value})"), f"{name} size"),
            ]
        if not _is_wide(of):
            return [(f"SUM({value})", f"{name} sum")]
        digits = self.dialect.unscaled(value, of)
        return [
            (f"SUM({digits} // {_HALF})", f"{name} upper sum"),
            (f"SUM({digits} % {_HALF})", f"{name} lower sum"),
        ]

    def _sum(self, name: str, of: DataType, result: DataType) -> str:
        physical = self.dialect.physical_type(result)
        if of.kind is Kind.DOUBLE:
            return self.dialect.twelve_digits(self._finite_sum(name))
        if not _is_wide(of):
            return self.dialect.guarded(f"CAST({self._column(f'{name} sum')} AS {physical})")
        return self.dialect.guarded(f"CAST({self.dialect.scaled(self._whole_sum(name), of)} AS {physical})")

    def _sum_as_double(self, name: str, of: DataType) -> str:
        if of.kind is Kind.DOUBLE:
            return self._finite_sum(name)
        if of.kind is Kind.INTEGER:
            # An average of integers has no need of a sum of 64 bits.
            return self.dialect.to_double(self._column(f"{name} sum"), decimal(MAX_DIGITS, 0))
        result = decimal(min(MAX_DIGITS, (of.precision or MAX_DIGITS) + SUM_DIGITS), of.scale or 0)
        return self.dialect.to_double(self._sum(name, of, result), result)

    def _finite_sum(self, name: str) -> str:
        size = self.dialect.is_finite_double(self._column(f"{name} size"))
        return f"CASE WHEN {size} THEN {self._column(f'{name} sum')} END"

    def _whole_sum(self, name: str) -> str:
        """The sum of unscaled digits; it can overflow, so it stands guarded."""
        upper, lower = self._column(f"{name} upper sum"), self._column(f"{name} lower sum")
        return f"{upper} * {_HALF} + {lower}"

    def _middle(self, name: str, value: str, of: DataType) -> list[Selection]:
        physical = self.dialect.physical_type(_comparable(of))
        widened = f"CAST({value} AS {physical})"
        return [
            (self.dialect.lower_middle(widened), f"{name} lower"),
            (f"-{self.dialect.lower_middle(f'-{widened}')}", f"{name} upper"),
        ]

    def _median(self, name: str, of: DataType, result: DataType) -> str:
        lower, upper = self._column(f"{name} lower"), self._column(f"{name} upper")
        if result.kind is Kind.DECIMAL:
            return f"CAST(({lower} + {upper}) * 0.5 AS {self.dialect.physical_type(result)})"
        low, high = (self.dialect.to_double(side, _comparable(of)) for side in (lower, upper))
        mean = self.dialect.finite(self.dialect.twelve_digits(f"({low} + {high}) / 2"))
        return f"CASE WHEN {lower} = {upper} THEN {low} ELSE {mean} END"

    def _quotient(self, above: str, below: str) -> str:
        return self.dialect.twelve_digits(f"{above} / NULLIF({below}, 0)")


def _is_wide(of: DataType) -> bool:
    """Whether a sum of a million million such values could need more than 38 digits."""
    return of.kind is Kind.DECIMAL and (of.precision or 0) + SUM_DIGITS > MAX_DIGITS


def _comparable(of: DataType) -> DataType:
    """A type in which the mean of two values can be taken."""
    return DOUBLE if of.kind is Kind.DOUBLE else decimal(MAX_DIGITS, of.scale or 0)


def _one_wider(of: DataType) -> DataType:
    """The type of the difference of two such numbers."""
    if of == INTEGER or of.kind is not Kind.DECIMAL:
        return of
    return decimal(min(MAX_DIGITS, (of.precision or 0) + 1), of.scale or 0)
