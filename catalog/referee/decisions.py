"""What the referee decides: the three decisions as values, and their JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from catalog.referee.certified import CertificateLine, CertifiedQuery, Clause
from catalog.referee.statement import Objection
from trivet.outcomes import ReasonCode


@dataclass(frozen=True, slots=True)
class Allowed:
    """The statement may run, exactly as printed in `query`."""

    query: CertifiedQuery


@dataclass(frozen=True, slots=True)
class Abstained:
    """The statement may not run; the first clause that objected says why."""

    objection: Objection


@dataclass(frozen=True, slots=True)
class Escalated:
    """Everything else passed, and something sensitive is touched: a data steward decides.

    It holds what an approval binds. None of it can be run: `certify` with that approval makes the query.
    """

    objection: Objection
    sql: str
    """The statement as printed from the checked tree."""
    contract: Mapping[str, str]
    """Id, version and hash of the contract that it was checked against."""
    columns: tuple[str, ...]
    """The sensitive columns that it touches in any clause of any scope, such as `ontology.customers.email`, sorted."""
    certificate: tuple[CertificateLine, ...]
    """The clauses that it did pass."""


class DecisionWord(StrEnum):
    """A decision as the documents spell it."""

    ALLOW = "ALLOW"
    ABSTAIN = "ABSTAIN"
    ESCALATE = "ESCALATE"


Decision = Allowed | Abstained | Escalated


@dataclass(frozen=True, slots=True)
class Approval:
    """A data steward's word for one statement. Who asked and until when it holds is its keeper's to check."""

    reference: str
    """Where the decision is recorded; the certificate quotes it."""
    sql: str
    """The statement as `Escalated.sql` had it."""
    contract: Mapping[str, str]
    """As `Escalated.contract` had it."""


def reason_code(clause: Clause) -> ReasonCode:
    """What a question's outcome says of a statement that this clause stopped."""
    match clause:
        case (
            Clause.TEXT
            | Clause.ONE_STATEMENT
            | Clause.NODE_ALLOW_LIST
            | Clause.FUNCTION_ALLOW_LIST
            | Clause.RELATION_ALLOW_LIST
        ):
            return ReasonCode.UNSAFE_REQUEST
        case Clause.KNOWN_COLUMNS:
            return ReasonCode.SCHEMA_MISMATCH
        case Clause.SENSITIVE:
            return ReasonCode.SENSITIVE
        case Clause.COST:
            return ReasonCode.COST_LIMIT
        case (
            Clause.NO_STAR
            | Clause.CERTIFIED_JOIN
            | Clause.GOVERNED_SOURCE
            | Clause.FAN_OUT
            | Clause.CERTIFIED_METRIC
            | Clause.REQUIRED_GRAIN
            | Clause.MANDATORY_FILTERS
            | Clause.ADDITIVITY
        ):
            return ReasonCode.CONTRACT
    assert_never(clause)


def decision_word(decision: Decision) -> DecisionWord:
    """The word for a decision."""
    match decision:
        case Allowed():
            return DecisionWord.ALLOW
        case Abstained():
            return DecisionWord.ABSTAIN
        case Escalated():
            return DecisionWord.ESCALATE
    assert_never(decision)


def decision_document(
    identifier: str | int | None, decision: Decision, contract: Mapping[str, str]
) -> dict[str, object]:
    """The JSON document of a decision, as `docs/reference/commands.md` describes it."""
    objection: Objection | None = None
    sql: str | None = None
    columns: tuple[str, ...] = ()
    certificate: tuple[CertificateLine, ...] = ()
    match decision:
        case Allowed(query):
            sql, certificate = query.sql, query.certificate
        case Abstained(objection):
            pass
        case Escalated(objection, sql, _, columns, certificate):
            pass
        case _:
            assert_never(decision)
    return {
        "id": identifier,
        "decision": decision_word(decision),
        "clause": objection.clause if objection else None,
        "reason_code": reason_code(objection.clause) if objection else None,
        "message": objection.message if objection else None,
        "span": list(objection.span) if objection and objection.span else None,
        "suggestion": objection.suggestion if objection else None,
        "certificate": [{"clause": line.clause, "satisfied_by": line.satisfied_by} for line in certificate],
        "sql": sql,
        "columns": list(columns),
        "contract": dict(contract),
    }
