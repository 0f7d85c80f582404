"""What each row gives to each aggregate: a determinate input, or none and the causes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.expressions.aggregates import operand_of
from catalog.expressions.tree import (
    Aggregate,
    AggregateFunction,
    And,
    Between,
    Comparison,
    ComparisonOperator,
    Condition,
    Exists,
    Membership,
    Not,
    Or,
    Presence,
    PropertyRef,
)
from compiler.dialects.dialect import Dialect
from compiler.facts import Facts
from compiler.groups.plan import GroupPlan
from compiler.predicates import Predicates, comparisons_with_parents
from compiler.reasons import CauseColumn, Reasons


@dataclass(frozen=True, slots=True)
class Input:
    """One aggregate's share in a row, over the relation of compared rows AS m. Tests are never NULL."""

    value: str
    """What enters; whatever where `known` does not hold."""
    known: str
    """Whether the row is a determinate input, where it is in scope."""
    causes: tuple[CauseColumn, ...]
    """Why it is not, where it is not."""
    partial: str | None
    """Whether some linked row was indeterminate although the input is decided; None where there is none."""


class Inputs:
    """Writes the inputs of one plan."""

    def __init__(self, plan: GroupPlan, dialect: Dialect) -> None:
        self._where = plan.where
        self._facts = Facts(plan.rows, dialect)
        self._predicates = Predicates(self._facts)
        self._reasons = Reasons(plan.rows, dialect, self._facts, self._predicates)

    def in_scope(self) -> str | None:
        """Whether `where` is true of the row; None without one."""
        return None if self._where is None else self._predicates.true(self._where)

    def in_population(self) -> str | None:
        """Whether `where` is not false of the row; None without one."""
        return None if self._where is None else f"NOT {self._predicates.false(self._where)}"

    def scope_causes(self) -> list[CauseColumn]:
        """Why it is unknown whether the row is in scope, where it is."""
        return [] if self._where is None else _distinct(self._causes_of(self._where))

    def scope_partial(self) -> str | None:
        """Whether some linked row was indeterminate for `where`; None where there is none."""
        return None if self._where is None else self._met_unknown(self._where)

    def of(self, aggregate: Aggregate) -> Input:
        """What a row gives to an aggregate."""
        match aggregate.argument:
            case None:
                return Input("TRUE", "TRUE", (), None)
            case Comparison() | Between() | Membership() | Presence() | Exists() | And() | Or() | Not() as condition:
                return self._decided(condition)
            case operand:
                value = self._facts.rows().operand(operand)
        bracketed = value if isinstance(operand, PropertyRef) else f"({value})"
        if aggregate.function is AggregateFunction.NULL_SHARE:
            return Input(f"{bracketed} IS NULL", "TRUE", (), None)
        beside_itself = Comparison(ComparisonOperator.EQUAL, operand_of(aggregate), operand_of(aggregate))
        causes = _distinct(self._reasons.causes(beside_itself))
        return Input(value, f"{bracketed} IS NOT NULL", tuple(causes), None)

    def _decided(self, condition: Condition) -> Input:
        true, false = self._predicates.true(condition), self._predicates.false(condition)
        causes = tuple(_distinct(self._causes_of(condition)))
        return Input(true, f"({true} OR {false})", causes, self._met_unknown(condition))

    def _causes_of(self, condition: Condition) -> Iterable[CauseColumn]:
        for atom, counts in self._reasons.counted(condition):
            for column in self._reasons.causes(atom):
                cause = f"CASE WHEN {counts} THEN {column.expression} END" if counts else column.expression
                yield CauseColumn(column.operand, cause)

    def _met_unknown(self, condition: Condition) -> str | None:
        found = [test for atom, _ in comparisons_with_parents(condition) for test in self._facts.met_unknown(atom)]
        return f"({' OR '.join(dict.fromkeys(found))})" if found else None


def _distinct(columns: Iterable[CauseColumn]) -> list[CauseColumn]:
    return list(dict.fromkeys(columns))
