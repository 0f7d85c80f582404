"""One pass over a view for any number of monitors: what is settled is counted, what is not is kept.

A row is settled for a monitor when its own predicates say that it is compliant, and nothing else;
or that it is no member. All other rows (breaches, undecided ones, and those that folded rows leave
open) come out with the view's own columns, and the readable queries judge them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from catalog.engines.port import HeldName
from compiler import names
from compiler.decisions import Decisions
from compiler.dialects.dialect import Dialect
from compiler.facts import conjunction, disjunction
from compiler.folded_facts import FactColumns, FoldedFacts
from compiler.folding import Fold
from compiler.plan import LinkPlan, MonitorPlan, RelationPlan
from compiler.pruning import Relation, Selection, select, with_clause
from compiler.quick_rules import QuickRules
from compiler.relations import relation_names, relations_of

ROWS = "rows"
_RECORDS = "records"


@dataclass(frozen=True, slots=True)
class Marks:
    """The columns that speak of one monitor. Its id tells them from the other monitors'."""

    monitor: str

    def name(self, mark: str) -> str:
        """The column of one mark."""
        return f"{mark} {self.monitor}"

    @property
    def breach(self) -> str:
        """Rows that the breach query is to judge."""
        return self.name("breach")

    @property
    def undecided(self) -> str:
        """Rows that the no_data query is to judge."""
        return self.name("undecided")

    @property
    def open(self) -> str:
        """Rows of which folded rows do not tell the verdict, so that the readable queries alone can."""
        return self.name("open")

    @property
    def left(self) -> str:
        """Rows that are not settled, whatever they are."""
        return self.name("left")

    @property
    def all(self) -> tuple[str, str, str, str]:
        """All four."""
        return self.breach, self.undecided, self.open, self.left


class Scan:
    """Writes the statements of one scan for the monitors of one object type."""

    def __init__(self, plans: Sequence[MonitorPlan], dialect: Dialect) -> None:
        self._dialect = dialect
        self._plans = plans
        self._merged = _merged(plans)
        self._carried = carried_columns(plans)
        taken = {*relation_names(self._merged).values()}
        taken |= {item.view.rpartition(".")[2] for item in self._merged.scope.contract.object_types}
        self._compared = names.free_relation("facts", taken)
        self._judged = names.free_relation("verdicts", taken)
        self._marked = names.free_relation("marks", taken)
        self._folds = {
            link.link.name: Fold(
                self._merged, link, f"f{index}", names.free_relation(f"{link.far.relation}_fold", taken), dialect
            )
            for index, link in enumerate(self._merged.links, start=1)
        }
        self._facts = FactColumns(dialect)
        self._verdicts = {name: test for plan in plans for test, name in self._verdicts_of(plan)}
        """Name and test of what the facts say of a row; NULL says the same as false. Of undecided rows nothing is."""

    def tally(self) -> str:
        """One row: how many rows the view has, how many each monitor has settled, and the rest as records."""
        carried = [names.carried(column) for column in self._carried]
        joins = " ".join(fold.join() for fold in self._folds.values())
        member = relation_names(self._merged)[self._merged.member.relation]
        kept = _kept("m", carried, self._dialect)
        compared = Relation(self._compared, (*kept, *self._facts.selections()), f"{member} AS m {joins}")
        said = [(test, name) for name, test in self._verdicts.items()]
        verdicts = Relation(self._judged, (*kept, *said), f"{self._compared} AS m")
        relations = [
            *relations_of(self._merged, self._dialect, (), QuickRules, self._carried),
            *(relation for fold in self._folds.values() for relation in fold.relations()),
            compared,
            verdicts,
            self._marks(carried),
        ]
        body = f"{select(self._counts(), self._dialect)} FROM {self._marked} AS k"
        return with_clause(relations, body, self._dialect)

    def unsettled(self) -> str:
        """The records as rows, with the view's own column names and the marks of each monitor."""
        record = f"u.{self._dialect.identifier('record')}"
        selections = [(self._dialect.field(record, names.carried(column)), column) for column in self._carried]
        for plan in self._plans:
            selections += self._marks_of(plan, record)
        records = self._dialect.unnested(f"t.{self._dialect.identifier(_RECORDS)}")
        inner = f"SELECT {records} AS {self._dialect.identifier('record')} FROM {HeldName.TALLY} AS t"
        return f"{select(selections, self._dialect)} FROM ({inner}) AS u"

    def _marks_of(self, plan: MonitorPlan, record: str) -> list[Selection]:
        """What a row that a monitor has not settled is to it. Of two verdicts at once, neither is believed."""
        marks = Marks(plan.definition.id)

        def said(mark: str) -> list[str]:
            name = marks.name(mark)
            field = f"COALESCE({self._dialect.field(record, name)}, FALSE)"
            return [field] if self._is_recorded(name) else []

        left = f"(NOT {said(_DONE)[0]})" if self._is_recorded(marks.name(_DONE)) else "TRUE"
        verdicts = [*said(_BREACH), *said(_COMPLIANT), *said(_OUTSIDE)]
        doubts = [*said(_OPEN), *(f"({one} AND {other})" for one, other in combinations(verdicts, 2))]
        is_open = f"({left} AND {disjunction(doubts)})" if doubts else _NEVER
        breach = conjunction([left, *said(_BREACH)]) if said(_BREACH) else _NEVER
        neither = conjunction([left, *(f"NOT {verdict}" for verdict in verdicts)])
        return [
            (f"({is_open} OR {breach})", marks.breach),
            (f"({is_open} OR {neither})", marks.undecided),
            (is_open, marks.open),
            (left, marks.left),
        ]

    def settled_counts(self) -> str:
        """The counts of the tally, in the order of `ROWS` and then three for each monitor."""
        wanted = [ROWS, *(Marks(plan.definition.id).name(mark) for plan in self._plans for mark in _COUNTED)]
        return f"{select(_kept('t', wanted, self._dialect), self._dialect)} FROM {HeldName.TALLY} AS t"

    def unsettled_counts(self) -> str:
        """How many rows each monitor has to judge: breaches, undecided ones, and open ones, which are among both."""
        selections = []
        for plan in self._plans:
            marks = Marks(plan.definition.id)
            for mark in marks.all:
                selections.append((f"COUNT(*) FILTER (WHERE u.{self._dialect.identifier(mark)})", mark))
        return f"{select(selections, self._dialect)} FROM {HeldName.UNSETTLED} AS u"

    def tally_columns(self) -> list[str]:
        """The columns of the tally."""
        counts = [Marks(plan.definition.id).name(mark) for plan in self._plans for mark in _COUNTED]
        return [ROWS, *counts, _RECORDS]

    def _verdicts_of(self, plan: MonitorPlan) -> list[Selection]:
        facts = FoldedFacts(plan, self._dialect, self._folds, self._facts)
        decisions, marks = Decisions(facts), Marks(plan.definition.id)
        found = [
            (decisions.breach(), marks.name(_BREACH)),
            (decisions.compliant(), marks.name(_COMPLIANT)),
            (decisions.outside(), marks.name(_OUTSIDE)),
            (decisions.partial(), marks.name(_PARTIAL)),
        ]
        # What is open is known once all facts are asked for.
        return [*found, (facts.is_open(), marks.name(_OPEN))]

    def _marks(self, carried: Sequence[str]) -> Relation:
        """Settled and outside of each monitor, each said once."""
        selections = _kept("j", [*carried, *self._verdicts], self._dialect)
        for plan in self._plans:
            marks = Marks(plan.definition.id)
            settled = self._only(marks, _COMPLIANT, (_BREACH, _OUTSIDE, _OPEN))
            outside = self._only(marks, _OUTSIDE, (_BREACH, _COMPLIANT, _OPEN))
            done = settled if outside == _NEVER else f"({settled} OR {outside})"
            selections += [(settled, marks.name(_SETTLED)), (outside, marks.name(_OUT)), (done, marks.name(_DONE))]
        return Relation(self._marked, tuple(selections), f"{self._judged} AS j")

    def _only(self, marks: Marks, mark: str, others: Sequence[str]) -> str:
        """One thing is said of the row, and none of the others."""
        said, *rest = (marks.name(name) for name in (mark, *others))
        if self._is_never(said):
            return _NEVER
        tests = [f"NOT j.{self._dialect.identifier(name)}" for name in rest if not self._is_never(name)]
        return conjunction([f"j.{self._dialect.identifier(said)}", *tests])

    def _counts(self) -> list[Selection]:
        found: list[Selection] = [("COUNT(*)", ROWS)]
        recorded = [names.carried(column) for column in self._carried]
        done = []
        for plan in self._plans:
            marks = Marks(plan.definition.id)
            found += self._counts_of(marks)
            recorded += [name for mark in _RECORDED if self._is_recorded(name := marks.name(mark))]
            done.append(f"k.{self._dialect.identifier(marks.name(_DONE))}")
        records = self._dialect.records(_kept("k", recorded, self._dialect))
        return [*found, (f"{records} FILTER (WHERE {conjunction(done)} IS NOT TRUE)", _RECORDS)]

    def _counts_of(self, marks: Marks) -> list[Selection]:
        settled, outside, partial = (
            f"k.{self._dialect.identifier(marks.name(mark))}" for mark in (_SETTLED, _OUT, _PARTIAL)
        )
        counted = "COUNT(*) FILTER (WHERE {})"
        outside_count = "0" if self._is_never(marks.name(_OUTSIDE)) else counted.format(outside)
        partial_count = "0" if self._is_never(marks.name(_PARTIAL)) else counted.format(f"{settled} AND {partial}")
        return [
            (counted.format(settled), marks.name(_SETTLED)),
            (outside_count, marks.name(_OUT)),
            (partial_count, marks.name(_SETTLED_PARTIAL)),
        ]

    def _is_never(self, name: str) -> bool:
        """Whether the facts cannot say it of any row."""
        return self._verdicts[name] == _NEVER

    def _is_recorded(self, name: str) -> bool:
        """Whether a record holds it: nothing that is the same in all records."""
        return len(self._plans) > 1 if name not in self._verdicts else not self._is_never(name)


_NEVER = "FALSE"
_BREACH, _COMPLIANT, _OUTSIDE, _OPEN, _PARTIAL = "is breach", "is compliant", "is outside", "is open", "is partial"
_SETTLED, _OUT, _DONE, _SETTLED_PARTIAL = "settled", "outside", "done", "settled partial"
_RECORDED = (_DONE, _BREACH, _COMPLIANT, _OUTSIDE, _OPEN)
_COUNTED = (_SETTLED, _OUT, _SETTLED_PARTIAL)


def carried_columns(plans: Sequence[MonitorPlan]) -> tuple[str, ...]:
    """The columns of the view that the readable queries of these monitors read."""
    merged = _merged(plans).member
    columns = [column for item in merged.properties for column in item.columns]
    return tuple(dict.fromkeys([*columns, *(column for _, column in merged.object_type.provenance.named())]))


def _merged(plans: Sequence[MonitorPlan]) -> MonitorPlan:
    """A plan that reads what any of the plans reads."""
    first = plans[0]
    links: dict[str, LinkPlan] = {}
    for plan in plans:
        for link in plan.links:
            known = links.get(link.link.name)
            links[link.link.name] = link if known is None else replace(known, far=_wider(known.far, link.far))
    member = first.member
    for plan in plans[1:]:
        member = _wider(member, plan.member)
    return replace(first, member=member, links=tuple(links.values()))


def _wider(one: RelationPlan, other: RelationPlan) -> RelationPlan:
    return replace(one, properties=tuple(dict.fromkeys([*one.properties, *other.properties])))


def _kept(alias: str, columns: Sequence[str], dialect: Dialect) -> list[Selection]:
    return [(f"{alias}.{dialect.identifier(name)}", name) for name in columns]
