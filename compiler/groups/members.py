"""From the gathered rows to the groups as the queries judge them: figures, and why one has no value."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from zoneinfo import ZoneInfo

from catalog.contract import Property
from catalog.datatypes import Kind
from catalog.expressions.aggregates import Figure
from catalog.expressions.groups import GroupKey
from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Aggregate, AggregateFunction, BaselineRef, Change
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.groups.figures import FigureSql, known
from compiler.groups.measured import MeasuredSql
from compiler.groups.plan import KEY, SLOT_DATE, GroupPlan
from compiler.groups.rows import IS_ROW, PART, SCOPE_PARTIAL, RowRelations, covered_days, scope_cause
from compiler.plan import Measure
from compiler.pruning import Relation, Selection
from compiler.relations import relation_names
from trivet.verdicts import Cause, Reason

ROWS = "rows"
IS_EXPECTED = "is expected"
ALL_PARTS = "all parts"
"""How many parts of a group's period are to be covered."""
_CAN_OVERFLOW = (AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MEDIAN)


def parts(aggregate: str) -> str:
    """How many parts of a group's period have a determinate input."""
    return f"{aggregate} parts"


class MemberRelations:
    """Writes the relations behind the gathered rows."""

    def __init__(self, plan: GroupPlan, dialect: Dialect, rows: RowRelations) -> None:
        self._plan = plan
        self._dialect = dialect
        self._rows = rows
        self._sql = FigureSql(plan.rows.scope, dialect)
        self._measured = MeasuredSql(plan, dialect)
        self._keys = plan.grouping.keys

    def measures(self) -> dict[str, Measure]:
        """Each figure, and the key, with the columns that say why it has no value."""
        found = {print_operand(figure): self._measure(figure) for figure in self._plan.figures}
        key = tuple((operand, names.cause(operand)) for operand in self._key_operands())
        return found | ({KEY: Measure(key, is_figure=False)} if key else {})

    def _measure(self, figure: Figure) -> Measure:
        operands = [operand for operand, _ in self._causes(figure)]
        columns = [names.input_cause(print_operand(figure), number) for number, _ in enumerate(operands, start=1)]
        return Measure(tuple(zip(operands, columns, strict=True)))

    def relations(self) -> list[Relation]:
        """The relations, in the order in which they build on each other."""
        spelled = self._plan.spelled
        relations = [self._grouped(), self._figured(), self._reasoned()]
        source = f"{spelled['reasoned']} AS g"
        if any(isinstance(figure, Change) for figure in self._plan.figures):
            relations.append(self._changed())
            source = f"{spelled['changed']} AS g"
        return [*relations, self._member(f"{source}{self._measured.join()}")]

    def _g(self, name: str) -> str:
        return f"g.{self._dialect.identifier(name)}"

    def _kept(self, columns: list[str]) -> list[Selection]:
        return [(self._g(name), name) for name in columns]

    def _grouped(self) -> Relation:
        selections: list[Selection] = [(self._g(key.property), key.property) for key in self._keys]
        selections += [
            (f"COUNT(*) FILTER (WHERE {self._g(IS_ROW)})", ROWS),
            (f"(COUNT(*) FILTER (WHERE NOT {self._g(IS_ROW)}) > 0)", IS_EXPECTED),
        ]
        for key in self._keys:
            shown = names.shown(key.property)
            selections += [(f"MIN({self._g(shown)})", shown)] if key.period is None else []
        selections += [(self._joined(name), name) for name in self._joined_columns()]
        if self._rows.has_partial_scope:
            selections.append((self._any(SCOPE_PARTIAL), SCOPE_PARTIAL))
        for aggregate, entered in self._rows.inputs.items():
            name = print_operand(aggregate)
            selections.append((f"COUNT(*) FILTER (WHERE {self._g(known(name))})", known(name)))
            if self._needs_parts(aggregate):
                counted = f"COUNT(DISTINCT {self._g(PART)}) FILTER (WHERE {self._g(known(name))})"
                selections.append((counted, parts(name)))
            if entered.partial is not None:
                selections.append((self._any(names.partial(name)), names.partial(name)))
            selections += self._sql.gathered(aggregate)
        by = ", ".join(self._g(key.property) for key in self._keys)
        source = f"{self._plan.spelled['gathered']} AS g" + (f" GROUP BY {by}" if by else "")
        return Relation(self._plan.spelled["grouped"], tuple(selections), source)

    def _any(self, name: str) -> str:
        return f"(COUNT(*) FILTER (WHERE {self._g(name)}) > 0)"

    def _joined(self, name: str) -> str:
        return self._dialect.joined_causes(self._g(name))

    def _key_operands(self) -> list[str]:
        """What a key is made from: of rows, and of what names expected members."""
        return [*(key.property for key in self._keys), *(operand for _, operand in self._plan.expected_keys)]

    def _joined_columns(self) -> list[str]:
        columns = [names.cause(operand) for operand in self._key_operands()]
        columns += [scope_cause(number) for number, _ in enumerate(self._rows.scope_causes, start=1)]
        for aggregate, entered in self._rows.inputs.items():
            name = print_operand(aggregate)
            columns += [names.input_cause(name, number) for number, _ in enumerate(entered.causes, start=1)]
        return columns

    def _group_columns(self) -> list[str]:
        """What is known of a group besides its figures."""
        columns = [key.property for key in self._keys]
        columns += [names.shown(key.property) for key in self._keys if key.period is None]
        columns += [ROWS, IS_EXPECTED, *self._joined_columns()]
        return columns + ([SCOPE_PARTIAL] if self._rows.has_partial_scope else [])

    def _needs_parts(self, aggregate: Aggregate) -> bool:
        coverage = self._plan.grouping.min_coverage
        # A count over nothing is 0 and decides, and empty months are what it is there to tell.
        return coverage is not None and coverage.per is not None and aggregate.function is not AggregateFunction.COUNT

    def _figured(self) -> Relation:
        kept = self._group_columns()
        for aggregate, entered in self._rows.inputs.items():
            name = print_operand(aggregate)
            kept += [known(name), *([parts(name)] if self._needs_parts(aggregate) else [])]
            kept += [names.partial(name)] if entered.partial is not None else []
        added = [(self._sql.figure(aggregate), print_operand(aggregate)) for aggregate in self._plan.aggregates]
        added += [(count, ALL_PARTS)] if (count := self._all_parts()) is not None else []
        source = f"{self._plan.spelled['grouped']} AS g"
        return Relation(self._plan.spelled["figured"], (*self._kept(kept), *added), source)

    def _all_parts(self) -> str | None:
        coverage, period = self._plan.grouping.min_coverage, self._plan.grouping.period
        if coverage is None or coverage.per is None or period is None:
            return None
        first, last = covered_days(self._plan, self._dialect, self._g(period.property))
        return f"{self._dialect.periods_between(coverage.per, first, last)} + 1"

    def _reasoned(self) -> Relation:
        kept = [*self._group_columns(), *(print_operand(aggregate) for aggregate in self._plan.aggregates)]
        added = [
            selection
            for aggregate in self._plan.aggregates
            for selection in (
                (self._reason(aggregate), names.reason(print_operand(aggregate))),
                (self._partial(aggregate), names.partial(print_operand(aggregate))),
            )
        ]
        selections = (*(item for item in self._kept(kept)), *added)
        return Relation(self._plan.spelled["reasoned"], selections, f"{self._plan.spelled['figured']} AS g")

    def _reason(self, aggregate: Aggregate) -> str:
        """Why a group has no such figure; NULL where it has."""
        name = print_operand(aggregate)
        lacking = " OR ".join(self._lacking(aggregate))
        insufficient = f"WHEN {lacking} THEN '{Reason.INSUFFICIENT}' " if lacking else ""
        if aggregate.function is AggregateFunction.COUNT:
            return f"CASE {insufficient}END" if lacking else "CAST(NULL AS VARCHAR)"
        missing = f"WHEN {self._g(ROWS)} = 0 THEN '{Reason.LEFT_MISSING}' "
        failed = f"WHEN {self._g(name)} IS NULL THEN '{Reason.LEFT_NULL}' "
        return f"CASE {missing}{insufficient}{failed}END"

    def _lacking(self, aggregate: Aggregate) -> Iterator[str]:
        """Tests, each of them that the figure has too few determinate inputs."""
        grouping, inputs = self._plan.grouping, self._g(known(print_operand(aggregate)))
        if aggregate.function is not AggregateFunction.COUNT:
            yield f"{inputs} < {grouping.min_count}"
        if self._plan.strict:
            yield f"{inputs} < {self._g(ROWS)}"
        coverage = grouping.min_coverage
        if coverage is None:
            return
        above, below = coverage.share.as_integer_ratio()
        if coverage.per is None:
            yield f"{inputs} * {below} < {self._g(ROWS)} * {above}"
        elif self._needs_parts(aggregate):
            yield f"{self._g(parts(print_operand(aggregate)))} * {below} < {self._g(ALL_PARTS)} * {above}"

    def _partial(self, aggregate: Aggregate) -> str:
        name = print_operand(aggregate)
        tests = [f"{self._g(known(name))} < {self._g(ROWS)}"]
        tests += [self._g(names.partial(name))] if self._rows.inputs[aggregate].partial is not None else []
        tests += [self._g(SCOPE_PARTIAL)] if self._rows.has_partial_scope else []
        return f"({' OR '.join(tests)})"

    def _changed(self) -> Relation:
        """Each group beside the same of the period before."""
        kept = self._group_columns()
        for aggregate in self._plan.aggregates:
            name = print_operand(aggregate)
            kept += [name, names.reason(name), names.partial(name)]
        added: list[Selection] = []
        for figure in self._plan.figures:
            if isinstance(figure, Change):
                added += self._change(figure)
        matched = " AND ".join(f"b.{self._dialect.identifier(key.property)} = {self._same(key)}" for key in self._keys)
        reasoned = self._plan.spelled["reasoned"]
        source = f"{reasoned} AS g LEFT JOIN {reasoned} AS b ON {matched}"
        return Relation(self._plan.spelled["changed"], (*self._kept(kept), *added), source)

    def _same(self, key: GroupKey) -> str:
        own = self._g(key.property)
        return own if key.period is None else self._dialect.period_moved(key.period, own, -1)

    def _change(self, change: Change) -> list[Selection]:
        inner, name = print_operand(change.operand), print_operand(change)
        now, before = self._g(names.reason(inner)), self._b(names.reason(inner))
        value, _ = self._sql.change(change, self._g(inner), self._b(inner))
        absent = f"{self._b(self._keys[0].property)} IS NULL"
        reason = (
            f"CASE WHEN {now} IS NOT NULL THEN {now} "
            f"WHEN {absent} OR {before} IS NOT NULL THEN '{Reason.INSUFFICIENT}' "
            f"WHEN ({value}) IS NULL THEN '{Reason.LEFT_NULL}' END"
        )
        partial = f"({self._g(names.partial(inner))} OR COALESCE({self._b(names.partial(inner))}, FALSE))"
        causes = [
            (cause, names.input_cause(name, number))
            for number, (_, cause) in enumerate(self._change_causes(change), start=1)
        ]
        return [(value, name), (reason, names.reason(name)), (partial, names.partial(name)), *causes]

    def _b(self, name: str) -> str:
        return f"b.{self._dialect.identifier(name)}"

    def _causes(self, figure: Figure) -> list[tuple[str, str]]:
        """Operands with their causes, NULL where these are not why the figure has no value."""
        if isinstance(figure, Aggregate):
            return self._aggregate_causes(figure, "g")
        name = print_operand(figure)
        if isinstance(figure, BaselineRef):
            return [(name, self._measured.cause(figure))]
        operands = [operand for operand, _ in self._change_causes(figure)]
        return [(operand, self._g(names.input_cause(name, number))) for number, operand in enumerate(operands, start=1)]

    def _aggregate_causes(self, aggregate: Aggregate, alias: str) -> list[tuple[str, str]]:
        name = print_operand(aggregate)
        reason = f"{alias}.{self._dialect.identifier(names.reason(name))}"
        columns = [
            (column.operand, names.input_cause(name, number))
            for number, column in enumerate(self._rows.inputs[aggregate].causes, start=1)
        ]
        columns += [
            (column.operand, scope_cause(number)) for number, column in enumerate(self._rows.scope_causes, start=1)
        ]
        insufficient = f"{reason} = '{Reason.INSUFFICIENT}'"
        found = [
            (operand, f"CASE WHEN {insufficient} THEN {alias}.{self._dialect.identifier(column)} END")
            for operand, column in columns
        ]
        if aggregate.function in _CAN_OVERFLOW:
            found.append((name, f"CASE WHEN {reason} = '{Reason.LEFT_NULL}' THEN '{Cause.OVERFLOW}' END"))
        return found

    def _change_causes(self, change: Change) -> list[tuple[str, str]]:
        """As `_causes`, over the groups AS g and those before them AS b."""
        inner, aggregate = print_operand(change.operand), change.operand
        if not isinstance(aggregate, Aggregate):
            raise LookupError(f"{inner} is no aggregate; checking refuses it")
        now = f"{self._g(names.reason(inner))} IS NULL"
        before = [
            (operand, f"CASE WHEN {now} THEN {cause} END") for operand, cause in self._aggregate_causes(aggregate, "b")
        ]
        value, cause = self._sql.change(change, self._g(inner), self._b(inner))
        both = f"{now} AND {self._g(inner)} IS NOT NULL AND {self._b(names.reason(inner))} IS NULL"
        there = f"{both} AND {self._b(inner)} IS NOT NULL"
        failed = (print_operand(change), f"CASE WHEN {there} AND ({value}) IS NULL THEN {cause} END")
        return [*self._aggregate_causes(aggregate, "g"), *before, failed]

    def _member(self, source: str) -> Relation:
        selections: list[Selection] = []
        figures = {print_operand(figure): figure for figure in self._plan.figures}
        keys = {key.property: key for key in self._keys}
        for item in self._plan.members.member.properties:
            if item.name in figures:
                selections += self._figure_columns(item, figures[item.name])
            elif item.name in keys:
                selections += self._key_columns(keys[item.name])
            elif item.name == KEY:
                selections += self._whole_key()
            else:
                selections += self._slot_columns(item)
        selections.append((self._unexpected(), names.UNEXPECTED))
        name = relation_names(self._plan.members)[self._plan.members.member.relation]
        return Relation(name, tuple(selections), source)

    def _has_key(self) -> str:
        return f"{self._g(self._keys[0].property)} IS NOT NULL" if self._keys else "TRUE"

    def _unexpected(self) -> str:
        if self._plan.grouping.expect is None:
            return "FALSE"
        return f"({self._g(ROWS)} > 0 AND NOT {self._g(IS_EXPECTED)} AND {self._has_key()})"

    def _figure_columns(self, item: Property, figure: Figure) -> Iterator[Selection]:
        columns = (item.name, names.reason(item.name), names.partial(item.name))
        value, reason, partial = (self._g(name) for name in columns)
        if isinstance(figure, BaselineRef):
            value, reason, partial = self._measured.value(figure), self._measured.reason(figure), "FALSE"
        # What many groups' rows come to is no figure of any of them, so rows without a key show none.
        given = f"{reason} IS NULL AND {self._has_key()}"
        yield f"CASE WHEN {given} THEN {value} END", item.name
        yield f"CASE WHEN {given} THEN {self._shown(item, value)} END", names.shown(item.name)
        yield "CAST(NULL AS VARCHAR)", names.cause(item.name)
        yield reason, names.reason(item.name)
        yield partial, names.partial(item.name)
        for number, (_, cause) in enumerate(self._causes(figure), start=1):
            yield cause, names.input_cause(item.name, number)

    def _shown(self, item: Property, value: str) -> str:
        match item.type.kind:
            case Kind.DECIMAL:
                return self._dialect.decimal_text(value, item.type, item.display_scale or 0)
            case Kind.TIMESTAMP:
                return self._dialect.instant_text(value)
            case Kind.DURATION:
                return self._dialect.duration_text(value)
            case _:
                return self._dialect.as_text(value)

    def _key_columns(self, key: GroupKey) -> Iterator[Selection]:
        value = self._g(key.property)
        label = self._dialect.period_label(key.period, value) if key.period is not None else None
        yield value, key.property
        yield self._g(names.cause(key.property)), names.cause(key.property)
        yield label or self._g(names.shown(key.property)), names.shown(key.property)

    def _whole_key(self) -> Iterator[Selection]:
        yield f"CASE WHEN {self._has_key()} THEN TRUE END", KEY
        yield "CAST(NULL AS VARCHAR)", names.cause(KEY)
        yield "CAST(NULL AS VARCHAR)", names.shown(KEY)
        for _, operand in self._plan.expected_keys:
            yield self._g(names.cause(operand)), names.cause(operand)

    def _slot_columns(self, item: Property) -> Iterator[Selection]:
        at, zone = self._plan.members.at, self._plan.rows.scope.contract.calendar.time_zone
        if at is None:
            raise LookupError("links are read on the slot's date, and no slot was given")
        today = self._dialect.literal(at.astimezone(ZoneInfo(zone)).date(), zone)
        yield (today if item.name == SLOT_DATE else self._dialect.instant(at.astimezone(UTC))), item.name
        yield "CAST(NULL AS VARCHAR)", names.cause(item.name)
        yield "CAST(NULL AS VARCHAR)", names.shown(item.name)
