"""One proposed statement as the clauses see it: parsed, and then with its names resolved."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.expansion import expands_too_far
from catalog.referee.spans import Span, span_of
from catalog.sql_bounds import tokens_beyond_bounds

# It would warn on standard error of what a refused statement holds, which an objection says already.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

Node = TypeVar("Node", bound=exp.Expr)


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a statement is refused: the clause, the words, and the offending text."""

    clause: Clause
    message: str
    text: str = ""
    """The offending part as printed; empty where the whole statement offends."""
    span: Span | None = None
    """Where the offending part stands in the given text; None where that cannot be told."""
    suggestion: str | None = None
    """The certified way to say it, where there is one."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed statement. Its tree is mutable by nature, and nobody changes it after `resolve`."""

    purpose: Purpose
    dialect: str
    text: str
    """As it was proposed."""
    tree: exp.Expression
    scopes: tuple[Scope, ...] = ()
    """Every scope, inner ones first; empty as long as names are not resolved."""
    nodes: tuple[exp.Expr, ...] = field(init=False, repr=False)
    """Every node of the tree, outer ones first: walked once, since each clause looks at most of them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.tree.walk()))

    def find_all(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of these kinds, outer ones first."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    @property
    def resolved(self) -> bool:
        """Whether it is qualified against the contract: every column carries its source, every alias its meaning."""
        return bool(self.scopes)

    def objection(
        self,
        clause: Clause,
        message: str,
        node: exp.Expr,
        *,
        part: str | None = None,
        suggestion: str | None = None,
    ) -> Objection:
        """An objection to `node`, which is shown as `part`, else as it prints."""
        shown = node.sql(dialect=self.dialect) if part is None else part
        return Objection(clause, message, shown, span_of(node, self.text), suggestion)


def parse_one(text: str, dialect: str) -> exp.Expression | Objection:
    """The tree of exactly one SELECT.

    Raises:
        RecursionError: it is nested too deeply.
    """
    try:
        reader = Dialect.get_or_raise(dialect)
        tokens = reader.tokenize(text)
        if (bound := tokens_beyond_bounds(tokens)) is not None:
            return Objection(Clause.ONE_STATEMENT, bound)
        parsed = reader.parser().parse(tokens, text)
    except RecursionError:
        raise
    except Exception as error:  # Hostile text trips the parser in ways that it has no error of its own for.
        message = f"it cannot be read as SQL: {_first_line(error)}"
        return Objection(Clause.ONE_STATEMENT, message, span=_error_span(error, text))
    # A comment behind the last semicolon is parsed as a node of its own.
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        return Objection(Clause.ONE_STATEMENT, f"exactly one statement is run, {len(trees)} were found")
    tree = _bare(trees[0])
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return Objection(Clause.ONE_STATEMENT, f"only a SELECT is run, not {type(tree).__name__.upper()}")
    return tree


def _bare(tree: exp.Expr) -> exp.Expr:
    """A statement without the brackets around it."""
    while isinstance(tree, exp.Subquery) and not any(value for name, value in tree.args.items() if name != "this"):
        tree = tree.this
    return tree


DEFAULT_SCHEMA = "main"
"""Where the engine looks for a name without a schema."""


def place_views(tree: exp.Expression, contract: Contract) -> None:
    """Gives governed views of the engine's own schema that schema where it was left out; what runs spells it.

    No CTE can be meant, since none may have the name of a governed view.
    """
    views = {item.view.lower() for item in contract.object_types}
    for table in tree.find_all(exp.Table):
        plain = isinstance(table.this, exp.Identifier) and not table.args.get("db") and not table.args.get("catalog")
        if plain and f"{DEFAULT_SCHEMA}.{table.name.lower()}" in views:
            table.set("db", exp.to_identifier(DEFAULT_SCHEMA))


def count_rows(tree: exp.Expression) -> None:
    """Makes COUNT of a literal what it is, COUNT(*): a literal is nothing in no row, and NULL is no literal.

    COUNT_IF becomes a COUNT of what a CASE chooses.
    """
    for asked in list(tree.find_all(exp.CountIf)):
        chosen = exp.Case(ifs=[exp.If(this=asked.this, true=exp.Literal.number(1))])
        count = exp.Count(this=chosen, big_int=True)
        count.meta.update(asked.meta)
        asked.replace(count)
    for count in tree.find_all(exp.Count):
        if isinstance(count.this, exp.Literal | exp.Boolean) and not count.expressions:
            count.set("this", exp.Star())


def resolve(statement: Statement, contract: Contract) -> Statement | Objection:
    """The statement, its tree changed in place, with every column resolved against the contract's views.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if statement.purpose.is_asked and (large := expands_too_far(statement.tree)) is not None:
        message = "its aliases stand for each other so often that it cannot be checked"
        return statement.objection(Clause.ONE_STATEMENT, message, large, part="")
    views = tuple((item.view, tuple(item.columns)) for item in contract.object_types)
    try:
        tree = qualify(
            statement.tree,
            dialect=statement.dialect,
            schema=_schema(views, statement.dialect),
            expand_stars=False,
            quote_identifiers=False,
            validate_qualify_columns=True,
        )
        scopes = tuple(traverse_scope(tree))
    except RecursionError:
        raise
    except Exception as error:  # As above.
        return Objection(Clause.KNOWN_COLUMNS, _first_line(error), span=_column_span(error, statement))
    return Statement(statement.purpose, statement.dialect, statement.text, tree, scopes)


@lru_cache(maxsize=64)
def _schema(views: tuple[tuple[str, tuple[str, ...]], ...], dialect: str) -> MappingSchema:
    """The columns of views as names are resolved against; kept, since it takes longer to make than to use."""
    known: dict[str, dict[str, dict[str, str]]] = {}
    for view, columns in views:
        namespace, _, name = view.rpartition(".")
        known.setdefault(namespace, {})[name] = dict.fromkeys(columns, "UNKNOWN")
    return MappingSchema(dict[str, object](known), dialect=dialect)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _error_span(error: Exception, text: str) -> Span | None:
    """Where the parser stopped; it tells the line, and the column of the last character."""
    fault = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    line, column, word = fault.get("line"), fault.get("col"), fault.get("highlight")
    if not (isinstance(line, int) and isinstance(column, int) and word):
        return None
    end = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column
    return (end - len(word), end) if text[end - len(word) : end] == word else None


def _column_span(error: Exception, statement: Statement) -> Span | None:
    """Where the column stands that the message of a failed resolution names."""
    message = re.search(r"""["'](?:[^"']*\.)?([^"'.]+)["']|Unknown column: (\S+)""", _first_line(error))
    if message is None:
        return None
    name = (message[1] or message[2]).lower()
    named = (column for column in statement.find_all(exp.Column) if column.name.lower() == name)
    return next((span for column in named if (span := span_of(column, statement.text))), None)
