"""Why a member is undecided: the reason of each comparison that counts, and the causes of its operands.

A comparison counts where it is unknown and so is everything above it, up to the whole condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.expressions.printing import print_operand
from catalog.expressions.tree import (
    Arithmetic,
    Comparing,
    Condition,
    PropertyRef,
    atom_references,
    references,
)
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

    def counted(self, condition: Condition) -> list[tuple[Comparing, str | None]]:
        """The comparisons of an unknown condition, each with the test that it counts (None: it always does)."""
        found = []
        for atom, parents in comparisons_with_parents(condition):
            tests = [self.predicates.unknown(parent) for parent in parents]
            found.append((atom, " AND ".join(tests) if tests else None))
        return found

    def reason(self, atom: Comparing) -> str:
        """The reason of one unknown comparison, as text."""
        links = self.facts.links_of(atom)
        if not links:
            return f"'{Reason.LEFT_NULL}'"
        unmatched = " OR ".join(f"NOT {self.facts.has_match(link)}" for link in links)
        branches = [f"WHEN {test} THEN '{Reason.LEFT_NULL}'" for test in self._own_missing(atom, links)]
        branches.append(f"WHEN {unmatched} THEN '{Reason.RIGHT_MISSING}'")
        branches += [f"WHEN {test} THEN '{Reason.LEFT_NULL}'" for test in self._own_censored(atom)]
        if self.facts.is_to_one(atom):
            branches += self._ambiguous(atom)
        return f"CASE {' '.join(branches)} ELSE '{Reason.RIGHT_NULL}' END"

    def causes(self, atom: Comparing) -> Iterator[CauseColumn]:
        """The cause columns of one unknown comparison."""
        rows = self.facts.rows()
        links = self.facts.links_of(atom)
        dates = [PropertyRef(link.link.as_of.date) for link in links if link.link.as_of is not None]
        own = [ref for ref in atom_references(atom) if ref.link is None]
        for ref in dict.fromkeys([*own, *dates]):
            yield CauseColumn(str(ref), rows.cause(ref))
        for link in links:
            yield CauseColumn(link.link.name, self._link_cause(link))
        for ref in atom_references(atom):
            if ref.link is not None:
                yield CauseColumn(str(ref), self._over_undecided_rows(atom, rows.cause(ref)))
        for link in links:
            yield from self._date_causes(atom, link)
        yield from self._arithmetic_causes(atom)

    def _own_missing(self, atom: Comparing, links: list[LinkPlan]) -> Iterator[str]:
        rows = self.facts.rows()
        for ref in atom_references(atom):
            if ref.link is None and rows.can_be_censored(ref):
                yield f"{rows.cause(ref)} <> '{Cause.CENSORED}'"
            elif ref.link is None:
                yield f"{rows.cause(ref)} IS NOT NULL"
        for link in links:
            if link.link.as_of is not None:
                yield f"{rows.cause(PropertyRef(link.link.as_of.date))} IS NOT NULL"
        for node, failed in rows.failed_arithmetic(atom):
            if all(ref.link is None for ref in references(node)):
                yield failed

    def _own_censored(self, atom: Comparing) -> Iterator[str]:
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
        rows = self.facts.rows()
        keys = [rows.value(PropertyRef(name)) for name in link.link.source_keys]
        branches = [f"WHEN {' OR '.join(f'{key} IS NULL' for key in keys)} THEN '{Cause.KEY_NULL}'"]
        if link.link.as_of is not None and link.link.as_of.restates.value == "all":
            alias = self.facts.alias(link)
            relation = relation_names(self.plan)[link.far.relation]
            earlier = superseded(link, "m", alias, self.dialect)
            listed = f"EXISTS (SELECT 1 FROM {relation} AS {alias} WHERE {earlier})"
            absent = f"NOT {self.facts.has_match(link)}"
            branches.append(f"WHEN {absent} AND {listed} THEN '{Cause.SUPERSEDED}'")
        return f"CASE {' '.join(branches)} END"

    def _over_undecided_rows(self, atom: Comparing, cause: str) -> str:
        source = self.facts.source(self.facts.links_of(atom))
        undecided = f"({self.facts.row_truth(atom)}) IS NULL"
        return f"(SELECT {self.dialect.joined_causes(cause)} {source} AND {undecided})"

    def _date_causes(self, atom: Comparing, link: LinkPlan) -> Iterator[CauseColumn]:
        as_of = link.link.as_of
        if as_of is None:
            return
        alias = self.facts.alias(link)
        start = f"{alias}.{self.dialect.identifier(names.cause(as_of.valid_from))}"
        yield CauseColumn(f"{link.link.name}.{as_of.valid_from}", self._over_undecided_rows(atom, start))
        if as_of.valid_to:
            end = f"{alias}.{self.dialect.identifier(names.cause(as_of.valid_to))}"
            told = f"NULLIF({end}, '{Cause.NULL}')"
            yield CauseColumn(f"{link.link.name}.{as_of.valid_to}", self._over_undecided_rows(atom, told))

    def _arithmetic_causes(self, atom: Comparing) -> Iterator[CauseColumn]:
        rows = self.facts.rows()
        for node, failed in rows.failed_arithmetic(atom):
            cause = f"CASE WHEN {failed} THEN {self._arithmetic_cause(node)} END"
            if any(ref.link is not None for ref in references(node)):
                cause = self._over_undecided_rows(atom, cause)
            yield CauseColumn(print_operand(node), cause)

    def _arithmetic_cause(self, node: Arithmetic) -> str:
        zero = self.facts.rows().divides_by_zero(node)
        if zero is None:
            return f"'{Cause.OVERFLOW}'"
        return f"CASE WHEN {zero} THEN '{Cause.DIVISION_BY_ZERO}' ELSE '{Cause.OVERFLOW}' END"


def member_reason(reasons: list[str]) -> str:
    """The first reason, in the order of `Reason`, among those of the comparisons that count."""
    if len(reasons) == 1:
        return reasons[0]
    among = ", ".join(reasons)
    order = (Reason.LEFT_NULL, Reason.RIGHT_MISSING, Reason.RIGHT_NULL, Reason.RIGHT_AMBIGUOUS)
    return "CASE " + " ".join(f"WHEN '{reason}' IN ({among}) THEN '{reason}'" for reason in order) + " END"
