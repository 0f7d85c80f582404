"""Clause `node_allow_list`: a closed set of syntax nodes; anything else is refused, however harmless."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement

_STRUCTURE = {
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join,
    exp.Lateral, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct,
    exp.Alias, exp.TableAlias, exp.Table, exp.Column, exp.Identifier, exp.Star, exp.Paren, exp.Tuple,
    exp.Window, exp.WindowSpec, exp.Filter,
}  # fmt: skip
_VALUES = {
    exp.Literal, exp.Boolean, exp.Null, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.Try, exp.DataType,
    exp.DataTypeParam, exp.Interval, exp.Var, exp.AtTimeZone,
}  # fmt: skip
_OPERATORS = {
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Neg, exp.DPipe, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT,
    exp.GTE, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Like, exp.ILike, exp.And, exp.Or,
    exp.Not, exp.Exists,
}  # fmt: skip
ALLOWED_NODES = frozenset(_STRUCTURE | _VALUES | _OPERATORS)


def node_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Every node is of the list, or a function (which clause `function_allow_list` judges)."""
    for node in statement.resolved.walk():
        if type(node) not in ALLOWED_NODES and not isinstance(node, exp.Func):
            return Objection(
                Clause.NODE_ALLOW_LIST,
                f"syntax '{type(node).__name__}' is not on the list",
                node.sql(dialect=statement.dialect),
            )
    return None
