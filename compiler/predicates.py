"""T(condition), F(condition) and neither: three predicates over the member, each two-valued.

They are built from EXISTS over matching rows and comparisons over determinate values, as
`docs/explanation/verdicts.md` defines them (Kleene 1952, strong three-valued logic). `not` is
never pushed through a quantifier: `not (x < l.y)` and `x >= l.y` differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.expressions.tree import (
    And,
    Between,
    Comparing,
    Comparison,
    Condition,
    Membership,
    Not,
    Or,
    Presence,
    Quantifier,
    atom_links,
)
from compiler import names
from compiler.comparisons import RowComparisons
from compiler.dialects.dialect import Dialect
from compiler.plan import LinkPlan, MonitorPlan
from compiler.relations import matches, relation_names
from trivet.verdicts import Cause


@dataclass(frozen=True, slots=True)
class Predicates:
    """Writes the predicates of one plan over the member alias `m`."""

    plan: MonitorPlan
    dialect: Dialect
    member: str = "m"

    def true(self, condition: Condition) -> str:
        """Whether the condition is decided, and true."""
        match condition:
            case And(items=items):
                return _all(self.true(item) for item in items)
            case Or(items=items):
                return _any(self.true(item) for item in items)
            case Not(item=item):
                return self.false(item)
            case Presence():
                return self._presence(condition)
            case Comparison() | Between() | Membership():
                return self._comparing_true(condition)

    def false(self, condition: Condition) -> str:
        """Whether the condition is decided, and false."""
        match condition:
            case And(items=items):
                return _any(self.false(item) for item in items)
            case Or(items=items):
                return _all(self.false(item) for item in items)
            case Not(item=item):
                return self.true(item)
            case Presence():
                return f"NOT {self._presence(condition)}"
            case Comparison() | Between() | Membership():
                return self._comparing_false(condition)

    def unknown(self, condition: Condition) -> str:
        """Whether the condition is undecided."""
        return f"NOT ({self.true(condition)} OR {self.false(condition)})"

    def rows(self) -> RowComparisons:
        """The writer of row-level comparisons over this plan's aliases."""
        aliases: dict[str | None, str] = {None: self.member}
        aliases.update({link.link.name: self.alias(link) for link in self.plan.links})
        return RowComparisons(self.plan.scope, self.dialect, aliases)

    def alias(self, link: LinkPlan) -> str:
        """Alias of a link's row wherever it stands."""
        return f"r{self.plan.links.index(link) + 1}"

    def links_of(self, atom: Comparing | Presence) -> list[LinkPlan]:
        """The links that an atom names."""
        return [self.plan.link(name) for name in atom_links(atom)]

    def source(self, links: list[LinkPlan]) -> str:
        """FROM and WHERE of the matching rows (or pairs of rows), open for further conditions."""
        spelled = relation_names(self.plan)
        tables = " CROSS JOIN ".join(f"{spelled[link.far.relation]} AS {self.alias(link)}" for link in links)
        return f"FROM {tables} WHERE {_all(self.matching(link) for link in links)}"

    def matching(self, link: LinkPlan) -> str:
        """Whether the link's row belongs to the member."""
        return matches(link, self.member, self.alias(link), self.dialect)

    def has_match(self, link: LinkPlan) -> str:
        """Whether any row matches the member."""
        return f"EXISTS (SELECT 1 {self.source([link])})"

    def row_truth(self, atom: Comparing) -> str:
        """The comparison on one matching row, NULL where that row decides nothing."""
        truth = self.rows().truth(atom)
        flags = [self._usable(link) for link in self.links_of(atom) if link.link.as_of is not None]
        return f"CASE WHEN {_all(flags)} THEN {truth} END" if flags else truth

    def some_true(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it true."""
        return f"EXISTS (SELECT 1 {self.source(self.links_of(atom))} AND {self.row_truth(atom)})"

    def some_false(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it false."""
        return f"EXISTS (SELECT 1 {self.source(self.links_of(atom))} AND NOT {_operand(self.row_truth(atom))})"

    def some_unknown(self, atom: Comparing) -> str:
        """Whether a matching row is indeterminate for it."""
        return f"EXISTS (SELECT 1 {self.source(self.links_of(atom))} AND {_operand(self.row_truth(atom))} IS NULL)"

    def is_to_one(self, atom: Comparing) -> bool:
        """Whether rows that would decide differently make it unknown."""
        return any(link.link.cardinality.is_to_one for link in self.links_of(atom))

    def _usable(self, link: LinkPlan) -> str:
        return f"{self.alias(link)}.{self.dialect.identifier(names.USABLE)}"

    def _comparing_true(self, atom: Comparing) -> str:
        if not self.links_of(atom):
            return f"COALESCE({self.rows().truth(atom)}, FALSE)"
        tests = [self.some_true(atom)]
        if self.is_to_one(atom) or atom.quantifier is Quantifier.ALL:
            tests.append(f"NOT {self.some_false(atom)}")
        return _all([*tests, *self._strictly(atom)])

    def _comparing_false(self, atom: Comparing) -> str:
        if not self.links_of(atom):
            return f"COALESCE(NOT {_operand(self.rows().truth(atom))}, FALSE)"
        tests = [self.some_false(atom)]
        if self.is_to_one(atom) or atom.quantifier is Quantifier.ANY:
            tests.append(f"NOT {self.some_true(atom)}")
        return _all([*tests, *self._strictly(atom)])

    def _strictly(self, atom: Comparing) -> list[str]:
        return [f"NOT {self.some_unknown(atom)}"] if self.plan.definition.strict else []

    def _presence(self, atom: Presence) -> str:
        cause = self.rows().cause(atom.property)
        present = f"COALESCE({cause}, '') <> '{Cause.NULL}'"
        links = self.links_of(atom)
        found = f"EXISTS (SELECT 1 {self.source(links)} AND {present})" if links else f"({present})"
        return found if atom.present else f"(NOT {found})"


def comparisons_with_parents(condition: Condition) -> Iterator[tuple[Comparing, tuple[Condition, ...]]]:
    """Each comparison with the conditions that stand between it and the whole, outermost first.

    The whole condition itself is left out: wherever this is asked, it is known to be unknown.
    """
    yield from _descend(condition, ())


def _descend(condition: Condition, parents: tuple[Condition, ...]) -> Iterator[tuple[Comparing, tuple[Condition, ...]]]:
    match condition:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from _descend(item, (*parents, item))
        case Not(item=item):
            yield from _descend(item, (*parents, item))
        case Presence():
            return
        case Comparison() | Between() | Membership():
            yield condition, parents


def _operand(truth: str) -> str:
    return f"({truth})"


def _all(tests: Iterator[str] | list[str]) -> str:
    found = list(tests)
    return found[0] if len(found) == 1 else "(" + " AND ".join(found) + ")"


def _any(tests: Iterator[str] | list[str]) -> str:
    found = list(tests)
    return found[0] if len(found) == 1 else "(" + " OR ".join(found) + ")"
