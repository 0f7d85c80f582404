"""Clause `relation_allow_list`: governed views only; relations of the statement itself by scope."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement


def relation_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Each relation is a governed view, spelled with its schema, or a CTE in whose scope it stands.

    Of a parsed tree, whose scopes are not known, any CTE of the statement will do.
    """
    governed = {tuple(item.view.lower().split(".")) for item in contract.object_types}
    ctes = statement.find_all(exp.CTE)
    if (objection := _name_objection(statement, ctes, {name for _, name in governed})) is not None:
        return objection
    tables = statement.find_all(exp.Table)
    known = _placed(statement.scopes) if statement.resolved else _named(tables, ctes)
    reads = 0
    for table in tables:
        if _governed_name(table) in governed:
            reads += 1
        elif id(table) not in known:
            name = ".".join(part for part in (table.catalog, table.db, table.name) if part)
            message = f"'{name or table.sql()}' is not a governed view"
            return statement.objection(
                Clause.RELATION_ALLOW_LIST, message, table, suggestion=_governed_view(table, contract)
            )
    if not reads:
        return Objection(Clause.RELATION_ALLOW_LIST, "it reads no governed view")
    return None


def _name_objection(statement: Statement, ctes: list[exp.CTE], governed: set[str]) -> Objection | None:
    seen: set[tuple[int, str]] = set()
    for cte in ctes:
        name = cte.alias.lower()
        if name in governed:
            message = f"'{cte.alias}' is the name of a governed view"
            return statement.objection(Clause.RELATION_ALLOW_LIST, message, cte.args["alias"])
        if (id(cte.parent), name) in seen:
            message = f"'{cte.alias}' is defined twice"
            return statement.objection(Clause.RELATION_ALLOW_LIST, message, cte.args["alias"])
        seen.add((id(cte.parent), name))
    return None


def _governed_view(table: exp.Table, contract: Contract) -> str | None:
    """The one view that was perhaps meant: of this name, or of the object type of this name."""
    name = table.name.lower()
    found = {
        item.view
        for item in contract.object_types
        if name and name in (item.view.rpartition(".")[2].lower(), item.view.lower(), item.name.lower())
    }
    return found.pop() if len(found) == 1 else None


def _governed_name(table: exp.Table) -> tuple[str, ...]:
    """Schema and name; empty for what is spelled in another way, such as `"schema.name"` in one pair of quotes."""
    if table.args.get("catalog") or not isinstance(table.this, exp.Identifier):
        return ()
    return (table.db.lower(), table.name.lower())


def _named(tables: list[exp.Table], ctes: list[exp.CTE]) -> set[int]:
    """The tables, by identity, that bear the name of a CTE."""
    names = {cte.alias.lower() for cte in ctes}
    return {id(table) for table in tables if not table.args.get("db") and table.name.lower() in names}


def _placed(scopes: tuple[Scope, ...]) -> set[int]:
    """The tables, by identity, that name a CTE in whose scope they stand."""
    return {id(table) for scope in scopes for table in _cte_references(scope)}


def _cte_references(scope: Scope) -> Iterator[exp.Table]:
    outside = {id(source) for source in scope.sources.values() if isinstance(source, exp.Table)}
    for table in scope.tables:
        if not table.args.get("db") and table.name in scope.cte_sources and id(table) not in outside:
            yield table
