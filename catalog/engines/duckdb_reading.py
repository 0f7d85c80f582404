"""How DuckDB itself reads a statement, so that no other parser's view of it decides alone. No data is touched."""

from __future__ import annotations

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


class UnreadableSQL(Exception):
    """The engine cannot make sense of the text; its message says why, on one line."""


def statement_kinds(text: str) -> tuple[str, ...]:
    """The kind of each statement in `text`, such as `SELECT` or `ATTACH`, as the engine's parser sees them.

    Raises:
        UnreadableSQL: it cannot be parsed.
    """
    with duckdb.connect(":memory:", config=_CONFIG) as connection:
        return _kinds(connection, text)


def bind(sql: str, views: Mapping[str, Mapping[str, DataType | None]]) -> None:
    """Lets the engine resolve `sql` where nothing exists but `views`, empty; nothing is optimised or run.

    Args:
        sql: one SELECT.
        views: type of each column of each relation, which is named `schema.name`; None goes with any type.

    Raises:
        UnreadableSQL: it is something else, names something else, or its types do not fit.
    """
    with duckdb.connect(":memory:", config=_CONFIG) as connection:
        if (kinds := _kinds(connection, sql)) != ("SELECT",):
            raise UnreadableSQL(f"it sees {', '.join(kinds) or 'nothing'} instead of one SELECT")
        for view, columns in views.items():
            schema, _, name = view.rpartition(".")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
            declared = ", ".join(f"{_quoted(column)} {_type(kind)}" for column, kind in columns.items())
            connection.execute(f"CREATE TABLE {_quoted(schema)}.{_quoted(name)} ({declared})")
        # The optimiser would work constant expressions out, however large their values are.
        connection.execute("PRAGMA disable_optimizer")
        connection.execute("SET lock_configuration = true")
        try:
            connection.execute(f"PREPARE bound AS {sql}")
        except (duckdb.Error, RuntimeError, UnicodeError) as error:
            raise UnreadableSQL(_one_line(error)) from None


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
