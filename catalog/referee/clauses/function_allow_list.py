"""Clause `function_allow_list`: typed functions by class. No clocks, no randomness, no files, no tables."""

from __future__ import annotations

import re

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.clauses.node_allow_list import ALLOWED_NODES
from catalog.referee.statement import Objection, Statement

ALLOWED_FUNCTIONS = frozenset(
    {
        exp.Abs, exp.Chr, exp.Coalesce, exp.Count, exp.CountIf, exp.DateDiff, exp.Extract, exp.Format,
        exp.GroupConcat, exp.Left, exp.Length, exp.Max, exp.Min, exp.Nullif, exp.RegexpExtract, exp.RegexpFullMatch,
        exp.Repeat, exp.Replace, exp.Right, exp.Substring, exp.Sum, exp.Trim,
    }
)  # fmt: skip

LONGEST_REPEAT = 1000
_FORMAT = re.compile(r"\{:\.[0-9]{1,2}[ef]\}")


def function_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Every function is one of the list; anonymous functions are refused since nobody knows what they do."""
    for node in statement.tree.find_all(exp.Func):
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        if type(node) not in ALLOWED_FUNCTIONS and type(node) not in ALLOWED_NODES:
            message = f"function '{name}' is not on the list"
        elif not _is_bounded(node):
            message = f"function '{name}' is allowed only with a short literal, since it makes text of any length"
        else:
            continue
        return Objection(Clause.FUNCTION_ALLOW_LIST, message, node.sql(dialect=statement.dialect))
    return None


def _is_bounded(node: exp.Func) -> bool:
    match node:
        case exp.Repeat():
            text, times = node.this, node.args["times"]
            literals = isinstance(text, exp.Literal) and isinstance(times, exp.Literal) and times.is_int
            return literals and len(text.name) * int(times.name) <= LONGEST_REPEAT
        case exp.Format():
            return isinstance(node.this, exp.Literal) and _FORMAT.fullmatch(node.this.name) is not None
    return True
