"""What `compiler/predicates.py` asks of the facts of a member, however they are established."""

from __future__ import annotations

from typing import Protocol

from catalog.expressions.tree import Comparing, Deciding, Exists, Presence
from compiler.plan import LinkPlan, MonitorPlan


class MemberFacts(Protocol):
    """Facts as columns of one relation whose alias is `m`.

    Two implementations: `compiler/facts.py` asks the linked rows by correlated EXISTS, which is how
    people read it; `compiler/folded_facts.py` asks linked rows that were folded to one per key.
    """

    @property
    def plan(self) -> MonitorPlan:
        """The monitor."""

    def truth(self, atom: Comparing) -> str:
        """An own comparison as a boolean, NULL where it is unknown."""

    def holds(self, atom: Presence) -> str:
        """Whether a presence test holds; never NULL."""

    def some_true(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it true; NULL only where `some_false` is, and no row is."""

    def some_false(self, atom: Comparing) -> str:
        """Whether a determinate matching row makes it false; NULL as `some_true` is."""

    def some_unknown(self, atom: Comparing) -> str:
        """Whether a matching row is indeterminate for it."""

    def exists_true(self, atom: Exists) -> str:
        """Whether a row certainly matches."""

    def exists_false(self, atom: Exists) -> str:
        """Whether certainly no row matches."""

    def met_unknown(self, atom: Deciding) -> list[str]:
        """Tests, each of them that some matching row which the atom meets is indeterminate for it."""

    def partial_figures(self) -> list[str]:
        """Tests, each of them that indeterminate rows were left out of a figure; none where members are rows."""

    def certainly(self, test: str) -> str:
        """A test that may be NULL, as the predicates want it: two-valued, unless the reader takes NULL for false."""

    def links_of(self, atom: Comparing | Presence) -> list[LinkPlan]:
        """The links that an atom names."""

    def is_to_one(self, atom: Comparing) -> bool:
        """Whether rows that would decide differently make it unknown."""
