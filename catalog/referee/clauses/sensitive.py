"""Clause `sensitive`: who touches a restricted column, in any clause of any scope, asks a person first."""

from __future__ import annotations

from sqlglot import exp

from catalog.contract import Contract, Sensitivity
from catalog.referee.certified import Clause
from catalog.referee.lineage import columns_read
from catalog.referee.statement import Objection, Statement


def restricted_columns(statement: Statement, contract: Contract) -> dict[str, exp.Column]:
    """The restricted columns that a resolved statement touches, as `schema.view.column`, with their first mention.

    A filter, a sort or a count tells something of a value too. The companions of a restricted property are as
    restricted as itself.
    """
    restricted = {
        (item.view.lower(), column.lower()): f"{item.view}.{column}"
        for item in contract.object_types
        for part in item.properties
        if part.sensitivity is not Sensitivity.NONE
        for column in part.columns
    }
    read = columns_read(statement, contract)
    return {restricted[place]: column for place, column in sorted(read.items()) if place in restricted}


def sensitive(statement: Statement, contract: Contract) -> Objection | None:
    """No restricted column is touched; where one is, a data steward decides."""
    touched = restricted_columns(statement, contract)
    if not touched:
        return None
    message = f"it touches {', '.join(touched)}; a data steward decides"
    return statement.objection(Clause.SENSITIVE, message, next(iter(touched.values())))
