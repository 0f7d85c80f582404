"""Clause `one_statement`: exactly one SELECT, in the tree and in every part that can hold a statement."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.engines.duckdb_reading import UnreadableSQL, statement_kinds
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement

_WRITES = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.Lock, exp.Set, exp.Pragma)


def one_statement(statement: Statement, contract: Contract) -> Objection | None:
    """A SELECT (set operations included) without a writing part, not even inside a CTE.

    Of a question the engine itself must see one SELECT too: where two parsers differ, one of them is being fooled.
    """
    for node in statement.nodes:
        if isinstance(node, _WRITES) and not isinstance(node, exp.Query):
            return statement.objection(Clause.ONE_STATEMENT, "a SELECT must not write", node)
    if statement.purpose.is_asked and not statement.resolved:
        return _engine_objection(statement.text)
    return None


def _engine_objection(text: str) -> Objection | None:
    try:
        kinds = statement_kinds(text)
    except UnreadableSQL as error:
        return Objection(Clause.ONE_STATEMENT, f"the engine cannot read it: {error}")
    if kinds != ("SELECT",):
        seen = ", ".join(kinds) or "nothing"
        return Objection(Clause.ONE_STATEMENT, f"the engine sees {seen} where one SELECT is run")
    return None
