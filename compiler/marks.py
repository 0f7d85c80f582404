"""What a pass says of one row for one monitor: settled, or left to be judged, and by which query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from compiler.decisions import Decisions
from compiler.dialects.dialect import Dialect
from compiler.facts import conjunction, disjunction
from compiler.folded_facts import FactColumns, FoldedFacts
from compiler.folding import Fold
from compiler.plan import MonitorPlan
from compiler.pruning import Selection

_SETTLED, _OUTSIDE, _PARTIAL = "settled", "outside", "settled partial"
_NEVER = "FALSE"
_FACT = re.compile(r'\((?P<not>NOT )?(?P<fact>m\."fact [0-9]+")\)')


@dataclass(frozen=True, slots=True)
class MarkNames:
    """The columns that speak of one monitor. Its id tells them from the other monitors'."""

    monitor: str

    def name(self, mark: str) -> str:
        """The column of one mark."""
        return f"{mark} {self.monitor}"

    @property
    def counted(self) -> tuple[str, str, str]:
        """What is counted of all rows: compliant members, those that are no members, and the partial of the first."""
        return self.name(_SETTLED), self.name(_OUTSIDE), self.name(_PARTIAL)

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
    def kept(self) -> tuple[str, str, str, str]:
        """What is kept with a row that is not settled for every monitor."""
        return self.breach, self.undecided, self.open, self.left


@dataclass(frozen=True, slots=True)
class Marks:
    """Tests of one monitor over the facts `m`. NULL says the same as false; of an undecided row nothing is said."""

    names: MarkNames
    dialect: Dialect
    breach: str
    compliant: str
    outside: str
    partial: str
    open: str

    @classmethod
    def of(cls, plan: MonitorPlan, dialect: Dialect, folds: dict[str, Fold], columns: FactColumns) -> Marks:
        """The marks of a monitor; the facts that they need are added to the columns."""
        facts = FoldedFacts(plan, dialect, folds, columns)
        decisions = Decisions(facts)
        breach, compliant, outside = decisions.breach(), decisions.compliant(), decisions.outside()
        partial = decisions.partial()
        # What is open is known once all facts are asked for.
        return cls(MarkNames(plan.definition.id), dialect, breach, compliant, outside, partial, facts.is_open())

    @property
    def done(self) -> str:
        """Whether the row is settled or no member."""
        return disjunction([test for test, _ in self.settled() if test != _NEVER])

    def settled(self) -> list[Selection]:
        """The two columns that every row is asked for: settled, and no member."""
        settled = _only(self.compliant, self.breach, self.outside, self.open)
        outside = _only(self.outside, self.breach, self.compliant, self.open)
        return [(settled, self.names.name(_SETTLED)), (outside, self.names.name(_OUTSIDE))]

    def counts(self) -> list[Selection]:
        """The aggregates over all rows, in the order of `MarkNames.counted`."""
        settled = self._column(_SETTLED)
        tests = (settled, self._column(_OUTSIDE), f"{settled} AND {self.partial}")
        never = (False, self.outside == _NEVER, self.partial == _NEVER)
        return [
            ("0" if is_never else self.dialect.count_if(test), name)
            for name, test, is_never in zip(self.names.counted, tests, never, strict=True)
        ]

    def kept(self) -> list[Selection]:
        """Why a row is left, in the order of `MarkNames.kept`. Of two verdicts at once, neither is believed."""
        done = [self._column(_SETTLED), *([self._column(_OUTSIDE)] if self.outside != _NEVER else [])]
        left = f"(NOT COALESCE({disjunction(done)}, FALSE))"
        said = [f"COALESCE({test}, FALSE)" for test in (self.breach, self.compliant, self.outside) if test != _NEVER]
        doubts = [f"COALESCE({self.open}, FALSE)"] if self.open != _NEVER else []
        doubts += [f"({one} AND {other})" for one, other in combinations(said, 2)]
        is_open = f"({left} AND {disjunction(doubts)})"
        neither = conjunction([left, *(f"NOT {verdict}" for verdict in said)])
        breach = f"({left} AND COALESCE({self.breach}, FALSE))"
        tests = (f"({is_open} OR {breach})", f"({is_open} OR {neither})", is_open, left)
        return list(zip(tests, self.names.kept, strict=True))

    def _column(self, mark: str) -> str:
        return f"m.{self.dialect.identifier(self.names.name(mark))}"


def _only(said: str, *others: str) -> str:
    """One thing is said of the row, and none of the others."""
    if said == _NEVER:
        return _NEVER
    tests = [f"NOT {other}" for other in others if other != _NEVER and not _deny_each_other(said, other)]
    return conjunction([said, *tests])


def _deny_each_other(one: str, other: str) -> bool:
    """Whether they are one fact and its negation, as they are for most monitors; nothing need be said twice then."""
    first, second = _FACT.fullmatch(one), _FACT.fullmatch(other)
    if first is None or second is None:
        return False
    return first["fact"] == second["fact"] and first["not"] != second["not"]
