"""The verdicts of a member as predicates: breach, compliant, no_data, and whether it is a member at all."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.expressions.tree import Condition
from compiler.member_facts import MemberFacts
from compiler.plan import conditions_of
from compiler.predicates import Predicates, comparisons_with_parents


@dataclass(frozen=True, slots=True)
class Decisions:
    """Writes the predicates of one monitor over the relation of its facts, alias `m`.

    Each is two-valued if `MemberFacts.certainly` makes its tests so; else NULL says the same as false.
    """

    facts: MemberFacts

    @property
    def predicates(self) -> Predicates:
        """T, F and neither of any condition."""
        return Predicates(self.facts)

    @property
    def where(self) -> Condition | None:
        """What narrows the population, if anything does."""
        return self.facts.plan.definition.where

    @property
    def _breach_when(self) -> Condition:
        return self.facts.plan.definition.breach_when

    def outside(self) -> str:
        """Whether the row is no member, since `where` is decided and false."""
        return self.predicates.false(self.where) if self.where is not None else "FALSE"

    def scope_unknown(self) -> str:
        """Whether it cannot be decided if the row is a member."""
        return self.predicates.unknown(self.where) if self.where is not None else "FALSE"

    def breach(self) -> str:
        """Whether the condition is decided and true."""
        return self._scoped(self.predicates.true(self._breach_when))

    def compliant(self) -> str:
        """Whether the condition is decided and false."""
        return self._scoped(self.predicates.false(self._breach_when))

    def undecided(self) -> str:
        """Whether it, or the scope, cannot be decided."""
        unknown = self._scoped(self.predicates.unknown(self._breach_when))
        return unknown if self.where is None else f"({self.scope_unknown()} OR {unknown})"

    def partial(self) -> str:
        """Whether some matching row was indeterminate for some comparison."""
        found = [
            test
            for condition in conditions_of(self.facts.plan.definition)
            for atom, _ in comparisons_with_parents(condition)
            for test in self.facts.met_unknown(atom)
        ]
        found += self.facts.partial_figures()
        tests = list(dict.fromkeys(found))
        return f"({' OR '.join(tests)})" if tests else "FALSE"

    def _scoped(self, test: str) -> str:
        return f"({test})" if self.where is None else f"({self.predicates.true(self.where)} AND {test})"
