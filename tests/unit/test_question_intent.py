"""What a question may ask is judged by its shape: commands are stopped, and words of commands are not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolver.intent import check_intent
from resolver.question import plain_text
from tests.unit.questions import cases
from trivet.stems import words_of

NOUNS = ("employee", "employee pay", "award rate")
BENIGN: list[str] = cases("benign")
UNSAFE: list[dict[str, Any]] = cases("unsafe")


def test_there_are_enough_benign_questions_to_mean_something() -> None:
    assert len(set(BENIGN)) >= 60


@pytest.mark.parametrize("question", BENIGN)
def test_a_benign_question_is_not_stopped(question: str) -> None:
    assert check_intent(plain_text(question), NOUNS) is None


@pytest.mark.parametrize("case", UNSAFE, ids=lambda case: str(case["ask"])[:40])
def test_an_unsafe_request_is_stopped_for_what_it_is(case: dict[str, Any]) -> None:
    found = check_intent(plain_text(case["ask"]), NOUNS)
    assert found is not None
    assert found.kind == case["kind"]
    assert found.text


@given(st.text(max_size=200))
def test_any_text_at_all_can_be_judged(text: str) -> None:
    plain = plain_text(text)
    check_intent(plain, NOUNS)
    assert plain_text(plain).isprintable()


@pytest.mark.parametrize("hidden", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e"])
def test_invisible_characters_hide_nothing(hidden: str) -> None:
    assert plain_text(f"de{hidden}lete all rows") == "delete all rows"


def test_words_keep_numbers_and_days_whole() -> None:
    text = "E1012's rate over 1,000.50 or -3 since 2026-07-01, full-time?"
    assert words_of(text) == ("e1012", "rate", "over", "1000.50", "or", "-3", "since", "2026-07-01", "full", "time")
