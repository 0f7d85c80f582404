"""Clause `mandatory_filters`: what must be asked for is asked for, in every scope that reads it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause
from catalog.referee.grain import Grain, listed_literals
from catalog.referee.join_graph import conjuncts
from catalog.referee.lineage import object_of, sources
from catalog.referee.measures import Measures
from catalog.referee.statement import Objection, Statement


def mandatory_filters(statement: Statement, contract: Contract) -> Objection | None:
    """Each reading of a view holds its mandatory properties to literals, by `=` or `IN` at the top of its WHERE.

    The ON of an inner join does as well as WHERE, that of an outer join does not: what it filters stays, as nulls. A
    filter around a subquery or CTE says nothing of what is read inside.
    """
    required = _required(statement, contract)
    if not required:
        return None
    for scope in statement.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select):
            continue
        held = {
            (column.table, column.name.lower())
            for part in _conditions(select)
            if (listed := listed_literals(part)) is not None
            for column in (listed[0],)
        }
        for alias, source in sources(scope).items():
            item = object_of(source, contract) if isinstance(source, exp.Table) else None
            if item is None or not isinstance(source, exp.Table):
                continue
            for name in sorted(required.get(item.name, ())):
                if (alias, name.lower()) not in held:
                    message = f"every reading of {item.view} holds '{name}' to literals in its WHERE"
                    suggestion = f"{alias}.{name} = '...'"
                    return statement.objection(Clause.MANDATORY_FILTERS, message, source, suggestion=suggestion)
    return None


def _required(statement: Statement, contract: Contract) -> dict[str, set[str]]:
    """The properties to filter by, by object type: those of the type, and those of the metrics that are taken."""
    required = {item.name: set(item.mandatory_filters) for item in contract.object_types if item.mandatory_filters}
    if any(metric.mandatory_filters for metric in contract.metrics):
        for found in Measures(contract, Grain(contract)).all_of(statement):
            for metric in found.metrics:
                if metric.mandatory_filters:
                    required.setdefault(metric.object_type, set()).update(metric.mandatory_filters)
    return required


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    where = select.args.get("where")
    yield from conjuncts(where.this if where else None)
    for join in select.args.get("joins") or []:
        if not join.side:
            yield from conjuncts(join.args.get("on"))
