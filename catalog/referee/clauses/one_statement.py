"""Clause `one_statement`: exactly one SELECT, in the tree and in every part that can hold a statement."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement

_WRITES = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.Lock, exp.Set, exp.Pragma)


def one_statement(statement: Statement, contract: Contract) -> Objection | None:
    """A SELECT (set operations included) without a writing part, not even inside a CTE."""
    for node in statement.tree.walk():
        if isinstance(node, _WRITES) and not isinstance(node, exp.Query):
            return Objection(Clause.ONE_STATEMENT, "a SELECT must not write", node.sql(dialect=statement.dialect))
    return None
