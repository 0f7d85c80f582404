"""Leaves out of a query the columns that nothing in it uses, so that a person reads only what counts.

Projections are the only thing that moves. No optimiser rule that rewrites conditions may run on a
compiled query: `not (x < l.y)` and `x >= l.y` mean different things over linked rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot.optimizer.pushdown_projections import pushdown_projections
from sqlglot.optimizer.qualify import qualify


def pruned(sql: str, views: Mapping[str, Sequence[str]], dialect: str) -> str:
    """The same query without unused columns in its inner relations.

    Args:
        sql: a query that this package wrote.
        views: columns of each governed view, by schema and name.
        dialect: sqlglot's name of the dialect.
    """
    schema: dict[str, dict[str, dict[str, str]]] = {}
    for view, columns in views.items():
        namespace, _, name = view.rpartition(".")
        schema.setdefault(namespace, {})[name] = dict.fromkeys(columns, "UNKNOWN")
    tree = qualify(
        sqlglot.parse_one(sql, dialect=dialect),
        dialect=dialect,
        schema=dict[str, object](schema),
        expand_stars=False,
        quote_identifiers=False,
    )
    return pushdown_projections(tree).sql(dialect=dialect)
