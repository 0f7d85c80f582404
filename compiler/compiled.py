"""What compiling gives: three certified queries' texts, and how their rows are read back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from catalog.expressions.baselines import BaselineRule
from catalog.expressions.tree import Aggregate
from catalog.referee.certified import CertifiedQuery
from compiler.plan import MonitorPlan
from monitors.definition import MonitorDefinition


class Role(StrEnum):
    """What a column of the breach or no_data query holds."""

    KEY = "key"
    OPERAND = "operand"
    PARTIAL = "partial"
    REASON = "reason"
    CAUSES = "causes"
    PROVENANCE = "provenance"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of a query's result, in the query's order."""

    role: Role
    name: str
    """Key property, operand, or part of a provenance record."""
    source: str = ""
    """For provenance: the object type, or the link, whose row it speaks of."""
    masked: bool = False
    """Whether its values may not leave the evaluator as they are."""


@dataclass(frozen=True, slots=True)
class MemberQuery:
    """A certified query with one row per member, and the meaning of its columns."""

    query: CertifiedQuery
    columns: tuple[OutputColumn, ...]

    @property
    def has_masked_key(self) -> bool:
        """Whether the order of the query's rows would tell what is masked."""
        return any(column.masked and column.role is Role.KEY for column in self.columns)


@dataclass(frozen=True, slots=True)
class HeldBaselines:
    """What stands in `HeldName.BASELINES` before the queries of a monitor run: texts, one row for each group."""

    rules: tuple[BaselineRule, ...]
    """The baselines, in the order of the columns."""
    columns: tuple[str, ...]
    """The keys of a group; then for each baseline its value, and the reason where it has none."""
    exact: tuple[bool, ...]
    """Of each baseline whether its type is exact, and no double."""


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """The values that an evaluation records of each group, and what it needs to look back."""

    query: CertifiedQuery
    """One row for each group that has a key: its texts, then for each measure a value and why it has none."""
    keys: tuple[str, ...]
    """The properties that a group is keyed by."""
    measures: tuple[Aggregate, ...]
    held: HeldBaselines


@dataclass(frozen=True, slots=True)
class CompiledMonitor:
    """A monitor ready to be evaluated on one snapshot."""

    definition: MonitorDefinition
    plan: MonitorPlan
    breach: MemberQuery
    no_data: MemberQuery
    population: CertifiedQuery
    """One row: population, compliant, partial, unaccounted, duplicate_keys, and for groups unexpected."""
    measured: MeasuredQuery | None = None
    """Runs first, and its held relation is filled before the others run; None without baselines."""


@dataclass(frozen=True, slots=True)
class HeldGroups:
    """A grouped monitor whose groups are made once, and its queries over them."""

    groups: CertifiedQuery
    """To be held as `HeldName.GROUPS`."""
    breach: MemberQuery
    no_data: MemberQuery
    population: CertifiedQuery
    measured: MeasuredQuery | None


@dataclass(frozen=True, slots=True)
class HeldMonitor:
    """The three queries of a monitor over the rows that a scan left to it."""

    breach: MemberQuery
    no_data: MemberQuery
    population: CertifiedQuery
    """As `CompiledMonitor.population`, of those rows alone."""


@dataclass(frozen=True, slots=True)
class CompiledScan:
    """One pass over a view for several monitors, in the statements that follow on each other."""

    monitors: tuple[str, ...]
    """Ids, in the order of the counts."""
    tally: CertifiedQuery
    """To be held as `HeldName.TALLY`."""
    settled: CertifiedQuery
    """One row over the tally: rows of the view, then for each monitor settled, outside, settled and partial."""
    unsettled: CertifiedQuery
    """Over the tally; to be held as `HeldName.UNSETTLED`."""
    marked: CertifiedQuery
    """One row over the unsettled: for each monitor breach, undecided, open, and all that are left."""
    keys: CertifiedQuery
    """One row: distinct keys of the view that repeat, and its rows whose key is indeterminate."""
