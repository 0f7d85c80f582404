"""Agreement is by values: form does not split it, and emptiness does not win it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.engines.port import Cell
from resolver.consensus import THRESHOLD, Vote, agree, is_empty
from resolver.outcome import Agreement, Refusal, ResultTable
from trivet.outcomes import ReasonCode


def vote(*rows: tuple[Cell, ...], source: str = "m", ranked: bool = False) -> Vote[str]:
    columns = tuple(f"c{index}" for index in range(len(rows[0]))) if rows else ("c0",)
    return Vote(source, ResultTable(columns, rows), ranked, source)


def agreement(*votes: Vote[str], requested: int = 5) -> Agreement | Refusal:
    found = agree(votes, requested, THRESHOLD)
    return found if isinstance(found, Refusal) else found[1]


def test_three_of_five_are_enough_and_two_are_not() -> None:
    right, wrong = vote((1,)), vote((2,))
    assert agreement(right, right, right, wrong) == Agreement(5, 4, 3)
    refused = agreement(right, right, wrong)
    assert isinstance(refused, Refusal)
    assert refused.reason is ReasonCode.LOW_AGREEMENT
    assert "2 of 5" in refused.text


def test_a_tie_is_refused_whatever_its_order() -> None:
    for votes in ([vote((1,)), vote((2,))], [vote((2,)), vote((1,))]):
        refused = agreement(*votes, requested=2)
        assert isinstance(refused, Refusal)
        assert refused.reason is ReasonCode.LOW_AGREEMENT


def test_candidates_that_never_ran_count_against_agreement() -> None:
    assert isinstance(agreement(vote((1,)), vote((1,)), requested=5), Refusal)
    assert agreement(vote((1,)), vote((1,)), requested=3) == Agreement(3, 2, 2)


@pytest.mark.parametrize("empty", [vote(), vote((None,)), vote((None, None), (None, None))])
def test_emptiness_never_outvotes_a_value(empty: Vote[str]) -> None:
    full = vote((4,))
    assert is_empty(empty.table)
    found = agree([empty, empty, full, full, full], 5, THRESHOLD)
    assert not isinstance(found, Refusal)
    assert found[0] is full
    assert isinstance(agreement(empty, empty, empty, empty, full), Refusal)


def test_an_answer_of_none_needs_that_all_are_empty() -> None:
    assert agreement(vote(), vote(), vote(), requested=3) == Agreement(3, 3, 3)


def test_the_form_of_a_number_does_not_split() -> None:
    forms: list[Cell] = [Decimal("27.1000"), Decimal("27.1"), 27.1, "27.10"]
    assert agreement(*(vote((form,)) for form in forms), requested=4) == Agreement(4, 4, 4)


def test_the_order_of_columns_does_not_split() -> None:
    assert agreement(vote(("DDSO 1", 10)), vote((10, "DDSO 1")), requested=2) == Agreement(2, 2, 2)


def test_the_order_of_rows_splits_only_a_ranking() -> None:
    up, down = (("a",), ("b",)), (("b",), ("a",))
    assert agreement(vote(*up), vote(*down), requested=2) == Agreement(2, 2, 2)
    assert isinstance(agreement(vote(*up, ranked=True), vote(*down, ranked=True), requested=2), Refusal)


def test_rows_that_repeat_are_counted() -> None:
    assert isinstance(agreement(vote((1,), (1,)), vote((1,)), requested=2), Refusal)


def test_models_that_must_agree_each_need_a_voice_in_the_answer() -> None:
    votes = [vote((1,), source="a"), vote((1,), source="a"), vote((2,), source="b")]
    found = agree(votes, 3, THRESHOLD, ("a", "b"))
    assert isinstance(found, Refusal)
    assert "b did not" in found.text
    assert not isinstance(agree([*votes, vote((1,), source="b")], 4, THRESHOLD, ("a", "b")), Refusal)


CELLS = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats() | st.dates()


@given(st.lists(st.tuples(CELLS, CELLS), max_size=6), st.randoms())
def test_shuffled_rows_of_any_types_always_agree(rows: list[tuple[Cell, ...]], chance: object) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert agreement(vote(*rows), vote(*shuffled), requested=2) == Agreement(2, 2, 2)
