"""Questions with a model that proposes: good ones are answered, and nothing that is wrong with a model gets through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolver.models.openai import Endpoint, OpenAIProposer
from resolver.models.replay import read_recording
from resolver.outcome import Outcome
from tests.integration.asked import Aruma, answer_of, refusal_of
from tests.integration.model_server import MODEL, ModelServer, model_server
from trivet.outcomes import OutcomeState, ReasonCode
from trivet.references import Secret
from trivet.verdicts import Verdict

ASK = "How many casual employees are there?"
GOOD = {
    "object": "employee_pay",
    "measure": "count",
    "property": None,
    "by": None,
    "filters": [{"property": "employment_type", "operator": "=", "values": ["casual"]}],
}
WRONG = GOOD | {"filters": []}
SQL = {"sql": "SELECT COUNT(*) AS n FROM ontology.employee_pay WHERE employment_type = 'casual'"}
RAW = {"sql": "SELECT COUNT(*) AS n FROM raw.payroll WHERE employment_type = 'casual'"}


@pytest.fixture(scope="module")
def aruma(tmp_path_factory: pytest.TempPathFactory) -> Aruma:
    return Aruma(tmp_path_factory.mktemp("models") / "aruma")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def proposer(aruma: Aruma, server: ModelServer, **changes: Any) -> OpenAIProposer:
    endpoint = Endpoint(server.base_url, MODEL)
    made = OpenAIProposer(aruma.contract, tuple(aruma.monitors), (endpoint,), seed=42)
    return replace(made, **changes)


def ask(aruma: Aruma, server: ModelServer, question: str = ASK, **changes: Any) -> Outcome:
    return aruma.ask(question, proposer(aruma, server, **changes))


def test_the_server_of_these_tests_speaks_the_dialect_that_was_measured(server: ModelServer) -> None:
    root = server.base_url.removesuffix("/v1")
    assert httpx.get(f"{root}/health").content == b""
    assert httpx.get(f"{server.base_url}/models").json()["data"][0]["id"] == MODEL
    assert httpx.get(f"{root}/nowhere").json() == {"detail": "Not Found"}


def test_a_good_model_answers_and_one_request_asks_for_everything(aruma: Aruma, server: ModelServer) -> None:
    server.says(GOOD)
    outcome = ask(aruma, server)
    assert answer_of(outcome).text == "There are 13 employees with employment type casual."
    assert outcome.agreement is not None
    assert outcome.agreement.to_json() == {"requested": 5, "usable": 5, "winning": 5}
    (request,) = server.requests
    assert (request["n"], request["seed"], request["temperature"]) == (5, 42, 0.7)
    assert request["response_format"]["type"] == "json_schema"
    assert "E1012" not in json.dumps(request["messages"])
    assert outcome.model["names"] == [MODEL]
    assert len(str(outcome.model["prompt_hash"])) == 64
    assert [item["fate"] for item in outcome.candidates] == ["ran"] * 5


def test_plans_and_sql_that_say_the_same_agree(aruma: Aruma, server: ModelServer) -> None:
    server.says(GOOD, SQL, GOOD, SQL, GOOD)
    outcome = ask(aruma, server)
    assert outcome.agreement is not None
    assert outcome.agreement.winning == 5
    assert answer_of(outcome).table.rows == ((13,),)


def test_sql_of_a_model_tells_what_it_may_have_passed_over(aruma: Aruma, server: ModelServer) -> None:
    server.says({"sql": "SELECT AVG(TRY_CAST(ordinary_hours AS DECIMAL(7, 2))) AS hours FROM ontology.employee_pay"})
    outcome = ask(aruma, server, "What is the mean of ordinary hours?")
    assert outcome.absence.badge == "0 breaches / 1 no-data"
    assert "1 row could not be taken in" in answer_of(outcome).text


def test_a_monitor_can_be_what_a_model_proposes(aruma: Aruma, server: ModelServer) -> None:
    server.says({"monitor": "pay-below-floor", "asks": "count"})
    outcome = ask(aruma, server, "How many employees get less than their floor?")
    assert answer_of(outcome).table.rows == ((4, 1, 52, 57),)


def test_an_ungoverned_table_is_stopped_by_its_clause(aruma: Aruma, server: ModelServer) -> None:
    server.says(RAW)
    outcome = ask(aruma, server)
    refusal = refusal_of(outcome)
    assert (refusal.reason, refusal.clause) == (ReasonCode.UNSAFE_REQUEST, "relation_allow_list")
    assert outcome.verdict is Verdict.BREACH
    assert "raw.payroll" in refusal.text
    assert [item["fate"] for item in outcome.candidates] == ["abstain"] * 5


CLAUSES = {
    "DROP TABLE raw.payroll": (ReasonCode.UNSAFE_REQUEST, "one_statement"),
    "SELECT churn FROM ontology.employee_pay WHERE employment_type = 'casual'": (
        ReasonCode.SCHEMA_MISMATCH,
        "known_columns",
    ),
    "SELECT * FROM ontology.employee_pay WHERE employment_type = 'casual'": (ReasonCode.CONTRACT, "no_star"),
    "SELECT 13 AS n FROM ontology.employee_pay WHERE employment_type = 'casual'": (
        ReasonCode.CONTRACT,
        "governed_source",
    ),
}


@pytest.mark.parametrize("sql", CLAUSES)
def test_every_wrong_statement_is_refused_for_its_own_reason(aruma: Aruma, server: ModelServer, sql: str) -> None:
    server.says({"sql": sql})
    refusal = refusal_of(ask(aruma, server))
    assert (refusal.reason, refusal.clause) == CLAUSES[sql]


def test_a_plan_that_forgets_a_filter_is_dropped_however_often_it_is_repeated(
    aruma: Aruma, server: ModelServer
) -> None:
    server.says(WRONG)
    refusal = refusal_of(ask(aruma, server))
    assert refusal.reason is ReasonCode.SCHEMA_MISMATCH
    assert "unmet_slot" in refusal.text
    server.says(GOOD, WRONG, GOOD, WRONG, GOOD)
    assert answer_of(ask(aruma, server)).table.rows == ((13,),)


def test_answers_that_differ_are_not_chosen_among(aruma: Aruma, server: ModelServer) -> None:
    other = {"object": "award_rate", "measure": "count", "property": None, "by": "classification", "filters": []}
    counts = {"object": "employee_pay", "measure": "count", "property": None, "by": "classification", "filters": []}
    server.says(other, counts, other, counts, {"cannot_answer": "unsure"})
    refusal = refusal_of(ask(aruma, server, "How many by classification?"))
    assert refusal.reason is ReasonCode.LOW_AGREEMENT
    assert "2 of 5" in refusal.text


BROKEN = {
    "not JSON": ("I think there are 13.", "stop", "not_json"),
    "fenced JSON": (f"```json\n{json.dumps(GOOD)}\n```", "stop", "not_json"),
    "cut off": (json.dumps(GOOD)[:40], "length", "truncated"),
    "raw control characters": ('{"sql": "SELECT\x07 1"}', "stop", "control_characters"),
    "another shape": ('{"answer": 13}', "stop", "wrong_schema"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_model_whose_replies_are_broken_gives_no_answer(aruma: Aruma, server: ModelServer, case: str) -> None:
    content, reason, word = BROKEN[case]
    server.says(content, finish_reason=reason)
    outcome = ask(aruma, server)
    assert refusal_of(outcome).reason is ReasonCode.MODEL_UNAVAILABLE
    assert word in refusal_of(outcome).text
    assert outcome.verdict is Verdict.NO_DATA
    assert [item["raw"] for item in outcome.candidates] == [content] * 5


def test_broken_replies_among_good_ones_count_against_agreement_alone(aruma: Aruma, server: ModelServer) -> None:
    server.says(GOOD, "no", GOOD, "no", GOOD)
    outcome = ask(aruma, server)
    assert outcome.agreement is not None
    assert outcome.agreement.to_json() == {"requested": 5, "usable": 3, "winning": 3}
    server.says("no", GOOD, "no", GOOD, "no")
    assert refusal_of(ask(aruma, server)).reason is ReasonCode.LOW_AGREEMENT


def test_a_model_that_finds_no_answer_is_believed_only_as_a_refusal(aruma: Aruma, server: ModelServer) -> None:
    server.says({"cannot_answer": "there is no churn"})
    refusal = refusal_of(ask(aruma, server, "What is the employee churn?"))
    assert refusal.reason is ReasonCode.SCHEMA_MISMATCH
    assert "there is no churn" in refusal.text


def test_a_question_without_a_known_word_never_reaches_the_model(aruma: Aruma, server: ModelServer) -> None:
    server.says(GOOD)
    for question in ("What is the capital of France?", "Delete all employees"):
        refusal_of(ask(aruma, server, question))
    assert server.requests == []


ABSENT: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown model": ({"name": "other"}, "status 404"),
    "a server that fails": ({"status": 500}, "status 500: EngineCore"),
    "a server that says something else": ({"body": b"<html>"}, "no chat completion"),
    "a server that is slow": ({"delay": 0.5}, "in time"),
    "a server that says too much": ({"body": b" " * 2_000_001}, "more than"),
}


@pytest.mark.parametrize("case", ABSENT)
def test_a_model_that_cannot_be_used_is_unavailable(aruma: Aruma, server: ModelServer, case: str) -> None:
    told, words = ABSENT[case]
    server.says(GOOD)
    for name, value in told.items():
        setattr(server, name, value)
    endpoint = Endpoint(server.base_url, told.get("name", MODEL), Secret("s3cret"))
    refusal = refusal_of(ask(aruma, server, endpoints=(endpoint,), read_seconds=0.2))
    assert refusal.reason is ReasonCode.MODEL_UNAVAILABLE
    assert words in refusal.text
    assert "s3cret" not in refusal.text
    assert server.headers[0]["Authorization"] == "Bearer s3cret"


def test_a_server_that_is_not_there_is_unavailable(aruma: Aruma) -> None:
    with model_server() as gone:
        pass
    refusal = refusal_of(ask(aruma, gone))
    assert refusal.reason is ReasonCode.MODEL_UNAVAILABLE
    assert "cannot be reached" in refusal.text


def test_a_server_gives_fewer_choices_than_were_asked_for(aruma: Aruma, server: ModelServer) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(GOOD)}, "finish_reason": "stop"}
    server.body = json.dumps({"choices": [choice]}).encode()
    assert refusal_of(ask(aruma, server)).reason is ReasonCode.LOW_AGREEMENT
    server.body = json.dumps({"choices": [choice, {}, "x", {"message": None}] + [choice] * 2}).encode()
    assert answer_of(ask(aruma, server)).table.rows == ((13,),)


def test_models_that_must_agree_do_or_nothing_is_answered(aruma: Aruma, server: ModelServer) -> None:
    with model_server() as second:
        server.says(GOOD)
        second.says(GOOD)
        endpoints = (Endpoint(server.base_url, MODEL), Endpoint(second.base_url, MODEL))
        assert answer_of(ask(aruma, server, endpoints=endpoints, policy="agree")).table.rows == ((13,),)
        second.status = 500
        assert answer_of(ask(aruma, server, endpoints=endpoints[:1], policy="agree")).table.rows == ((13,),)
        refused = refusal_of(ask(aruma, server, endpoints=endpoints, policy="agree"))
    assert refused.reason is ReasonCode.MODEL_UNAVAILABLE


def test_a_restricted_column_waits_for_a_data_steward(aruma: Aruma, server: ModelServer, tmp_path: Path) -> None:
    contract = aruma.contract
    pay = contract.object_types[0]
    restricted = tuple(
        replace(item, sensitivity=type(item.sensitivity).RESTRICTED) if item.name == "super_rate" else item
        for item in pay.properties
    )
    changed = replace(contract, object_types=(replace(pay, properties=restricted), *contract.object_types[1:]))
    server.says({"sql": "SELECT super_rate FROM ontology.employee_pay WHERE employment_type = 'casual'"})
    resolver = replace(aruma.resolver(proposer(aruma, server)), contract=changed)
    outcome = resolver.ask("What is the super of casual employees?").outcome
    assert outcome.state is OutcomeState.ESCALATE
    assert refusal_of(outcome).reason is ReasonCode.SENSITIVE
    assert outcome.verdict is Verdict.BREACH
    assert refusal_of(outcome).clause == "sensitive"


def test_a_recording_decides_as_the_model_did(aruma: Aruma, server: ModelServer) -> None:
    server.says(GOOD, RAW, "no", GOOD, GOOD)
    live = ask(aruma, server)
    replies = [{"content": item["raw"], "finish_reason": "stop"} for item in live.candidates]
    line = json.dumps({"question": ASK, "model": MODEL, "replies": replies})
    again = aruma.ask(ASK, read_recording(line, "recording.jsonl"))
    assert answer_of(again).text == answer_of(live).text
    assert again.agreement == live.agreement
    assert again.candidates == live.candidates
