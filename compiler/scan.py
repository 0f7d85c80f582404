"""One pass over a view for any number of monitors: what is settled is counted, what is not is kept.

A row is settled for a monitor when its own predicates say that it is compliant, and nothing else;
or that it is no member. All other rows (breaches, undecided ones, and those that folded rows leave
open) are kept with the view's own columns, and the readable queries judge them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.engines.port import HeldName
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.facts import conjunction
from compiler.folded_facts import FactColumns
from compiler.folding import Fold
from compiler.marks import Marks
from compiler.plan import LinkPlan, MonitorPlan, RelationPlan
from compiler.pruning import Relation, Selection, identifiers_in, select, with_clause
from compiler.quick_rules import QuickRules
from compiler.relations import final_columns, relation_names, relations_of

ROWS = "rows"
_RECORDS, _RECORD, _ANY_LEFT = "records", "record", "any left"


class Scan:
    """Writes the statements of one pass for the monitors of one object type, each of them once."""

    def __init__(self, plans: Sequence[MonitorPlan], dialect: Dialect) -> None:
        self._dialect = dialect
        self._plan = _merged(plans)
        self._carried = _carried_columns(self._plan.member)
        taken = {*relation_names(self._plan).values()}
        taken |= {item.view.rpartition(".")[2] for item in self._plan.scope.contract.object_types}
        self._names = {wanted: names.free_relation(wanted, taken) for wanted in ("joined", "facts", "marks")}
        self._folds = {
            link.link.name: Fold(
                self._plan, link, f"f{index}", names.free_relation(f"{link.far.relation}_fold", taken), dialect
            )
            for index, link in enumerate(self._plan.links, start=1)
        }
        self._facts = FactColumns(dialect)
        self._marks = [Marks.of(plan, dialect, self._folds, self._facts) for plan in plans]

    def tally(self) -> str:
        """One row: how many rows the view has, how many each monitor has settled, and the rest as records."""
        member = relation_names(self._plan)[self._plan.member.relation]
        joins = " ".join(fold.join() for fold in self._folds.values())
        joined = Relation(self._names["joined"], tuple(self._joined()), f"{member} AS m {joins}")
        relations = [
            *relations_of(self._plan, self._dialect, (), QuickRules, self._carried),
            *(relation for fold in self._folds.values() for relation in fold.relations()),
            joined,
            *self._judged(),
        ]
        records = self._dialect.records(self._kept("m", self._record_columns()))
        counts = [
            ("COUNT(*)", ROWS),
            *(count for marks in self._marks for count in marks.counts()),
            (f"{records} FILTER (WHERE m.{self._dialect.identifier(_ANY_LEFT)})", _RECORDS),
        ]
        body = f"{select(counts, self._dialect)} FROM {self._names['marks']} AS m"
        return with_clause(relations, body, self._dialect)

    def unsettled(self) -> str:
        """The records as rows, with the view's own column names and the marks of each monitor.

        The marks are made of these rows alone: in the pass itself they would cost every row.
        """
        record = f"u.{self._dialect.identifier(_RECORD)}"
        records = self._dialect.unnested(f"t.{self._dialect.identifier(_RECORDS)}")
        inner = f"(SELECT {records} AS {self._dialect.identifier(_RECORD)} FROM {HeldName.TALLY} AS t) AS u"
        fields = [(self._dialect.field(record, column), column) for column in self._record_columns()]
        relations = [Relation(self._names["joined"], tuple(fields), inner), *self._judged()]
        selections = [(f"m.{self._dialect.identifier(names.carried(column))}", column) for column in self._carried]
        selections += [mark for marks in self._marks for mark in marks.kept()]
        body = f"{select(selections, self._dialect)} FROM {self._names['marks']} AS m"
        return with_clause(relations, body, self._dialect)

    def settled_counts(self) -> str:
        """The counts of the tally: `ROWS`, and then three for each monitor."""
        return f"{select(self._kept('t', self._count_columns()), self._dialect)} FROM {HeldName.TALLY} AS t"

    def unsettled_counts(self) -> str:
        """How many rows each monitor has to judge: breaches, undecided ones, and open ones, which are among both."""
        marked = [name for marks in self._marks for name in marks.names.kept]
        counts = [(self._dialect.count_if(f"u.{self._dialect.identifier(name)}"), name) for name in marked]
        return f"{select(counts, self._dialect)} FROM {HeldName.UNSETTLED} AS u"

    def tally_columns(self) -> list[str]:
        """The columns of the tally."""
        return [*self._count_columns(), _RECORDS]

    def _count_columns(self) -> list[str]:
        return [ROWS, *(name for marks in self._marks for name in marks.names.counted)]

    def _joined(self) -> list[Selection]:
        """Everything that there is beside a member."""
        own = [name for item in self._plan.member.properties for name in final_columns(item.name, bool(item.censored))]
        beside = [selection for fold in self._folds.values() for selection in fold.joined()]
        return [*self._kept("m", [*map(names.carried, self._carried), *own]), *beside]

    def _record_columns(self) -> list[str]:
        """What is kept of a row: the view's columns, and all that its facts follow from."""
        used = {name for expression, _ in self._facts.selections() for name in identifiers_in(expression)}
        used |= {names.carried(column) for column in self._carried}
        return [name for _, name in self._joined() if name in used]

    def _judged(self) -> list[Relation]:
        """The facts, and what of them every row is asked for."""
        kept = self._kept("m", self._record_columns())
        facts = Relation(self._names["facts"], (*kept, *self._facts.selections()), f"{self._names['joined']} AS m")
        selections = [*kept, *self._kept("m", [name for _, name in self._facts.selections()])]
        for marks in self._marks:
            selections += marks.settled()
        done = conjunction(marks.done for marks in self._marks)
        selections.append((f"({done} IS NOT TRUE)", _ANY_LEFT))
        return [facts, Relation(self._names["marks"], tuple(selections), f"{self._names['facts']} AS m")]

    def _kept(self, alias: str, columns: Sequence[str]) -> list[Selection]:
        return [(f"{alias}.{self._dialect.identifier(name)}", name) for name in columns]


def _carried_columns(member: RelationPlan) -> tuple[str, ...]:
    """The columns of the view that the readable queries of these monitors read."""
    columns = [column for item in member.properties for column in item.columns]
    return tuple(dict.fromkeys([*columns, *(column for _, column in member.object_type.provenance.named())]))


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
