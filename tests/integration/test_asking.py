"""Questions over the example's data, without a model: answers with what they rest on, refusals with their reason."""

from __future__ import annotations

import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from catalog.engines.port import EngineFault, QueryTimeout, QuestionResult, SnapshotIdentity
from catalog.referee.certified import CertifiedQuery
from monitors.evaluation import NotMade
from resolver.outcome import ClaimVerdict
from resolver.ports import Judged
from resolver.question import LONGEST
from tests.integration.asked import Aruma, answer_of, refusal_of
from tests.unit.questions import cases
from trivet.outcomes import OutcomeState, ReasonCode
from trivet.verdicts import NotMadeReason, Verdict
from worker.asking import resolver_of

CASES: list[dict[str, Any]] = cases("answers")


@pytest.fixture(scope="module")
def aruma(tmp_path_factory: pytest.TempPathFactory) -> Aruma:
    return Aruma(tmp_path_factory.mktemp("asking") / "aruma")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["ask"]))
def test_a_question_ends_as_its_case_says(aruma: Aruma, case: dict[str, Any]) -> None:
    outcome = aruma.ask(case["ask"])
    document = outcome.to_json(None)
    if "reason" in case:
        assert document["reason_code"] == case["reason"], document
        assert case["says"] in str(document["refusal"])
        assert (document["state"], document["answer"], document["table"]) == ("ABSTAIN", None, None)
        return
    assert document["state"] == case["state"], document
    assert case["says"] in str(document["answer"])
    if "rows" in case:
        assert answer_of(outcome).table.to_json()["rows"] == case["rows"]
    absence = {
        "badge": case.get("badge"),
        "reasons": case.get("reasons", {}),
        "missing_members": case.get("missing", []),
    }
    assert document["no_data"] == absence
    assert all(claim.verdict is not ClaimVerdict.UNGROUNDED for claim in answer_of(outcome).claims)
    assert outcome.verdict is Verdict.COMPLIANT


def test_an_answer_says_what_it_rests_on(aruma: Aruma) -> None:
    document = aruma.ask("What is the hourly rate of E1012?").to_json(7)
    assert document["provenance"] == [
        {"of": "employee_pay", "document": "sources/payroll.csv", "table": "payroll", "page": None, "row": 13}
    ]
    assert document["views"] == ["ontology.employee_pay"]
    assert "ontology.employee_pay" in str(document["sql"])
    assert {"text": "27.10", "kind": "number", "verdict": "grounded", "cell": [1, 2]} in document["claims"]  # type: ignore[operator]
    assert document["agreement"] == {"requested": 1, "usable": 1, "winning": 1}
    assert document["contract"] == aruma.contract.reference()
    assert document["ledger_seq"] == 7
    assert document["assumptions"] == []


def test_a_monitor_answers_with_its_members_and_where_they_were_read(aruma: Aruma) -> None:
    document: Any = aruma.ask("How many employees are paid below the floor?").to_json(None)
    monitor = document["monitor"]
    assert {key: monitor[key] for key in ("id", "verdict", "population", "breach", "no_data", "compliant")} == {
        "id": "pay-below-floor",
        "verdict": "breach",
        "population": 57,
        "breach": 4,
        "no_data": 1,
        "compliant": 52,
    }
    assert [member["key"]["employee_id"] for member in monitor["samples"]["breach"]] == [
        "E1012", "E1024", "E1037", "E1049",
    ]  # fmt: skip
    assert monitor["samples"]["breach"][0]["provenance"][1]["page"] == 64
    assert document["views"] == ["ontology.employee_pay", "ontology.award_rate"]
    assert any(place.get("page") == 64 for place in document["provenance"])


def test_a_question_that_is_too_long_is_not_read(aruma: Aruma) -> None:
    refusal = refusal_of(aruma.ask("How many employees " + "x " * LONGEST))
    assert refusal.reason is ReasonCode.COST_LIMIT


def test_a_warehouse_that_is_not_there_is_an_error_and_no_absence(aruma: Aruma, tmp_path: Path) -> None:
    resolver = resolver_of(replace(aruma.wiring, path=tmp_path), aruma.contract, tuple(aruma.monitors))
    refusal = refusal_of(resolver.ask("How many employees are there?").outcome)
    assert refusal.reason is ReasonCode.EXEC_ERROR
    assert "says nothing about the data" in refusal.text
    assert refusal.nearest == ()


class Faulty:
    """An engine that runs everything but a question's own statement."""

    name, version = "faulty", "1"

    def __init__(self, aruma: Aruma, fault: EngineFault) -> None:
        self._engine = aruma.resolver().engine
        self._fault = fault

    def run(self, query: CertifiedQuery) -> QuestionResult:
        if "COUNT(*)" in query.sql:
            raise self._fault
        return self._engine.run(query)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(EngineFault("disk on fire"), ReasonCode.EXEC_ERROR), (QueryTimeout("too slow"), ReasonCode.COST_LIMIT)],
)
def test_a_statement_that_fails_tells_how(aruma: Aruma, fault: EngineFault, reason: ReasonCode) -> None:
    resolver = replace(aruma.resolver(), engine=Faulty(aruma, fault))
    refusal = refusal_of(resolver.ask("How many employees are there?").outcome)
    assert refusal.reason is reason
    assert str(fault) in refusal.text


def test_data_that_is_replaced_meanwhile_answers_nothing(aruma: Aruma) -> None:
    class Moving(Faulty):
        asked = 0

        def run(self, query: CertifiedQuery) -> QuestionResult:
            self.asked += 1
            return replace(self._engine.run(query), snapshot=SnapshotIdentity(str(self.asked), 1, 1, 1, 1))

    resolver = replace(aruma.resolver(), engine=Moving(aruma, EngineFault()))
    refusal = refusal_of(resolver.ask("How many employees are there?").outcome)
    assert refusal.reason is ReasonCode.EXEC_ERROR
    assert "replaced" in refusal.text


def test_a_monitor_that_cannot_be_judged_answers_nothing(aruma: Aruma) -> None:
    def judge(_: object) -> Judged:
        return Judged(NotMade(NotMadeReason.VIEW_MISSING, "view gone"), (), (), None, ())

    outcome = replace(aruma.resolver(), judge=judge).ask("How many employees are paid below the floor?").outcome
    assert refusal_of(outcome).reason is ReasonCode.EXEC_ERROR
    assert "view_missing" in refusal_of(outcome).text


def test_a_fault_of_ours_is_an_outcome_too(aruma: Aruma, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def propose(self, _: object) -> Any:
            raise ZeroDivisionError

    outcome = aruma.ask("How many employees are there?", Broken())
    assert refusal_of(outcome).reason is ReasonCode.EXEC_ERROR
    assert "stage propose: ZeroDivisionError" in refusal_of(outcome).text
    assert outcome.state is OutcomeState.ABSTAIN
    assert "failed in stage propose" in caplog.text


def test_questions_can_be_asked_side_by_side(aruma: Aruma) -> None:
    resolver = resolver_of(aruma.wiring, aruma.contract, tuple(aruma.monitors))
    found: list[str] = []

    def ask() -> None:
        found.append(answer_of(resolver.ask("How many casual employees are there?").outcome).text)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["There are 13 employees with employment type casual."] * 3


def test_the_time_of_each_stage_is_told(aruma: Aruma) -> None:
    outcome = aruma.ask("Delete all rows")
    assert list(outcome.timings_ms) == ["intent"]
    answered = aruma.ask("How many employees are there?")
    assert list(answered.timings_ms)[-1] == "ground"
    assert Decimal(answered.to_json(None)["timings_ms"]["execute"]) >= 0  # type: ignore[index,call-overload,arg-type]
