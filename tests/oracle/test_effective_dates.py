"""Which linked rows are in force on a member's date, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pytest

from catalog.contract import Contract, EffectiveDates, Restates
from evals.oracle.evaluation import OracleMember
from tests.oracle.scenes import Row, award, contract, employee, judge_pay, only, said

Said: TypeAlias = tuple[str, str | None, dict[str, list[str]]]
BELOW = "rate < award.floor"


def dated(restates: Restates, within: tuple[str, ...] = (), valid_to: str | None = None) -> Contract:
    return contract(as_of=EffectiveDates("pay_date", "starts", restates, valid_to, within))


CHANGES = dated(Restates.CHANGES)
ALL = dated(Restates.ALL)
ALL_WITHIN_LEVEL = dated(Restates.ALL, within=("level",))
UNTIL = dated(Restates.CHANGES, valid_to="ends")


def judged(awards: Sequence[Row], of: Contract, condition: str = BELOW, /, **cells: object) -> OracleMember:
    """A member paid 25 on 2025-07-15."""
    return only(judge_pay(condition, [employee(**cells)], awards, of=of))


def outcome(awards: Sequence[Row], of: Contract, **cells: object) -> Said:
    return said(judged(awards, of, BELOW, **cells))


BREACH: Said = ("breach", None, {})
COMPLIANT: Said = ("compliant", None, {})
MISSING: Said = ("no_data", "right_missing", {})
SUPERSEDED: Said = ("no_data", "right_missing", {"award": ["superseded"]})


@pytest.mark.parametrize(
    ("pay_date", "expected"),
    [
        ("2024-06-30", MISSING),
        ("2024-07-01", BREACH),
        ("2025-06-30", BREACH),
        ("2025-07-01", COMPLIANT),
        ("2030-01-01", COMPLIANT),
    ],
)
@pytest.mark.parametrize("of", [CHANGES, ALL])
def test_the_latest_row_not_after_the_members_date_counts(of: Contract, pay_date: str, expected: Said) -> None:
    awards = [award(starts="2025-07-01", floor="24"), award(starts="2024-07-01", floor="26")]
    assert outcome(awards, of, pay_date=pay_date) == expected


def test_under_changes_a_row_stands_until_a_later_row_of_the_same_keys() -> None:
    awards = [award(starts="2024-07-01", floor="26"), award(point="2", starts="2025-07-01")]
    assert outcome(awards, CHANGES) == BREACH


def test_under_all_a_key_that_the_schedule_in_force_no_longer_lists_is_superseded() -> None:
    awards = [award(starts="2024-07-01", floor="26"), award(point="2", starts="2025-07-01")]
    assert outcome(awards, ALL) == SUPERSEDED
    assert outcome(awards, ALL, pay_date="2025-06-30") == BREACH


def test_under_all_a_key_that_no_schedule_lists_has_no_cause() -> None:
    assert outcome([award(point="2")], ALL) == MISSING


def test_under_all_a_key_that_only_a_future_schedule_lists_has_no_cause() -> None:
    awards = [award(point="2", starts="2024-07-01"), award(starts="2026-07-01")]
    assert outcome(awards, ALL) == MISSING


def test_within_tells_schedules_apart() -> None:
    awards = [
        award(starts="2024-07-01", floor="26"),
        award(level="B", starts="2025-07-01"),
    ]
    assert outcome(awards, ALL) == SUPERSEDED
    assert outcome(awards, ALL_WITHIN_LEVEL) == BREACH
    restated = [*awards, award(point="2", starts="2025-07-01")]
    assert outcome(restated, ALL_WITHIN_LEVEL) == SUPERSEDED


def test_a_row_whose_own_key_is_blank_still_restates_the_schedule() -> None:
    awards = [award(starts="2024-07-01", floor="26"), award(point=None, starts="2025-07-01")]
    assert outcome(awards, ALL) == SUPERSEDED
    assert outcome(awards, ALL_WITHIN_LEVEL) == SUPERSEDED
    assert outcome(awards, CHANGES) == BREACH
    without_level = [award(starts="2024-07-01", floor="26"), award(level=None, starts="2025-07-01")]
    assert outcome(without_level, ALL_WITHIN_LEVEL) == BREACH


@pytest.mark.parametrize("of", [CHANGES, ALL])
def test_the_row_in_force_counts_even_if_its_value_is_indeterminate(of: Contract) -> None:
    awards = [award(starts="2024-07-01", floor="26"), award(starts="2025-07-01", floor="TBC")]
    assert outcome(awards, of) == ("no_data", "right_null", {"award.floor": ["not_castable"]})


@pytest.mark.parametrize("of", [CHANGES, ALL])
def test_rows_that_share_the_latest_date_all_count(of: Contract) -> None:
    awards = [award(floor="24"), award(floor="26"), award(starts="2024-07-01", floor=None)]
    member = judged(awards, of)
    assert said(member) == BREACH
    assert not member.partial


def test_rows_that_share_the_latest_date_of_a_to_one_link_can_be_ambiguous() -> None:
    of = contract(to_one=True, as_of=EffectiveDates("pay_date", "starts", Restates.CHANGES))
    assert outcome([award(floor="24"), award(floor="26")], of) == ("no_data", "right_ambiguous", {})


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (None, BREACH),
        (" ", BREACH),
        ("2025-07-16", BREACH),
        ("2025-07-15", MISSING),
        ("2025-01-01", MISSING),
        ("soon", ("no_data", "right_null", {"award.ends": ["not_castable"]})),
    ],
)
def test_valid_to_is_exclusive_and_blank_is_open(ends: str | None, expected: Said) -> None:
    assert outcome([award(floor="26", ends=ends)], UNTIL) == expected


def test_a_row_past_its_end_has_no_older_fallback() -> None:
    awards = [award(starts="2024-07-01", floor="26"), award(starts="2025-07-01", ends="2025-07-10")]
    assert outcome(awards, UNTIL) == MISSING
    of = dated(Restates.ALL, valid_to="ends")
    assert outcome(awards, of) == SUPERSEDED
    assert outcome(awards[1:], of) == MISSING


def test_an_indeterminate_date_of_the_member_is_left_null() -> None:
    for of in (CHANGES, ALL):
        assert outcome([award()], of, pay_date="?") == (
            "no_data",
            "left_null",
            {"pay_date": ["not_castable"]},
        )
        assert outcome([], of, pay_date=None) == ("no_data", "left_null", {"pay_date": ["null"]})


def test_an_indeterminate_date_and_key_of_the_member_both_say_so() -> None:
    expected = ("no_data", "left_null", {"pay_date": ["null"], "award": ["key_null"]})
    assert outcome([award()], ALL, pay_date=None, level="") == expected


def test_a_matching_row_without_a_start_is_an_indeterminate_row() -> None:
    undated = award(starts="TBC", floor="26")
    assert outcome([undated], CHANGES) == ("no_data", "right_null", {"award.starts": ["not_castable"]})
    member = judged([undated, award()], CHANGES)
    assert said(member) == COMPLIANT
    assert member.partial
    strict = only(judge_pay(BELOW, [employee()], [undated, award()], of=CHANGES, strict=True))
    assert said(strict) == ("no_data", "right_null", {"award.starts": ["not_castable"]})


def test_a_row_without_a_start_keeps_a_key_from_being_superseded() -> None:
    awards = [award(starts="2024-07-01"), award(point="2"), award(starts=None, floor=None)]
    expected = ("no_data", "right_null", {"award.starts": ["null"], "award.floor": ["null"]})
    assert outcome(awards, ALL) == expected


def test_a_row_without_a_start_does_not_restate_the_schedule() -> None:
    assert outcome([award(starts="2024-07-01", floor="26"), award(point="2", starts="?")], ALL) == BREACH


def test_presence_takes_rows_in_force_and_rows_without_a_start() -> None:
    old = award(starts="2024-07-01", floor="24")
    present = "award.floor is present"
    assert said(judged([old, award(floor=None)], CHANGES, present))[0] == "compliant"
    assert said(judged([old, award(floor=None), award(starts="?")], CHANGES, present))[0] == "breach"
    assert said(judged([award(ends="?")], UNTIL, present))[0] == "breach"
    assert said(judged([award()], CHANGES, present, pay_date=None))[0] == "compliant"
    assert said(judged([award(starts=None)], CHANGES, present, pay_date=None))[0] == "breach"


def test_the_date_of_the_member_is_no_operand_of_a_comparison_that_names_no_link() -> None:
    assert outcome([], CHANGES, pay_date=None)[1] == "left_null"
    assert said(judged([], CHANGES, "rate > 20", pay_date=None)) == BREACH
