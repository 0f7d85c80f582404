"""The SQL of a metric: its aggregate over the governed view itself, as the contract certifies it.

The referee knows an aggregate for a metric where it is taken of the view's own columns, so it is printed over them,
and not over their determinate values. What a cell is by the type rules is counted beside it: where a cell is no value
of its type although the engine reads one, the answer is held back (`absence.py`).
"""

from __future__ import annotations

from decimal import Decimal

from catalog.contract import Metric, ObjectType, Property
from catalog.datatypes import Kind
from catalog.expressions.tree import AggregateFunction, Arithmetic, ArithmeticOperator, Condition, Literal, Operand
from catalog.expressions.tree import PropertyRef as Reference
from compiler.dialects.dialect import Dialect
from compiler.pruning import select
from resolver.measuring import properties_of
from trivet.errors import InternalError


def metric_sql(
    metric: Metric, object_type: ObjectType, by: Property | None, conditions: list[str], dialect: Dialect
) -> str:
    """One SELECT: the metric over the rows that satisfy every condition, by a dimension if one is given.

    Args:
        metric: the metric.
        object_type: its object type.
        by: the dimension.
        conditions: over the columns of the view, whose alias is `v`.
        dialect: of the engine.
    """
    printer = _Printer(metric, object_type, dialect)
    shown = (printer.aggregate(), metric.name)
    if by is None:
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"{select([shown], dialect)} FROM {object_type.view} AS v{where}"
    column = printer.column(by.name)
    where = " AND ".join([*conditions, *printer.present(by)])
    chosen = select([(column, by.name), shown], dialect)
    return f"{chosen} FROM {object_type.view} AS v WHERE {where} GROUP BY {column} ORDER BY {column}"


class _Printer:
    def __init__(self, metric: Metric, object_type: ObjectType, dialect: Dialect) -> None:
        self.metric, self.object_type, self.dialect = metric, object_type, dialect

    def column(self, name: str) -> str:
        """A column of the view."""
        return f"v.{self.dialect.identifier(name)}"

    def present(self, by: Property) -> list[str]:
        """Conditions for rows that have a value of a dimension: a blank and a missing mark are none."""
        column = self.column(by.name)
        conditions = [f"NOT {column} IS NULL"]
        if by.type.kind is Kind.TEXT:
            marks = ", ".join(self.dialect.literal(mark, "UTC") for mark in by.missing)
            blank = self.dialect.literal("", "UTC")
            listed = f"{blank}, {marks}" if marks else blank
            conditions.append(f"NOT {self.dialect.trimmed(column)} IN ({listed})")
        return conditions

    def aggregate(self) -> str:
        """The metric's aggregate."""
        function, argument = self.metric.aggregate.function, self.metric.aggregate.argument
        if argument is None:
            return "COUNT(*)"
        value = self._finite(self._operand(argument))
        if function is AggregateFunction.COUNT_DISTINCT:
            return f"COUNT(DISTINCT {value})"
        return f"{function.upper()}({value})"

    def _finite(self, value: str) -> str:
        """The value, of rows whose doubles are numbers: `NaN` and infinity are no values."""
        declared = (self.object_type.find_property(name) for name in properties_of(self.metric))
        doubles = [self.column(item.name) for item in declared if item is not None and item.type.kind is Kind.DOUBLE]
        if not doubles:
            return value
        odd = " OR ".join(f"ISNAN({column}) OR ISINF({column})" for column in doubles)
        return f"CASE WHEN NOT ({odd}) THEN {value} END"

    def _operand(self, operand: Operand | Condition) -> str:
        match operand:
            case Reference(name, None):
                return self.column(name)
            case Literal(Decimal() as number):
                return f"{number:f}"
            case Arithmetic(ArithmeticOperator() as sign, left, right):
                return f"({self._operand(left)} {sign.value} {self._operand(right)})"
        raise InternalError(f"a metric cannot hold {type(operand).__name__}")
