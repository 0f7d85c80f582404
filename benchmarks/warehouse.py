"""The data that is measured: pay lines held to floors, made by a formula and without chance.

Of `pay` (all text) and `typed_pay` (the declared types), 1 % of the lines are below their floor, and
1.5 % cannot be judged. Of `quiet_pay` it is one line in 10,000 each. `cells` has one column of text
for each type.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

KEYS = 500
"""Floors in force at a time; each pay line is held to one of them."""

_GRADE, _POINT = "'G' || (i % 25)", f"'P' || (i % {KEYS} // 25)"
_PAID = "(DATE '2024-01-01' + (i % 800)::INTEGER)"
_FLOOR = f"20 + i % {KEYS} / 100.0"
_MANY = ("i % 200 = 7", "i % 100 = 3", "i % 100 = 9")
_FEW = ("i % 20000 = 7", "i % 20000 = 3", "i % 10000 = 9")


def build(path: Path, rows: int, tables: frozenset[str]) -> None:
    """Writes a warehouse with the tables that are wanted, each of so many rows, and always with the floors."""
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        # With a dictionary the bare cast runs once per distinct text, and a ratio to that means little.
        connection.execute("PRAGMA force_compression = 'uncompressed'")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("CREATE SCHEMA ontology")
        for name in sorted(tables):
            connection.execute(f"CREATE TABLE ontology.{name} AS SELECT {_TABLES[name]()} FROM range({rows}) AS t(i)")
        floor = f"{_GRADE} AS grade, 'P' || (i // 25) AS point"
        connection.execute(
            f"CREATE TABLE ontology.floor AS SELECT {floor}, (20 + i / 100.0)::DECIMAL(12,4)::VARCHAR AS rate "
            f"FROM range({KEYS}) AS t(i)"
        )
        connection.execute(
            f"CREATE TABLE ontology.dated_floor AS SELECT {floor}, year || '-07-01' AS since, "
            f"(20 + i / 100.0 - (2025 - year) / 100.0)::DECIMAL(12,4)::VARCHAR AS rate "
            f"FROM range({KEYS}) AS t(i), (VALUES (2023), (2024), (2025)) AS y(year)"
        )


def _rate(note: str, missing: str, below: str) -> str:
    return (
        f"CASE WHEN {note} THEN 'see note' WHEN {missing} THEN NULL "
        f"WHEN {below} THEN ({_FLOOR} - 0.5)::DECIMAL(12,4)::VARCHAR "
        f"ELSE ({_FLOOR} + i % 977 / 100.0)::DECIMAL(12,4)::VARCHAR END"
    )


def _pay(rate: str) -> str:
    return f"'E' || i AS id, {_GRADE} AS grade, {_POINT} AS point, {_PAID}::VARCHAR AS paid, {rate} AS rate"


def _typed_pay() -> str:
    rate = f"TRY_CAST({_rate(*_MANY)} AS DECIMAL(12,4))"
    return f"i AS id, {_GRADE} AS grade, {_POINT} AS point, {_PAID} AS paid, {rate} AS rate"


def _cells() -> str:
    return (
        f"'C' || i AS id, (i % 100000)::VARCHAR AS whole, ({_FLOOR})::DECIMAL(12,4)::VARCHAR AS exact, "
        f"((i % 9973) / 7.0)::DOUBLE::VARCHAR AS measured, {_PAID}::VARCHAR AS day, "
        f"({_PAID} + INTERVAL (i % 86400) SECOND)::VARCHAR AS moment, (i % 3 = 0)::VARCHAR AS flag"
    )


_TABLES: dict[str, Callable[[], str]] = {
    "pay": lambda: _pay(_rate(*_MANY)),
    "quiet_pay": lambda: _pay(_rate(*_FEW)),
    "typed_pay": _typed_pay,
    "cells": _cells,
}
