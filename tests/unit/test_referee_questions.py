"""The referee under purpose `question`: each clause's own cases, what is fair, and any text at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.referee.certified import Clause, Purpose
from catalog.referee.decisions import (
    Abstained,
    Allowed,
    Escalated,
    decision_word,
)
from catalog.referee.rules import RULES
from tests.unit.refereeing import CLAUSES, allowed, escalated, judge, objection
from tests.unit.test_referee import CASES, CERTIFIED, CONTRACT, SECRET, cases, garbled, statements

OWN = tuple(
    clause for clause in CLAUSES if clause not in {Clause.TEXT, *(rule.clause for rule in RULES[Purpose.MONITOR])}
)
MEASURED = (Clause.CERTIFIED_METRIC, Clause.REQUIRED_GRAIN, Clause.MANDATORY_FILTERS)
"""Clauses that ask something only where the contract has metrics and mandatory filters."""


@pytest.fixture(scope="module")
def governed_only() -> Iterator[duckdb.DuckDBPyConnection]:
    """The fixture where raw tables are out of reach: the views are tables, and nothing else exists."""
    with duckdb.connect() as connection:
        connection.execute((CASES / "fixture.sql").read_text("utf-8"))
        for item in CONTRACT.object_types:
            columns = ", ".join(item.columns)
            connection.execute(f"CREATE TABLE main.copy AS SELECT {columns} FROM {item.view}")
            connection.execute(f"DROP VIEW {item.view}")
            connection.execute(f"CREATE TABLE {item.view} AS SELECT * FROM main.copy")
            connection.execute("DROP TABLE main.copy")
        connection.execute("DROP SCHEMA raw_extracted CASCADE")
        connection.execute("DROP TABLE main.internal_notes")
        yield connection


@pytest.mark.parametrize("case", cases("attacks"), ids=lambda case: case["id"])
def test_the_attack_corpus_comes_to_what_it_must(case: dict[str, Any]) -> None:
    assert decision_word(judge(case["sql"], contract=CERTIFIED)).lower() == case["must"]


@pytest.mark.parametrize("clause", [clause for clause in CLAUSES if clause is not Clause.SENSITIVE])
def test_a_clause_refuses_each_of_its_cases(clause: Clause) -> None:
    contract = CERTIFIED if clause in MEASURED else CONTRACT
    found = {sql: objection(sql, contract).clause for sql in statements(clause)}
    # A clause before it may be stricter with questions than with monitors, and the first finding wins.
    fine = {clause} if clause in OWN else set(CLAUSES[: CLAUSES.index(clause) + 1])
    assert {sql: named for sql, named in found.items() if named not in fine} == {}


@pytest.mark.parametrize("sql", statements(Clause.SENSITIVE))
def test_what_touches_a_restricted_column_is_escalated(sql: str) -> None:
    decision = escalated(sql)
    assert decision.objection.clause is Clause.SENSITIVE
    assert set(decision.columns) <= {"ontology.customers.email", "ontology.customers.tax_id"}
    assert decision.columns
    assert [line.clause for line in decision.certificate] == CLAUSES[:-1]


@pytest.mark.parametrize("sql", statements("questions"))
def test_a_fair_question_passes_and_reads_governed_views_only(
    sql: str, governed_only: duckdb.DuckDBPyConnection
) -> None:
    query = allowed(sql).query
    for text in (query.sql, query.bounded_sql):
        governed_only.execute(text).fetchall()


@pytest.mark.parametrize("sql", statements("measured_questions"))
def test_a_fair_question_about_measures_passes_and_runs(sql: str, governed_only: duckdb.DuckDBPyConnection) -> None:
    query = allowed(sql, CERTIFIED).query
    governed_only.execute(query.bounded_sql).fetchall()
    assert allowed(query.sql, CERTIFIED).query.sql == query.sql


@pytest.mark.parametrize("sql", statements("questions"))
def test_what_was_printed_passes_again_and_prints_the_same(sql: str) -> None:
    printed = allowed(sql).query.sql
    assert allowed(printed).query.sql == printed


# --- Any text at all


@given(st.text())
def test_any_text_at_all_is_judged(text: str) -> None:
    assert isinstance(judge(text), Abstained | Allowed | Escalated)


@given(garbled())
def test_no_garbled_question_that_passes_reads_what_is_not_governed(
    governed_only: duckdb.DuckDBPyConnection, sql: str
) -> None:
    decision = judge(sql)
    if not isinstance(decision, Allowed):
        return
    try:
        rows = governed_only.execute(decision.query.bounded_sql).fetchmany(100)
    except duckdb.CatalogException as error:
        raise AssertionError(f"it names what is not there: {decision.query.sql}") from error
    except duckdb.Error:
        return
    assert SECRET not in str(rows)


_NUMBERS = {"readings": ["turbidity_ntu"], "orders": ["net_amount", "order_id"], "order_lines": ["line_amount"]}
_TEXTS = {"readings": ["site"], "orders": ["fiscal_period", "legal_entity"], "order_lines": []}
_DATES = {"readings": ["reading_date"], "orders": ["order_date"], "order_lines": []}


@st.composite
def well_typed(draw: st.DrawFn) -> str:
    """A question that a person could ask: a few columns or measures, a filter, an order."""
    view = draw(st.sampled_from(sorted(_NUMBERS)))
    numbers, groups = _NUMBERS[view], [*_TEXTS[view], *(f"year({name})" for name in _DATES[view])]
    number = st.sampled_from(numbers)
    functions = ("sum", "avg", "min", "max", "median", "stddev", "count")
    measures = st.builds("{}({})".format, st.sampled_from(functions), number)
    rounded = st.builds("round(coalesce({}, 0), 2)".format, measures)
    chosen = draw(st.lists(st.sampled_from(groups), unique=True)) if groups else []
    outputs = [*chosen, *draw(st.lists(st.one_of(measures, rounded), min_size=1, max_size=3))]
    listed = ", ".join(f"{text} AS c{place}" for place, text in enumerate(outputs))
    where = draw(
        st.one_of(
            st.just(""),
            st.builds(" WHERE {} {} {}".format, number, st.sampled_from(["<", ">=", "<>"]), st.integers(-9, 9)),
            st.builds(" WHERE {} BETWEEN 0 AND {}".format, number, st.integers(0, 9)),
        )
    )
    group = f" GROUP BY {', '.join(chosen)}" if chosen else ""
    order = draw(st.sampled_from(["", " ORDER BY c0", " ORDER BY c0 DESC LIMIT 3"]))
    return f"SELECT {listed} FROM ontology.{view}{where}{group}{order}"


@given(well_typed())
def test_a_well_typed_question_passes_and_runs(governed_only: duckdb.DuckDBPyConnection, sql: str) -> None:
    governed_only.execute(allowed(sql).query.bounded_sql).fetchall()
