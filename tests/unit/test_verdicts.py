"""The words that everyone shares: verdicts, badges, exit codes, faults."""

from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivet import errors, verdicts
from trivet.errors import InputError, TrivetError
from trivet.exits import Exit, exit_for
from trivet.findings import Finding, Position
from trivet.verdicts import Reason, Verdict, badge, worst_verdict

COUNTS = st.integers(0, 10**6)


@given(COUNTS, COUNTS)
def test_the_worst_verdict_is_breach_before_no_data_before_compliant(breach: int, no_data: int) -> None:
    worst = worst_verdict(breach, no_data)
    assert (worst is Verdict.BREACH) == (breach > 0)
    assert (worst is Verdict.COMPLIANT) == (breach == no_data == 0)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_joining_populations_never_makes_a_verdict_better(a: int, b: int, c: int, d: int) -> None:
    order = [Verdict.COMPLIANT, Verdict.NO_DATA, Verdict.BREACH]
    joined = order.index(worst_verdict(a + c, b + d))
    assert joined == max(order.index(worst_verdict(a, b)), order.index(worst_verdict(c, d)))


@pytest.mark.parametrize(
    ("breach", "no_data", "text"),
    [
        (0, 0, "0 breaches / 0 no-data"),
        (1, 0, "1 breach / 0 no-data"),
        (4, 1, "4 breaches / 1 no-data"),
        (0, 2, "0 breaches / 2 no-data"),
        (1_000_000, 1, "1000000 breaches / 1 no-data"),
    ],
)
def test_the_badge_counts_in_grammar(breach: int, no_data: int, text: str) -> None:
    assert badge(breach, no_data) == text


def test_reasons_stand_in_the_order_of_their_precedence() -> None:
    assert [*Reason] == [
        "scope_unknown",
        "left_missing",
        "left_null",
        "right_missing",
        "right_null",
        "right_ambiguous",
        "insufficient",
        "source_stale",
    ]


def test_every_code_is_its_own_name_in_lower_case() -> None:
    enums = [item for item in vars(verdicts).values() if isinstance(item, type) and issubclass(item, StrEnum)]
    assert len(enums) > 5
    for enum in enums:
        if enum is not verdicts.ReplayResult:
            assert [str(code) for code in enum] == [code.name.lower() for code in enum]


def test_what_a_replay_came_to_is_said_in_the_words_that_ledgers_hold() -> None:
    assert list(verdicts.ReplayResult) == ["reproduced", "inputs gone", "inputs changed", "DIVERGED"]


@pytest.mark.parametrize(("verdict", "code"), [(Verdict.COMPLIANT, 0), (Verdict.BREACH, 1), (Verdict.NO_DATA, 2)])
def test_a_verdict_has_an_exit_code(verdict: Verdict, code: int) -> None:
    assert exit_for(verdict) == code


def test_exit_codes_are_the_documented_ones() -> None:
    assert {exit.name: exit.value for exit in Exit} == {
        "FINE": 0,
        "BREACH": 1,
        "NO_DATA": 2,
        "REFUSED": 3,
        "CHECK_FAILED": 4,
        "USAGE": 64,
        "INPUT": 65,
        "UNAVAILABLE": 69,
        "FAULT": 70,
    }


def test_every_fault_is_drawn_in_the_tree_with_its_exit_code() -> None:
    drawn = errors.__doc__ or ""
    for kind in TrivetError.__subclasses__():
        (line,) = [line for line in drawn.splitlines() if f" {kind.__name__} " in line]
        assert line.endswith(f"exit {kind.exit_code.value}")
    assert TrivetError.exit_code is Exit.FAULT


def test_a_fault_of_the_input_carries_every_finding() -> None:
    findings = [Finding("a.yaml", Position(1, 2), "key", "wrong"), Finding("b.yaml", None, "", "empty")]
    fault = InputError(findings)
    assert fault.findings == tuple(findings)
    assert str(fault) == "a.yaml:1:2: key: wrong\nb.yaml: empty"
