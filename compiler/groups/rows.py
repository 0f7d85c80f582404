"""From the rows of a view to what is grouped: keys and inputs of each row, beside what is expected."""

from __future__ import annotations

from catalog.datatypes import Kind
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Aggregate, AggregateFunction, Call, Function, Operand, PropertyRef
from catalog.periods import first_day
from compiler import names
from compiler.determinacy import PropertyRules
from compiler.dialects.dialect import Dialect
from compiler.facts import Facts
from compiler.groups.figures import known, taken
from compiler.groups.inputs import Input, Inputs
from compiler.groups.plan import EXPECTED, ROW, GroupPlan
from compiler.pruning import Relation, Selection
from compiler.reasons import CauseColumn
from compiler.relations import member_columns, relation_names, relations_of, staged
from trivet.verdicts import Cause

IS_ROW = "is row"
"""Whether it is a row of the view, and not one that names an expected member."""
IN_SCOPE = "in scope"
SCOPE_PARTIAL = "scope partial"
PART = "part of period"
"""The period inside the group's own in which the row lies, where that is one that should be covered."""


def scope_cause(number: int) -> str:
    """Causes of one operand of `where`, in the rows for which it is unknown."""
    return f"scope cause {number}"


class RowRelations:
    """Writes the relations up to the gathered rows."""

    def __init__(self, plan: GroupPlan, dialect: Dialect, kind: type[PropertyRules] = PropertyRules) -> None:
        """`kind` is the form of the type rules that reads the views."""
        self._plan = plan
        self._dialect = dialect
        self._kind = kind
        self._facts = Facts(plan.rows, dialect)
        self._writer = Inputs(plan, dialect)
        self.inputs: dict[Aggregate, Input] = {item: self._writer.of(item) for item in plan.aggregates}
        self.scope_causes: list[CauseColumn] = self._writer.scope_causes()
        self.has_partial_scope = self._writer.scope_partial() is not None

    def relations(self) -> list[Relation]:
        """The relations, in the order in which they build on each other."""
        rows = self._plan.rows
        source = relation_names(rows)["counted" if rows.counted else ROW]
        relations = relations_of(rows, self._dialect, kind=self._kind)
        facts = self._facts.selections()
        if facts:
            kept = [(f"m.{self._dialect.identifier(name)}", name) for name in member_columns(rows)]
            compared = Relation(self._plan.spelled[f"{ROW}_compared"], (*kept, *facts), f"{source} AS m")
            relations.append(compared)
            source = compared.name
        relations.append(self._keyed(source))
        if self._plan.expected is not None:
            relations += staged(rows, self._plan.expected, self._plan.spelled[EXPECTED], self._dialect)
        if self._plan.days is not None:
            relations.append(self._periods())
        return [*relations, self._gathered()]

    def _keyed(self, source: str) -> Relation:
        selections: list[Selection] = []
        for key in self._plan.grouping.keys:
            selections += self._key(key)
        scope, partial = self._writer.in_scope(), self._writer.scope_partial()
        selections += [(scope, IN_SCOPE)] if scope is not None else []
        selections += [(partial, SCOPE_PARTIAL)] if partial is not None else []
        selections += [
            (column.expression, scope_cause(number)) for number, column in enumerate(self.scope_causes, start=1)
        ]
        for aggregate, entered in self.inputs.items():
            name = print_operand(aggregate)
            selections += [(entered.value, taken(name)), (entered.known, known(name))]
            selections += [(entered.partial, names.partial(name))] if entered.partial is not None else []
            selections += [
                (column.expression, names.input_cause(name, number))
                for number, column in enumerate(entered.causes, start=1)
            ]
        if (day := self._covering_day()) is not None:
            selections.append((day, PART))
        population = self._writer.in_population()
        where = f" WHERE {population}" if population is not None else ""
        return Relation(self._plan.spelled["keyed"], tuple(selections), f"{source} AS m{where}")

    def _key(self, key: GroupKey) -> list[Selection]:
        ref, rows = PropertyRef(key.property), self._facts.rows()
        if key.period is None:
            shown = rows.column(ref, names.shown(key.property))
            return [
                (rows.value(ref), key.property),
                (rows.cause(ref), names.cause(key.property)),
                (shown, names.shown(key.property)),
            ]
        day, cause = self._day(key), rows.cause(ref)
        if isinstance(day, Call):
            # A local date can lie outside of the years that there are.
            outside = f"{rows.operand(day)} IS NULL THEN '{Cause.OVERFLOW}'"
            cause = f"CASE WHEN {cause} IS NOT NULL THEN {cause} WHEN {outside} END"
        start = self._dialect.period_start(key.period, rows.operand(day))
        return [(start, key.property), (cause, names.cause(key.property))]

    def _day(self, key: GroupKey) -> Operand:
        """The local date on which a period is found."""
        ref = PropertyRef(key.property)
        found = self._plan.rows.scope.resolve(ref)
        return ref if found.type.kind is Kind.DATE else Call(Function.DAY_OF, (ref,))

    def _covering_day(self) -> str | None:
        coverage, period = self._plan.grouping.min_coverage, self._plan.grouping.period
        if coverage is None or coverage.per is None or period is None:
            return None
        return self._dialect.period_start(coverage.per, self._facts.rows().operand(self._day(period)))

    def _periods(self) -> Relation:
        key, days = self._plan.grouping.period, self._plan.days
        if key is None or key.period is None or days is None:
            raise LookupError("no period is expected")
        first, last = first_day(key.period, days.first), first_day(key.period, days.last)
        series = self._dialect.period_series(key.period, first, last)
        return Relation(self._plan.spelled["periods"], ((series, key.property),), "")

    def _gathered(self) -> Relation:
        selections: list[Selection] = []
        present = " AND ".join(f"{self._k(key.property)} IS NOT NULL" for key in self._plan.grouping.keys)
        for key in self._plan.grouping.keys:
            for name in (key.property, *([names.shown(key.property)] if key.period is None else [])):
                selections.append((f"CASE WHEN {present} THEN {self._k(name)} END", name))
            selections.append((self._k(names.cause(key.property)), names.cause(key.property)))
        selections += [("NULL", names.cause(operand)) for _, operand in self._plan.expected_keys]
        selections.append(("TRUE", IS_ROW))
        selections += self._gathered_scope()
        for aggregate, entered in self.inputs.items():
            selections += self._gathered_input(print_operand(aggregate), aggregate, entered)
        if self._covering_day() is not None:
            selections.append((self._covering_part(), PART))
        source = f"{self._plan.spelled['keyed']} AS k"
        expected = self._expected([name for _, name in selections])
        return Relation(self._plan.spelled["gathered"], tuple(selections), source, (expected,) if expected else ())

    def _k(self, name: str) -> str:
        return f"k.{self._dialect.identifier(name)}"

    def _gathered_scope(self) -> list[Selection]:
        if self._plan.where is None:
            return []
        outside = f"NOT {self._k(IN_SCOPE)}"
        selections = [
            (f"CASE WHEN {outside} THEN {self._k(scope_cause(number))} END", scope_cause(number))
            for number, _ in enumerate(self.scope_causes, start=1)
        ]
        if self.has_partial_scope:
            selections.append((self._k(SCOPE_PARTIAL), SCOPE_PARTIAL))
        return selections

    def _gathered_input(self, name: str, aggregate: Aggregate, entered: Input) -> list[Selection]:
        """An input of a row that is in scope; a row that only might be gives none."""
        scoped = self._plan.where is not None
        within = f"{self._k(IN_SCOPE)} AND " if scoped else ""
        value = self._k(taken(name))
        selections = [(f"{within}{self._k(known(name))}", known(name))]
        if aggregate.function is not AggregateFunction.COUNT:
            selections.append((f"CASE WHEN {self._k(IN_SCOPE)} THEN {value} END" if scoped else value, taken(name)))
        if entered.partial is not None:
            selections.append((f"{within}{self._k(names.partial(name))}", names.partial(name)))
        for number, _ in enumerate(entered.causes, start=1):
            column = names.input_cause(name, number)
            outside = f"{within}NOT {self._k(known(name))}"
            selections.append((f"CASE WHEN {outside} THEN {self._k(column)} END", column))
        return selections

    def _covering_part(self) -> str:
        coverage, key = self._plan.grouping.min_coverage, self._plan.grouping.period
        if coverage is None or coverage.per is None or key is None:
            raise LookupError("no period is to be covered")
        first, last = covered_days(self._plan, self._dialect, self._k(key.property))
        start = self._dialect.period_start(coverage.per, first)
        return f"CASE WHEN {self._k(PART)} BETWEEN {start} AND {last} THEN {self._k(PART)} END"

    def _expected(self, wanted: list[str]) -> Relation | None:
        """Rows that name expected members, with the columns of the gathered rows."""
        expect, period = self._plan.grouping.expect, self._plan.grouping.period
        if expect is None:
            return None
        given = {IS_ROW: "FALSE", **{known(print_operand(item)): "FALSE" for item in self.inputs}}
        plain = [key.property for key in self._plan.grouping.keys if key.period is None]
        present = " AND ".join(f"e.{self._dialect.identifier(name)} IS NOT NULL" for name in expect.keys)
        for own, (name, operand) in zip(plain, self._plan.expected_keys, strict=True):
            for mine, other in ((own, name), (names.shown(own), names.shown(name))):
                given[mine] = f"CASE WHEN {present} THEN e.{self._dialect.identifier(other)} END"
            given[names.cause(operand)] = f"e.{self._dialect.identifier(names.cause(name))}"
        if period is not None:
            day = f"p.{self._dialect.identifier(period.property)}"
            given[period.property] = f"CASE WHEN {present} THEN {day} END" if present else day
        tables = [f"{self._plan.spelled[EXPECTED]} AS e"] if self._plan.expected is not None else []
        tables += [f"{self._plan.spelled['periods']} AS p"] if period is not None else []
        selections = tuple((given.get(name, "NULL"), name) for name in wanted)
        return Relation("", selections, " CROSS JOIN ".join(tables))


def covered_days(plan: GroupPlan, dialect: Dialect, first: str) -> tuple[str, str]:
    """The first and the last day of the period that begins on `first`, as far as it is expected.

    Of a period that nobody expected, all of it.
    """
    key, days = plan.grouping.period, plan.days
    if key is None or key.period is None:
        raise LookupError("the group has no period")
    last = f"CAST({dialect.period_moved(key.period, first, 1)} - INTERVAL '1' DAY AS DATE)"
    if days is None:
        return first, last
    begins, ends = (f"DATE '{day.isoformat()}'" for day in (days.first, days.last))
    begun = f"{first} < {begins} AND {last} >= {begins}"
    ended = f"{last} > {ends} AND {first} <= {ends}"
    return f"CASE WHEN {begun} THEN {begins} ELSE {first} END", f"CASE WHEN {ended} THEN {ends} ELSE {last} END"
