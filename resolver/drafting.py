"""The sentence of an answer, built from the plan and the result by rule. No model writes it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from catalog.contract import Metric, ObjectType, Property
from catalog.datatypes import Kind
from catalog.engines.port import Cell
from catalog.expressions.tree import AggregateFunction
from resolver.consensus import as_number
from resolver.measuring import AnyMetric
from resolver.outcome import Absence, ResultTable, cell_text, plain_number
from resolver.plan import Filter, Measure, Operator, SemanticPlan
from resolver.vocabulary import row_noun
from trivet.verdicts import Reason

NAMED = 20
"""Members that a sentence names at most; the table holds them all."""
_AVERAGE_DIGITS = 2
_MEASURES = {Measure.AVG: "average", Measure.MIN: "lowest", Measure.MAX: "highest", Measure.SUM: "total"}
_OF_MOMENTS = {Measure.MIN: "earliest", Measure.MAX: "latest"}
_WORDS = {
    Operator.LESS: ("below", "before"),
    Operator.LESS_OR_EQUAL: ("of at most", "up to"),
    Operator.GREATER: ("above", "after"),
    Operator.GREATER_OR_EQUAL: ("of at least", "from"),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence, and what of it needs no cell because it comes from the question or counts the result."""

    text: str
    stated: frozenset[str] = frozenset()
    """Values that the question itself set."""
    derived: frozenset[str] = frozenset()
    """Numbers that count rows, and names of rows that the answer could not take in."""
    labels: frozenset[str] = frozenset()
    """Words of the contract or of a monitor, which claim nothing."""


def draft_plan(
    plan: SemanticPlan, object_type: ObjectType, table: ResultTable, absence: Absence, metric: AnyMetric | None = None
) -> Draft:
    """The sentence of a plan's result; `metric` is what it measures, if it measures one."""
    writer = _Writer(plan, object_type, table, metric)
    sentence = writer.sentence(absence)
    counts = {*_counts(table), *(str(count) for count in absence.reasons.values()), str(_total(absence))}
    return Draft(
        text=" ".join(part for part in (sentence, absence_sentence(absence, row_noun(object_type))) if part),
        stated=frozenset(value for item in plan.filters for value in item.values),
        derived=frozenset({*counts, *absence.missing_members}),
        labels=_labels(object_type) | (_metric_labels(metric) if metric is not None else frozenset()),
    )


def draft_sql(table: ResultTable, absence: Absence, said: str = "") -> Draft:
    """The sentence of a result of which nothing but its SQL is known.

    Args:
        table: the result.
        absence: what it could not take in.
        said: a sentence of the contract's about the SQL, which claims nothing of the data.
    """
    if len(table.rows) == 1 and len(table.columns) == 1:
        sentence = f"The answer is {cell_text(table.rows[0][0])} ({_words(table.columns[0])})."
    elif len(table.rows) == 1:
        cells = zip(table.columns, table.rows[0], strict=True)
        sentence = "The answer is " + ", ".join(f"{_words(name)}: {cell_text(cell)}" for name, cell in cells) + "."
    elif table.truncated:
        sentence = f"The result has {_how_many(table, 'row')}."
    else:
        sentence = f"The result has {len(table.rows)} rows, which the table holds."
    counts = {*_counts(table), str(_total(absence)), *(str(count) for count in absence.reasons.values())}
    labels = frozenset({*(_words(name) for name in table.columns), said})
    text = " ".join(part for part in (sentence, absence_sentence(absence, "row"), said) if part)
    return Draft(text, derived=frozenset({*counts, *absence.missing_members}), labels=labels)


def absence_sentence(absence: Absence, noun: str) -> str:
    """What the answer could not take in, in words; empty where there is nothing."""
    total = _total(absence)
    if not total:
        return ""
    named = absence.missing_members if len(absence.missing_members) == total <= NAMED else ()
    who = f" ({', '.join(named)})" if named else ""
    why = ", ".join(f"{count} {reason}" for reason, count in absence.reasons.items())
    be = "is" if total == 1 else "are"
    return f"{_counted(total, noun)}{who} could not be taken in and {be} no part of it: {why}."


def _how_many(table: ResultTable, noun: str, filters: str = "") -> str:
    """Of a result that was cut: how many rows there are, and how many of them are shown."""
    held = f"the table holds the first {len(table.rows)}"
    if table.total is None:
        return f"more {_plural(noun)}{filters} than may be read, and counting them took too long; {held}"
    return f"{_counted(table.total, noun)}{filters}, more than may be read; {held}"


def _counts(table: ResultTable) -> set[str]:
    """How many rows a table has and stands for."""
    return {str(len(table.rows))} | ({str(table.total)} if table.total is not None else set())


def _total(absence: Absence) -> int:
    return sum(absence.reasons.values())


@dataclass(frozen=True, slots=True)
class _Writer:
    plan: SemanticPlan
    object_type: ObjectType
    table: ResultTable
    metric: AnyMetric | None = None

    def sentence(self, absence: Absence) -> str:
        """What was found."""
        if self.plan.measure is Measure.LIST:
            return self._list(absence)
        if self.plan.by is not None:
            return self._groups()
        value = self.table.rows[0][0]
        if self.plan.measure is Measure.COUNT:
            count = int(str(value))
            return f"There {'is' if count == 1 else 'are'} {_counted(count, self._noun)}{self._filters()}."
        over = f", over {_counted(self._values(0), 'value')}" if self.plan.measure in (Measure.AVG, Measure.SUM) else ""
        of = f" of {_plural(self._noun)}{self._filters()}" if self.plan.filters else ""
        return f"The {self._named}{of} is {self._shown(value)}{self._unit()}{over}."

    def _groups(self) -> str:
        by = _words(str(self.plan.by))
        noun = f"{_plural(self._noun)}{self._filters()}"
        if self.plan.measure is Measure.COUNT:
            head = f"Number of {noun} by {by}"
        else:
            head = f"The {self._named} of {noun} by {by}{self._unit(', in')}"
        if not self.table.rows:
            return f"{head}: no group is there."
        if len(self.table.rows) > NAMED or self.table.truncated:
            return f"{head} is in the table."
        return f"{head}: " + "; ".join(f"{cell_text(row[0])} {self._shown(row[1])}" for row in self.table.rows) + "."

    def _list(self, absence: Absence) -> str:
        rows, filters = self.table.rows, self._filters()
        if not rows:
            return f"No {self._noun}{filters} was found."
        if self.plan.property is not None and len(rows) == 1:
            # A row of the list is left out for nothing but what is asked of it.
            if absence.reasons.get(Reason.LEFT_NULL.value):
                why = "the cell holds no value of its type"
                return f"The {self._measured} of the {self._noun}{filters} is not known: {why}."
            place = list(self.table.columns).index(self.plan.property)
            return f"The {self._measured} of the {self._noun}{filters} is {cell_text(rows[0][place])}{self._unit()}."
        if self.table.truncated:
            return f"There are {_how_many(self.table, self._noun, filters)}."
        head = f"{_counted(len(rows), self._noun)}{filters}"
        if len(rows) > NAMED:
            return f"{head} are in the table."
        keys = len(self.object_type.primary_key)
        return f"{head}: " + "; ".join(self._member(row, keys) for row in rows) + "."

    def _member(self, row: tuple[Cell, ...], keys: int) -> str:
        name = " ".join(cell_text(cell) for cell in row[:keys])
        rest = ", ".join(cell_text(cell) if str(cell).strip() else "blank" for cell in row[keys:])
        return f"{name} ({rest})" if rest else name

    def _values(self, row: int) -> int:
        return int(str(self.table.rows[row][-1]))

    def _shown(self, cell: Cell) -> str:
        number = as_number(cell)
        if cell is None or number is None or self.plan.measure is Measure.COUNT:
            return cell_text(cell)
        display = self.metric.display if self.metric is not None else None
        if display is not None and display.round is not None:
            # Once, and at the end: the table keeps the figure as it was measured.
            return plain_number(number.quantize(Decimal(1).scaleb(-display.round), ROUND_HALF_UP), display.round)
        least = self._declared.display_scale or 0 if self._declared else 0
        least = display.scale or 0 if display is not None else least
        if self.plan.measure is Measure.AVG or self._is_mean:
            digits = max(least, _AVERAGE_DIGITS)
            return plain_number(number.quantize(Decimal(1).scaleb(-digits)), least)
        return plain_number(Decimal(cell_text(cell)), least)

    def _unit(self, lead: str = "") -> str:
        about = self.metric or self._declared
        unit = about.unit if about is not None else None
        return f"{lead} {unit}" if unit and self.plan.measure is not Measure.COUNT else ""

    @property
    def _declared(self) -> Property | None:
        return self.object_type.find_property(self.plan.property) if self.plan.property else None

    @property
    def _is_mean(self) -> bool:
        return isinstance(self.metric, Metric) and self.metric.aggregate.function is AggregateFunction.AVG

    @property
    def _named(self) -> str:
        """What was measured, such as `average hourly rate` or `gross revenue`."""
        return _words(self.metric.name) if self.metric is not None else f"{self._kind} {self._measured}"

    @property
    def _kind(self) -> str:
        if self._declared is not None and self._declared.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return _OF_MOMENTS[self.plan.measure]
        return _MEASURES[self.plan.measure]

    @property
    def _measured(self) -> str:
        return _words(str(self.plan.property))

    @property
    def _noun(self) -> str:
        return row_noun(self.object_type)

    def _filters(self) -> str:
        return filters_text(self.plan.filters, self.object_type)


def filters_text(filters: tuple[Filter, ...], object_type: ObjectType) -> str:
    """The filters as words behind a noun, such as ` with employment type casual and hourly rate above 38`."""
    return f" with {' and '.join(_filter_text(item, object_type) for item in filters)}" if filters else ""


def _filter_text(item: Filter, object_type: ObjectType) -> str:
    declared = object_type.find_property(item.property)
    moment = declared is not None and declared.type.kind in (Kind.DATE, Kind.TIMESTAMP)
    name, values = _words(item.property), item.values
    match item.operator:
        case Operator.EQUAL:
            return f"{name} {values[0]}"
        case Operator.IN:
            return f"{name} {' or '.join(values)}"
        case Operator.DURING:
            return f"{name} in {values[0]}"
        case Operator.BETWEEN:
            return f"{name} from {values[0]} to {values[1]}"
        case Operator.IS_MISSING:
            return f"no {name}"
        case _:
            return f"{name} {_WORDS[item.operator][moment]} {values[0]}"


def _labels(object_type: ObjectType) -> frozenset[str]:
    names = {_words(item.name) for item in object_type.properties}
    return frozenset(names | {item.unit for item in object_type.properties if item.unit})


def _metric_labels(metric: AnyMetric) -> frozenset[str]:
    return frozenset({_words(metric.name), *([metric.unit] if metric.unit else [])})


def _words(name: str) -> str:
    return name.replace("_", " ")


def _plural(noun: str) -> str:
    return noun if noun.endswith("s") else f"{noun}s"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else _plural(noun)}"
