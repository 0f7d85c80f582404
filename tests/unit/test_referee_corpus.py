"""The attack corpus under purpose `question`: what each statement comes to, which clause stops it, and how many."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from catalog.contract import Contract
from catalog.referee.certified import Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed, decision_word
from tests.unit.test_referee import CERTIFIED, ROOT, cases, read_contract

CORPUS = cases("corpus")
CLINIC = read_contract("clinic.yaml")
EVERY = [*cases("attacks"), *CORPUS]
ATTACKS = [case for case in EVERY if case["must"] != "allow"]


@pytest.mark.parametrize("must", ["abstain", "escalate", "allow"])
def test_each_statement_comes_to_what_it_must_by_the_clause_that_it_names(must: str) -> None:
    wrong = {}
    for case in CORPUS:
        if case["must"] == must and (found := judged(case)) != (must, case["clause"]):
            wrong[case["id"]] = found
    assert wrong == {}


def test_statements_over_another_contract_come_to_what_they_must_by_the_clause_that_they_name() -> None:
    wrong = {}
    for case in cases("clinic"):
        if (found := judged(case, CLINIC)) != (case["must"], case["clause"]):
            wrong[case["id"]] = found
    assert wrong == {}


def judged(case: dict[str, Any], contract: Contract = CERTIFIED) -> tuple[str, str | None]:
    decision = certify(case["sql"], contract, Purpose.QUESTION)
    clause = None if isinstance(decision, Allowed) else decision.objection.clause
    return decision_word(decision).lower(), clause


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    assert len(ATTACKS) >= 400
    assert len({case["class"] for case in ATTACKS}) >= 120
    assert len(EVERY) - len(ATTACKS) >= 80
    assert len({case["sql"] for case in EVERY}) == len(EVERY)
    assert len({case["id"] for case in EVERY}) == len(EVERY)


def test_the_page_says_how_many_attacks_each_clause_stops() -> None:
    page = (ROOT / "docs" / "explanation" / "referee.md").read_text("utf-8")
    written = {
        name: int(count) for name, count in re.findall(r"^\| `(\w+)` \| (\d+) \| \d+ \| \d+ \|$", page, re.MULTILINE)
    }
    assert written == Counter(clause for case in ATTACKS if (clause := judged(case)[1]) is not None)
