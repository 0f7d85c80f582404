"""One proposed statement as the clauses see it: parsed, and then with its names resolved."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose
from catalog.sql_bounds import beyond_bounds


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a statement is refused: the clause, the words, and the offending text."""

    clause: Clause
    message: str
    text: str = ""
    """The offending part as printed; empty where the whole statement offends."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed statement. Its tree is mutable by nature, and nobody changes it after `resolve`."""

    purpose: Purpose
    dialect: str
    tree: exp.Expression
    scopes: tuple[Scope, ...] = ()
    """Every scope, inner ones first; empty as long as names are not resolved."""

    @property
    def resolved(self) -> bool:
        """Whether it is qualified against the contract: every column carries its source, every alias its meaning."""
        return bool(self.scopes)


def parse_one(text: str, dialect: str) -> exp.Expression | Objection:
    """The tree of exactly one SELECT.

    Raises:
        RecursionError: it is nested too deeply.
    """
    try:
        if (bound := beyond_bounds(text, dialect)) is not None:
            return Objection(Clause.ONE_STATEMENT, bound)
        parsed = sqlglot.parse(text, dialect=dialect)
    except RecursionError:
        raise
    except Exception as error:  # Hostile text trips the parser in ways that it has no error of its own for.
        return Objection(Clause.ONE_STATEMENT, f"it cannot be read as SQL: {_first_line(error)}")
    # A comment behind the last semicolon is parsed as a node of its own.
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        return Objection(Clause.ONE_STATEMENT, f"exactly one statement is run, {len(trees)} were found")
    tree = trees[0]
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return Objection(Clause.ONE_STATEMENT, f"only a SELECT is run, not {type(tree).__name__.upper()}")
    return tree


def resolve(statement: Statement, contract: Contract) -> Statement | Objection:
    """The statement, its tree changed in place, with every column resolved against the contract's views.

    Raises:
        RecursionError: it is nested too deeply.
    """
    views: dict[str, dict[str, dict[str, str]]] = {}
    for item in contract.object_types:
        namespace, _, name = item.view.rpartition(".")
        views.setdefault(namespace, {})[name] = dict.fromkeys(item.columns, "UNKNOWN")
    try:
        tree = qualify(
            statement.tree,
            dialect=statement.dialect,
            schema=dict[str, object](views),
            expand_stars=False,
            quote_identifiers=False,
            validate_qualify_columns=True,
        )
        scopes = tuple(traverse_scope(tree))
    except RecursionError:
        raise
    except Exception as error:  # As above.
        return Objection(Clause.KNOWN_COLUMNS, _first_line(error))
    return Statement(statement.purpose, statement.dialect, tree, scopes)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
