"""The proposer that needs no model: it reads a question by the contract's own words, and every word must be read.

What it cannot read whole it refuses, since an answer to half a question looks like an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog.contract import Contract, ObjectType, Property
from catalog.datatypes import Kind
from resolver.candidates import Candidate, Proposal
from resolver.dates import calendar_year, fiscal_year
from resolver.models.lexical_metrics import metric_plan
from resolver.monitor_matching import match_monitor
from resolver.outcome import Refusal
from resolver.phrases import NEGATIONS, Mark, Symbol, read_phrase
from resolver.plan import Filter, Measure, Operator, Proposed, SemanticPlan, plan_fault
from resolver.question import is_day, is_number
from resolver.refusals import refuse
from resolver.vocabulary import Linked, MonitorWords, Span, Target, identity_words, period_label
from trivet.outcomes import ReasonCode
from trivet.stems import stem

NAME = "lexical"


@dataclass(frozen=True, slots=True)
class LexicalProposer:
    """Reads questions by the words of one contract and of its monitors."""

    contract: Contract
    monitors: tuple[MonitorWords, ...]

    def propose(self, linked: Linked) -> Proposal | Refusal:
        """The one reading of the question, or a refusal that says what could not be read."""
        corpus = identity_words(self.contract)
        found: Proposed | Refusal | None = match_monitor(linked, self.monitors, corpus)
        if found is None:
            found = _Reading(linked, self.contract, corpus).plan()
        if isinstance(found, Refusal):
            return found
        return Proposal((Candidate(NAME, found),), 1, {"provider": "none", "proposer": NAME}, deterministic=True)


class _Unreadable(Exception):
    """A part of the question that cannot be read; ends the reading of one question."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


@dataclass
class _Reading:
    """One pass over the words of a question, from left to right."""

    linked: Linked
    contract: Contract
    corpus: frozenset[str]
    measure: Measure | None = None
    asks_which: bool = False
    measured: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    by: str | None = None
    filters: list[Filter] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stems = [stem(word) for word in self.linked.question.words]
        self.spans = {span.start: span for span in self.linked.spans}

    def plan(self) -> SemanticPlan | Refusal:
        """The plan that the question spells."""
        try:
            self.object_type = self._object()
            self._check_alternatives()
            index = 0
            while index < len(self.stems):
                index = self._step(index)
            return self._whole()
        except _Unreadable as error:
            return error.refusal

    def _object(self) -> ObjectType:
        """The first object type, in the contract's order, that has everything that the question names."""
        named = self.linked.objects_named
        hosts: list[str] = [item.name for item in self.contract.object_types if not named or item.name in named]
        for span in self.linked.spans:
            having = {target.object for target in span.targets}
            if any(not target.is_rows() for target in span.targets):
                narrowed = [name for name in hosts if name in having]
                # The label of a period may be said of the rows of any object type.
                hosts = narrowed or (hosts if period_label(span, self.contract) is not None else [])
        chosen = self.contract.object_type(hosts[0]) if hosts and self.linked.spans else None
        if chosen is None:
            unknown = self._unread_words()
            if not self.linked.spans:
                raise _Unreadable(refuse(ReasonCode.OUT_OF_SCOPE, nearest=()))
            if unknown:
                raise _Unreadable(refuse(ReasonCode.SCHEMA_MISMATCH, _unknown_text(unknown)))
            what = "no object type has everything that it names, and only a model can join them"
            raise _Unreadable(refuse(ReasonCode.SCHEMA_MISMATCH, what))
        return chosen

    def _check_alternatives(self) -> None:
        """Refuses an `or` that does not stand between two values of one property: filters all hold together."""
        covered = {index for span in self.linked.spans for index in range(span.start, span.end)}
        for index, word in enumerate(self.linked.question.words):
            if word == "or" and index not in covered:
                before = [span for span in self.linked.spans if self._skip_silent(span.end) > index >= span.end]
                behind = self.spans.get(self._skip_silent(index + 1))
                sides = [self._target(span) for span in (*before[-1:], *([behind] if behind else []))]
                if len(sides) != 2 or None in [side.value for side in sides] or sides[0].property != sides[1].property:
                    what = "it offers alternatives of different kinds, and only a model can plan that"
                    raise _Unreadable(refuse(ReasonCode.SCHEMA_MISMATCH, what))

    def _unread_words(self) -> list[str]:
        covered = {index for span in self.linked.spans for index in range(span.start, span.end)}
        words, index = [], 0
        while index < len(self.stems):
            found = None if index in covered else read_phrase(self.stems, index)
            if found is None and index not in covered and self.stems[index] not in self.corpus:
                words.append(self.linked.question.words[index])
            index = found[1] if found else index + 1
        return words

    def _step(self, index: int) -> int:
        """Reads what stands at `index`, and gives the index behind it."""
        if index in self.spans:
            return self._term(self.spans[index])
        found = read_phrase(self.stems, index)
        if found is not None and not any(start in self.spans for start in range(index + 1, found[1])):
            return self._symbol(*found)
        if found is not None and (single := read_phrase(self.stems[: index + 1], index)) is not None:
            return self._symbol(*single)
        if self.stems[index] not in self.corpus:
            self.unknown.append(self.linked.question.words[index])
        return index + 1

    def _symbol(self, symbol: Symbol, index: int) -> int:
        match symbol:
            case Measure():
                if self.measure is not None and self.measure is not symbol:
                    self._refuse(f"it asks for {self.measure} and {symbol} at once")
                self.measure = symbol
                return index
            case Operator():
                return self._comparison(symbol, index)
            case Mark.WHICH:
                self.asks_which = True
            case Mark.BY:
                declared, behind = self._property_at(index)
                if declared is None or self.by is not None:
                    self._refuse("it groups by something that is no single property")
                else:
                    self.by = declared.name
                    return behind
            case Mark.MISSING:
                return self._missing(index)
            case Mark.IN | Mark.FISCAL | Mark.CALENDAR:
                return self._period(symbol, index)
            case Mark.UNDECIDED:
                self._refuse("it asks what could not be decided, and no monitor of that name is known")
            case Mark.AND | Mark.SILENT:
                pass
        return index

    def _term(self, span: Span) -> int:
        target = self._target(span)
        label = period_label(span, self.contract)
        if label is not None and target.object != self.object_type.name:
            self._during(label)
            return span.end
        if target.metric is not None:
            self.metrics.append(target.metric)
        if target.property is None:
            return span.end
        if target.value is not None:
            self.values.setdefault(target.property, []).append(target.value)
            return span.end
        declared = self.object_type.find_property(target.property)
        if declared is None:
            raise LookupError(f"{self.object_type.name} has no property {target.property}")
        return self._after_property(declared, span.end)

    def _target(self, span: Span) -> Target:
        own = [item for item in span.targets if item.object == self.object_type.name]
        named = {item.property or item.metric for item in own if not item.is_rows()}
        if len(named) > 1:
            words = " ".join(self.linked.question.words[span.start : span.end])
            names = sorted(str(name) for name in named)
            raise _Unreadable(refuse(ReasonCode.AMBIGUOUS, f"'{words}' can be {' or '.join(names)}"))
        chosen = [item for item in own if not item.is_rows()] or own
        return next((item for item in chosen if item.value is None), chosen[0]) if chosen else span.targets[0]

    def _after_property(self, declared: Property, index: int) -> int:
        """A property: compared, equal to something, missing, or what is measured."""
        behind = self._skip_silent(index)
        if behind < len(self.stems) and behind not in self.spans:
            found = read_phrase(self.stems, behind)
            if found is not None and isinstance(found[0], Operator):
                return self._compare(declared, found[0], found[1])
            if found is not None and found[0] is Mark.MISSING and self._property_at(found[1])[0] is None:
                self.filters.append(Filter(declared.name, Operator.IS_MISSING))
                return found[1]
            if found is None and _is_value_of(self.stems[behind], declared):
                self.filters.append(Filter(declared.name, Operator.EQUAL, (self.stems[behind],)))
                return behind + 1
            if found is None and declared.type.kind is Kind.TEXT:
                return self._literal(declared, behind)
        following = self.spans.get(behind)
        if (
            following is not None
            and self._target(following).value
            and self._target(following).property == declared.name
        ):
            return behind
        self.measured.append(declared.name)
        return index

    def _literal(self, declared: Property, index: int) -> int:
        """Words behind a text property that name a value of it which the data does not have."""
        end = index
        while end < len(self.stems) and end not in self.spans and read_phrase(self.stems, end) is None:
            end += 1
            if any(char.isdigit() for char in self.stems[end - 1]):
                break
        words = self.linked.question.words[index:end]
        if NEGATIONS.intersection(words) or not any(char.isdigit() for word in words for char in word):
            self.measured.append(declared.name)
            return index
        self.filters.append(Filter(declared.name, Operator.EQUAL, (self.linked.question.as_written(" ".join(words)),)))
        return end

    def _comparison(self, operator: Operator, index: int) -> int:
        """A comparison whose property stands behind its value: `more than 38 ordinary hours`, `after 2026-07-01`."""
        values, behind = self._values(operator, index)
        declared, end = self._property_at(behind)
        if declared is None and all(is_day(value) for value in values):
            declared, end = self._only_date(), behind
        if declared is None:
            self._refuse(f"it does not say what is {operator} {' and '.join(values)}")
            return end
        self.filters.append(Filter(declared.name, operator, tuple(values)))
        return end

    def _compare(self, declared: Property, operator: Operator, index: int) -> int:
        values, behind = self._values(operator, index)
        self.filters.append(Filter(declared.name, operator, tuple(values)))
        return behind

    def _values(self, operator: Operator, index: int) -> tuple[list[str], int]:
        wanted = 2 if operator is Operator.BETWEEN else 1
        values: list[str] = []
        while index < len(self.stems) and len(values) < wanted:
            word = self.stems[index]
            if is_number(word) or is_day(word):
                values.append(word)
            elif not self._is_silent(index):
                break
            index += 1
        if len(values) < wanted:
            self._refuse(f"it compares ({operator}) with something that is no number and no day")
        return values, self._skip_unit(index)

    def _missing(self, index: int) -> int:
        declared, behind = self._property_at(index)
        if declared is None:
            self._refuse("it asks what is missing, and names no property")
            return index
        self.filters.append(Filter(declared.name, Operator.IS_MISSING))
        return behind

    def _period(self, mark: Symbol, index: int) -> int:
        """`in 2026`, `fiscal year 2026`: a year of the one date that the rows have."""
        behind = index
        if mark is Mark.IN and (found := read_phrase(self.stems, index)) and found[0] in (Mark.FISCAL, Mark.CALENDAR):
            mark, behind = found
        word = self.stems[behind] if behind < len(self.stems) and behind not in self.spans else ""
        if not (word.isdigit() and len(word) == 4):
            if mark is not Mark.IN:
                self._refuse("it names a year without its number")
            return index
        declared = self._only_date()
        if declared is None:
            self._refuse(f"{self.object_type.name} has no single date that the year {word} could be of")
            return behind + 1
        calendar = self.contract.calendar
        if mark is Mark.FISCAL and calendar.table is not None:
            self._during(word)
            return behind + 1
        days = fiscal_year(int(word), calendar) if mark is Mark.FISCAL else calendar_year(int(word))
        self.filters.append(Filter(declared.name, Operator.BETWEEN, tuple(day.isoformat() for day in days)))
        return behind + 1

    def _during(self, label: str) -> None:
        declared = self._only_date()
        if declared is None:
            self._refuse(f"{self.object_type.name} has no single date that could be in {label}")
        elif any(item.operator is Operator.DURING for item in self.filters):
            self._refuse("it names two periods, and only a model can plan that")
        else:
            self.filters.append(Filter(declared.name, Operator.DURING, (label,)))

    def _only_date(self) -> Property | None:
        dates = [item for item in self.object_type.properties if item.type.kind is Kind.DATE]
        return dates[0] if len(dates) == 1 else None

    def _property_at(self, index: int) -> tuple[Property | None, int]:
        """The property that stands at `index`, silent words before it passed over, and the index behind it."""
        index = self._skip_silent(index)
        span = self.spans.get(index)
        target = self._target(span) if span is not None else None
        if span is None or target is None or target.property is None or target.value is not None:
            return None, index
        return self.object_type.find_property(target.property), span.end

    def _is_silent(self, index: int) -> bool:
        found = read_phrase(self.stems, index) if index not in self.spans else None
        return found is not None and found[0] in (Mark.SILENT, Mark.IN, Mark.AND)

    def _skip_silent(self, index: int) -> int:
        while index < len(self.stems) and self._is_silent(index):
            index += 1
        return index

    def _skip_unit(self, index: int) -> int:
        """Words of a unit that follow a number, such as `AUD` or `percent`."""
        units = {word for item in self.object_type.properties for word in (item.unit or "").lower().split("/")}
        while index < len(self.stems) and index not in self.spans and self.stems[index] in units | {"dollar"}:
            index += 1
        return index

    def _whole(self) -> SemanticPlan | Refusal:
        filters = list(self.filters)
        if (key := self._unknown_key()) is not None:
            filters.append(key)
        elif self.unknown:
            return refuse(ReasonCode.SCHEMA_MISMATCH, _unknown_text(self.unknown))
        for name, values in self.values.items():
            distinct = tuple(dict.fromkeys(values))
            filters.append(Filter(name, Operator.IN if len(distinct) > 1 else Operator.EQUAL, distinct))
        measured = list(dict.fromkeys(self.measured))
        if self.metrics:
            measure = Measure.LIST if self.asks_which else self.measure
            about = (self.object_type.name, self.by, filters)
            return metric_plan(self.contract, self.metrics, measured, measure, about)
        chosen = self._measure(measured, filters)
        if isinstance(chosen, Refusal):
            return chosen
        plan = SemanticPlan(self.object_type.name, chosen, measured[0] if measured else None, self.by, tuple(filters))
        fault = plan_fault(plan, self.contract)
        return plan if fault is None else refuse(ReasonCode.SCHEMA_MISMATCH, fault)

    def _measure(self, measured: list[str], filters: list[Filter]) -> Measure | Refusal:
        if len(measured) > 1:
            return refuse(ReasonCode.SCHEMA_MISMATCH, f"it asks for {' and '.join(measured)} at once")
        if self.measure is not None and self.measure.is_aggregate and self.asks_which:
            what = f"asking which row has the {self.measure} takes more than one step, and only a model can plan that"
            return refuse(ReasonCode.SCHEMA_MISMATCH, what)
        if self.measure is not None:
            if self.measure.is_aggregate and not measured:
                return refuse(ReasonCode.SCHEMA_MISMATCH, f"it asks for a {self.measure} and does not say of what")
            return self.measure
        if not measured and not filters and not self.asks_which and not self.linked.objects_named:
            return refuse(ReasonCode.SCHEMA_MISMATCH, "it does not say what is asked")
        if measured and not filters and not self.asks_which:
            name = measured[0].replace("_", " ")
            readings = tuple(f"What is the {word} {name}?" for word in ("average", "lowest", "highest"))
            return refuse(ReasonCode.AMBIGUOUS, f"'{name}' has a value in each row", nearest=readings)
        return Measure.LIST

    def _unknown_key(self) -> Filter | None:
        """A code that nothing is known by, such as `E9999`: taken as a key, so that a look-up can tell."""
        coded = [word for word in self.unknown if word[0].isalpha() and any(char.isdigit() for char in word)]
        keys = self.object_type.primary_key
        declared = self.object_type.find_property(keys[0]) if len(keys) == 1 else None
        if declared is None or declared.type.kind is not Kind.TEXT or not len(coded) == len(self.unknown) == 1:
            return None
        return Filter(declared.name, Operator.EQUAL, (self.linked.question.as_written(coded[0]),))

    def _refuse(self, what: str) -> None:
        if self.unknown or self._unread_words():
            raise _Unreadable(refuse(ReasonCode.SCHEMA_MISMATCH, _unknown_text(self._unread_words() or self.unknown)))
        raise _Unreadable(refuse(ReasonCode.SCHEMA_MISMATCH, what))


def _unknown_text(words: list[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in dict.fromkeys(words))
    return f"nothing in it is known by the name {listed}"


def _is_value_of(word: str, declared: Property) -> bool:
    if declared.type.is_number:
        return is_number(word)
    return declared.type.kind in (Kind.DATE, Kind.TIMESTAMP) and is_day(word)
