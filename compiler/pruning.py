"""The relations of a WITH clause, and how those columns are left out that nothing uses.

Projections are the only thing that moves. No optimiser rule that rewrites conditions may run on a
compiled query: `not (x < l.y)` and `x >= l.y` mean different things over linked rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from compiler.dialects.dialect import Dialect
from compiler.names import spelled

Selection: TypeAlias = tuple[str, str]
"""An expression and the name it is given."""

_IDENTIFIER = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of a WITH clause."""

    name: str
    selections: tuple[Selection, ...]
    source: str
    """All that stands behind FROM."""
    beside: tuple[Relation, ...] = ()
    """Relations whose rows follow its own; each has a selection for each of its own, under the same names."""

    def sql(self, dialect: Dialect) -> str:
        """Its SELECT, or several."""
        return " UNION ALL ".join(
            select(item.selections, dialect) + (f" FROM {item.source}" if item.source else "")
            for item in (self, *self.beside)
        )


def select(selections: Sequence[Selection], dialect: Dialect) -> str:
    """SELECT and its list."""
    return "SELECT " + ", ".join(f"{expression} AS {dialect.identifier(name)}" for expression, name in selections)


def with_clause(relations: Sequence[Relation], body: str, dialect: Dialect) -> str:
    """The whole query: its relations, each with the columns that something behind it uses, and its body."""
    used = identifiers_in(body)
    kept: list[Relation] = []
    for relation in reversed(relations):
        wanted = {name for _, name in relation.selections if spelled(name) in used} or {relation.selections[0][1]}
        narrowed = _narrowed(relation, wanted)
        kept.append(narrowed)
        for item in (narrowed, *narrowed.beside):
            for text in (item.source, *(expression for expression, _ in item.selections)):
                used |= identifiers_in(text)
    listed = ", ".join(f"{item.name} AS ({item.sql(dialect)})" for item in reversed(kept))
    return f"WITH {listed} {body}"


def _narrowed(relation: Relation, wanted: set[str]) -> Relation:
    selections = tuple(item for item in relation.selections if item[1] in wanted)
    beside = tuple(_narrowed(item, wanted) for item in relation.beside)
    return replace(relation, selections=selections, beside=beside)


def identifiers_in(text: str) -> set[str]:
    """Every quoted name in a text, as it is spelled there.

    Names inside string literals count too, which keeps too much, never too little.
    """
    return {name.replace('""', '"') for name in _IDENTIFIER.findall(text)}
