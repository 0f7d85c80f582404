"""`certify`: the one gate between SQL text and an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from catalog.contract import Contract
from catalog.referee.certified import SEAL, CertificateLine, CertifiedQuery, Clause, Purpose
from catalog.referee.clauses.function_allow_list import function_allow_list
from catalog.referee.clauses.known_columns import known_columns
from catalog.referee.clauses.no_star import no_star
from catalog.referee.clauses.node_allow_list import node_allow_list
from catalog.referee.clauses.one_statement import one_statement
from catalog.referee.clauses.relation_allow_list import relation_allow_list
from catalog.referee.clauses.text import plain_text
from catalog.referee.statement import Objection, Statement, parse_one, resolve
from trivet.errors import InternalError


@dataclass(frozen=True, slots=True)
class Allowed:
    """The statement may run, exactly as printed in `query`."""

    query: CertifiedQuery


@dataclass(frozen=True, slots=True)
class Abstained:
    """The statement may not run; the first clause that objected says why."""

    objection: Objection


_Rule = tuple[Clause, Callable[[Statement, Contract], Objection | None], str]

_RULES: dict[Purpose, tuple[_Rule, ...]] = {
    Purpose.MONITOR: (
        (Clause.ONE_STATEMENT, one_statement, "one SELECT"),
        (Clause.NODE_ALLOW_LIST, node_allow_list, "syntax nodes of the closed list"),
        (Clause.FUNCTION_ALLOW_LIST, function_allow_list, "typed functions of the closed list"),
        (Clause.RELATION_ALLOW_LIST, relation_allow_list, "governed views only"),
        (Clause.NO_STAR, no_star, "every output column is named"),
        (Clause.KNOWN_COLUMNS, known_columns, "every column is declared"),
    ),
}


def certify(text: str, contract: Contract, purpose: Purpose, dialect: str = "duckdb") -> Allowed | Abstained:
    """Checks every clause of `purpose`, in order; the first objection wins.

    What runs is the SQL printed from the checked tree, without comments, never the proposer's text.
    """
    try:
        return _certify(text, contract, purpose, dialect)
    except RecursionError:
        return Abstained(Objection(Clause.ONE_STATEMENT, "it is nested too deeply to be checked"))


def _certify(text: str, contract: Contract, purpose: Purpose, dialect: str) -> Allowed | Abstained:
    if (objection := plain_text(text)) is not None:
        return Abstained(objection)
    tree = parse_one(text, dialect)
    if isinstance(tree, Objection):
        return Abstained(tree)
    statement = Statement(purpose, dialect, tree)
    # Resolving rewrites what it understands and drops what it does not, so both trees are checked.
    if (objection := _first_objection(statement, contract)) is not None:
        return Abstained(objection)
    resolved = resolve(statement, contract)
    if isinstance(resolved, Objection):
        return Abstained(resolved)
    if (objection := _first_objection(resolved, contract)) is not None:
        return Abstained(objection)
    certificate = [CertificateLine(clause, satisfied_by) for clause, _, satisfied_by in _RULES[purpose]]
    certificate.insert(0, CertificateLine(Clause.TEXT, "printable text"))
    printed = resolved.tree.sql(dialect=dialect, pretty=True, comments=False, copy=False)
    return Allowed(CertifiedQuery(printed, purpose, contract.reference(), tuple(certificate), seal=SEAL))


def _first_objection(statement: Statement, contract: Contract) -> Objection | None:
    for clause, rule, _ in _RULES[statement.purpose]:
        if clause is Clause.KNOWN_COLUMNS and not statement.resolved:
            continue
        if (objection := rule(statement, contract)) is not None:
            return objection
    return None


def certified_or_fault(text: str, contract: Contract, purpose: Purpose, dialect: str) -> CertifiedQuery:
    """The certified query of SQL that our own compiler printed.

    Raises:
        InternalError: the referee objected, so compiler and referee disagree.
    """
    decision = certify(text, contract, purpose, dialect)
    match decision:
        case Allowed(query):
            return query
        case Abstained(objection):
            message = f"compiled SQL was refused by clause {objection.clause}: {objection.message} {objection.text}"
            raise InternalError(message)
    assert_never(decision)
