"""A semantic plan as SQL: what it asks for, what it could not count, and where the rows were read.

Values pass the type rules of the verdicts (`compiler/determinacy.py`), so a question and a monitor
read a cell alike. All of it is text that goes through the referee like any other proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.contract import Contract, ObjectType, Property
from compiler import names
from compiler.determinacy import PropertyRules
from compiler.dialects.dialect import Dialect
from compiler.dialects.duckdb_dialect import DuckDBDialect
from compiler.pruning import Relation, Selection, select, with_clause
from resolver.measuring import AnyMetric, find_metric, held_filters, properties_of
from resolver.metric_sql import metric_sql
from resolver.plan import Filter, Measure, Operator, SemanticPlan, read_value
from trivet.verdicts import Cause, Reason

COUNTED = "values_counted"
"""Beside an aggregate: how many determinate values went into it."""


@dataclass(frozen=True, slots=True)
class PlanSql:
    """The statements of one plan."""

    answer: str
    complement: str | None
    """Rows that the answer could not take in, each with key, reason and cause; None where there can be none."""
    complement_count: str | None
    """How many there are, for where they are too many to list."""
    provenance: str | None
    """Where the rows of the answer were read; None where the view does not tell."""
    complement_causes: str | None = None
    """Of a metric, how many of them there are by cause."""


def plan_sql(plan: SemanticPlan, contract: Contract) -> PlanSql:
    """The statements of a plan that `plan_fault` found no fault with."""
    object_type = contract.object_type(plan.object)
    if object_type is None:
        raise LookupError(f"the contract has no object type {plan.object}")
    return _Printer(plan, contract, object_type, DuckDBDialect()).statements()


def values_sql(object_type: ObjectType, declared: Sequence[Property], contract: Contract) -> str:
    """Every combination of determinate values of properties, each once, in the order of the properties."""
    # Filters bring their properties into the relations; none of them is applied.
    wanted = tuple(Filter(item.name, Operator.IS_MISSING) for item in declared)
    plan = SemanticPlan(object_type.name, Measure.LIST, filters=wanted)
    return _Printer(plan, contract, object_type, DuckDBDialect()).values([item.name for item in declared])


def rows_sql(object_type: ObjectType, shown: Sequence[str], filters: Sequence[Filter], contract: Contract) -> str:
    """The combinations of determinate values of properties, each once, of the rows that satisfy every filter."""
    wanted = tuple(Filter(name, Operator.IS_MISSING) for name in shown)
    plan = SemanticPlan(object_type.name, Measure.LIST, filters=(*wanted, *filters))
    return _Printer(plan, contract, object_type, DuckDBDialect()).values(shown, filters)


def causes_sql(object_type: ObjectType, declared: Property, contract: Contract) -> str:
    """How many rows of a view have no determinate value of a property, by cause."""
    plan = SemanticPlan(object_type.name, Measure.LIST, declared.name)
    return _Printer(plan, contract, object_type, DuckDBDialect()).causes()


def measure_column(plan: SemanticPlan) -> str:
    """The output column that holds what was measured."""
    if plan.metric is not None:
        return plan.metric
    return "count" if plan.measure is Measure.COUNT else f"{plan.measure}_{plan.property}"


@dataclass(frozen=True, slots=True)
class _Printer:
    plan: SemanticPlan
    contract: Contract
    object_type: ObjectType
    dialect: Dialect

    def statements(self) -> PlanSql:
        """All statements of the plan."""
        holes = self._holes()
        metric = find_metric(self.contract, self.plan.metric)
        return PlanSql(
            answer=self._query(self._answer()) if metric is None else self._metric(metric),
            complement=self._query(self._complement(holes)) if holes else None,
            complement_count=self._query(f"SELECT COUNT(*) AS {self._quoted('count')} {holes}") if holes else None,
            provenance=self._query(self._provenance()) if self.object_type.provenance.named() else None,
            complement_causes=self._query(self._complement_causes(holes)) if holes and metric else None,
        )

    def values(self, named: Sequence[str], filters: Sequence[Filter] = ()) -> str:
        """The distinct values of properties that the plan's filters name, of the rows that satisfy `filters`."""
        chosen = select([(self._column(name), name) for name in named], self.dialect)
        columns = ", ".join(self._column(name) for name in named)
        where = f" WHERE {' AND '.join(self._filter(item) for item in filters)}" if filters else ""
        return self._query(f"{chosen} FROM {self._rows} AS m{where} GROUP BY {columns} ORDER BY {columns}")

    def causes(self) -> str:
        """The causes of the plan's property."""
        column = self._column(names.cause(str(self.plan.property)))
        chosen = select([(column, "cause"), ("COUNT(*)", "count")], self.dialect)
        return self._query(
            f"{chosen} FROM {self._rows} AS m WHERE NOT {column} IS NULL GROUP BY {column} ORDER BY {column}"
        )

    def _answer(self) -> str:
        plan = self.plan
        if plan.measure is Measure.LIST:
            shown = dict.fromkeys([*self.object_type.primary_key, *([plan.property] if plan.property else [])])
            shown |= dict.fromkeys(item.property for item in plan.filters if item.operator is not Operator.EQUAL)
            selections = [(self._column(names.shown(name)), name) for name in shown]
            order = ", ".join(self._column(name) for name in self.object_type.primary_key)
            return f"{select(selections, self.dialect)} {self._from()} ORDER BY {order}"
        selections = self._measured()
        if plan.by is None:
            return f"{select(selections, self.dialect)} {self._from()}"
        by = self._column(plan.by)
        chosen = select([(by, plan.by), *selections], self.dialect)
        return f"{chosen} {self._from(f'NOT {by} IS NULL')} GROUP BY {by} ORDER BY {by}"

    def _measured(self) -> list[Selection]:
        if self.plan.measure is Measure.COUNT:
            return [("COUNT(*)", "count")]
        column = self._column(str(self.plan.property))
        measured = (f"{self.plan.measure.upper()}({column})", measure_column(self.plan))
        # A contract with metrics lets nothing else be counted; the sentence of an extreme tells no number of values.
        return [measured] if self.contract.metrics else [measured, (f"COUNT({column})", COUNTED)]

    def _metric(self, metric: AnyMetric) -> str:
        conditions = [self._filter(item, "v") for item in self.plan.filters]
        by = self.object_type.find_property(self.plan.by) if self.plan.by else None
        return metric_sql(metric, self.contract, self.object_type, by, conditions, self.dialect)

    def _from(self, *more: str) -> str:
        conditions = [*(f"({self._filter(item)})" for item in self.plan.filters), *more]
        return f"FROM {self._rows} AS m" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")

    def _holes(self) -> str | None:
        """FROM and WHERE of the rows that belong to the question and that its answer could not take in."""
        scope = self._scope()
        wanted = self._wanted()
        parts = []
        if any(item.operator is not Operator.IS_MISSING for item in self.plan.filters):
            parts.append(f"({scope}) IS NULL")
        if wanted:
            absent = " OR ".join(f"{self._column(name)} IS NULL" for name in wanted)
            parts.append(f"({scope}) AND ({absent})" if scope else f"({absent})")
        return f"FROM {self._rows} AS m WHERE {' OR '.join(f'({part})' for part in parts)}" if parts else None

    def _complement(self, holes: str) -> str:
        keys = [(self._column(names.shown(name)), name) for name in self.object_type.primary_key]
        cause = self._cause()
        order = ", ".join(self._column(name) for name in self.object_type.primary_key)
        selections = [*keys, (self._reason(), "reason"), (cause, "cause")]
        return f"{select(selections, self.dialect)} {holes} ORDER BY {order}"

    def _complement_causes(self, holes: str) -> str:
        cause = self._cause()
        chosen = select([(cause, "cause"), ("COUNT(*)", "count")], self.dialect)
        return f"{chosen} {holes} GROUP BY {cause} ORDER BY {cause}"

    def _cause(self) -> str:
        concerned = [*(item.property for item in self.plan.filters), *self._wanted()]
        causes = [self._column(names.cause(name)) for name in dict.fromkeys(concerned)]
        return f"COALESCE({', '.join(causes)})" if len(causes) > 1 else causes[0]

    def _reason(self) -> str:
        scope, wanted = self._scope(), self._wanted()
        branches = ""
        if any(item.operator is not Operator.IS_MISSING for item in self.plan.filters):
            branches += f" WHEN ({scope}) IS NULL THEN '{Reason.SCOPE_UNKNOWN}'"
        if wanted:
            absent = " OR ".join(f"{self._column(name)} IS NULL" for name in wanted)
            branches += f" WHEN {absent} THEN '{Reason.LEFT_NULL}'"
        return f"CASE{branches} END"

    def _provenance(self) -> str:
        parts = [part for part, _ in self.object_type.provenance.named()]
        if self.plan.measure is not Measure.LIST:
            # Of an aggregate the pages are told, not every row.
            parts = [part for part in parts if part != "row"] or parts
        columns = [self._column(names.provenance(part)) for part in parts]
        chosen = select(list(zip(columns, parts, strict=True)), self.dialect)
        listed = ", ".join(columns)
        return f"{chosen} {self._from()} GROUP BY {listed} ORDER BY {listed}"

    def _wanted(self) -> tuple[str, ...]:
        """The properties without whose value a row cannot enter the answer."""
        metric = find_metric(self.contract, self.plan.metric)
        found = (self.plan.property, self.plan.by, *(properties_of(metric, self.contract) if metric else ()))
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def _scope(self) -> str:
        return " AND ".join(f"({self._filter(item)})" for item in self.plan.filters)

    def _filter(self, item: Filter, alias: str = "m") -> str:
        column = f"{alias}.{self._quoted(item.property)}"
        if item.operator is Operator.DURING:
            raise LookupError(f"the days of '{item.values[0]}' were not looked up")
        values = [self._literal(item.property, value) for value in item.values]
        match item.operator:
            case Operator.IS_MISSING:
                return f"COALESCE({self._column(names.cause(item.property))}, '') = '{Cause.NULL}'"
            case Operator.BETWEEN:
                return f"{column} BETWEEN {values[0]} AND {values[1]}"
            case Operator.IN:
                return f"{column} IN ({', '.join(values)})"
            case _:
                return f"{column} {item.operator} {values[0]}"

    def _literal(self, name: str, text: str) -> str:
        declared = self.object_type.find_property(name)
        value = read_value(text, declared) if declared is not None else None
        if value is None:
            raise LookupError(f"{text!r} is no value of {name}")
        return self.dialect.literal(value, self.contract.calendar.time_zone)

    @property
    def _rows(self) -> str:
        taken = [item.view.rpartition(".")[2] for item in self.contract.object_types]
        return names.free_relation("chosen", taken)

    def _column(self, name: str) -> str:
        return f"m.{self._quoted(name)}"

    def _quoted(self, name: str) -> str:
        return self.dialect.identifier(name)

    def _query(self, body: str) -> str:
        return with_clause(self._stages(), body, self.dialect)

    def _stages(self) -> Sequence[Relation]:
        """The determinate values of the view, stage by stage, as the compiler's relations are."""
        zone, rows = self.contract.calendar.time_zone, self._rows
        rules = [PropertyRules(item, None, self.dialect, zone) for item in self._properties()]
        places = self.object_type.provenance.named()
        text = [item for rule in rules for item in rule.text_stage("v")]
        text += [(f"v.{self._quoted(column)}", names.provenance(part)) for part, column in places]
        kept = [(f"t.{self._quoted(names.provenance(part))}", names.provenance(part)) for part, _ in places]
        number = [item for rule in rules for item in rule.number_stage("t")] + kept
        value = [item for rule in rules for item in rule.value_stage("t")] + kept
        cause = [item for rule in rules for item in rule.cause_stage("t")] + kept
        return [
            Relation(f"{rows}_text", tuple(text), f"{self.object_type.view} AS v{self._held()}"),
            Relation(f"{rows}_number", tuple(number), f"{rows}_text AS t"),
            Relation(f"{rows}_value", tuple(value), f"{rows}_number AS t"),
            Relation(rows, tuple(cause), f"{rows}_value AS t"),
        ]

    def _held(self) -> str:
        """What the contract wants held wherever the view is read, held at its own columns."""
        conditions = [self._filter(item, "v") for item in held_filters(self.plan, self.contract)]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def _properties(self) -> list[Property]:
        wanted = [*self.object_type.primary_key, *(item.property for item in self.plan.filters), *self._wanted()]
        found = (self.object_type.find_property(name) for name in dict.fromkeys(wanted))
        return [item for item in found if item is not None]
