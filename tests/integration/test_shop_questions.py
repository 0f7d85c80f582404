"""Questions under a contract with metrics, words, gaps and verified questions, each ending as its case says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from catalog.contract import Contract, Sensitivity
from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Abstained, Allowed, Escalated
from resolver.candidates import Proposal
from resolver.models.prompt import messages, response_format
from resolver.models.replay import ReplayProposer, read_recording
from resolver.nearest import nearest_questions
from resolver.outcome import Answer, Outcome, Refusal, cell_json
from resolver.vocabulary import Linked
from tests.integration.small_workspaces import CASES, Shop

WORKSPACES = ("shop", "filings")
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    (name, case) for name in WORKSPACES for case in yaml.safe_load((CASES / name / "questions.yaml").read_text("utf-8"))
]
REVENUE = "What was the gross revenue in 2025-Q3 in the US?"


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shop]]:
    made = {name: Shop(tmp_path_factory.mktemp(name), name) for name in WORKSPACES}
    yield made
    for item in made.values():
        item.engine.connection.close()


@pytest.fixture(scope="module")
def shop(workspaces: dict[str, Shop]) -> Shop:
    return workspaces["shop"]


@pytest.fixture(scope="module")
def contract(shop: Shop) -> Contract:
    return shop.contract


def rows_of(outcome: Outcome) -> list[list[Any]]:
    assert isinstance(outcome.ending, Answer), outcome.ending
    return [[cell_json(cell) for cell in row] for row in outcome.ending.table.rows]


@pytest.mark.parametrize(("name", "case"), QUESTIONS, ids=[case["ask"] for _, case in QUESTIONS])
def test_a_question_ends_as_its_case_says(workspaces: dict[str, Shop], name: str, case: dict[str, Any]) -> None:
    outcome = workspaces[name].ask(case["ask"])
    if "refused" in case:
        assert isinstance(outcome.ending, Refusal), outcome.ending
        assert outcome.ending.reason == case["refused"], outcome.ending.text
        text = f"{outcome.ending.text} {outcome.ending.clause}"
    else:
        found, wanted = rows_of(outcome), case["rows"]
        assert sorted(map(numbers, found)) == sorted(map(numbers, wanted))
        assert isinstance(outcome.ending, Answer)
        assert sum(outcome.absence.reasons.values()) == case.get("left_out", 0)
        text = outcome.ending.text
        assumed = " ".join(part for item in outcome.ending.assumptions for part in item.alternatives)
        assert [part for part in case.get("assumes", []) if part not in assumed] == [], assumed
    assert [part for part in case.get("says", []) if part not in text] == [], text


def numbers(row: list[Any]) -> list[str]:
    """Cells as they compare: `180` and `180.00` are one figure."""
    return [f"{float(cell):.6f}" if str(cell).replace(".", "").isdigit() else str(cell) for cell in row]


def recording(question: str, *replies: object) -> ReplayProposer:
    """A model that gives these replies to one question."""
    said = [{"content": json.dumps(reply), "finish_reason": "stop"} for reply in replies]
    return read_recording(json.dumps({"question": question, "replies": said}), "recording.jsonl")


HELD = [
    {"property": "fiscal_period", "operator": "=", "values": ["2025-Q3"]},
    {"property": "legal_entity", "operator": "=", "values": ["US"]},
]
METRIC = {"metric": "gross_revenue", "object": "order_line", "by": None, "filters": HELD}
SQL = (
    "SELECT SUM(amount) AS gross_revenue FROM ontology.order_line"
    " WHERE fiscal_period = '2025-Q3' AND legal_entity = 'US'"
)


@pytest.mark.parametrize(
    "reply",
    [
        METRIC,
        {"object": "order_line", "measure": "sum", "property": "amount", "by": None, "filters": HELD},
        {"sql": SQL},
    ],
    ids=["as a metric", "as the sum that it is", "as SQL"],
)
def test_a_model_may_propose_a_metric_in_each_of_its_forms(shop: Shop, reply: object) -> None:
    asked = "What was the total amount in 2025-Q3 in the US?" if "measure" in reply else REVENUE  # type: ignore[operator]
    outcome = shop.ask(asked, recording(asked, reply))
    assert rows_of(outcome) == [["180"]]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({**METRIC, "metric": "net_revenue"}, "no metric 'net_revenue'; did you mean 'gross_revenue'?"),
        ({**METRIC, "object": "customer"}, "customer has no property 'fiscal_period'"),
        ({**METRIC, "metric": "piece_value"}, "it gives piece_value, and the question asks for gross_revenue"),
        ({**METRIC, "filters": HELD[:1]}, "it leaves out 'US'"),
        ({"object": "order_line", "measure": "list", "filters": HELD}, "it leaves out 'gross_revenue'"),
        ({"object": "order_line", "measure": "metric", "filters": HELD}, "names it, and no other plan does"),
        ({"sql": SQL.replace("SUM(amount) AS gross_revenue", "COUNT(*) AS lines")}, "it leaves out 'gross_revenue'"),
    ],
)
def test_a_proposal_that_is_another_metric_counts_for_nothing(shop: Shop, reply: object, says: str) -> None:
    outcome = shop.ask(REVENUE, recording(REVENUE, reply))
    assert isinstance(outcome.ending, Refusal)
    assert says in outcome.ending.text


def test_sql_that_leaves_a_mandatory_filter_out_is_stopped_by_its_clause(shop: Shop) -> None:
    asked = "What was the gross revenue in the US?"
    sql = "SELECT SUM(amount) AS gross_revenue FROM ontology.order_line WHERE legal_entity = 'US'"
    outcome = shop.ask(asked, recording(asked, {"sql": sql}))
    assert isinstance(outcome.ending, Refusal)
    assert outcome.ending.clause == "mandatory_filters"


def test_a_plan_that_leaves_a_mandatory_filter_out_asks_for_it(shop: Shop) -> None:
    asked = "What was the gross revenue in the US?"
    outcome = shop.ask(asked, recording(asked, {**METRIC, "filters": HELD[1:]}))
    assert isinstance(outcome.ending, Refusal)
    assert outcome.ending.reason == "AMBIGUOUS"
    assert "one fiscal period at a time" in outcome.ending.text


def test_a_model_is_told_of_metrics_and_words(contract: Contract) -> None:
    (first, _) = messages("?", contract, ())
    assert isinstance(first, dict)
    system = str(first["content"])
    for part in (
        '{"metric", "object", "by", "filters"}',
        "metric gross_revenue of order_line = sum(amount) [USD]",
        "also called gross sales",
        "Told apart by region, legal_entity, fiscal_period.",
        "Always filtered by fiscal_period, legal_entity.",
        "'turnover' means gross_revenue",
        "always filtered by fiscal_period",
    ):
        assert part in system
    assert '"metric"' in json.dumps(response_format(contract, ()))


DURING = {"property": "sold_on", "operator": "during", "values": ["FY2024"]}
OF_UMBER = {"property": "company", "operator": "=", "values": ["Umber"]}


@pytest.mark.parametrize(
    ("filters", "comes_to"),
    [
        ([OF_UMBER, DURING], [["2"]]),
        (
            [OF_UMBER, {**DURING, "values": ["FY2026"]}],
            "filters sold_on by 'FY2026', which the question does not say",
        ),
        ([OF_UMBER, {**DURING, "property": "amount"}], "only a date is during a period"),
        ([OF_UMBER, {**DURING, "values": []}], "takes another number of values than 0"),
        ([OF_UMBER], "it leaves out 'FY2024'"),
    ],
)
def test_a_model_names_a_period_by_its_label(workspaces: dict[str, Shop], filters: list[Any], comes_to: object) -> None:
    asked = "How many sales of Umber are there in FY2024?"
    reply = {"object": "sale", "measure": "count", "filters": filters}
    outcome = workspaces["filings"].ask(asked, recording(asked, reply))
    if isinstance(comes_to, str):
        assert isinstance(outcome.ending, Refusal)
        assert comes_to in outcome.ending.text
    else:
        assert [[str(cell) for cell in row] for row in rows_of(outcome)] == comes_to


def test_only_a_contract_with_a_table_of_periods_lets_a_date_be_during_one(workspaces: dict[str, Shop]) -> None:
    asked = "How many lines were there in 2025-Q3?"
    reply = {"object": "order_line", "measure": "count", "filters": [{**DURING, "values": ["2025-Q3"]}]}
    ended = workspaces["shop"].ask(asked, recording(asked, reply)).ending
    assert isinstance(ended, Refusal)
    assert "the contract has no table of periods" in ended.text
    for name, told in (("shop", False), ("filings", True)):
        contract = workspaces[name].contract
        assert ("'during' a fiscal period" in json.dumps(messages("?", contract, ()))) is told
        assert ('"during"' in json.dumps(response_format(contract, ()))) is told


class NoProposer:
    """A proposer that must not be asked."""

    def propose(self, linked: Linked) -> Proposal | Refusal:
        pytest.fail(f"asked: {linked.question.text}")


@pytest.mark.parametrize(
    "question", ["What was sold in the US in 2025-Q3?", "How much was returned?", "Was VAT returned?"]
)
def test_what_the_contract_answers_itself_is_asked_of_no_model(shop: Shop, question: str) -> None:
    outcome = shop.ask(question, NoProposer())
    assert outcome.model.get("proposer") in (None, "verified_query")


def test_an_answer_to_a_verified_question_says_who_verified_it(shop: Shop) -> None:
    outcome = shop.ask("What was sold in the US in 2025-Q3?")
    assert outcome.model == {
        "provider": "none", "proposer": "verified_query", "verified_by": "finance", "verified_at": "2026-05-02",
    }  # fmt: skip


def test_every_question_that_is_offered_instead_is_answered(shop: Shop) -> None:
    offered = nearest_questions(shop.contract, (), None)
    assert len(offered) == 3
    assert [question for question in offered if not isinstance(shop.ask(question).ending, Answer)] == []


def test_what_accounts_for_an_answer_may_count_and_still_touches_nothing_restricted(contract: Contract) -> None:
    counted = "SELECT COUNT(*) AS n FROM ontology.stock_level"
    assert isinstance(certify(counted, contract, Purpose.ACCOUNT), Allowed)
    assert isinstance(certify(counted, contract, Purpose.QUESTION), Abstained)
    for sql in (
        "SELECT * FROM ontology.stock_level",
        "SELECT a FROM raw.t",
        "SELECT NOW() AS n FROM ontology.customer",
    ):
        assert isinstance(certify(sql, contract, Purpose.ACCOUNT), Abstained)


def test_what_accounts_for_an_answer_is_escalated_where_it_touches_something_restricted(contract: Contract) -> None:
    closed = [replace(item, sensitivity=Sensitivity.RESTRICTED) for item in contract.object_type("customer").properties]
    restricted = replace(contract, object_types=(replace(contract.object_type("customer"), properties=tuple(closed)),))
    found = certify("SELECT company FROM ontology.customer", restricted, Purpose.ACCOUNT)
    assert isinstance(found, Escalated)


def test_the_directory_of_a_workspace_holds_what_its_tests_read() -> None:
    for name in WORKSPACES:
        assert {path.name for path in (CASES / name).iterdir()} == {
            "contract.yaml", "trivet.yaml", "warehouse.sql", "questions.yaml",
        }  # fmt: skip
