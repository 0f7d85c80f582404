"""How DuckDB itself reads a statement, so that no other parser's view of it decides alone. No data is touched."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

import duckdb

from catalog.datatypes import DataType, Kind

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "128MB",
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}


_TYPES = {
    Kind.TEXT: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.DOUBLE: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.DURATION: "BIGINT",
}
_ANY_TYPE = '"NULL"'
"""The type of a bare NULL: it goes with whatever a function or an operator takes."""


_UNRESOLVED = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)
"""The ordinary ways to be no statement over the views."""


class UnreadableSQL(Exception):
    """The engine cannot make sense of the text; its message says why, on one line."""


def statement_kinds(text: str) -> tuple[str, ...]:
    """The kind of each statement in `text`, such as `SELECT` or `ATTACH`, as the engine's parser sees them.

    Raises:
        UnreadableSQL: it cannot be parsed.
    """
    return _kinds(_instance(()), text)


def bind(sql: str, views: Mapping[str, Mapping[str, DataType | None]]) -> None:
    """Lets the engine resolve `sql` where nothing exists but `views`, empty; nothing is optimised or run.

    Args:
        sql: one SELECT.
        views: type of each column of each relation, which is named `schema.name`; None goes with any type.

    Raises:
        UnreadableSQL: it is something else, names something else, or its types do not fit.
    """
    connection = _instance(tuple((view, tuple(columns.items())) for view, columns in views.items()))
    if (kinds := _kinds(connection, sql)) != ("SELECT",):
        raise UnreadableSQL(f"it sees {', '.join(kinds) or 'nothing'} instead of one SELECT")
    try:
        connection.execute(f"PREPARE bound AS {sql}")
        connection.execute("DEALLOCATE bound")
    except (duckdb.Error, RuntimeError, UnicodeError) as error:
        if not isinstance(error, _UNRESOLVED):
            _INSTANCES.opened = {}  # Whatever the fault left behind, no other statement is to meet it.
        raise UnreadableSQL(_one_line(error)) from None


_Views = tuple[tuple[str, tuple[tuple[str, DataType | None], ...]], ...]

MOST_INSTANCES = 4
"""Kept open by a thread: a contract needs one to parse in and two to bind in."""

# Opening an instance takes longer than everything else that the referee does. Nothing that is only parsed or prepared,
# as one SELECT, leaves anything behind in it; each thread has its own, and a forked process opens its own.
_INSTANCES = threading.local()


def _instance(views: _Views) -> duckdb.DuckDBPyConnection:
    """An instance of this thread in which nothing exists but `views`, empty."""
    if getattr(_INSTANCES, "process", None) != os.getpid():
        # What a parent opened stays referred to: only the parent can close it.
        _INSTANCES.inherited = [*getattr(_INSTANCES, "inherited", []), getattr(_INSTANCES, "opened", None)]
        _INSTANCES.process, _INSTANCES.opened = os.getpid(), {}
    opened: dict[_Views, duckdb.DuckDBPyConnection] = _INSTANCES.opened
    found = opened.pop(views, None) or _opened(views)
    opened[views] = found
    if len(opened) > MOST_INSTANCES:
        opened.pop(next(iter(opened))).close()
    return found


def _opened(views: _Views) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config=_CONFIG)
    for view, columns in views:
        schema, _, name = view.rpartition(".")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
        declared = ", ".join(f"{_quoted(column)} {_type(kind)}" for column, kind in columns)
        connection.execute(f"CREATE TABLE {_quoted(schema)}.{_quoted(name)} ({declared})")
    # The optimiser would work constant expressions out, however large their values are.
    connection.execute("PRAGMA disable_optimizer")
    connection.execute("SET lock_configuration = true")
    return connection


def _kinds(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[str, ...]:
    try:
        return tuple(statement.type.name for statement in connection.extract_statements(text))
    except (duckdb.Error, RuntimeError, UnicodeError) as error:
        raise UnreadableSQL(_one_line(error)) from None


def _type(declared: DataType | None) -> str:
    if declared is None:
        return _ANY_TYPE
    return str(declared) if declared.kind is Kind.DECIMAL else _TYPES[declared.kind]


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
