"""What the query of a governed view may contain: other tables and views, and nothing that varies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp

from trivet.findings import Position

# What the engine marks as other than CONSISTENT and that reads a clock, chance or the session;
# a test compares the list with the engine's own. `age` of one argument counts from today.
UNSTEADY_FUNCTIONS = frozenset({
    "age", "ago", "current_catalog", "current_connection_id", "current_database", "current_localtime",
    "current_localtimestamp", "current_query", "current_query_id", "current_role", "current_schema",
    "current_schemas", "current_setting", "current_transaction_id", "current_user", "currval",
    "gen_random_uuid", "get_current_time", "get_current_timestamp", "getenv", "getvariable",
    "in_search_path", "nextval", "now", "pg_conf_load_time", "pg_postmaster_start_time", "pg_sleep",
    "random", "session_user", "setseed", "setval", "sleep_ms", "stats", "today",
    "transaction_timestamp", "txid_current", "user", "uuid", "uuidv4", "uuidv7", "vector_type",
    "write_log",
})  # fmt: skip
_STEADY = "a view must say the same whenever it is asked"
_UNSTEADY_WORDS = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)
_OTHER_STATEMENTS = (
    exp.Command,
    exp.DDL,
    exp.DML,
    exp.Describe,
    exp.Summarize,
    exp.Into,
    exp.Pragma,
    exp.Set,
    exp.Show,
)
_UNSTEADY_NODES = (exp.TableSample, exp.Placeholder, exp.Parameter)
_INLINE_SOURCES = (exp.Subquery, exp.Unnest, exp.Values, exp.Lateral)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a view may not contain, and where it stands."""

    position: Position
    message: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that a view reads, and where it says so."""

    name: str
    """`schema.name` in lower case: the engine ignores case in names."""
    position: Position


def view_faults(query: exp.Expr, tokens: list[Token], text: str) -> list[Fault]:
    """Everything in the query of a view that may not be there."""
    if not isinstance(query, _QUERIES):
        return [Fault(Position(1, 1), "is no SELECT; a view file holds one SELECT or CREATE VIEW ... AS SELECT")]
    faults = [*_unsteady_words(tokens, text)]
    for node in query.walk():
        if message := _node_fault(node):
            faults.append(Fault(_position(node, text), message))
    return faults


def relations(query: exp.Expr, text: str) -> list[Relation]:
    """The tables and views that a query reads, names of its own WITH clauses left out."""
    return [
        Relation(f"{table.db}.{table.name}".lower(), _position(table, text))
        for table in query.find_all(exp.Table)
        if table.db
    ]


def _node_fault(node: exp.Expr) -> str:
    if isinstance(node, _OTHER_STATEMENTS):
        return f"{node.key.upper()} may not stand in a view"
    if isinstance(node, _UNSTEADY_NODES):
        return f"samples and parameters may not stand in a view; {_STEADY}"
    if isinstance(node, exp.Table):
        return _table_fault(node)
    if isinstance(node, (exp.From, exp.Join)) and not isinstance(node.this, (exp.Table, *_INLINE_SOURCES)):
        return "only tables, views, subqueries, VALUES and UNNEST can be read from"
    return ""


def _table_fault(table: exp.Table) -> str:
    if not isinstance(table.this, exp.Identifier):
        function = table.this.sql("duckdb")
        return f"table function {function} may not stand in a view; declare the file in sources.yaml"
    name = table.name
    if table.catalog:
        return f"{table.catalog}.{table.db}.{name}: leave the database out; a view reads its own warehouse"
    if not table.db and name.lower() not in _names_in_scope(table):
        return f"{name!r} needs its schema, as in raw.{name} or ontology.{name}; a file cannot be read in a view"
    return ""


def _names_in_scope(table: exp.Table) -> set[str]:
    """Names that the WITH clauses of the enclosing queries give to subqueries."""
    names: set[str] = set()
    node = table.parent
    while node is not None:
        if isinstance(node, exp.Query):
            names.update(cte.alias_or_name.lower() for cte in node.ctes)
        node = node.parent
    return names


def _unsteady_words(tokens: list[Token], text: str) -> Iterator[Fault]:
    """Clocks, chance and session values, found as words, since the tree renames many of them."""
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        word = token.text.lower()
        is_call = after is not None and after.token_type is TokenType.L_PAREN
        is_column = before is not None and before.token_type is TokenType.DOT
        is_bare = token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING) and not is_column
        if (is_call and word in UNSTEADY_FUNCTIONS) or (is_bare and word in _UNSTEADY_WORDS):
            message = f"{word} varies by time, chance or session; {_STEADY}"
            yield Fault(position_at(text, token.start), message)


def _position(node: exp.Expr, text: str) -> Position:
    """Where the first word of a node stands, as far as the parser kept it."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return position_at(text, min(starts)) if starts else Position(1, 1)


def position_at(text: str, offset: int) -> Position:
    """Line and column of an offset in a text."""
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
