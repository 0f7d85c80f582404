"""Baselines in SQL: the query of the values that an evaluation records, and the held relation that brings back others.

Both name a group by the canonical texts of its keys, which depend on the values alone: neither on how a cell was
written nor on how many digits a person is shown.
"""

from __future__ import annotations

from catalog.datatypes import DataType, Kind
from catalog.engines.port import HeldName
from catalog.expressions.aggregates import figure_type
from catalog.expressions.baselines import BaselineRule
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Aggregate, BaselineRef
from compiler import names
from compiler.compiled import HeldBaselines
from compiler.dialects.dialect import Dialect
from compiler.groups.plan import GroupPlan
from compiler.pruning import Relation, Selection, select, with_clause
from trivet.verdicts import Cause, Reason


def key_column(number: int) -> str:
    """The column of a held relation that holds the text of one key, from 1."""
    return f"key {number}"


def baseline_refs(plan: GroupPlan) -> list[BaselineRef]:
    """The baselines that the condition names."""
    return [figure for figure in plan.figures if isinstance(figure, BaselineRef)]


def measured_aggregates(plan: GroupPlan) -> tuple[Aggregate, ...]:
    """The figures that are recorded of each group, each once."""
    return tuple(dict.fromkeys(plan.rows.scope.baseline(ref).of for ref in baseline_refs(plan)))


def held_baselines(plan: GroupPlan) -> HeldBaselines:
    """What must be held before the queries run."""
    rules = tuple(plan.rows.scope.baseline(ref) for ref in baseline_refs(plan))
    named = [print_operand(ref) for ref in baseline_refs(plan)]
    columns = [key_column(number) for number, _ in enumerate(plan.grouping.keys, start=1)]
    columns += [column for name in named for column in (name, names.reason(name))]
    return HeldBaselines(rules, tuple(columns), tuple(_is_exact(rule, plan) for rule in rules))


def _is_exact(rule: BaselineRule, plan: GroupPlan) -> bool:
    return figure_type(BaselineRef(rule.name), plan.rows.scope).kind is not Kind.DOUBLE


class MeasuredSql:
    """Writes what concerns recorded values, over the groups AS g."""

    def __init__(self, plan: GroupPlan, dialect: Dialect) -> None:
        self._plan = plan
        self._dialect = dialect

    def select(self, relations: list[Relation]) -> str:
        """The texts of each group's keys, then for each measure its value and why it has none; in key order.

        `relations` are those of the rows and groups, up to the one that says why a figure has no value.
        """
        selections: list[Selection] = [
            (text, key_column(number)) for number, text in enumerate(self._key_texts(), start=1)
        ]
        for of in measured_aggregates(self._plan):
            selections += self._measure(of)
        keys = [self._g(key.property) for key in self._plan.grouping.keys]
        where = f" WHERE {' AND '.join(f'{key} IS NOT NULL' for key in keys)}" if keys else ""
        order = f" ORDER BY {', '.join(keys)}" if keys else ""
        body = f"{select(selections, self._dialect)} FROM {self._plan.spelled['reasoned']} AS g{where}{order}"
        return with_clause(relations, body, self._dialect)

    def join(self) -> str:
        """What brings the held values to the groups, as h; empty where no baseline is named."""
        if not baseline_refs(self._plan):
            return ""
        matched = [
            f"h.{self._dialect.identifier(key_column(number))} = {text}"
            for number, text in enumerate(self._key_texts(), start=1)
        ]
        return f" LEFT JOIN {HeldName.BASELINES} AS h ON {' AND '.join(matched) or 'TRUE'}"

    def value(self, ref: BaselineRef) -> str:
        """The held value, NULL where there is none."""
        of = self._dialect.physical_type(figure_type(ref, self._plan.rows.scope))
        return f"CAST({self._h(print_operand(ref))} AS {of})"

    def reason(self, ref: BaselineRef) -> str:
        """Why there is none; NULL where there is. A group that nothing is held of has no history."""
        name = print_operand(ref)
        held = self._h(names.reason(name))
        return f"CASE WHEN {self._h(name)} IS NULL THEN COALESCE({held}, '{Reason.INSUFFICIENT}') END"

    def cause(self, ref: BaselineRef) -> str:
        """The cause of a statistic that leaves the range of its type."""
        held = self._h(names.reason(print_operand(ref)))
        return f"CASE WHEN {held} = '{Reason.LEFT_NULL}' THEN '{Cause.OVERFLOW}' END"

    def _measure(self, of: Aggregate) -> list[Selection]:
        name = print_operand(of)
        reason = self._g(names.reason(name))
        text = self._text(figure_type(of, self._plan.rows.scope), self._g(name))
        return [(f"CASE WHEN {reason} IS NULL THEN {text} END", name), (reason, names.reason(name))]

    def _key_texts(self) -> list[str]:
        texts = []
        for key in self._plan.grouping.keys:
            value = self._g(key.property)
            of = self._plan.key_type(key)
            label = self._dialect.period_label(key.period, value) if key.period is not None else None
            texts.append(label or self._text(of, value))
        return texts

    def _text(self, of: DataType, value: str) -> str:
        """The one text of a value."""
        match of.kind:
            case Kind.TEXT:
                return value
            case Kind.DECIMAL:
                return self._dialect.decimal_text(value, of, 0)
            case Kind.TIMESTAMP:
                return self._dialect.instant_text(value)
            case _:
                return self._dialect.as_text(value)

    def _g(self, name: str) -> str:
        return f"g.{self._dialect.identifier(name)}"

    def _h(self, name: str) -> str:
        return f"h.{self._dialect.identifier(name)}"
