"""The SQL of a metric: its aggregate over the governed view itself, as the contract certifies it.

The referee knows an aggregate for a metric where it is taken of the view's own columns, so it is printed over them,
and not over their determinate values. What a cell is by the type rules is counted beside it: where a cell is no value
of its type although the engine reads one, the answer is held back (`absence.py`).
"""

from __future__ import annotations

from decimal import Decimal

from catalog.contract import Contract, Metric, ObjectType, Property
from catalog.datatypes import Kind
from catalog.expressions.tree import AggregateFunction, Arithmetic, ArithmeticOperator, Condition, Literal, Operand
from catalog.expressions.tree import PropertyRef as Reference
from catalog.metric_records import DerivationKind
from compiler.dialects.dialect import Dialect
from compiler.pruning import select
from resolver.measuring import AnyMetric, properties_of
from trivet.errors import InternalError


def metric_sql(
    metric: AnyMetric,
    contract: Contract,
    object_type: ObjectType,
    by: Property | None,
    conditions: list[str],
    dialect: Dialect,
) -> str:
    """One SELECT: the metric over the rows that satisfy every condition, by a dimension if one is given.

    Args:
        metric: the metric, which a plan can say.
        contract: has its parts.
        object_type: its object type.
        by: the dimension.
        conditions: over the columns of the view, whose alias is `v`.
        dialect: of the engine.
    """
    printer = _Printer(contract, object_type, dialect)
    shown = (printer.value(metric), metric.name)
    if by is None:
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"{select([shown], dialect)} FROM {object_type.view} AS v{where}"
    column = printer.column(by.name)
    where = " AND ".join([*conditions, *printer.present(by)])
    chosen = select([(column, by.name), shown], dialect)
    return f"{chosen} FROM {object_type.view} AS v WHERE {where} GROUP BY {column} ORDER BY {column}"


class _Printer:
    def __init__(self, contract: Contract, object_type: ObjectType, dialect: Dialect) -> None:
        self.contract, self.object_type, self.dialect = contract, object_type, dialect

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

    def value(self, metric: AnyMetric) -> str:
        """The metric: its aggregate, or the arithmetic over those of its parts. Nothing is no zero, nor over zero."""
        if isinstance(metric, Metric):
            return self._aggregate(metric)
        first, second = (self._part(name) for name in metric.derivation.parts)
        match metric.derivation.kind:
            case DerivationKind.RATIO | DerivationKind.SHARE:
                return f"{first} / NULLIF({second}, 0)"
            case DerivationKind.DIFFERENCE:
                return f"{first} - {second}"
            case _:
                raise InternalError(f"no plan says a {metric.derivation.kind}")

    def _part(self, name: str) -> str:
        metric = self.contract.metric(name)
        if metric is None:
            raise InternalError(f"the contract has no metric {name}")
        return self.value(metric) if isinstance(metric, Metric) else f"({self.value(metric)})"

    def _aggregate(self, metric: Metric) -> str:
        function, argument = metric.aggregate.function, metric.aggregate.argument
        if argument is None:
            return "COUNT(*)"
        value = self._finite(metric, self._operand(argument))
        if function is AggregateFunction.COUNT_DISTINCT:
            return f"COUNT(DISTINCT {value})"
        return f"{function.upper()}({value})"

    def _finite(self, metric: Metric, value: str) -> str:
        """The value, of rows whose doubles are numbers: `NaN` and infinity are no values."""
        declared = (self.object_type.find_property(name) for name in properties_of(metric, self.contract))
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
