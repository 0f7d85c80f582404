"""Every figure, date and name of a sentence must stand in the result, in the row that the sentence speaks of."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.engines.port import Cell
from resolver.drafting import Draft
from resolver.grounding import ground, is_grounded
from resolver.outcome import ClaimVerdict, ResultTable

RATES = ResultTable(
    ("classification", "avg_hourly_rate", "day"),
    (
        ("DDSO 1", Decimal("29.316"), date(2026, 7, 1)),
        ("DDSO 2", Decimal("34.0944"), date(2025, 7, 1)),
    ),
)


def verdicts(text: str, table: ResultTable = RATES, draft: Draft | None = None) -> dict[str, str]:
    return {claim.text: claim.verdict.value for claim in ground(draft or Draft(text), table)}


def test_a_figure_is_told_with_its_cell() -> None:
    claims = ground(Draft("DDSO 2 is at 34.09."), RATES)
    assert [(claim.text, claim.kind, claim.cell) for claim in claims] == [
        ("DDSO 2", "name", (2, 1)),
        ("34.09", "number", (2, 2)),
    ]


GROUNDED = {
    "a figure at the precision that is stated": "DDSO 1 is at 29.32.",
    "a figure as it stands": "DDSO 1 is at 29.316.",
    "a date": "DDSO 1 since 2026-07-01.",
    "a year of a date": "DDSO 2 since 2025.",
    "two rows in turn": "DDSO 1 29.32; DDSO 2 34.09.",
}
UNGROUNDED = {
    "an invented figure": ("The rate is 31.", "31"),
    "a figure rounded the wrong way": ("DDSO 1 is at 29.31.", "29.31"),
    "figures that changed places": ("DDSO 1 34.09; DDSO 2 29.32.", "34.09"),
    "a year of another row": ("DDSO 1 since 2025.", "2025"),
    "a date that is nowhere": ("DDSO 1 since 2026-07-02.", "2026-07-02"),
    "a name that is nowhere": ("DDSO 1 and Acme are alike.", "Acme"),
    "a code that is nowhere": ("DDSO 1 holds E1012.", "E1012"),
    "a figure with another sign": ("DDSO 1 is at -29.32.", "-29.32"),
    "a figure hidden in another": ("DDSO 1 is at 129.32.", "129.32"),
}


@pytest.mark.parametrize("case", GROUNDED)
def test_what_the_result_holds_is_grounded(case: str) -> None:
    assert set(verdicts(GROUNDED[case]).values()) == {"grounded"}


@pytest.mark.parametrize("case", UNGROUNDED)
def test_what_the_result_does_not_hold_is_found(case: str) -> None:
    text, loose = UNGROUNDED[case]
    assert verdicts(text)[loose] == "ungrounded"


def test_bounds_of_the_question_and_counts_of_rows_are_told_apart_from_cells() -> None:
    draft = Draft("2 rows above 30.", stated=frozenset({"30"}), derived=frozenset({"2"}))
    assert verdicts("", ResultTable(("x",), ((7,), (8,))), draft) == {"2": "derived", "30": "stated"}


def test_an_integer_cell_grounds_no_rounding_of_it() -> None:
    assert verdicts("There are 14.4.", ResultTable(("count",), ((14,),))) == {"14.4": "ungrounded"}


def test_words_of_the_contract_claim_nothing() -> None:
    draft = Draft("The rate is 29.32 AUD/hour.", labels=frozenset({"AUD/hour"}))
    assert [claim.text for claim in ground(draft, RATES)] == ["29.32"]


CELL = st.decimals(min_value=-1000, max_value=1000, places=2) | st.integers(-1000, 1000)


@given(st.lists(CELL, min_size=1, max_size=5), st.decimals(min_value=2000, max_value=9000, places=3))
def test_a_figure_is_grounded_if_and_only_if_it_is_a_cell(cells: list[Cell], other: Decimal) -> None:
    table = ResultTable(tuple(f"c{index}" for index in range(len(cells))), (tuple(cells),))
    assert is_grounded(ground(Draft(f"It is {cells[0]}."), table))
    assert [claim.verdict for claim in ground(Draft(f"It is {other}."), table)] == [ClaimVerdict.UNGROUNDED]
