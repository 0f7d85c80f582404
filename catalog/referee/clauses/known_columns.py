"""Clause `known_columns`: every column resolves against its own source."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from catalog.contract import Contract, ObjectType
from catalog.datatypes import DataType, Kind
from catalog.engines.duckdb_reading import UnreadableSQL, bind
from catalog.referee.certified import Clause
from catalog.referee.statement import Objection, Statement
from trivet.findings import did_you_mean


def known_columns(statement: Statement, contract: Contract) -> Objection | None:
    """Each column names a source of its scope, and that source has it."""
    views = {item.view.lower(): {name.lower() for name in item.columns} for item in contract.object_types}
    placed: set[int] = set()
    for scope in statement.scopes:
        for column in scope.columns:
            placed.add(id(column))
            if _names_an_output(column):
                continue
            if (objection := _objection(statement, scope, column, views)) is not None:
                return objection
    for column in statement.find_all(exp.Column):
        if id(column) not in placed and not _names_an_output(column):
            return _homeless(statement, column)
    return None


def _objection(statement: Statement, scope: Scope, column: exp.Column, views: dict[str, set[str]]) -> Objection | None:
    source = _source(scope, column.table)
    if source is None or column.args.get("db"):
        return _homeless(statement, column)
    known: Collection[str] = ()
    if isinstance(source, Scope):
        known = _outputs(source)
    elif isinstance(source, exp.Table):
        known = views.get(f"{source.db}.{source.name}".lower(), ())
    if column.name in known or column.name.lower() in known:
        return None
    message = f"'{column.table}' has no column '{column.name}'{did_you_mean(column.name, known)}"
    return statement.objection(Clause.KNOWN_COLUMNS, message, column)


def _homeless(statement: Statement, column: exp.Column) -> Objection:
    text = column.sql(dialect=statement.dialect)
    return statement.objection(Clause.KNOWN_COLUMNS, f"'{text}' belongs to no relation here", column)


def _names_an_output(column: exp.Column) -> bool:
    """Whether it stands alone in the ORDER BY or DISTINCT ON of a query that puts out a column of that name.

    Inside an expression there, an engine may prefer a column of the view, declared or not.
    """
    part = column.parent.parent if isinstance(column.parent, exp.Ordered | exp.Tuple) else None
    query = part.parent if isinstance(part, exp.Order | exp.Distinct) else None
    return not column.table and isinstance(query, exp.Query) and column.name in query.named_selects


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


def engine_objection(sql: str, contract: Contract) -> Objection | None:
    """What the engine cannot resolve in `sql` where nothing exists but the declared columns of the governed views.

    A view may hold what the contract calls a number or a date as the text that was printed, so where the declared
    types do not fit, the engine may take those columns for anything.
    """
    declared = {item.view: _declared(item) for item in contract.object_types}
    loose = {
        view: {name: kind if kind and kind.kind is Kind.TEXT else None for name, kind in columns.items()}
        for view, columns in declared.items()
    }
    try:
        bind(sql, declared)
    except UnreadableSQL as error:
        try:
            bind(sql, loose)
        except UnreadableSQL:
            return Objection(Clause.KNOWN_COLUMNS, f"the engine cannot resolve it: {error}")
    return None


def _declared(item: ObjectType) -> dict[str, DataType | None]:
    """The type of each column; companions and provenance have none that is declared."""
    types = {part.name: part.type for part in item.properties}
    return {column: types.get(column) for column in item.columns}
