"""How long, how large and in which words a question may be."""

from __future__ import annotations

import time

import pytest

from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.clauses.text import LONGEST_QUESTION
from catalog.referee.decisions import (
    Abstained,
    Allowed,
)
from tests.unit.refereeing import allowed, contract_of, judge, objection
from tests.unit.test_referee import CERTIFIED, CONTRACT
from trivet.errors import InternalError


def test_a_question_of_any_length_is_not_read() -> None:
    sql = "SELECT site FROM ontology.readings WHERE site <> '{}'"
    allowed(sql.format("a" * (LONGEST_QUESTION - len(sql))))
    found = objection(sql.format("a" * LONGEST_QUESTION))
    assert (found.clause, found.message) == (Clause.TEXT, "it has 20051 characters; at most 20000 are read")


@pytest.mark.parametrize(
    ("sql", "last"),
    [
        ("SELECT site FROM ontology.readings", "LIMIT 1001"),
        ("SELECT site FROM ontology.readings LIMIT 5", "LIMIT 5"),
        ("SELECT site FROM ontology.readings LIMIT 1000", "LIMIT 1000"),
        ("SELECT site FROM ontology.readings LIMIT 99999999999999999999", "LIMIT 1001"),
        ("SELECT site FROM ontology.readings UNION ALL SELECT site FROM ontology.readings", "LIMIT 1001"),
        ("(SELECT site FROM ontology.readings LIMIT 5) UNION (SELECT site FROM ontology.readings)", "LIMIT 1001"),
    ],
)
def test_the_outer_bound_is_one_row_more_than_the_contract_lets_through(sql: str, last: str) -> None:
    query = allowed(sql).query
    assert query.bounded_sql.split("\n")[-1] == last
    assert query.max_rows == CONTRACT.limits.max_rows == 1000


@pytest.mark.parametrize("bound", ["1.5", "'1'", "50%", "1 + 1", "-1", "(SELECT 1)", "ALL", "NULL"])
def test_a_bound_of_its_own_is_a_whole_number(bound: str) -> None:
    for word in ("LIMIT", "OFFSET"):
        decision = judge(f"SELECT site FROM ontology.readings {word} {bound}")
        assert isinstance(decision, Abstained)


def test_a_question_is_read_as_its_own_engine_reads_it() -> None:
    with pytest.raises(InternalError, match="no question is asked in dialect postgres"):
        certify("SELECT site FROM ontology.readings", CONTRACT, Purpose.QUESTION, "postgres")


def test_types_that_do_not_fit_are_refused_before_anything_runs() -> None:
    found = objection("SELECT sum(site) AS n FROM ontology.readings")
    assert (found.clause, found.message[:30]) == (Clause.KNOWN_COLUMNS, "the engine cannot resolve it: ")


def test_a_view_may_hold_a_declared_number_as_text() -> None:
    allowed("SELECT trim(net_amount) AS n FROM ontology.orders")


def doubling(first: str, step: str, end: str, steps: int) -> str:
    return first + "".join(step.format(n=number, m=number - 1) for number in range(1, steps)) + end.format(m=steps - 1)


UNIONS = ", c{n} AS (SELECT x FROM c{m} UNION SELECT x FROM c{m})"
SUMS = ", c{n} AS (SELECT x + y AS x, x - y AS y FROM c{m})"
DOUBLING = {
    "aliases": doubling("SELECT turbidity_ntu AS c0", ", c{m} + c{m} AS c{n}", " FROM ontology.readings", 200),
    "aliases in a filter": doubling(
        "SELECT 1 AS c0", ", c{m} || c{m} AS c{n}", " FROM ontology.readings WHERE c{m} = ''", 200
    ),
    "constants": doubling("WITH c0 AS (SELECT 1 AS x, 2 AS y)", SUMS, " SELECT x FROM c{m}, ontology.readings", 100),
    "columns": doubling(
        "WITH c0 AS (SELECT order_id AS x, 1 AS y FROM ontology.orders)", SUMS, " SELECT x FROM c{m}", 100
    ),
    "a metric's name": doubling(
        "WITH c0 AS (SELECT sum(net_amount) AS net_revenue FROM ontology.orders"
        " WHERE fiscal_period = '2025-Q3' AND legal_entity = 'US')",
        ", c{n} AS (SELECT net_revenue FROM c{m} UNION SELECT net_revenue FROM c{m})",
        " SELECT net_revenue FROM c{m}",
        100,
    ),
    "a derived metric's name": doubling(
        "WITH c0 AS (SELECT round(sum(net_amount) / nullif(count(DISTINCT order_id), 0), 2) AS revenue_per_order"
        " FROM ontology.orders WHERE fiscal_period = '2025-Q3' AND legal_entity = 'US')",
        ", c{n} AS (SELECT revenue_per_order FROM c{m} UNION SELECT revenue_per_order FROM c{m})",
        " SELECT revenue_per_order FROM c{m}",
        100,
    ),
    "rows": doubling("WITH c0 AS (SELECT 1 AS x)", UNIONS, " SELECT count(*) AS n FROM c{m}", 100),
}


@pytest.mark.parametrize("sql", DOUBLING.values(), ids=DOUBLING)
def test_what_doubles_at_each_step_is_judged_at_once(sql: str) -> None:
    begun = time.monotonic()
    assert isinstance(judge(sql, contract=CERTIFIED), Allowed | Abstained)
    assert isinstance(judge(sql), Allowed | Abstained)
    assert time.monotonic() - begun < 10


def test_aliases_may_stand_for_aliases_within_reason() -> None:
    allowed("SELECT turbidity_ntu AS a, a + 1 AS b, a + b AS c FROM ontology.readings WHERE c > 0")


@pytest.mark.parametrize(
    ("sql", "printed"),
    [
        ("SELECT id FROM things", "SELECT things.id AS id FROM main.things AS things"),
        ("SELECT t.id FROM Things t", "SELECT t.id AS id FROM main.things AS t"),
        ("WITH q AS (SELECT id FROM things) SELECT id FROM q", None),
        ("WITH things AS (SELECT id FROM main.things) SELECT id FROM things", "relation_allow_list"),
        ("SELECT id FROM other.things", "relation_allow_list"),
        ('SELECT id FROM "main.things"', "relation_allow_list"),
        ("SELECT id FROM secrets", "relation_allow_list"),
    ],
)
def test_a_view_of_the_engines_own_schema_may_be_named_without_it(sql: str, printed: str | None) -> None:
    contract = contract_of(
        "contract: {id: c, version: 1.0.0}\n"
        "object_types:\n"
        "  - {name: p, view: main.things, primary_key: [id], properties: [{name: id, type: text}]}\n"
    )
    decision = judge(sql, contract=contract)
    if isinstance(decision, Abstained):
        assert decision.objection.clause == printed
    else:
        assert isinstance(decision, Allowed)
        assert printed is None or " ".join(decision.query.sql.split()) == printed
        assert "main.things" in decision.query.sql
