"""Clause `cost`: a statement reads a few views, and each of them a few times."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement

READINGS = 10
"""How often a statement may read each of the views that it may read: a year of months in branches fits in."""


def cost(statement: Statement, contract: Contract) -> Objection | None:
    """At most `limits.max_objects` views, read at most ten times as often, each use of a CTE counted as a reading."""
    views = sorted({f"{table.db}.{table.name}".lower() for table in statement.find_all(exp.Table) if table.db})
    most = contract.limits.max_objects
    if len(views) > most:
        message = f"it reads {len(views)} views ({', '.join(views)}); the contract's limit is {most}"
        return Objection(Clause.COST, message)
    readings = _readings(statement.tree, {})
    if readings > most * READINGS:
        message = f"it reads views {readings} times, each use of a CTE counted; at most {most * READINGS} times are run"
        return Objection(Clause.COST, message)
    return None


def _readings(query: exp.Expr, around: dict[str, int]) -> int:
    """How often views are read when each CTE is put in where it is used."""
    known = dict(around)
    with_ = query.args.get("with_")
    for cte in with_.expressions if with_ else ():
        known[cte.alias.lower()] = _readings(cte.this, known)
    total = 0
    waiting = [child for name, child in _children(query) if name != "with_"]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Table):
            total += 1 if node.db else known.get(node.name.lower(), 1)
        if node.args.get("with_"):
            total += _readings(node, known)
        else:
            waiting += [child for _, child in _children(node)]
    return total


def _children(node: exp.Expr) -> list[tuple[str, exp.Expr]]:
    found: list[tuple[str, exp.Expr]] = []
    for name, value in node.args.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, exp.Expr):
                found.append((name, item))
    return found
