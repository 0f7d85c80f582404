"""Clause `relation_allow_list`: governed views only; relations of the statement itself by scope."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement


def relation_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Each table of each scope is a governed view, spelled with its schema; no CTE bears a governed name."""
    governed = {item.view for item in contract.object_types}
    bare = {view.rpartition(".")[2].lower() for view in governed}
    for cte in statement.resolved.find_all(exp.CTE):
        if cte.alias.lower() in bare:
            return Objection(Clause.RELATION_ALLOW_LIST, f"'{cte.alias}' is the name of a governed view", cte.alias)
    for scope in statement.scopes:
        for source in scope.sources.values():
            if not isinstance(source, exp.Table):
                continue
            name = ".".join(part for part in (source.catalog, source.db, source.name) if part)
            if name not in governed or not isinstance(source.this, exp.Identifier):
                return Objection(
                    Clause.RELATION_ALLOW_LIST,
                    f"'{name or source.sql()}' is not a governed view",
                    source.sql(),
                )
    return None
