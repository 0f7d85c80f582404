"""The referee's three decisions, and what each comes with."""

from __future__ import annotations

import json

import pytest

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import (
    Abstained,
    Allowed,
    Approval,
    Escalated,
    decision_document,
    reason_code,
)
from tests.unit.refereeing import CLAUSES, allowed, contract_of, escalated, judge, objection
from tests.unit.test_referee import CERTIFIED, CONTRACT
from trivet.outcomes import ReasonCode


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


def test_every_restricted_property_is_watched_with_its_companions(restricted_with_companions: Contract) -> None:
    for column in ("pay", "pay_raw", "pay_cause"):
        decision = certify(f"SELECT {column} FROM ontology.p", restricted_with_companions, Purpose.QUESTION)
        assert isinstance(decision, Escalated)
        assert decision.columns == (f"ontology.p.{column}",)


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
