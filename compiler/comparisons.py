"""One comparison on one member and one row (or pair of rows), in SQL's own three values.

A determinate value is never NULL and an indeterminate one always is, so SQL's three-valued logic
over these columns *is* Kleene's. Nothing here quantifies over rows; `compiler/predicates.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from catalog.datatypes import DOUBLE, INTEGER, DataType, Kind, decimal
from catalog.expressions.operand_types import Scope, sum_conversion, type_of
from catalog.expressions.tree import (
    Aggregate,
    Arithmetic,
    ArithmeticOperator,
    BaselineRef,
    Between,
    Call,
    Change,
    Comparing,
    Comparison,
    ComparisonOperator,
    LinkCount,
    Literal,
    Membership,
    Operand,
    PropertyRef,
)
from catalog.expressions.walking import atom_nodes, atom_references, counted_links, references
from compiler import names
from compiler.conversions import SideConversion, added, conversions
from compiler.dialects.dialect import Dialect
from compiler.functions import FunctionSql

_MIRRORED = {
    ComparisonOperator.LESS: ComparisonOperator.GREATER,
    ComparisonOperator.LESS_OR_EQUAL: ComparisonOperator.GREATER_OR_EQUAL,
    ComparisonOperator.GREATER: ComparisonOperator.LESS,
    ComparisonOperator.GREATER_OR_EQUAL: ComparisonOperator.LESS_OR_EQUAL,
}


@dataclass(frozen=True, slots=True)
class RowComparisons:
    """Writes comparisons over the given aliases."""

    scope: Scope
    dialect: Dialect
    aliases: Mapping[str | None, str]
    """Alias of each link's row; `None` is the member's own."""
    at: datetime | None = None
    """The slot's instant; None where no comparison looks at it."""

    def column(self, ref: PropertyRef, name: str) -> str:
        """A column of the row that `ref` speaks of."""
        return f"{self.aliases[ref.link]}.{self.dialect.identifier(name)}"

    def value(self, ref: PropertyRef) -> str:
        """The determinate value of a property, NULL where there is none."""
        return self.column(ref, ref.name)

    def cause(self, ref: PropertyRef) -> str:
        """The cause of an indeterminate property, NULL where it is determinate."""
        return self.column(ref, names.cause(ref.name))

    def is_censored(self, ref: PropertyRef) -> bool:
        """Whether the property can be a bound instead of a value."""
        return self.scope.resolve(ref).censored is not None

    def can_be_censored(self, ref: PropertyRef) -> bool:
        """Whether its cause can be `censored`: by a bound, or because the view tells it."""
        found = self.scope.resolve(ref)
        return found.censored is not None or found.cause is not None

    def truth(self, atom: Comparing) -> str:
        """The comparison as a boolean that is NULL where it is unknown for this row."""
        match atom:
            case Comparison(operator=operator, left=left, right=right):
                return self._compare(operator, left, right)
            case Between(value=value, low=low, high=high):
                at_least = self._compare(ComparisonOperator.GREATER_OR_EQUAL, value, low)
                at_most = self._compare(ComparisonOperator.LESS_OR_EQUAL, value, high)
                return self._guarded(atom, f"({at_least} AND {at_most})")
            case Membership(value=value, choices=choices):
                equal = [self._compare(ComparisonOperator.EQUAL, value, choice) for choice in choices]
                return self._guarded(atom, f"({' OR '.join(equal)})")

    def operand(self, operand: Operand) -> str:
        """The value of an operand, NULL where it is indeterminate or its arithmetic fails."""
        match operand:
            case PropertyRef():
                return self.value(operand)
            case Literal(value=value):
                return self.dialect.literal(value, self.scope.contract.calendar.time_zone)
            case Arithmetic():
                return self._arithmetic(operand)
            case Call(arguments=arguments):
                return self._functions.call(operand, [self.operand(argument) for argument in arguments])
            case LinkCount(link=link):
                return f"{self.aliases[None]}.{self.dialect.identifier(names.count(link))}"
            case Aggregate() | Change() | BaselineRef():
                raise LookupError(f"{operand} is a figure of a group and none of a row")

    def failures(self, atom: Comparing) -> Iterator[tuple[Operand, str]]:
        """Each node that can fail, with the test that it did although all that it works on has values."""
        for node in atom_nodes(atom):
            match node:
                case Arithmetic(left=left, right=right):
                    inner: tuple[Operand, ...] = (left, right)
                case Call(arguments=arguments) if self._functions.can_fail(node):
                    inner = arguments
                case _:
                    continue
            have_values = " AND ".join(f"{self.operand(side)} IS NOT NULL" for side in inner)
            yield node, f"({have_values} AND {self.operand(node)} IS NULL)"

    @property
    def _functions(self) -> FunctionSql:
        return FunctionSql(self.scope, self.dialect, self.at)

    def divides_by_zero(self, node: Arithmetic) -> str | None:
        """Whether a division failed by its divisor; None for other operations."""
        if node.operator is not ArithmeticOperator.DIVIDE:
            return None
        return f"{self._as_double(node.right)} = 0"

    def deciding_operand(self, atom: Comparing, link: str) -> tuple[str, bool] | None:
        """The linked operand by which the deciding row is chosen, and whether the highest decides.

        None where no such order is meant: then the first row by primary key decides.
        """
        if not isinstance(atom, Comparison) or atom.operator not in _MIRRORED:
            return None
        on_left, on_right = (any(ref.link == link for ref in references(side)) for side in (atom.left, atom.right))
        if on_left == on_right:
            return None
        operator = _MIRRORED[atom.operator] if on_left else atom.operator
        linked = atom.left if on_left else atom.right
        return self.operand(linked), operator in (ComparisonOperator.LESS, ComparisonOperator.LESS_OR_EQUAL)

    def _guarded(self, atom: Comparing, truth: str) -> str:
        """A row decides nothing while the member's own operand is indeterminate, even one bound alone."""
        own = [ref for ref in atom_references(atom) if ref.link is None]
        counts = [self.operand(LinkCount(link)) for link in counted_links(atom)]
        linked = any(ref.link is not None for ref in atom_references(atom))
        if not (own or counts) or not linked:
            return truth
        known = [self._is_known(ref) for ref in own]
        known += [f"{count} IS NOT NULL" for count in counts]
        return f"CASE WHEN {' AND '.join(known)} THEN {truth} END"

    def _is_known(self, ref: PropertyRef) -> str:
        """Whether there is a value, or a bound in its place."""
        if not self.is_censored(ref):
            return f"{self.value(ref)} IS NOT NULL"
        # Not by its cause: where the view tells one that is none of ours, a bound's cause stays and the bound does not.
        low, high = (self.column(ref, end(ref.name)) for end in (names.low, names.high))
        return f"({low} IS NOT NULL OR {high} IS NOT NULL)"

    def _compare(self, operator: ComparisonOperator, left: Operand, right: Operand) -> str:
        if any(isinstance(side, PropertyRef) and self.is_censored(side) for side in (left, right)):
            return self._compare_intervals(operator, left, right)
        first, second = self.in_one_type(left, right)
        return f"{first} {'<>' if operator is ComparisonOperator.NOT_EQUAL else operator} {second}"

    def in_one_type(self, left: Operand, right: Operand) -> tuple[str, str]:
        """Both sides of a comparison as they are compared."""
        first, second = self._conversions(left, right)
        return first(self.operand(left)), second(self.operand(right))

    def _conversions(self, left: Operand, right: Operand) -> tuple[SideConversion, SideConversion]:
        return conversions(left, right, self.scope, self.dialect)

    def _compare_intervals(self, operator: ComparisonOperator, left: Operand, right: Operand) -> str:
        x, y = self._intervals(left, right)
        match operator:
            case ComparisonOperator.LESS:
                true, false = x.wholly_below(y), x.at_or_above(y)
            case ComparisonOperator.LESS_OR_EQUAL:
                true, false = y.at_or_above(x), y.wholly_below(x)
            case ComparisonOperator.GREATER:
                true, false = y.wholly_below(x), y.at_or_above(x)
            case ComparisonOperator.GREATER_OR_EQUAL:
                true, false = x.at_or_above(y), x.wholly_below(y)
            case ComparisonOperator.EQUAL:
                true, false = x.same_point(y), f"({x.wholly_below(y)} OR {y.wholly_below(x)})"
            case ComparisonOperator.NOT_EQUAL:
                true, false = f"({x.wholly_below(y)} OR {y.wholly_below(x)})", x.same_point(y)
        return f"CASE WHEN {true} THEN TRUE WHEN {false} THEN FALSE END"

    def _intervals(self, left: Operand, right: Operand) -> tuple[_Interval, _Interval]:
        first, second = self._conversions(left, right)
        return self._interval(left, first), self._interval(right, second)

    def _interval(self, side: Operand, convert: SideConversion) -> _Interval:
        if not (isinstance(side, PropertyRef) and self.is_censored(side)):
            point = convert(self.operand(side))
            return _Interval(point, point, None)
        low, high = (self.column(side, end(side.name)) for end in (names.low, names.high))
        return _Interval(convert(low), convert(high), self.column(side, names.side(side.name)))

    def _arithmetic(self, node: Arithmetic) -> str:
        left, right = type_of(node.left, self.scope), type_of(node.right, self.scope)
        if not (left.is_number and right.is_number):
            return self._moved(node, left, right)
        if type_of(node, self.scope) == DOUBLE:
            return self.dialect.finite(self._unbounded(node))
        return self._exact(node, ((self.operand(node.left), left), self._in_unit_of_left(node, right)))

    def _unbounded(self, operand: Operand) -> str:
        """An operand as a double; one that is arithmetic may be infinite or not a number.

        So is every sum, product and dividend that it enters, and one test of the whole is enough; only a divisor
        would hide it. A test at each node names its operand twice, which made a million of a sum of twenty doubles.
        """
        if not isinstance(operand, Arithmetic) or type_of(operand, self.scope) != DOUBLE:
            return self._as_double(operand)
        left = self._unbounded(operand.left)
        if operand.operator is ArithmeticOperator.DIVIDE:
            return self.dialect.twelve_digits(f"{left} / NULLIF({self._as_double(operand.right)}, 0)")
        if sum_conversion(operand, self.scope) is None:
            right = self._unbounded(operand.right)
        else:
            right = self.dialect.to_double(*self._in_unit_of_left(operand, type_of(operand.right, self.scope)))
        return f"({left} {operand.operator} {right})"

    def _in_unit_of_left(self, node: Arithmetic, of: DataType) -> tuple[str, DataType]:
        conversion = sum_conversion(node, self.scope)
        value = self.operand(node.right)
        return (value, of) if conversion is None else added(value, of, conversion, self.dialect)

    def _exact(self, node: Arithmetic, sides: tuple[tuple[str, DataType], tuple[str, DataType]]) -> str:
        """Exact arithmetic in the widest type: DuckDB keeps a product of two narrow decimals narrow."""
        if all(of == INTEGER for _, of in sides):
            integers = [f"CAST({side} AS BIGINT)" for side, _ in sides]
            return self.dialect.guarded(f" {node.operator} ".join(integers))
        result = type_of(node, self.scope)
        widths = [
            decimal(38, (of.exact_digits or (0, 0))[1])
            if node.operator is ArithmeticOperator.MULTIPLY
            else decimal(38, result.scale or 0)
            for _, of in sides
        ]
        wide = [
            f"CAST({side} AS {self.dialect.physical_type(width)})"
            for (side, _), width in zip(sides, widths, strict=True)
        ]
        return self.dialect.guarded(f" {node.operator} ".join(wide))

    def _moved(self, node: Arithmetic, left: DataType, right: DataType) -> str:
        first, second = self.operand(node.left), self.operand(node.right)
        match left.kind, right.kind:
            case Kind.DATE, Kind.DATE:
                return self.dialect.days_between(first, second)
            case Kind.TIMESTAMP, Kind.TIMESTAMP:
                return self.dialect.microseconds_between(first, second)
            case Kind.DURATION, Kind.DURATION:
                return self.dialect.guarded(f"CAST({first} AS BIGINT) {node.operator} CAST({second} AS BIGINT)")
            case Kind.DATE, Kind.DURATION:
                return self.dialect.moved_date(first, node.operator, second)
            case _:
                return self.dialect.moved_instant(first, node.operator, second)

    def _as_double(self, operand: Operand) -> str:
        return self.dialect.to_double(self.operand(operand), type_of(operand, self.scope))


@dataclass(frozen=True, slots=True)
class _Interval:
    """What an operand can be: `low` to `high`, NULL where unbounded or indeterminate."""

    low: str
    high: str
    side: str | None
    """Column with the side of a censored value; None for a plain value."""

    def _open(self, at: str) -> str | None:
        return f"{self.side} = '{at}'" if self.side else None

    def wholly_below(self, other: _Interval) -> str:
        """Every value here is less than every value there."""
        ends = [test for test in (self._open("<"), other._open(">")) if test]
        touching = f" OR ({self.high} = {other.low} AND ({' OR '.join(ends)}))" if ends else ""
        return f"({self.high} < {other.low}{touching})"

    def at_or_above(self, other: _Interval) -> str:
        """Every value here is at least every value there."""
        return f"({self.low} >= {other.high})"

    def same_point(self, other: _Interval) -> str:
        """Both are one and the same value."""
        return f"({self.low} = {self.high} AND {other.low} = {other.high} AND {self.low} = {other.low})"
