"""Clause `function_allow_list`: typed functions by class. No clocks, no randomness, no files, no tables."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.clauses.node_allow_list import ALLOWED_NODES
from catalog.referee.statement import Objection, Statement

ALLOWED_FUNCTIONS = frozenset(
    {
        exp.Abs, exp.Chr, exp.Coalesce, exp.Count, exp.CountIf, exp.DateDiff, exp.Format, exp.GroupConcat, exp.Left,
        exp.Length, exp.Max, exp.Min, exp.Nullif, exp.RegexpExtract, exp.RegexpFullMatch, exp.Repeat, exp.Substring,
        exp.Sum, exp.Trim,
    }
)  # fmt: skip


def function_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Every function is one of the list; anonymous functions are refused since nobody knows what they do."""
    for node in statement.resolved.find_all(exp.Func):
        if type(node) in ALLOWED_FUNCTIONS or type(node) in ALLOWED_NODES:
            continue
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        return Objection(
            Clause.FUNCTION_ALLOW_LIST,
            f"function '{name}' is not on the list",
            node.sql(dialect=statement.dialect),
        )
    return None
