"""Clause `no_star`: what comes out is named, so that what is sensitive can be seen."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement


def no_star(statement: Statement, contract: Contract) -> Objection | None:
    """`*` stands in COUNT(*) only; no column alias lists; ORDER BY and GROUP BY name columns, not positions."""
    for star in statement.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count) or any(star.args.values()):
            return statement.objection(Clause.NO_STAR, "name the columns instead of *", star)
    for alias in statement.find_all(exp.TableAlias):
        if alias.args.get("columns"):
            return statement.objection(Clause.NO_STAR, "an alias must not rename columns", alias)
    for term in _terms(statement):
        if isinstance(term, exp.Literal):
            return statement.objection(Clause.NO_STAR, "name the column instead of its position", term)
        if isinstance(term, exp.Var):
            return statement.objection(Clause.NO_STAR, "name the columns instead of ALL", term)
    return None


def _terms(statement: Statement) -> Iterator[exp.Expr]:
    """What a statement groups, orders and is distinct by, without brackets."""
    for node in statement.find_all(exp.Group, exp.Ordered, exp.Distinct):
        match node:
            case exp.Ordered():
                terms = [node.this]
            case exp.Distinct():
                on = node.args.get("on")
                terms = on.expressions if isinstance(on, exp.Tuple) else [on] if on else []
            case _:
                terms = node.expressions
        yield from (term.unnest() for term in terms)
