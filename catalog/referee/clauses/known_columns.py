"""Clause `known_columns`: every column resolves against its own source."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement
from trivet.findings import did_you_mean


def known_columns(statement: Statement, contract: Contract) -> Objection | None:
    """Each column names a source of its scope, and that source has it."""
    views = {item.view: item.columns for item in contract.object_types}
    for scope in statement.scopes:
        for column in scope.columns:
            source = _source(scope, column.table)
            known: tuple[str, ...] | list[str]
            if source is None:
                text = column.sql(dialect=statement.dialect)
                return Objection(Clause.KNOWN_COLUMNS, f"'{text}' belongs to no relation here", text)
            if isinstance(source, Scope):
                known = _outputs(source)
            elif isinstance(source, exp.Table):
                known = views.get(f"{source.db}.{source.name}", ())
            else:
                known = ()
            if column.name not in known:
                return Objection(
                    Clause.KNOWN_COLUMNS,
                    f"'{column.table}' has no column '{column.name}'{did_you_mean(column.name, known)}",
                    column.sql(dialect=statement.dialect),
                )
    return None


def _outputs(scope: Scope) -> list[str]:
    query = scope.expression
    while isinstance(query, exp.Lateral | exp.Subquery):
        query = query.this
    return query.named_selects if isinstance(query, exp.Query) else []


def _source(scope: Scope, name: str) -> object:
    """The relation that `name` means: of this scope, or of one around it where a subquery is correlated."""
    inside: Scope | None = scope
    while inside is not None:
        if name in inside.sources:
            return inside.sources[name]
        inside = inside.parent
    return None
