"""Clause `no_star`: what comes out is named, so that what is sensitive can be seen."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement


def no_star(statement: Statement, contract: Contract) -> Objection | None:
    """`*` stands in COUNT(*) only; no column alias lists; ORDER BY and GROUP BY name columns, not positions."""
    for star in statement.resolved.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            return Objection(Clause.NO_STAR, "name the columns instead of *", "*")
    for alias in statement.resolved.find_all(exp.TableAlias):
        if alias.args.get("columns"):
            return Objection(Clause.NO_STAR, "an alias must not rename columns", alias.sql(dialect=statement.dialect))
    for clause in statement.resolved.find_all(exp.Group, exp.Ordered):
        terms = clause.expressions if isinstance(clause, exp.Group) else [clause.this]
        for term in terms:
            if isinstance(term, exp.Literal):
                return Objection(Clause.NO_STAR, "name the column instead of its position", term.sql())
    return None
