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


class Clause(StrEnum):
    """The clauses, in the order in which they are checked (`docs/reference/codes.md`)."""

    TEXT = "text"
    ONE_STATEMENT = "one_statement"
    NODE_ALLOW_LIST = "node_allow_list"
    FUNCTION_ALLOW_LIST = "function_allow_list"
    RELATION_ALLOW_LIST = "relation_allow_list"
    NO_STAR = "no_star"
    KNOWN_COLUMNS = "known_columns"


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

    __slots__ = ("_certificate", "_contract", "_purpose", "_sql")

    def __init__(
        self,
        sql: str,
        purpose: Purpose,
        contract: Mapping[str, str],
        certificate: tuple[CertificateLine, ...],
        *,
        seal: object,
    ) -> None:
        if seal is not SEAL:
            raise InternalError("a CertifiedQuery is made by catalog.referee.certify alone")
        self._sql = sql
        self._purpose = purpose
        self._contract = dict(contract)
        self._certificate = certificate

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

    def __repr__(self) -> str:
        return f"CertifiedQuery({self._purpose}, {self._sql!r})"
