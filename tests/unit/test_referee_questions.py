"""The referee under purpose `question`: its own clauses, its three decisions, and what holds of any text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.contract import Contract
from catalog.loading import load_contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.clauses.text import LONGEST_QUESTION
from catalog.referee.decisions import (
    Abstained,
    Allowed,
    Approval,
    Decision,
    Escalated,
    decision_document,
    decision_word,
    reason_code,
)
from catalog.referee.rules import RULES
from catalog.referee.statement import Objection
from tests.unit.test_referee import CASES, CERTIFIED, CONTRACT, SECRET, cases, garbled, statements
from trivet.documents import read_yaml
from trivet.errors import InternalError
from trivet.outcomes import ReasonCode

CLAUSES = [Clause.TEXT, *(rule.clause for rule in RULES[Purpose.QUESTION])]
OWN = tuple(
    clause for clause in CLAUSES if clause not in {Clause.TEXT, *(rule.clause for rule in RULES[Purpose.MONITOR])}
)
MEASURED = (Clause.CERTIFIED_METRIC, Clause.REQUIRED_GRAIN, Clause.MANDATORY_FILTERS)
"""Clauses that ask something only where the contract has metrics and mandatory filters."""


def judge(sql: str, approval: Approval | None = None, contract: Contract = CONTRACT) -> Decision:
    return certify(sql, contract, Purpose.QUESTION, approval=approval)


def objection(sql: str, contract: Contract = CONTRACT) -> Objection:
    decision = judge(sql, contract=contract)
    assert not isinstance(decision, Allowed), decision.query.sql
    return decision.objection


def allowed(sql: str, contract: Contract = CONTRACT) -> Allowed:
    decision = judge(sql, contract=contract)
    assert isinstance(decision, Allowed), decision.objection
    return decision


def escalated(sql: str) -> Escalated:
    decision = judge(sql)
    assert isinstance(decision, Escalated), decision
    return decision


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


# --- The corpus


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


# --- Decisions


def test_a_certificate_names_each_clause_in_order_and_the_contract_that_satisfied_it() -> None:
    joined = "ontology.orders o JOIN ontology.customers c ON o.customer_id = c.customer_id"
    query = allowed(f"SELECT c.region FROM {joined}").query
    lines = {line.clause: line.satisfied_by for line in query.certificate}
    assert list(lines) == CLAUSES
    assert lines[Clause.RELATION_ALLOW_LIST] == "ontology.customers, ontology.orders of contract shop 1.0.0"
    assert lines[Clause.CERTIFIED_JOIN] == "links orders.customer of contract shop 1.0.0"
    assert lines[Clause.KNOWN_COLUMNS] == (
        "ontology.customers.customer_id, ontology.customers.region, ontology.orders.customer_id of contract shop 1.0.0"
    )
    assert lines[Clause.SENSITIVE] == "no restricted column of contract shop 1.0.0 is touched"
    assert query.purpose is Purpose.QUESTION
    assert query.contract == CONTRACT.reference()


def test_a_certificate_names_the_metrics_that_are_taken() -> None:
    filters = "fiscal_period = '2025-Q3' AND legal_entity = 'US'"
    sql = f"SELECT sum(net_amount) AS n, count(DISTINCT order_id) AS m FROM ontology.orders WHERE {filters}"
    lines = {line.clause: line.satisfied_by for line in allowed(sql, CERTIFIED).query.certificate}
    assert lines[Clause.CERTIFIED_METRIC] == "metrics net_revenue, order_count of contract certified_shop 1.0.0"


def test_the_first_finding_wins_so_what_else_is_wrong_is_never_escalated() -> None:
    assert objection("SELECT email FROM ontology.customers, ontology.readings").clause is Clause.CERTIFIED_JOIN
    assert objection("SELECT email, 1 AS n FROM ontology.customers").clause is Clause.GOVERNED_SOURCE
    assert objection("SELECT email, emial FROM ontology.customers").clause is Clause.KNOWN_COLUMNS


def test_an_escalation_holds_what_an_approval_binds() -> None:
    decision = escalated("SELECT region FROM ontology.customers WHERE email LIKE 'a%' -- please")
    assert decision.columns == ("ontology.customers.email",)
    assert decision.contract == CONTRACT.reference()
    assert "please" not in decision.sql
    assert judge(decision.sql) == Escalated(
        judge(decision.sql).objection,  # type: ignore[union-attr]
        decision.sql,
        decision.contract,
        decision.columns,
        decision.certificate,
    )


def test_an_approved_statement_may_run_and_its_certificate_says_by_whose_word() -> None:
    decision = escalated("SELECT email FROM ontology.customers")
    after = judge("SELECT email FROM ontology.customers", Approval("entry 12", decision.sql, decision.contract))
    assert isinstance(after, Allowed)
    assert after.query.sql == decision.sql
    assert after.query.certificate[-1].satisfied_by == "approved by a data steward: entry 12"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT tax_id FROM ontology.customers",
        "SELECT email, tax_id FROM ontology.customers",
        "SELECT email FROM ontology.customers WHERE region = 'North'",
    ],
)
def test_an_approval_counts_for_no_other_statement(sql: str) -> None:
    decision = escalated("SELECT email FROM ontology.customers")
    assert isinstance(judge(sql, Approval("entry 12", decision.sql, decision.contract)), Escalated)


def test_an_approval_counts_for_no_other_contract_and_skips_no_clause() -> None:
    decision = escalated("SELECT email FROM ontology.customers")
    old = Approval("entry 12", decision.sql, {**decision.contract, "hash": "0" * 64})
    assert isinstance(judge(decision.sql, old), Escalated)
    star = "SELECT * FROM ontology.customers"
    assert isinstance(judge(star, Approval("entry 12", star, decision.contract)), Abstained)


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        (Clause.TEXT, ReasonCode.UNSAFE_REQUEST),
        (Clause.ONE_STATEMENT, ReasonCode.UNSAFE_REQUEST),
        (Clause.NODE_ALLOW_LIST, ReasonCode.UNSAFE_REQUEST),
        (Clause.FUNCTION_ALLOW_LIST, ReasonCode.UNSAFE_REQUEST),
        (Clause.RELATION_ALLOW_LIST, ReasonCode.UNSAFE_REQUEST),
        (Clause.NO_STAR, ReasonCode.CONTRACT),
        (Clause.CERTIFIED_JOIN, ReasonCode.CONTRACT),
        (Clause.KNOWN_COLUMNS, ReasonCode.SCHEMA_MISMATCH),
        (Clause.GOVERNED_SOURCE, ReasonCode.CONTRACT),
        (Clause.FAN_OUT, ReasonCode.CONTRACT),
        (Clause.CERTIFIED_METRIC, ReasonCode.CONTRACT),
        (Clause.REQUIRED_GRAIN, ReasonCode.CONTRACT),
        (Clause.MANDATORY_FILTERS, ReasonCode.CONTRACT),
        (Clause.ADDITIVITY, ReasonCode.CONTRACT),
        (Clause.COST, ReasonCode.COST_LIMIT),
        (Clause.SENSITIVE, ReasonCode.SENSITIVE),
    ],
)
def test_each_clause_has_its_reason_code(clause: Clause, reason: ReasonCode) -> None:
    assert reason_code(clause) is reason


def test_a_decision_is_a_json_document() -> None:
    sql = "SELECT site FROM readings"
    refused = json.loads(json.dumps(decision_document("q1", judge(sql), CONTRACT.reference())))
    assert refused == {
        "id": "q1",
        "decision": "ABSTAIN",
        "clause": "relation_allow_list",
        "reason_code": "UNSAFE_REQUEST",
        "message": "'readings' is not a governed view",
        "span": [17, 25],
        "suggestion": "ontology.readings",
        "certificate": [],
        "sql": None,
        "columns": [],
        "contract": CONTRACT.reference(),
    }
    passed = decision_document(None, judge("SELECT site FROM ontology.readings"), CONTRACT.reference())
    assert (passed["decision"], passed["clause"], passed["reason_code"]) == ("ALLOW", None, None)
    waiting = decision_document(7, judge("SELECT email FROM ontology.customers"), CONTRACT.reference())
    assert (waiting["decision"], waiting["columns"]) == ("ESCALATE", ["ontology.customers.email"])
    assert waiting["sql"] is not None


# --- Where it stands, and the certified way to say it


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT site,\n  getenv('HOME') AS h FROM ontology.readings", "getenv('HOME')"),
        ("SELECT upper(getenv( lower('A') )) AS h FROM ontology.readings", "getenv( lower('A') )"),
        ("SELECT note FROM main . internal_notes", "main . internal_notes"),
        ("SELECT r.* FROM ontology.readings r", "*"),
        ("SELECT site, turb FROM ontology.readings", "turb"),
        ("SELECT r.turb AS t FROM ontology.readings r", "r.turb"),
        ("SELECT region FROM ontology.customers WHERE lower(Email) = 'x'", "Email"),
        ("SELECT o.order_id FROM ontology.orders o JOIN ontology.customers c ON o.order_id=c.customer_id", None),
        ("SELECT site FROM ontology.readings r WHERE site = 'é' AND ( getenv('A') ) = 'x'", "getenv('A')"),
        ("SELECT site\x07 FROM ontology.readings", "\x07"),
        ("SELECT site FROM ontology.readings WHERE", None),
        ("SELECT 2.17 AS n, site FROM ontology.readings", "2.17"),
        ("EXPORT DATABASE 'dump'", "'dump'"),
    ],
)
def test_an_objection_says_where_in_the_given_text_it_stands(sql: str, part: str | None) -> None:
    span = objection(sql).span
    assert part is None or (span is not None and sql[slice(*span)] == part)


@pytest.mark.parametrize(
    ("sql", "suggestion"),
    [
        ("SELECT site FROM readings", "ontology.readings"),
        ("SELECT mean(turbidity_ntu) AS m FROM ontology.readings", "AVG"),
        (
            "SELECT o.order_id FROM ontology.orders o, ontology.customers c",
            "JOIN ontology.customers AS c ON o.customer_id = c.customer_id",
        ),
        (
            "SELECT c.region FROM ontology.customers c JOIN ontology.orders o ON o.order_id = c.customer_id",
            "JOIN ontology.orders AS o ON o.customer_id = c.customer_id",
        ),
        ("SELECT l.line_no FROM ontology.order_lines l, ontology.returns t", None),
        ("SELECT p.pay FROM ontology.pay_lines p, ontology.pay_floors f", None),
        (
            "SELECT count(o.order_id) FROM ontology.orders o JOIN ontology.order_lines l ON l.order_id = o.order_id",
            "COUNT(DISTINCT o.order_id)",
        ),
    ],
)
def test_an_objection_tells_the_certified_way_where_there_is_one(sql: str, suggestion: str | None) -> None:
    assert objection(sql).suggestion == suggestion


def test_an_objection_to_a_measure_tells_the_metrics_and_to_a_reading_its_filters() -> None:
    assert objection("SELECT count(*) AS n FROM ontology.customers", CERTIFIED).suggestion == (
        "customer_count = count_distinct(customer_id)"
    )
    found = objection("SELECT order_id FROM ontology.orders o WHERE legal_entity = 'US'", CERTIFIED)
    assert (found.suggestion, found.text) == ("o.fiscal_period = '...'", "ontology.orders AS o")


def test_a_join_over_a_dated_link_is_refused_with_the_reason() -> None:
    joined = "ontology.pay_lines p JOIN ontology.pay_floors f ON p.grade = f.grade AND p.step = f.step"
    assert "stand in time" in objection(f"SELECT p.pay FROM {joined}").message


def test_the_suggestion_for_a_join_is_certified_itself() -> None:
    found = objection("SELECT c.region FROM ontology.customers c, ontology.orders o").suggestion
    assert found is not None
    allowed(f"SELECT c.region FROM ontology.customers c {found}")


# --- Bounds


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


def test_every_restricted_property_is_watched_with_its_companions(restricted_with_companions: Contract) -> None:
    for column in ("pay", "pay_raw", "pay_cause"):
        decision = certify(f"SELECT {column} FROM ontology.p", restricted_with_companions, Purpose.QUESTION)
        assert isinstance(decision, Escalated)
        assert decision.columns == (f"ontology.p.{column}",)


def contract_of(text: str) -> Contract:
    document = read_yaml(text, file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


@pytest.fixture
def restricted_with_companions() -> Contract:
    return contract_of(
        "contract: {id: c, version: 1.0.0}\n"
        "object_types:\n"
        "  - name: p\n"
        "    view: ontology.p\n"
        "    primary_key: [id]\n"
        "    properties:\n"
        "      - {name: id, type: text}\n"
        '      - {name: pay, type: "decimal(12,2)", raw: pay_raw, cause: pay_cause, sensitivity: restricted}\n'
    )


# --- The engine's own schema


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
