"""Mutated statements of the whole corpus: nothing crashes, and what passes reads governed views alone.

Who says what a statement reads is the engine here, and no code of the referee. A longer run:
`HYPOTHESIS_PROFILE=long python -m pytest tests/unit/test_referee_fuzz.py`.
"""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed, decision_word
from tests.unit.test_referee import CERTIFIED, cases, statements

_TOKEN = re.compile(r"\s+|'[^']*'|\"[^\"]*\"|\w+|.", re.DOTALL)
_SEEDS = [
    _TOKEN.findall(sql)
    for sql in (
        *statements("questions"),
        *statements("measured_questions"),
        *(case["sql"] for case in (*cases("attacks"), *cases("corpus")) if len(case["sql"]) < 2000),
    )
]
_PASSING = [
    _TOKEN.findall(sql)
    for sql in (
        *statements("measured_questions"),
        *(case["sql"] for case in cases("corpus") if case["must"] == "allow"),
    )
]
GOVERNED = {item.view for item in CERTIFIED.object_types}


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A statement, most often one that passes, with parts of others put in the place of its own."""
    tokens = list(draw(st.sampled_from(_PASSING if draw(st.integers(0, 3)) else _SEEDS)))
    for _ in range(draw(st.integers(1, 3))):
        graft = draw(st.sampled_from(_SEEDS))
        at, start = draw(st.integers(0, len(tokens))), draw(st.integers(0, len(graft)))
        tokens[at : at + draw(st.integers(0, 3))] = graft[start : start + draw(st.integers(0, 8))]
    return "".join(tokens)


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    """An instance in which nothing exists but the declared columns of the governed views."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA ontology")
    for item in CERTIFIED.object_types:
        types = {part.name: str(part.type) if part.type.kind.value != "text" else "TEXT" for part in item.properties}
        columns = ", ".join(f"{name} {types.get(name, 'TEXT')}" for name in item.columns)
        connection.execute(f"CREATE TABLE {item.view} ({columns})")
    return connection


@given(mutated())
def test_what_passes_reads_governed_views_alone_as_the_engine_tells(
    engine: duckdb.DuckDBPyConnection, sql: str
) -> None:
    decision = certify(sql, CERTIFIED, Purpose.QUESTION)
    event(decision_word(decision))
    if isinstance(decision, Allowed):
        # Each name comes with its alias, and in quotes where it is a word of SQL.
        read = {
            name.split(" ")[0].replace('"', "")
            for name in engine.get_table_names(decision.query.bounded_sql, qualified=True)
        }
        assert read <= GOVERNED
        engine.execute(decision.query.bounded_sql).fetchall()
