"""The lexical proposer reads whole questions by the contract's own words, or refuses them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolver.candidates import Proposal
from resolver.framing import frame
from resolver.models.lexical import LexicalProposer
from resolver.nearest import nearest_questions
from resolver.outcome import Refusal
from resolver.plan import MonitorQuestion, SemanticPlan, plan_fault
from resolver.slots import unmet_by_monitor, unmet_slot
from tests.unit.questions import aruma, cases, linked, words
from trivet.stems import words_of

CASES: list[dict[str, Any]] = cases("readings")


def read(question: str) -> Proposal | Refusal:
    return LexicalProposer(aruma()[0], words()).propose(linked(question))


def plan_of(question: str) -> SemanticPlan:
    found = read(question)
    assert isinstance(found, Proposal)
    proposed = found.candidates[0].proposed
    assert isinstance(proposed, SemanticPlan)
    return proposed


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["ask"]))
def test_a_question_is_read_as_its_case_says(case: dict[str, Any]) -> None:
    found = read(case["ask"])
    if "refused" in case:
        assert isinstance(found, Refusal)
        assert found.reason == case["refused"]
        assert case["says"] in found.text
        return
    assert isinstance(found, Proposal)
    assert found.deterministic
    (candidate,) = found.candidates
    match candidate.proposed:
        case MonitorQuestion(monitor, asks):
            assert [monitor, asks.value] == case["monitor"]
        case SemanticPlan() as plan:
            filters = [[item.property, item.operator.value, list(item.values)] for item in plan.filters]
            assert [plan.object, plan.measure.value, plan.property, plan.by, filters] == case["plan"]
        case other:
            pytest.fail(f"unexpected proposal {other}")


def test_every_question_that_is_offered_instead_is_read() -> None:
    contract, monitors = aruma()
    for about in ("What is our employee churn rate?", "What is the floor of churn?", "What is the weather?"):
        offered = nearest_questions(contract, monitors, linked(about))
        assert len(offered) >= 2
        assert [question for question in offered if not isinstance(read(question), Proposal)] == []


ASSUMED = {
    "How many casual employees are there?": [],
    "How many employees with a pay date after 2026-10-01?": [],
    "How many employees after 2026-10-01?": ["property"],
    "How many employees in 2026?": ["property", "period"],
    "How many employees in fiscal year 2026?": ["property"],
    "What is the minimum floor for DDSO 2?": ["period"],
    "How many by classification?": ["object"],
}


@pytest.mark.parametrize("question", ASSUMED)
def test_what_a_question_leaves_open_is_stated(question: str) -> None:
    found = frame(plan_of(question), linked(question), aruma()[0])
    assert [item.kind for item in found] == ASSUMED[question]
    assert all(item.text.endswith(".") for item in found)


def test_a_bare_year_is_told_with_the_year_that_it_could_have_been() -> None:
    found = frame(plan_of("How many employees in 2026?"), linked("How many employees in 2026?"), aruma()[0])[-1]
    assert found.chosen == "calendar year 2026 (2026-01-01 to 2026-12-31)"
    assert found.alternatives == ("fiscal year 2026 (2025-07-01 to 2026-06-30)",)


WORDS = words_of(
    "how many who which what is the a of in by per average lowest total employees employee casual full-time or and "
    "hourly rate ordinary hours pay date classification DDSO 3 38 40.5 2026 2026-07-01 above below between at least "
    "no without floor paid E1012 E9999 level super churn not missing fiscal year Aruma staff"
)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join))
def test_any_words_are_refused_or_read_so_that_the_reading_keeps_to_them(question: str) -> None:
    about = linked(question)
    found = LexicalProposer(aruma()[0], words()).propose(about)
    if isinstance(found, Refusal):
        assert found.text
        return
    (candidate,) = found.candidates
    match candidate.proposed:
        case SemanticPlan() as plan:
            assert plan_fault(plan, aruma()[0]) is None
            assert unmet_slot(plan, about, aruma()[0]) is None
            assert "not" not in about.question.words
        case MonitorQuestion() as asked:
            assert unmet_by_monitor(asked, about) is None
        case other:
            pytest.fail(f"unexpected proposal {other}")
