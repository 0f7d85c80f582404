"""`certify`: the one gate between SQL text and an engine."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import SEAL, CertificateLine, CertifiedQuery, Clause, Purpose
from catalog.referee.clauses.known_columns import engine_objection
from catalog.referee.clauses.sensitive import restricted_columns
from catalog.referee.clauses.text import plain_text
from catalog.referee.decisions import Abstained, Allowed, Approval, Decision, Escalated
from catalog.referee.rules import RULES, certificate_of
from catalog.referee.statement import Objection, Statement, count_rows, parse_one, place_views, resolve
from trivet.errors import InternalError

__all__ = ["Abstained", "Allowed", "Approval", "Decision", "Escalated", "certified_or_fault", "certify"]


def certify(
    text: str,
    contract: Contract,
    purpose: Purpose,
    dialect: str = "duckdb",
    *,
    approval: Approval | None = None,
) -> Allowed | Abstained | Escalated:
    """Checks every clause of `purpose`, in order; the first objection wins.

    What runs is the SQL printed from the checked tree, without comments, never the proposer's text. Only a statement
    to which nothing but clause `sensitive` objects is escalated, so an approval skips no other clause.

    Args:
        text: what was proposed; anything at all is judged.
        contract: what it is held against.
        purpose: who made it.
        dialect: the engine that will run it.
        approval: a data steward's word, which counts for the very same statement and contract alone.
    """
    if purpose.is_asked and dialect != "duckdb":
        raise InternalError(f"no question is asked in dialect {dialect}: nothing reads it as its engine does")
    try:
        return _certify(text, contract, purpose, dialect, approval)
    except RecursionError:
        return Abstained(Objection(Clause.ONE_STATEMENT, "it is nested too deeply to be checked"))


def _certify(text: str, contract: Contract, purpose: Purpose, dialect: str, approval: Approval | None) -> Decision:
    if (objection := plain_text(text, purpose)) is not None:
        return Abstained(objection)
    tree = parse_one(text, dialect)
    if isinstance(tree, Objection):
        return Abstained(tree)
    if purpose.is_asked:
        place_views(tree, contract)
        count_rows(tree)
    statement = Statement(purpose, dialect, text, tree)
    # Resolving rewrites what it understands and drops what it does not, so both trees are checked.
    if (objection := _first_objection(statement, contract)) is not None:
        return Abstained(objection)
    resolved = resolve(statement, contract)
    if isinstance(resolved, Objection):
        return Abstained(resolved)
    if (objection := _first_objection(resolved, contract)) is not None and objection.clause is not Clause.SENSITIVE:
        return Abstained(objection)
    if purpose is Purpose.MONITOR:
        certificate = certificate_of(resolved, contract)
        # The tree is of no use any more, so that printing may change it: a copy costs as much as parsing does.
        printed = _printed(resolved.tree, dialect, copy=False)
        return Allowed(CertifiedQuery(printed, purpose, contract.reference(), certificate, seal=SEAL))
    printed = _printed(resolved.tree, dialect)
    return _question(resolved, contract, printed, objection, approval)


def _question(
    statement: Statement, contract: Contract, printed: str, sensitive: Objection | None, approval: Approval | None
) -> Decision:
    """The decision on a question to which no clause but `sensitive` objects."""
    bounded = _printed(_bounded(statement.tree, contract.limits.max_rows), statement.dialect)
    # What runs is another text than the one that was read, so the engine reads it again.
    if (objection := engine_objection(bounded, contract)) is not None:
        return Abstained(objection)
    certificate = certificate_of(statement, contract)
    if sensitive is not None:
        if not _approves(approval, printed, contract):
            columns = tuple(restricted_columns(statement, contract))
            return Escalated(sensitive, printed, contract.reference(), columns, certificate[:-1])
        words = f"approved by a data steward: {approval.reference}" if approval else ""
        certificate = (*certificate[:-1], CertificateLine(Clause.SENSITIVE, words))
    query = CertifiedQuery(
        printed,
        statement.purpose,
        contract.reference(),
        certificate,
        seal=SEAL,
        max_rows=contract.limits.max_rows,
        bounded_sql=bounded,
    )
    return Allowed(query)


def _first_objection(statement: Statement, contract: Contract) -> Objection | None:
    for rule in RULES[statement.purpose]:
        if rule.resolved_only and not statement.resolved:
            continue
        if (objection := rule.check(statement, contract)) is not None:
            return objection
    return None


def _printed(tree: exp.Expression, dialect: str, *, copy: bool = True) -> str:
    return tree.sql(dialect=dialect, pretty=True, comments=False, copy=copy)


def _bounded(tree: exp.Expression, max_rows: int) -> exp.Expression:
    """The statement, ended one row after `max_rows` unless it ends itself before."""
    limit = tree.args.get("limit")
    if limit is not None and int(limit.expression.name) <= max_rows:
        return tree
    bounded = tree.copy()
    bounded.set("limit", exp.Limit(expression=exp.Literal.number(max_rows + 1)))
    return bounded


def _approves(approval: Approval | None, printed: str, contract: Contract) -> bool:
    return approval is not None and approval.sql == printed and dict(approval.contract) == contract.reference()


def certified_or_fault(text: str, contract: Contract, purpose: Purpose, dialect: str) -> CertifiedQuery:
    """The certified query of SQL that our own compiler printed.

    Raises:
        InternalError: the referee objected, so compiler and referee disagree.
    """
    decision = certify(text, contract, purpose, dialect)
    match decision:
        case Allowed(query):
            return query
        case Abstained(objection) | Escalated(objection):
            message = f"compiled SQL was refused by clause {objection.clause}: {objection.message} {objection.text}"
            raise InternalError(message)
    assert_never(decision)
