"""What is established of each member, comparison by comparison, before any logic joins it.

Each comparison of the condition is numbered in the order of the text (`breach_when`, then `where`)
and leaves its facts in columns of the relation `compared`: for a comparison over a link, whether
some matching row makes it true, false, or is indeterminate, each by one correlated EXISTS. So each
comparison is written, and run, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from catalog.expressions.tree import Atom, Between, Comparing, Comparison, Deciding, Exists, Membership, Presence
from catalog.expressions.walking import atom_links, atoms, counted_links
from compiler import names
from compiler.comparisons import RowComparisons
from compiler.dialects.dialect import Dialect
from compiler.plan import LinkPlan, MonitorPlan, conditions_of
from compiler.pruning import Selection
from compiler.relations import can_match, matches, relation_names
from trivet.verdicts import Cause


@dataclass(frozen=True, slots=True)
class Facts:
    """Writes the facts of one plan, and names their columns wherever the member's alias is `m`."""

    plan: MonitorPlan
    dialect: Dialect

    def selections(self) -> list[Selection]:
        """Every fact as an expression over `member AS m`, with the name of its column."""
        found: list[Selection] = []
        for number, atom in enumerate(self._atoms(), start=1):
            found += self._selections(number, atom)
        for link in self.plan.links:
            found.append((self._matched(link), _matched_name(link)))
            if link.link.as_of is not None:
                found.append((self._matched(link, self._usable(link)), _usable_name(link)))
                found.append((self._matched(link, f"NOT {self._usable(link)}"), _unusable_name(link)))
        return found

    def truth(self, atom: Comparing) -> str:
        """An own comparison as a boolean, NULL where it is unknown."""
        return self._column(f"comparison {self._number(atom)}")

    def holds(self, atom: Presence) -> str:
        """Whether a presence test holds; never NULL."""
        return self._column(f"presence {self._number(atom)}")

    def some_true(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it true."""
        return self._column(f"comparison {self._number(atom)} some true")

    def some_false(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it false."""
        return self._column(f"comparison {self._number(atom)} some false")

    def some_unknown(self, atom: Comparing) -> str:
        """Whether a matching row is indeterminate for it."""
        return self._column(f"comparison {self._number(atom)} some unknown")

    def met_unknown(self, atom: Deciding) -> list[str]:
        """Tests, each of them that some matching row which the atom meets is indeterminate for it."""
        asked = [test for link in self.asked_links(atom) if (test := self.some_unusable(link)) is not None]
        if isinstance(atom, Exists) or not self.links_of(atom):
            return asked
        return [self.some_unknown(atom), *asked]

    def partial_figures(self) -> list[str]:
        """Tests, each of them that indeterminate rows were left out of a figure; none where members are rows."""
        return [self._column(names.partial(figure)) for figure in self.plan.figures]

    def asked_links(self, atom: Deciding) -> list[LinkPlan]:
        """The links whose matching rows an atom asks for or counts, whatever these hold."""
        return [self.plan.link(name) for name in ((atom.link,) if isinstance(atom, Exists) else counted_links(atom))]

    def exists_true(self, atom: Exists) -> str:
        """Whether a row certainly matches."""
        link = self.plan.link(atom.link)
        found = self.has_match(link) if link.link.as_of is None else self._column(_usable_name(link))
        unusable = self.some_unusable(link) if self.plan.definition.strict else None
        return conjunction([self.can_match(link), found, *([f"NOT {unusable}"] if unusable else [])])

    def exists_false(self, atom: Exists) -> str:
        """Whether certainly no row matches."""
        link = self.plan.link(atom.link)
        return conjunction([self.can_match(link), f"NOT {self.has_match(link)}"])

    def can_match(self, link: LinkPlan) -> str:
        """Whether the member's keys, and its date where the link needs it, are known."""
        return f"({can_match(link, 'm', self.dialect)})"

    def some_unusable(self, link: LinkPlan) -> str | None:
        """Whether a matching row has unusable effective dates; None for a link without dates."""
        return None if link.link.as_of is None else self._column(_unusable_name(link))

    def certainly(self, test: str) -> str:
        """The test as two-valued."""
        return f"COALESCE({test}, FALSE)"

    def has_match(self, link: LinkPlan) -> str:
        """Whether any row of the link matches the member."""
        return self._column(_matched_name(link))

    def rows(self) -> RowComparisons:
        """The writer of row-level comparisons over this plan's aliases."""
        aliases: dict[str | None, str] = {None: "m"}
        aliases.update({link.link.name: self.alias(link) for link in self.plan.links})
        return RowComparisons(self.plan.scope, self.dialect, aliases, self.plan.at)

    def row_truth(self, atom: Comparing) -> str:
        """The comparison on one matching row, NULL where that row decides nothing."""
        truth = self.rows().truth(atom)
        flags = [self._usable(link) for link in self.links_of(atom) if link.link.as_of is not None]
        return f"CASE WHEN {conjunction(flags)} THEN {truth} END" if flags else truth

    def alias(self, link: LinkPlan) -> str:
        """Alias of a link's row wherever it stands."""
        return f"r{self.plan.links.index(link) + 1}"

    def links_of(self, atom: Atom) -> list[LinkPlan]:
        """The links that an atom names."""
        return [self.plan.link(name) for name in atom_links(atom)]

    def source(self, links: list[LinkPlan]) -> str:
        """FROM and WHERE of the matching rows (or pairs of rows), open for further conditions."""
        spelled = relation_names(self.plan)
        tables = " CROSS JOIN ".join(f"{spelled[link.far.relation]} AS {self.alias(link)}" for link in links)
        return (
            f"FROM {tables} WHERE {conjunction(matches(link, 'm', self.alias(link), self.dialect) for link in links)}"
        )

    def is_to_one(self, atom: Comparing) -> bool:
        """Whether rows that would decide differently make it unknown."""
        return any(link.link.cardinality.is_to_one for link in self.links_of(atom))

    def _atoms(self) -> Iterator[Atom]:
        for condition in conditions_of(self.plan.definition):
            yield from atoms(condition)

    def _number(self, atom: Atom) -> int:
        # Two equal atoms have equal facts, so the first one's columns serve both.
        return list(self._atoms()).index(atom) + 1

    def _column(self, name: str) -> str:
        return f"m.{self.dialect.identifier(name)}"

    def _selections(self, number: int, atom: Atom) -> list[Selection]:
        match atom:
            case Presence():
                return self._presence(number, atom)
            case Exists():
                return []
            case Comparison() | Between() | Membership():
                return self._comparing(number, atom)

    def _comparing(self, number: int, atom: Comparing) -> list[Selection]:
        links = self.links_of(atom)
        if not links:
            return [(self.rows().truth(atom), f"comparison {number}")]
        source, truth = self.source(links), self.row_truth(atom)
        return [
            (f"EXISTS (SELECT 1 {source} AND {truth})", f"comparison {number} some true"),
            (f"EXISTS (SELECT 1 {source} AND NOT ({truth}))", f"comparison {number} some false"),
            (f"EXISTS (SELECT 1 {source} AND ({truth}) IS NULL)", f"comparison {number} some unknown"),
        ]

    def _presence(self, number: int, atom: Presence) -> list[Selection]:
        present = f"COALESCE({self.rows().cause(atom.property)}, '') <> '{Cause.NULL}'"
        links = self.links_of(atom)
        found = f"EXISTS (SELECT 1 {self.source(links)} AND {present})" if links else f"({present})"
        return [(found if atom.present else f"(NOT {found})", f"presence {number}")]

    def _matched(self, link: LinkPlan, *tests: str) -> str:
        return f"EXISTS (SELECT 1 {' AND '.join([self.source([link]), *tests])})"

    def _usable(self, link: LinkPlan) -> str:
        return f"{self.alias(link)}.{self.dialect.identifier(names.USABLE)}"


def _matched_name(link: LinkPlan) -> str:
    return f"{link.link.name} matched"


def _usable_name(link: LinkPlan) -> str:
    return f"{link.link.name} matched usable"


def _unusable_name(link: LinkPlan) -> str:
    return f"{link.link.name} matched unusable"


def conjunction(tests: Iterable[str]) -> str:
    """All of the tests."""
    found = list(tests)
    return found[0] if len(found) == 1 else "(" + " AND ".join(found) + ")"


def disjunction(tests: Iterable[str]) -> str:
    """Any of the tests."""
    found = list(tests)
    return found[0] if len(found) == 1 else "(" + " OR ".join(found) + ")"
