"""T(condition), F(condition) and neither: three predicates over the member, each two-valued.

Strong three-valued logic (Kleene 1952) over the facts of `compiler/facts.py`, as
`docs/explanation/verdicts.md` defines it. `not` swaps T and F of what it stands before, and is
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
    Deciding,
    Exists,
    Membership,
    Not,
    Or,
    Presence,
    Quantifier,
)
from compiler.facts import conjunction, disjunction
from compiler.member_facts import MemberFacts


@dataclass(frozen=True, slots=True)
class Predicates:
    """Writes the predicates of one plan over the relation `compared AS m`."""

    facts: MemberFacts

    def true(self, condition: Condition) -> str:
        """Whether the condition is decided, and true."""
        match condition:
            case And(items=items):
                return conjunction(self.true(item) for item in items)
            case Or(items=items):
                return disjunction(self.true(item) for item in items)
            case Not(item=item):
                return self.false(item)
            case Presence():
                return self.facts.holds(condition)
            case Exists():
                return self.facts.exists_true(condition)
            case Comparison() | Between() | Membership():
                return self._comparing_true(condition)

    def false(self, condition: Condition) -> str:
        """Whether the condition is decided, and false."""
        match condition:
            case And(items=items):
                return disjunction(self.false(item) for item in items)
            case Or(items=items):
                return conjunction(self.false(item) for item in items)
            case Not(item=item):
                return self.true(item)
            case Presence():
                return f"NOT {self.facts.holds(condition)}"
            case Exists():
                return self.facts.exists_false(condition)
            case Comparison() | Between() | Membership():
                return self._comparing_false(condition)

    def unknown(self, condition: Condition) -> str:
        """Whether the condition is undecided."""
        return f"NOT ({self.true(condition)} OR {self.false(condition)})"

    def _comparing_true(self, atom: Comparing) -> str:
        if not self.facts.links_of(atom):
            return self.facts.certainly(self.facts.truth(atom))
        tests = [self.facts.some_true(atom)]
        if self.facts.is_to_one(atom) or atom.quantifier is Quantifier.ALL:
            tests.append(f"NOT {self.facts.some_false(atom)}")
        return conjunction([*tests, *self._strictly(atom)])

    def _comparing_false(self, atom: Comparing) -> str:
        if not self.facts.links_of(atom):
            return self.facts.certainly(f"NOT {self.facts.truth(atom)}")
        tests = [self.facts.some_false(atom)]
        if self.facts.is_to_one(atom) or atom.quantifier is Quantifier.ANY:
            tests.append(f"NOT {self.facts.some_true(atom)}")
        return conjunction([*tests, *self._strictly(atom)])

    def _strictly(self, atom: Comparing) -> list[str]:
        return [f"NOT {self.facts.some_unknown(atom)}"] if self.facts.plan.definition.strict else []


def comparisons_with_parents(condition: Condition) -> Iterator[tuple[Deciding, tuple[Condition, ...]]]:
    """Each atom that can be unknown, with the conditions from below the whole down to itself, outermost first.

    The whole condition is left out: wherever this is asked, it is known to be unknown.
    """
    yield from _descend(condition, ())


def _descend(condition: Condition, parents: tuple[Condition, ...]) -> Iterator[tuple[Deciding, tuple[Condition, ...]]]:
    match condition:
        case And(items=items) | Or(items=items):
            for item in items:
                yield from _descend(item, (*parents, item))
        case Not(item=item):
            yield from _descend(item, (*parents, item))
        case Presence():
            return
        case Comparison() | Between() | Membership() | Exists():
            yield condition, parents
