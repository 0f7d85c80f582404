"""What compiling gives: three certified queries' texts, and how their rows are read back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class MemberQuery:
    """A certified query with one row per member, and the meaning of its columns."""

    query: CertifiedQuery
    columns: tuple[OutputColumn, ...]


@dataclass(frozen=True, slots=True)
class CompiledMonitor:
    """A monitor ready to be evaluated on one snapshot."""

    definition: MonitorDefinition
    plan: MonitorPlan
    breach: MemberQuery
    no_data: MemberQuery
    population: CertifiedQuery
    """One row: population, compliant, partial, unaccounted, duplicate_keys."""
