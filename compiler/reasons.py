"""Why a member is undecided: the reason of each comparison that counts, and the causes of its operands.

A comparison counts where it is unknown and so is everything above it, up to the whole condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import Arithmetic, Comparing, Condition, Deciding, Exists, LinkCount, Operand, PropertyRef
from catalog.expressions.walking import atom_references, nodes
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.facts import Facts
from compiler.plan import LinkPlan, MonitorPlan
from compiler.predicates import Predicates, comparisons_with_parents
from compiler.relations import relation_names, superseded
from trivet.verdicts import Cause, Reason


@dataclass(frozen=True, slots=True)
class CauseColumn:
    """One column of the no_data query: causes of one operand, or NULL."""

    operand: str
    """Operand, link or printed arithmetic, as it stands in a member's `causes`."""
    expression: str
    """Text of one cause, or of several joined by commas."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """Writes reasons and causes of the comparisons of one condition."""

    plan: MonitorPlan
    dialect: Dialect
    facts: Facts
    predicates: Predicates

    def counted(self, condition: Condition) -> list[tuple[Deciding, str | None]]:
        """The atoms of an unknown condition, each with the test that it counts (None: it always does)."""
        found = []
        for atom, parents in comparisons_with_parents(condition):
            tests = [self.predicates.unknown(parent) for parent in parents]
            found.append((atom, " AND ".join(tests) if tests else None))
        return found

    def reason(self, atom: Deciding) -> str:
        """The reason of one unknown atom, as text."""
        links, asked = self._quantified(atom), self.facts.asked_links(atom)
        figures = self._figures(atom)
        if not links and not asked and not figures:
            return f"'{Reason.LEFT_NULL}'"
        rows = self.facts.rows()
        why = [rows.column(ref, names.reason(ref.name)) for ref in figures]
        unmatched = [f"NOT {self.facts.has_match(link)}" for link in links]
        unmatched += [self._has_no_key(link) for link in asked]
        branches = [f"WHEN {reason} = '{Reason.LEFT_MISSING}' THEN '{Reason.LEFT_MISSING}'" for reason in why]
        branches += [f"WHEN {test} THEN '{Reason.LEFT_NULL}'" for test in self._own_missing(atom, [*links, *asked])]
        branches += [f"WHEN {' OR '.join(unmatched)} THEN '{Reason.RIGHT_MISSING}'"] if unmatched else []
        branches += [f"WHEN {reason} = '{Reason.INSUFFICIENT}' THEN '{Reason.INSUFFICIENT}'" for reason in why]
        branches += [f"WHEN {test} THEN '{Reason.LEFT_NULL}'" for test in self._own_censored(atom)]
        if not isinstance(atom, Exists) and links and self.facts.is_to_one(atom):
            branches += self._ambiguous(atom)
        rest = Reason.RIGHT_NULL if links or asked else Reason.LEFT_NULL
        return f"CASE {' '.join(branches)} ELSE '{rest}' END"

    def causes(self, atom: Deciding) -> Iterator[CauseColumn]:
        """The cause columns of one unknown atom."""
        rows = self.facts.rows()
        links, asked = self._quantified(atom), self.facts.asked_links(atom)
        dates = [PropertyRef(link.link.as_of.date) for link in (*links, *asked) if link.link.as_of is not None]
        own = [ref for ref in atom_references(atom) if ref.link is None]
        for ref in dict.fromkeys([*own, *dates]):
            measure = self.plan.measures.get(ref.name)
            if measure is None:
                yield CauseColumn(str(ref), rows.cause(ref))
            else:
                yield from (CauseColumn(operand, rows.column(ref, column)) for operand, column in measure.causes)
        for link in links:
            yield CauseColumn(link.link.name, self._link_cause(link))
        for link in asked:
            yield CauseColumn(link.link.name, f"CASE WHEN {self._has_no_key(link)} THEN '{Cause.KEY_NULL}' END")
            yield from self._date_causes(link, partial(self._over_unusable_rows, link))
        if isinstance(atom, Exists):
            return
        for ref in atom_references(atom):
            if ref.link is not None:
                yield CauseColumn(str(ref), self._over_undecided_rows(atom, rows.cause(ref)))
        for link in links:
            yield from self._date_causes(link, partial(self._over_undecided_rows, atom))
        yield from self._arithmetic_causes(atom)

    def _figures(self, atom: Deciding) -> list[PropertyRef]:
        return [ref for ref in atom_references(atom) if ref.link is None and ref.name in self.plan.figures]

    def _quantified(self, atom: Deciding) -> list[LinkPlan]:
        return [] if isinstance(atom, Exists) else self.facts.links_of(atom)

    def _own_missing(self, atom: Deciding, links: list[LinkPlan]) -> Iterator[str]:
        rows = self.facts.rows()
        for ref in atom_references(atom):
            if ref.link is None and ref.name in self.plan.figures:
                yield f"{rows.column(ref, names.reason(ref.name))} = '{Reason.LEFT_NULL}'"
            elif ref.link is None and rows.can_be_censored(ref):
                yield f"{rows.cause(ref)} <> '{Cause.CENSORED}'"
            elif ref.link is None:
                yield f"{rows.cause(ref)} IS NOT NULL"
        for link in links:
            if link.link.as_of is not None:
                yield f"{rows.cause(PropertyRef(link.link.as_of.date))} IS NOT NULL"
        if not isinstance(atom, Exists):
            yield from (failed for node, failed in rows.failures(atom) if not _names_link(node))

    def _own_censored(self, atom: Deciding) -> Iterator[str]:
        rows = self.facts.rows()
        for ref in atom_references(atom):
            if ref.link is None and rows.can_be_censored(ref):
                yield f"{rows.cause(ref)} = '{Cause.CENSORED}'"

    def _ambiguous(self, atom: Comparing) -> Iterator[str]:
        tests = [self.facts.some_true(atom), self.facts.some_false(atom)]
        if self.plan.definition.strict:
            tests.append(f"NOT {self.facts.some_unknown(atom)}")
        yield f"WHEN {' AND '.join(tests)} THEN '{Reason.RIGHT_AMBIGUOUS}'"

    def _link_cause(self, link: LinkPlan) -> str:
        branches = [f"WHEN {self._has_no_key(link)} THEN '{Cause.KEY_NULL}'"]
        if link.link.as_of is not None and link.link.as_of.restates.value == "all":
            alias = self.facts.alias(link)
            relation = relation_names(self.plan)[link.far.relation]
            earlier = superseded(link, "m", alias, self.dialect)
            listed = f"EXISTS (SELECT 1 FROM {relation} AS {alias} WHERE {earlier})"
            absent = f"NOT {self.facts.has_match(link)}"
            branches.append(f"WHEN {absent} AND {listed} THEN '{Cause.SUPERSEDED}'")
        return f"CASE {' '.join(branches)} END"

    def _has_no_key(self, link: LinkPlan) -> str:
        rows = self.facts.rows()
        return " OR ".join(f"{rows.value(PropertyRef(name))} IS NULL" for name in link.link.source_keys)

    def _over_unusable_rows(self, link: LinkPlan, cause: str) -> str:
        unusable = f"NOT {self.facts.alias(link)}.{self.dialect.identifier(names.USABLE)}"
        return f"(SELECT {self.dialect.joined_causes(cause)} {self.facts.source([link])} AND {unusable})"

    def _over_undecided_rows(self, atom: Comparing, cause: str) -> str:
        source = self.facts.source(self.facts.links_of(atom))
        undecided = f"({self.facts.row_truth(atom)}) IS NULL"
        return f"(SELECT {self.dialect.joined_causes(cause)} {source} AND {undecided})"

    def _date_causes(self, link: LinkPlan, over_rows: Callable[[str], str]) -> Iterator[CauseColumn]:
        as_of = link.link.as_of
        if as_of is None:
            return
        alias = self.facts.alias(link)
        start = f"{alias}.{self.dialect.identifier(names.cause(as_of.valid_from))}"
        yield CauseColumn(f"{link.link.name}.{as_of.valid_from}", over_rows(start))
        if as_of.valid_to:
            end = f"{alias}.{self.dialect.identifier(names.cause(as_of.valid_to))}"
            yield CauseColumn(f"{link.link.name}.{as_of.valid_to}", over_rows(f"NULLIF({end}, '{Cause.NULL}')"))

    def _arithmetic_causes(self, atom: Comparing) -> Iterator[CauseColumn]:
        rows = self.facts.rows()
        for node, failed in rows.failures(atom):
            cause = f"CASE WHEN {failed} THEN {self._failure_cause(node)} END"
            if any(isinstance(inner, PropertyRef) and inner.link is not None for inner in nodes(node)):
                cause = self._over_undecided_rows(atom, cause)
            yield CauseColumn(print_operand(node), cause)

    def _failure_cause(self, node: Operand) -> str:
        zero = self.facts.rows().divides_by_zero(node) if isinstance(node, Arithmetic) else None
        if zero is None:
            return f"'{Cause.OVERFLOW}'"
        return f"CASE WHEN {zero} THEN '{Cause.DIVISION_BY_ZERO}' ELSE '{Cause.OVERFLOW}' END"


def _names_link(node: Operand) -> bool:
    """Whether what failed is not over own properties alone."""
    return any(
        isinstance(inner, LinkCount) or (isinstance(inner, PropertyRef) and inner.link is not None)
        for inner in nodes(node)
    )


_OF_ROWS = (Reason.LEFT_NULL, Reason.RIGHT_MISSING, Reason.RIGHT_NULL, Reason.RIGHT_AMBIGUOUS)


def member_reason(reasons: list[str], *, grouped: bool = False) -> str:
    """The first reason, in the order of `Reason`, among those of the comparisons that count."""
    if len(reasons) == 1:
        return reasons[0]
    among = ", ".join(reasons)
    order = (Reason.LEFT_MISSING, *_OF_ROWS, Reason.INSUFFICIENT) if grouped else _OF_ROWS
    return "CASE " + " ".join(f"WHEN '{reason}' IN ({among}) THEN '{reason}'" for reason in order) + " END"
