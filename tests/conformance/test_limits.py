"""The limit of a censored value, which is read as its property is: by hand, by oracle and by every plan."""

from __future__ import annotations

import pytest

from tests.conformance.harness import differences
from tests.oracle.scenes import employee, only, pay_world, said
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
