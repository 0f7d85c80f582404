"""One pass over a view for any number of monitors: what is settled is counted, what is not is kept.

A row is settled for a monitor when its own predicates say that it is compliant, and nothing else;
or that it is no member. All other rows (breaches, undecided ones, and those that folded rows leave
open) come out with the view's own columns, and the readable queries judge them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalog.engines.port import HeldName
from compiler import names
from compiler.decisions import Decisions
from compiler.dialects.dialect import Dialect
from compiler.facts import conjunction
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

    def tally(self) -> str:
        """One row: how many rows the view has, how many each monitor has settled, and the rest as records."""
        columns = FactColumns(self._dialect)
        judged: list[Selection] = []
        for plan in self._plans:
            judged += self._verdicts(plan, columns)
        carried = [names.carried(column) for column in self._carried]
        joins = " ".join(fold.join() for fold in self._folds.values())
        member = relation_names(self._merged)[self._merged.member.relation]
        kept = _kept("m", carried, self._dialect)
        compared = Relation(self._compared, (*kept, *columns.selections()), f"{member} AS m {joins}")
        verdicts = Relation(self._judged, (*kept, *judged), f"{self._compared} AS m")
        marked = self._marks(carried, [name for _, name in judged])
        relations = [
            *relations_of(self._merged, self._dialect, (), QuickRules, self._carried),
            *(relation for fold in self._folds.values() for relation in fold.relations()),
            compared,
            verdicts,
            marked,
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
        """A row that a monitor neither settled nor judged in one way only is open to it."""
        marks = Marks(plan.definition.id)
        done, breach, undecided, is_open = (
            self._dialect.field(record, marks.name(mark)) for mark in ("done", *_JUDGED)
        )
        is_open = f"(NOT {done} AND ({is_open} OR {breach} = {undecided}))"
        return [
            (f"({is_open} OR NOT {done} AND {breach})", marks.breach),
            (f"({is_open} OR NOT {done} AND {undecided})", marks.undecided),
            (is_open, marks.open),
            (f"(NOT {done})", marks.left),
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

    def _verdicts(self, plan: MonitorPlan, columns: FactColumns) -> list[Selection]:
        facts = FoldedFacts(plan, self._dialect, self._folds, columns)
        decisions, marks = Decisions(facts), Marks(plan.definition.id)
        found = [
            (decisions.breach(), marks.name("is breach")),
            (decisions.compliant(), marks.name("is compliant")),
            (decisions.undecided(), marks.name("is undecided")),
            (decisions.outside(), marks.name("is outside")),
            (decisions.partial(), marks.name("is partial")),
        ]
        return [*found, (facts.is_open(), marks.name("is open"))]

    def _marks(self, carried: Sequence[str], judged: Sequence[str]) -> Relation:
        """Settled and outside of each monitor, each said once."""
        selections = _kept("j", [*carried, *judged], self._dialect)
        for plan in self._plans:
            marks = Marks(plan.definition.id)
            said = {
                mark: f"j.{self._dialect.identifier(marks.name(f'is {mark}'))}"
                for mark in ("breach", "compliant", "undecided", "outside", "open")
            }
            others = f"NOT {said['breach']} AND NOT {said['undecided']} AND NOT {said['open']}"
            settled = f"({said['compliant']} AND {others} AND NOT {said['outside']})"
            outside = f"({said['outside']} AND {others} AND NOT {said['compliant']})"
            selections += [
                (settled, marks.name("settled")),
                (outside, marks.name("outside")),
                (f"({settled} OR {outside})", marks.name("done")),
            ]
        return Relation(self._marked, tuple(selections), f"{self._judged} AS j")

    def _counts(self) -> list[Selection]:
        found: list[Selection] = [("COUNT(*)", ROWS)]
        fields = _kept("k", [names.carried(column) for column in self._carried], self._dialect)
        done = []
        for plan in self._plans:
            marks = Marks(plan.definition.id)
            settled, outside, partial = (
                f"k.{self._dialect.identifier(marks.name(mark))}" for mark in ("settled", "outside", "is partial")
            )
            tests = {"settled": settled, "outside": outside, "settled partial": f"{settled} AND {partial}"}
            found += [(f"COUNT(*) FILTER (WHERE {test})", marks.name(mark)) for mark, test in tests.items()]
            fields += _kept("k", [marks.name(mark) for mark in ("done", *_JUDGED)], self._dialect)
            done.append(f"k.{self._dialect.identifier(marks.name('done'))}")
        records = f"{self._dialect.records(fields)} FILTER (WHERE NOT {conjunction(done)})"
        return [*found, (records, _RECORDS)]


_JUDGED = ("is breach", "is undecided", "is open")
_COUNTED = ("settled", "outside", "settled partial")


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
