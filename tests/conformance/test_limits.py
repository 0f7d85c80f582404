"""The limit of a censored value, which is read as its property is: by hand, by oracle and by every plan."""

from __future__ import annotations

import pytest

from tests.conformance.harness import differences
from tests.oracle.scenes import award, employee, only, pay_world, said
from tests.oracle.strategies import judge_world


@pytest.mark.parametrize(
    ("side", "limit", "cause"),
    [
        ("<", "n/a", "null"),
        ("<", " n/a\t", "null"),
        ("<", " ", "null"),
        ("<", "see note 2", "not_castable"),
        ("<", "0.00001", "out_of_range"),
        ("<=", "-1", "out_of_range"),
        ("<", "30", "censored"),
        ("around", "n/a", "not_castable"),
    ],
)
def test_a_limit_that_is_no_value_gives_its_own_cause(side: str, limit: str, cause: str) -> None:
    world = pay_world("rate < 20", [employee(rate="25", rate_side=side, rate_limit=limit)])
    assert said(only(judge_world(world))) == ("no_data", "left_null", {"rate": [cause]})
    assert differences(world) == []


@pytest.mark.parametrize(
    "condition", ["award.units in (rate, 30)", "award.units between rate and 20", "rate in (award.units, 30)"]
)
@pytest.mark.parametrize(
    ("cause", "own"), [("smudged", "no_data"), ("null", "no_data"), ("censored", "bound"), (" ", "bound")]
)
def test_a_bound_that_the_view_takes_back_decides_no_row(condition: str, cause: str, own: str) -> None:
    """A told cause that is none of ours leaves the bound's own cause, and still no bound."""
    member = employee(rate="25", rate_side="<", rate_limit="28", rate_cause=cause)
    world = pay_world(condition, [member], [award(units="30"), award(units="19")])
    assert differences(world) == []
    if own == "no_data":
        assert said(only(judge_world(world)))[:2] == ("no_data", "left_null")
