"""Arithmetic of doubles that leaves their range on the way: by hand, by oracle and by every plan."""

from __future__ import annotations

import pytest

from tests.conformance.harness import differences, judge_compiled
from tests.oracle.scenes import employee, only, pay_world, said
from tests.oracle.strategies import judge_world

# By value of `score`, and then what becomes of the comparison.
CASES = [
    ("score + score - score < 1", "1e308", "no_data"),
    ("score * 10 - score * 10 < 1", "1e308", "no_data"),
    ("score * 10 * 0 < 1", "1e308", "no_data"),
    ("(score - score) * 10 < 1", "1e308", "breach"),
    ("1 / (score * 10) < 1", "1e308", "no_data"),
    ("1 / (1 / (score * 10)) < 1", "1e308", "no_data"),
    ("score / (score * 10) < 1", "1e307", "breach"),
    ("(score * 10) / score < 11", "1e308", "no_data"),
    ("abs(score * 10) < 1", "-1e308", "no_data"),
    ("1 / (score - score) < 1", "5", "no_data"),
    ("score * score * score * score * score * score > 1", "1e60", "no_data"),
]


@pytest.mark.parametrize(("condition", "score", "verdict"), CASES)
def test_what_left_the_doubles_on_the_way_does_not_come_back(condition: str, score: str, verdict: str) -> None:
    world = pay_world(condition, [employee(score=score)])
    assert said(only(judge_world(world)))[0] == verdict
    assert differences(world) == []


def test_a_sum_of_forty_doubles_is_judged() -> None:
    world = pay_world(f"{' + '.join(['score'] * 40)} < 100", [employee(score="2"), employee(id="E2", score="1e308")])
    assert sorted(said(member)[0] for member in judge_world(world).members) == ["breach", "no_data"]
    judged = judge_compiled(world)
    assert (judged.outcome.breach, judged.outcome.no_data) == (1, 1)
    assert differences(world) == []
