"""The words that questions are made of: those of the contract, of its data's categories, and of the monitors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.contract import Contract, Metric, ObjectType, Property, Sensitivity
from catalog.datatypes import Kind
from catalog.expressions.walking import condition_references
from catalog.metric_records import DerivedMetric
from compiler.plan import conditions_of
from monitors.definition import MonitorDefinition
from resolver.phrases import FUNCTION_WORDS, Mark, read_phrase, without_form
from resolver.question import Question, is_day, is_number
from trivet.stems import stem, stems_of

ValueLookup = Callable[[ObjectType, Sequence[Property]], Mapping[str, tuple[str, ...]]]
"""The determinate values of properties that stand in the data, each once, by the property's name."""

_KEY_ENDINGS = ("_id", "_number", "_no", "_code", "_key")
_GRAIN = re.compile(r"one row per ([a-z]+(?: [a-z]+)?)")


@dataclass(frozen=True, slots=True)
class Target:
    """What a word can mean."""

    object: str
    property: str | None = None
    """None where the word means the rows themselves."""
    value: str | None = None
    """A value of the property, exactly as the data holds it."""
    metric: str | None = None
    """The metric that the word names; then it names neither a property nor the rows."""

    def is_rows(self) -> bool:
        """Whether it is a noun for the rows themselves."""
        return self.property is None and self.metric is None


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a question that mean something, and all that they can mean."""

    start: int
    """Index of the first word."""
    end: int
    """Index behind the last word."""
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """A question with its words linked. Words outside every span are not the contract's."""

    question: Question
    spans: tuple[Span, ...]
    """In the order of the question; they do not overlap."""

    def meant_by(self, stems: Collection[str]) -> bool:
        """Whether a word of the question that carries meaning is one of these stems."""
        return any(word in stems for word in without_form([stem(word) for word in self.question.words]))

    @property
    def objects_named(self) -> frozenset[str]:
        """The object types whose rows the question names by a noun of theirs."""
        return frozenset(target.object for span in self.spans for target in span.targets if target.is_rows())

    def properties_named(self, object_name: str) -> frozenset[str]:
        """The properties of an object type that the question names, by name, synonym or value."""
        found = (target for span in self.spans for target in span.targets)
        return frozenset(item.property for item in found if item.object == object_name and item.property is not None)

    @property
    def metrics_named(self) -> frozenset[str]:
        """The metrics that the question may name: by name, by synonym, or by a word of the glossary."""
        found = (target.metric for span in self.spans for target in span.targets)
        return frozenset(name for name in found if name is not None)


def period_label(span: Span, contract: Contract) -> str | None:
    """The label of a period of the contract's calendar that words are; None where they are none."""
    table = contract.calendar.table
    place = (table.object, table.label) if table is not None else None
    return next((item.value for item in span.targets if (item.object, item.property) == place and item.value), None)


def object_nouns(object_type: ObjectType) -> tuple[str, ...]:
    """What the rows of an object type are called: its name, what its key counts, and its grain."""
    nouns = [object_type.name.replace("_", " ")]
    if len(object_type.primary_key) == 1:
        key = object_type.primary_key[0]
        nouns += [key.removesuffix(end).replace("_", " ") for end in _KEY_ENDINGS if key.endswith(end)]
    if (grain := _GRAIN.fullmatch(object_type.grain.lower().strip(" ."))) is not None:
        nouns.append(grain[1])
    return tuple(dict.fromkeys(nouns))


def row_noun(object_type: ObjectType) -> str:
    """The one word for a row of an object type in a sentence, such as `employee`."""
    nouns = object_nouns(object_type)
    return nouns[1] if len(nouns) > 1 else f"{nouns[0]} row"


def property_names(declared: Property) -> tuple[str, ...]:
    """What a property is called: its name and its synonyms."""
    return (declared.name.replace("_", " "), *declared.synonyms)


def _metric_targets(metric: Metric | DerivedMetric, contract: Contract) -> Iterator[Target]:
    """A metric with each object type that it is measured over."""
    if isinstance(metric, Metric):
        yield Target(metric.object_type, metric=metric.name)
        return
    parts = [part for name in metric.derivation.parts if (part := contract.metric(name)) is not None]
    objects = dict.fromkeys(target.object for part in parts for target in _metric_targets(part, contract))
    yield from (Target(name, metric=metric.name) for name in objects)


def metric_names(metric: Metric | DerivedMetric) -> tuple[str, ...]:
    """What a metric is called: its name and its synonyms."""
    return (metric.name.replace("_", " "), *metric.synonyms)


def link_words(question: Question, contract: Contract, values: ValueLookup) -> Linked:
    """Links the question's words: those of the glossary first, then the longest names; of two that overlap one wins.

    The data is looked at only where words remain that the contract alone does not explain.

    Raises:
        EngineFault: the data's categories cannot be looked up.
    """
    terms, named = list(_terms(contract)), list(_names(contract))
    linked = _linked(question, terms, named)
    if any(_names_a_period(linked, span, contract) for span in linked.spans):
        # `fiscal year 2024` is a period, even where the rows of the calendar are called fiscal years.
        nouns = {noun for item in contract.object_types for noun in object_nouns(item)}
        named = [(name, target) for name, target in named if name not in nouns or not _is_fiscal(stems_of(name))]
        linked = _linked(question, terms, named)
    if not _unexplained(linked, identity_words(contract)):
        return linked
    return _linked(question, terms, [*named, *_values(contract, values, question.capitals)])


def _names_a_period(linked: Linked, span: Span, contract: Contract) -> bool:
    words = linked.question.words
    year = words[span.end] if span.end < len(words) else ""
    rows = contract.calendar.table is not None and all(target.is_rows() for target in span.targets)
    return rows and len(year) == 4 and year.isdigit() and _is_fiscal(tuple(map(stem, words[span.start : span.end])))


def _is_fiscal(stems: tuple[str, ...]) -> bool:
    return read_phrase(stems, 0) == (Mark.FISCAL, len(stems))


def _linked(question: Question, *ranks: Iterable[tuple[str, Target]]) -> Linked:
    """The spans of names; names of an earlier rank take their words before those of a later one."""
    words = tuple(stem(word) for word in question.words)
    spans: list[Span] = []
    taken: set[int] = set()
    for named in ranks:
        meanings: dict[tuple[str, ...], list[Target]] = {}
        for name, target in named:
            stems = stems_of(name)
            if stems and target not in meanings.setdefault(stems, []):
                meanings[stems].append(target)
        longest = max((len(stems) for stems in meanings), default=0)
        for length in range(longest, 0, -1):
            for start in range(len(words) - length + 1):
                place = range(start, start + length)
                found = meanings.get(words[start : start + length])
                if found and not taken.intersection(place):
                    spans.append(Span(start, start + length, tuple(found)))
                    taken.update(place)
    return Linked(question, tuple(sorted(spans, key=lambda span: span.start)))


def _unexplained(linked: Linked, corpus: frozenset[str]) -> bool:
    """Whether a word is left that is no name of the contract, no part of a question's form, and no number."""
    covered = {index for span in linked.spans for index in range(span.start, span.end)}
    rest = [stem(word) for index, word in enumerate(linked.question.words) if index not in covered]
    known = (FUNCTION_WORDS - {stem(word) for word in linked.question.capitals}) | corpus
    return any(word not in known and not is_number(word) and not is_day(word) for word in rest)


def _terms(contract: Contract) -> Iterator[tuple[str, Target]]:
    """The words of the glossary with everything of that name in the contract."""
    for term in contract.glossary:
        owner, _, name = term.means.rpartition(".")
        for item in contract.object_types:
            if owner in ("", item.name) and item.find_property(name) is not None:
                yield term.term, Target(item.name, name)
            if term.means == item.name:
                yield term.term, Target(item.name)
        for metric in contract.every_metric:
            if term.means == metric.name:
                yield from ((term.term, target) for target in _metric_targets(metric, contract))


def _names(contract: Contract) -> Iterator[tuple[str, Target]]:
    for metric in contract.every_metric:
        for name in metric_names(metric):
            yield from ((name, target) for target in _metric_targets(metric, contract))
    for item in contract.object_types:
        for noun in object_nouns(item):
            yield noun, Target(item.name)
        for declared in item.properties:
            for name in property_names(declared):
                yield name, Target(item.name, declared.name)


def _values(contract: Contract, values: ValueLookup, capitals: frozenset[str]) -> Iterator[tuple[str, Target]]:
    held: dict[tuple[str, str], tuple[str, ...]] = {}
    for item in contract.object_types:
        texts = _texts(item)
        held |= {(item.name, name): known for name, known in (values(item, texts) if texts else {}).items()}
    for item in contract.object_types:
        for declared in _texts(item):
            known = held.get((item.name, declared.name), ())
            if declared.domain is not None:
                known = (*known, *held.get((declared.domain.object, declared.domain.property), ()))
            for value in dict.fromkeys(known):
                if _is_usable(value, capitals):
                    yield value, Target(item.name, declared.name, value)


def _texts(item: ObjectType) -> list[Property]:
    """The properties by whose values a question may filter without naming them."""
    open_ones = (declared for declared in item.properties if declared.sensitivity is Sensitivity.NONE)
    return [declared for declared in open_ones if declared.type.kind is Kind.TEXT]


def _is_usable(value: str, capitals: frozenset[str]) -> bool:
    """Whether a value of the data can stand for itself in a question: `no` and `7` mean too much else.

    `US` does where the question has it in capitals, as the data does: there it is no `us`.
    """
    stems = stems_of(value)
    if value.isupper() and value.lower() in capitals:
        return True
    return len(stems) > 1 or (len(value) > 1 and not value.isdigit() and not FUNCTION_WORDS.intersection(stems))


@dataclass(frozen=True, slots=True)
class MonitorWords:
    """The stems by which a monitor is known."""

    definition: MonitorDefinition
    title: frozenset[str]
    every: frozenset[str]
    """Of title, description, id, labels, and of the names in its conditions."""
    linked: frozenset[tuple[str, ...]]
    """Names of the linked properties that members are judged by."""


def monitor_words(definition: MonitorDefinition, contract: Contract) -> MonitorWords:
    """The words of one monitor."""
    names: list[str] = []
    linked: list[str] = []
    for condition in conditions_of(definition):
        for ref in condition_references(condition):
            link = contract.link(definition.object, ref.link) if ref.link else None
            target = contract.object_type(link.target if link else definition.object)
            declared = target.find_property(ref.name) if target else None
            if declared is not None:
                (linked if link else names).extend(property_names(declared))
    labels = [part for label in definition.labels for part in label]
    texts = [definition.title, definition.description, definition.id, *labels, *names, *linked]
    return MonitorWords(
        definition,
        frozenset(stems_of(definition.title)),
        frozenset(word for text in texts for word in stems_of(text)),
        frozenset(stems_of(name) for name in linked),
    )


def contract_nouns(contract: Contract) -> frozenset[str]:
    """Every noun for rows, for the intent check."""
    return frozenset(noun for item in contract.object_types for noun in object_nouns(item))


def identity_words(contract: Contract) -> frozenset[str]:
    """The stems that name the whole corpus and so filter nothing."""
    identity = contract.identity
    texts: Iterable[str] = (identity.subject_name, *identity.aliases) if identity else ()
    return frozenset(word for text in texts for word in stems_of(text))
