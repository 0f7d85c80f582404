"""The truth that case files state, against the product, against the oracle, and against every plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from evals.proving.agreement import Said, said_by_oracle, said_by_product
from monitors.evaluation import Counts
from tests.conformance.harness import differences, judge_compiled
from tests.conformance.judged_cases import JudgedCase, read_cases
from tests.oracle.strategies import judge_world
from trivet.verdicts import Verdict

PEERS = read_cases("peers")
ENGINE = read_cases("engine")
CASES = [*PEERS, *ENGINE]
NAMES = ("population", "breach", "no_data", "compliant")
# The rows of table A2 in which installed tools pass in silence, accuse wrongly, or count twice.
TABLE_A2 = {
    *("own NULL", "own 'n/a'", "own ''", "own 'NaN'", "own 'Infinity'", "own '-Infinity'", "own '1,234.50'"),
    *("own '$25.10'", "floor NULL", "floor un-castable", "floor 'NaN'", "floor 'Infinity'"),
    *("floor row three times, rate below", "floor row three times, rate above"),
    *("floor rows NULL and 30.00, rate 29", "floor rows NULL and 30.00, rate 31", "link key NULL", "E1057"),
}


def flagged(said: Iterable[Said]) -> Counter[Said]:
    """The members that queries return."""
    return Counter(member for member in said if member.verdict != Verdict.COMPLIANT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_product_gives_every_member_the_verdict_reason_and_causes_that_are_true(case: JudgedCase) -> None:
    found = judge_compiled(case.world)
    assert isinstance(found.outcome, Counts), found.outcome
    assert Counter(said_by_product(found)) == flagged(case.truth)
    expected = Counter(member.verdict for member in case.truth)
    counts = {name: getattr(found.outcome, name) for name in NAMES}
    assert counts == {"population": len(case.truth), **{verdict.value: expected[verdict] for verdict in Verdict}}
    assert case.counts.items() <= counts.items()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_oracle_gives_every_member_the_verdict_reason_and_causes_that_are_true(case: JudgedCase) -> None:
    assert Counter(said_by_oracle(judge_world(case.world))) == flagged(case.truth)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_plan_agrees_with_the_oracle_on_every_count_and_member(case: JudgedCase) -> None:
    assert differences(case.world) == []


@pytest.mark.parametrize("case", PEERS, ids=lambda case: case.name)
def test_every_row_of_the_peers_table_has_its_member(case: JudgedCase) -> None:
    assert set(case.labels) >= TABLE_A2
    assert case.counts == {"population": 74, "breach": 6, "no_data": 14, "compliant": 54}


def test_case_names_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
