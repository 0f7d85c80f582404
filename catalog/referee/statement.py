"""One proposed statement as the clauses see it: its text, its tree, and the tree with names resolved."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, ParseError, TokenError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a statement is refused: the clause, the words, and the offending text."""

    clause: Clause
    message: str
    text: str = ""
    """The offending part as printed; empty where the whole statement offends."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed statement. The trees are mutable by nature; nobody changes them after `read_statement`."""

    text: str
    purpose: Purpose
    dialect: str
    tree: exp.Expression
    resolved: exp.Expression
    """Qualified against the contract: every column carries its source, every alias its meaning."""
    scopes: tuple[Scope, ...]


def parse_one(text: str, dialect: str) -> exp.Expression | Objection:
    """The tree of exactly one SELECT."""
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    except (ParseError, TokenError, RecursionError) as error:
        return Objection(Clause.ONE_STATEMENT, f"it cannot be read as SQL: {str(error).splitlines()[0]}")
    if len(trees) != 1:
        return Objection(Clause.ONE_STATEMENT, f"exactly one statement is run, {len(trees)} were found")
    tree = trees[0]
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return Objection(Clause.ONE_STATEMENT, f"only a SELECT is run, not {type(tree).__name__.upper()}")
    return tree


def resolve(tree: exp.Expression, contract: Contract, dialect: str) -> exp.Expression | Objection:
    """The tree with every column resolved against the contract's views."""
    views: dict[str, dict[str, dict[str, str]]] = {}
    for item in contract.object_types:
        namespace, _, name = item.view.rpartition(".")
        views.setdefault(namespace, {})[name] = dict.fromkeys(item.columns, "UNKNOWN")
    try:
        return qualify(
            tree.copy(),
            dialect=dialect,
            schema=dict[str, object](views),
            expand_stars=False,
            quote_identifiers=False,
            validate_qualify_columns=True,
        )
    except OptimizeError as error:
        return Objection(Clause.KNOWN_COLUMNS, str(error).splitlines()[0])


def read_scopes(resolved: exp.Expression) -> tuple[Scope, ...]:
    """Every scope of a resolved tree, inner ones first."""
    return tuple(traverse_scope(resolved))
