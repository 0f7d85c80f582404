"""The certificate that an engine asks for before it runs anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from trivet.errors import InternalError


class Purpose(StrEnum):
    """Who made the SQL, and so which clauses it must pass."""

    MONITOR = "monitor"
    """Printed by our compiler from a checked definition."""
    QUESTION = "question"
    """Proposed by a person or a model; trusted in nothing."""
    ACCOUNT = "account"
    """Printed by the resolver beside an answer: what it left out, where its rows were read, which values there are."""

    @property
    def is_asked(self) -> bool:
        """Whether it belongs to a question, and so runs in the question profile and is read by its engine first."""
        return self is not Purpose.MONITOR


class Clause(StrEnum):
    """The clauses, in the order in which they are checked (`docs/reference/codes.md`)."""

    TEXT = "text"
    ONE_STATEMENT = "one_statement"
    NODE_ALLOW_LIST = "node_allow_list"
    FUNCTION_ALLOW_LIST = "function_allow_list"
    RELATION_ALLOW_LIST = "relation_allow_list"
    NO_STAR = "no_star"
    CERTIFIED_JOIN = "certified_join"
    KNOWN_COLUMNS = "known_columns"
    GOVERNED_SOURCE = "governed_source"
    FAN_OUT = "fan_out"
    CERTIFIED_METRIC = "certified_metric"
    REQUIRED_GRAIN = "required_grain"
    MANDATORY_FILTERS = "mandatory_filters"
    ADDITIVITY = "additivity"
    COST = "cost"
    SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """One clause and what of the contract satisfied it."""

    clause: Clause
    satisfied_by: str


SEAL = object()
"""Known to `certify` alone; a test sees to it that no other module names it."""


class CertifiedQuery:
    """SQL that the referee let through. Only `certify` can make one.

    An engine's `run` takes nothing else, so unchecked SQL that reaches a warehouse is a type error.
    """

    __slots__ = ("_bounded_sql", "_certificate", "_contract", "_max_rows", "_purpose", "_sql")

    def __init__(
        self,
        sql: str,
        purpose: Purpose,
        contract: Mapping[str, str],
        certificate: tuple[CertificateLine, ...],
        *,
        seal: object,
        max_rows: int | None = None,
        bounded_sql: str | None = None,
    ) -> None:
        if seal is not SEAL:
            raise InternalError("a CertifiedQuery is made by catalog.referee.certify alone")
        self._sql = sql
        self._purpose = purpose
        self._contract = dict(contract)
        self._certificate = certificate
        self._max_rows = max_rows
        self._bounded_sql = bounded_sql

    @property
    def sql(self) -> str:
        """The statement as printed from the checked tree."""
        return self._sql

    @property
    def purpose(self) -> Purpose:
        """What it was certified for."""
        return self._purpose

    @property
    def contract(self) -> dict[str, str]:
        """Id, version and hash of the contract that it was checked against."""
        return dict(self._contract)

    @property
    def certificate(self) -> tuple[CertificateLine, ...]:
        """Each clause with what satisfied it."""
        return self._certificate

    @property
    def max_rows(self) -> int | None:
        """Most rows that it may give; None where nothing bounds them."""
        return self._max_rows

    @property
    def bounded_sql(self) -> str:
        """What an engine runs: `sql`, ended by the engine one row after `max_rows`, so that a cut can be told."""
        return self._bounded_sql or self._sql

    @property
    def counting_sql(self) -> str:
        """What counts the rows that `sql` would give if nothing cut it."""
        return f"SELECT COUNT(*) AS n FROM (\n{self._sql}\n) AS counted"

    def __repr__(self) -> str:
        return f"CertifiedQuery({self._purpose}, {self._sql!r})"
