"""Whether a proposal says what the question says: its figures, names and shape, no fewer and no others.

Models copy filters out of their examples into questions that have none, pass over the one word that turns
a question round, or average what was to be counted. Such a proposal runs, and is wrong, and nothing in its
form shows it. What the words of the question leave open is the proposer's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from catalog.contract import Contract
from resolver.dates import calendar_year, fiscal_year
from resolver.measuring import find_metric, measure_of, properties_of
from resolver.phrases import NEGATIONS, Mark, Symbol, read_phrase
from resolver.plan import Measure, MonitorAsk, MonitorQuestion, Operator, SemanticPlan, SqlText
from resolver.question import is_day, is_number
from resolver.vocabulary import Linked
from trivet.stems import stem, stems_of

_SQL_TEXT = re.compile(r"'((?:[^']|'')*)'")
_SQL_NEGATION = re.compile(r"<>|!=|\b(?:not|except)\b", re.IGNORECASE)
_SQL_MEASURES = {
    Measure.COUNT: ("count(",),
    Measure.SUM: ("sum(",),
    Measure.AVG: ("avg(", "sum("),
    Measure.MIN: ("min(", "order by"),
    Measure.MAX: ("max(", "order by"),
}
"""What a statement has of which one must be there if a question asks for the measure."""
_ORDERING = (Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL)


def unmet_slot(plan: SemanticPlan, linked: Linked, contract: Contract) -> str | None:
    """What the plan filters by without being asked, or leaves out; None where it keeps to the question."""
    return next(_unmet_by_plan(plan, linked, contract), None)


def unmet_in_sql(proposed: SqlText, linked: Linked) -> str | None:
    """The same of SQL as a model wrote it, where only names, literals and functions can be compared."""
    return next(_unmet_by_sql(proposed.text, linked), None)


def unmet_by_monitor(asked: MonitorQuestion, linked: Linked) -> str | None:
    """What of the question a monitor's verdict takes no account of: figures, values, and what turns it round."""
    figures = sorted(_figures(linked))
    if figures:
        return f"the monitor takes no account of '{figures[0]}'"
    if (value := _value_left_out(linked, ())) is not None:
        return f"the monitor takes no account of '{value}'"
    if (word := _negation(linked)) is not None:
        return f"the monitor takes no account of '{word}'"
    symbols = _symbols(linked)
    if Mark.MISSING in symbols and asked.asks in (MonitorAsk.COUNT, MonitorAsk.LIST):
        return "it gives what breaches, and the question asks what is missing"
    measures = sorted(item for item in symbols if isinstance(item, Measure) and item is not Measure.COUNT)
    return f"the monitor gives no {measures[0]}" if measures else None


def _unmet_by_plan(plan: SemanticPlan, linked: Linked, contract: Contract) -> Iterator[str]:
    words = linked.question.words
    used: set[str] = set()
    for item in plan.filters:
        for value in item.values:
            source = _source(value, words, contract)
            if not source:
                yield f"it filters {item.property} by '{value}', which the question does not say"
            used |= source
    figures = _figures(linked)
    yield from (f"it leaves out '{word}'" for word in words if word in figures and word not in used)
    values = [value for item in plan.filters for value in item.values]
    if (left_out := _value_left_out(linked, values)) is not None:
        yield f"it leaves out '{left_out}'"
    if (word := _negation(linked)) is not None:
        yield f"no plan can say '{word}'"
    yield from _unmet_shape(plan, linked, contract)


def _unmet_metric(
    plan: SemanticPlan, linked: Linked, contract: Contract, measures: Collection[Measure]
) -> Iterator[str]:
    """Whether the metric of the plan is the one that the question names, and does what the question asks."""
    named = linked.metrics_named
    metric = find_metric(contract, plan.metric)
    if metric is None:
        yield f"it leaves out '{sorted(named)[0]}'"
        return
    if named and metric.name not in named:
        yield f"it gives {metric.name}, and the question asks for {' or '.join(sorted(named))}"
    if not named and not set(properties_of(metric, contract)) & linked.properties_named(plan.object):
        yield f"it gives {metric.name}, which the question does not name"
    if measures and measure_of(metric) not in measures:
        yield f"it gives {metric.name}, and the question asks for {' or '.join(sorted(measures))}"


def _unmet_shape(plan: SemanticPlan, linked: Linked, contract: Contract) -> Iterator[str]:
    """What is measured, grouped by and compared, where the question's words say it."""
    symbols = _symbols(linked)
    measures = {item for item in symbols if isinstance(item, Measure)}
    if plan.metric is not None or linked.metrics_named:
        yield from _unmet_metric(plan, linked, contract, measures)
    elif measures and plan.measure not in measures:
        yield f"it gives {plan.measure}, and the question asks for {' or '.join(sorted(measures))}"
    named = {
        target.property
        for span in linked.spans
        for target in span.targets
        if target.object == plan.object and target.value is None and target.property is not None
    }
    for name in (plan.property, plan.by):
        if named and name is not None and name not in named:
            yield f"it takes {name}, which the question does not name"
    if plan.by is None and _groups(linked):
        yield "it does not group, and the question does"
    is_missing = any(item.operator is Operator.IS_MISSING for item in plan.filters)
    if is_missing != (Mark.MISSING in symbols) and Mark.UNDECIDED not in symbols:
        yield "question and plan differ in whether something is missing"
    comparing = {item for item in symbols if isinstance(item, Operator)}
    for item in plan.filters:
        if comparing and item.operator in _ORDERING and item.operator not in comparing:
            yield f"it compares by '{item.operator}', and the question by '{min(comparing)}'"


def _unmet_by_sql(text: str, linked: Linked) -> Iterator[str]:
    words = linked.question.words
    stems = [stem(word) for word in words]
    literals = _SQL_TEXT.findall(text)
    for literal in literals:
        known = any(part in words for part in re.findall(r"\d{4}", literal))
        if literal.strip() and not known and not _holds(stems, stems_of(literal)):
            yield f"it compares with '{literal}', which the question does not say"
    figures = _figures(linked)
    yield from (f"it leaves out '{word}'" for word in words if word in figures and word not in text)
    if (left_out := _value_left_out(linked, literals)) is not None:
        yield f"it leaves out '{left_out}'"
    if (word := _negation(linked)) is not None and not _SQL_NEGATION.search(text):
        yield f"it leaves out '{word}'"
    names = set(re.findall(r"\w+", text.lower()))
    for span in linked.spans:
        properties = {target.property for target in span.targets if target.value is None}
        if None not in properties and properties and not properties & names:
            yield f"it leaves out '{' '.join(words[span.start : span.end])}'"
    lower = re.sub(r"\s+(?=\()", "", " ".join(text.lower().split()))
    measures = {item for item in _symbols(linked) if isinstance(item, Measure)}
    if measures and not any(part in lower for item in measures for part in _SQL_MEASURES[item]):
        yield f"it gives no {' or '.join(sorted(measures))}"


def _value_left_out(linked: Linked, values: Collection[str]) -> str | None:
    """The first value of the data that the question names and that is none of `values`."""
    for span in linked.spans:
        meant = {target.value for target in span.targets}
        if None not in meant and not meant.intersection(values):
            return min(str(value) for value in meant)
    return None


def _symbols(linked: Linked) -> set[Symbol]:
    """What the words between the names do, such as to count or to compare."""
    return {symbol for _, _, symbol in _phrases(linked) if symbol is not None}


def _negation(linked: Linked) -> str | None:
    """The first word that turns the question round; `not more than` compares, and does not."""
    for start, _, symbol in _phrases(linked):
        if symbol is None and linked.question.words[start] in NEGATIONS:
            return linked.question.words[start]
    return None


def _groups(linked: Linked) -> bool:
    """Whether the question groups by a property: `per level`, but not `per week`."""
    names = {span.start for span in linked.spans if any(target.property is not None for target in span.targets)}
    return any(symbol is Mark.BY and behind in names for _, behind, symbol in _phrases(linked))


def _phrases(linked: Linked) -> Iterator[tuple[int, int, Symbol | None]]:
    """Begin, end and meaning of everything outside the names; a word that shapes nothing has no meaning."""
    stems = [stem(word) for word in linked.question.words]
    ends = {span.start: span.end for span in linked.spans}
    index = 0
    while index < len(stems):
        if index in ends:
            index = ends[index]
            continue
        following = min((start for start in ends if start > index), default=len(stems))
        found = read_phrase(stems[:following], index)
        behind = found[1] if found is not None else index + 1
        yield index, behind, found[0] if found is not None else None
        index = behind


def _figures(linked: Linked) -> frozenset[str]:
    """The numbers and days of a question that are not part of a name."""
    named = {index for span in linked.spans for index in range(span.start, span.end)}
    words = enumerate(linked.question.words)
    return frozenset(word for index, word in words if index not in named and (is_number(word) or is_day(word)))


def _source(value: str, words: tuple[str, ...], contract: Contract) -> set[str]:
    """The words of the question that a filter's value comes from."""
    text = value.strip().lower()
    if is_day(text):
        years = {word for word in words if word.isdigit() and len(word) == 4 and text in _bounds(int(word), contract)}
        return {word for word in words if word == text} or years
    if is_number(text):
        return {word for word in words if is_number(word) and float(word) == float(text)}
    stems = stems_of(value)
    found = _holds([stem(word) for word in words], stems)
    return set(stems) | {text} if found and stems else set()


def _bounds(year: int, contract: Contract) -> set[str]:
    days = (*calendar_year(year), *fiscal_year(year, contract.calendar))
    return {day.isoformat() for day in days}


def _holds(stems: list[str], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(tuple(stems[start : start + size]) == wanted for start in range(len(stems) - size + 1))
