"""How DuckDB itself reads a statement, so that no other parser's view of it decides alone. No data is touched."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

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
    with _instances.of(()) as connection:
        return _kinds(connection, text)


def bind(sql: str, views: Mapping[str, Mapping[str, DataType | None]]) -> None:
    """Lets the engine resolve `sql` where nothing exists but `views`, empty; nothing is optimised or run.

    Args:
        sql: one SELECT.
        views: type of each column of each relation, which is named `schema.name`; None goes with any type.

    Raises:
        UnreadableSQL: it is something else, names something else, or its types do not fit.
    """
    declared = tuple((view, tuple(columns.items())) for view, columns in views.items())
    try:
        with _instances.of(declared) as connection:
            if (kinds := _kinds(connection, sql)) != ("SELECT",):
                raise UnreadableSQL(f"it sees {', '.join(kinds) or 'nothing'} instead of one SELECT")
            connection.execute(f"PREPARE bound AS {sql}")
            connection.execute("DEALLOCATE bound")
    except (duckdb.Error, RuntimeError, UnicodeError) as error:
        raise UnreadableSQL(_one_line(error)) from None


_Views = tuple[tuple[str, tuple[tuple[str, DataType | None], ...]], ...]

MOST_INSTANCES = 4
"""Kept open: a contract needs one to parse in and two to bind in."""


class _Instances:
    """Those of this process, one for each set of views that was asked for lately; for one thread at a time.

    Opening one takes longer than everything else that the referee does. Nothing that is only parsed or prepared, as one
    SELECT, leaves anything behind in it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: dict[_Views, duckdb.DuckDBPyConnection] = {}

    @contextmanager
    def of(self, views: _Views) -> Iterator[duckdb.DuckDBPyConnection]:
        """An instance in which nothing exists but `views`, empty. What a fault left behind, nobody else meets."""
        with self._lock:
            found = self._opened.pop(views, None) or _opened(views)
            try:
                yield found
            except (*_UNRESOLVED, UnreadableSQL):
                self._keep(views, found)
                raise
            except BaseException:
                found.close()
                raise
            self._keep(views, found)

    def close(self) -> None:
        """Closes all: an instance that is left to the end of the interpreter may end it with a segmentation fault."""
        with self._lock:
            self._close()

    def hold_for_fork(self) -> None:
        """Closes all, and lets nobody open another one: a process that ends what its parent opened does not survive."""
        self._lock.acquire()
        self._close()

    def go_on(self) -> None:
        """In the parent, once it has forked."""
        self._lock.release()

    def _close(self) -> None:
        while self._opened:
            self._opened.popitem()[1].close()

    def _keep(self, views: _Views, found: duckdb.DuckDBPyConnection) -> None:
        self._opened[views] = found
        if len(self._opened) > MOST_INSTANCES:
            self._opened.pop(next(iter(self._opened))).close()


_instances = _Instances()


def _begin_anew() -> None:
    # The lock is held here, by a thread that is not there.
    global _instances
    _instances = _Instances()


os.register_at_fork(
    before=lambda: _instances.hold_for_fork(),
    after_in_parent=lambda: _instances.go_on(),
    after_in_child=_begin_anew,
)
atexit.register(lambda: _instances.close())


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
