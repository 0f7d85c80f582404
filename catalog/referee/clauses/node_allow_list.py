"""Clause `node_allow_list`: a closed set of syntax nodes; anything else is refused, however harmless."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.statement import Objection, Statement

_STRUCTURE = {
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.From, exp.Join,
    exp.Lateral, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct,
    exp.Alias, exp.TableAlias, exp.Table, exp.Column, exp.Identifier, exp.Star, exp.Paren, exp.Tuple,
    exp.Window, exp.WindowSpec, exp.Filter,
}  # fmt: skip
_VALUES = {
    exp.Literal, exp.RawString, exp.Boolean, exp.Null, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.Try,
    exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var, exp.AtTimeZone,
}  # fmt: skip
_OPERATORS = {
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.EQ, exp.NEQ, exp.LT, exp.LTE,
    exp.GT, exp.GTE, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Like, exp.ILike, exp.And,
    exp.Or, exp.Not, exp.Exists,
}  # fmt: skip
_COMMON_NODES = frozenset(_STRUCTURE | _VALUES | _OPERATORS)
# A lateral relation is a join that states no key.
_QUESTION_NODES = (_COMMON_NODES - {exp.Lateral}) | {exp.Escape}
NODES = {
    # One pass over a view gathers the rows that it does not settle as records, whose fields are named.
    Purpose.MONITOR: _COMMON_NODES | {exp.PropertyEQ},
    Purpose.QUESTION: _QUESTION_NODES,
    Purpose.ACCOUNT: _QUESTION_NODES,
}

# Part of the syntax is no node but an argument of one. Of these nodes, only these arguments may be set:
# NATURAL joins on columns that nobody named, RECURSIVE lets a name mean a relation outside the statement.
_QUERY = {"with_", "expressions", "distinct", "order", "limit", "offset"}
_SET_OPERATION = frozenset(_QUERY | {"this", "expression", "by_name"})
_MONITOR_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(_QUERY | {"from_", "joins", "laterals", "where", "group", "having", "windows"}),
    exp.Union: _SET_OPERATION,
    exp.Except: _SET_OPERATION,
    exp.Intersect: _SET_OPERATION,
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias", "materialized"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog", "joins"}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind"}),
    exp.Lateral: frozenset({"this", "alias"}),
    exp.Group: frozenset({"expressions"}),
}
_QUESTION_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    **_MONITOR_ARGUMENTS,
    # Joins inside brackets would hang on something else than the SELECT whose joins are judged.
    exp.Table: frozenset({"this", "alias", "db", "catalog"}),
    exp.Subquery: frozenset({"this", "alias", "with_", "order", "limit", "offset"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
}
ARGUMENTS = {
    Purpose.MONITOR: _MONITOR_ARGUMENTS,
    Purpose.QUESTION: _QUESTION_ARGUMENTS,
    Purpose.ACCOUNT: _QUESTION_ARGUMENTS,
}

_TYPES = exp.DataType.Type
ALLOWED_TYPES = frozenset(
    {
        _TYPES.TEXT, _TYPES.VARCHAR, _TYPES.TINYINT, _TYPES.SMALLINT, _TYPES.INT, _TYPES.BIGINT, _TYPES.INT128,
        _TYPES.DECIMAL, _TYPES.FLOAT, _TYPES.DOUBLE, _TYPES.BOOLEAN, _TYPES.DATE, _TYPES.TIME, _TYPES.TIMESTAMP,
        _TYPES.TIMESTAMPNTZ, _TYPES.TIMESTAMPTZ, _TYPES.INTERVAL,
    }
)  # fmt: skip


def node_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Every node is of the list, or a function (which clause `function_allow_list` judges)."""
    for node in statement.nodes:
        if (syntax := _strange_syntax(node, statement.purpose)) is not None:
            return statement.objection(Clause.NODE_ALLOW_LIST, f"syntax '{syntax}' is not on the list", node)
        if statement.purpose.is_asked and isinstance(node, exp.Limit | exp.Offset):
            bound = node.expression
            if not (isinstance(bound, exp.Literal) and bound.is_int):
                return statement.objection(Clause.NODE_ALLOW_LIST, "LIMIT and OFFSET take a whole number", node)
    return None


def _strange_syntax(node: exp.Expr, purpose: Purpose) -> str | None:
    kind = type(node)
    if kind not in NODES[purpose] and not isinstance(node, exp.Func):
        return kind.__name__
    if isinstance(node, exp.DataType) and node.this not in ALLOWED_TYPES:
        return f"type {node.sql()}"
    if kind is exp.PropertyEQ and not is_gathered(node.parent):
        return kind.__name__
    allowed = ARGUMENTS[purpose].get(kind)
    if allowed is not None:
        for name, value in node.args.items():
            if value and name not in allowed:
                return f"{kind.__name__} {value if isinstance(value, str) else name.strip('_')}".upper()
    return None


def is_gathered(node: exp.Expr | None) -> bool:
    """Whether a node is a record with a place in a list of records."""
    return isinstance(node, exp.Struct) and isinstance(node.parent, exp.ArrayAgg)
