"""Why a member has no verdict, what makes it partial, what strict and scope change: worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle.scenes import award, contract, employee, judge_pay, only, said
from trivet.verdicts import Reason, Verdict

BELOW = "rate < award.floor"
ONE = contract(to_one=True)


@pytest.mark.parametrize(
    ("rate", "cause"),
    [(None, "null"), ("see note 2", "not_castable"), ("inf", "not_finite"), ("25.00005", "out_of_range")],
)
def test_left_null_names_the_own_operand_with_its_cause(rate: str | None, cause: str) -> None:
    member = only(judge_pay(BELOW, [employee(rate=rate)], [award()]))
    assert said(member) == ("no_data", "left_null", {"rate": [cause]})


def test_left_null_stands_before_right_missing() -> None:
    member = only(judge_pay(BELOW, [employee(rate=None)]))
    assert said(member) == ("no_data", "left_null", {"rate": ["null"]})


def test_a_cause_that_the_view_gives_is_reported() -> None:
    for cause in ("unit_mismatch", "ocr_unconfirmed"):
        member = only(judge_pay(BELOW, [employee(rate_cause=cause)], [award()]))
        assert said(member) == ("no_data", "left_null", {"rate": [cause]})


def test_right_missing_has_no_cause_where_nothing_matches() -> None:
    member = only(judge_pay(BELOW, [employee()], [award(level="B"), award(level="a"), award(level="A ")]))
    assert said(member) == ("no_data", "right_missing", {})


@pytest.mark.parametrize("key", [{"level": None}, {"level": " "}, {"point": "1_0"}, {"point": None}])
def test_right_missing_says_key_null_where_a_key_of_the_member_is_indeterminate(
    key: dict[str, object],
) -> None:
    member = only(judge_pay(BELOW, [employee(**key)], [award(**key), award()]))
    assert said(member) == ("no_data", "right_missing", {"award": ["key_null"]})


def test_keys_compare_as_one_declared_type() -> None:
    member = only(judge_pay(BELOW, [employee(point="01")], [award(point=" 1.0 ", floor="26")]))
    assert said(member) == ("breach", None, {})


def test_right_null_names_every_cause_of_the_linked_operand() -> None:
    awards = [award(floor=None), award(floor="NaN"), award(floor="NaN"), award(level="B", floor="1_0")]
    member = only(judge_pay(BELOW, [employee()], awards))
    assert said(member) == ("no_data", "right_null", {"award.floor": ["not_finite", "null"]})


def test_right_ambiguous_is_for_to_one_links_whose_rows_disagree() -> None:
    awards = [award(floor="24"), award(floor="26")]
    for condition in (BELOW, f"all({BELOW})"):
        member = only(judge_pay(condition, [employee()], awards, of=ONE))
        assert said(member) == ("no_data", "right_ambiguous", {})


def test_rows_of_a_to_one_link_that_agree_decide() -> None:
    result = judge_pay(BELOW, [employee()], [award(floor="26"), award(floor="27"), award(floor=None)], of=ONE)
    assert said(only(result)) == ("breach", None, {})
    assert only(result).partial


def test_failed_arithmetic_over_own_properties_is_left_null() -> None:
    member = only(judge_pay("rate / bonus > 3", [employee()]))
    assert said(member) == ("no_data", "left_null", {"rate / bonus": ["division_by_zero"]})
    huge = only(judge_pay("hours * hours > 3", [employee(hours="9223372036854775807")]))
    assert said(huge) == ("no_data", "left_null", {"hours * hours": ["overflow"]})
    linked = only(judge_pay("rate / bonus > award.floor", [employee()]))
    assert said(linked) == ("no_data", "left_null", {"rate / bonus": ["division_by_zero"]})


def test_failed_arithmetic_with_a_link_is_right_null() -> None:
    member = only(judge_pay("rate / award.floor > 3", [employee()], [award(floor="0"), award(floor=None)]))
    causes = {"rate / award.floor": ["division_by_zero"], "award.floor": ["null"]}
    assert said(member) == ("no_data", "right_null", causes)


def test_failed_arithmetic_of_one_member_leaves_the_others_alone() -> None:
    result = judge_pay("rate / bonus > 3", [employee(), employee(bonus="5"), employee(bonus="25")])
    assert [str(member.verdict) for member in result.members] == ["no_data", "breach", "compliant"]


def test_a_censored_own_operand_is_left_null_only_where_rows_match_or_no_link_is_named() -> None:
    below_limit = employee(rate=None, rate_side="<", rate_limit="30")
    causes = {"rate": ["censored"]}
    assert said(only(judge_pay("rate < 20", [below_limit]))) == ("no_data", "left_null", causes)
    assert said(only(judge_pay(BELOW, [below_limit], [award()]))) == ("no_data", "left_null", causes)
    assert said(only(judge_pay(BELOW, [below_limit]))) == ("no_data", "right_missing", causes)


def test_a_censored_operand_decides_where_its_interval_does() -> None:
    below_limit = employee(rate=None, rate_side="<", rate_limit="20")
    assert said(only(judge_pay("rate < 20", [below_limit])))[0] == "breach"
    assert said(only(judge_pay("rate < 0", [below_limit])))[0] == "compliant"
    assert said(only(judge_pay(BELOW, [below_limit], [award(floor="20")])))[0] == "breach"
    assert said(only(judge_pay("rate is missing", [below_limit])))[0] == "compliant"


def test_arithmetic_on_a_censored_operand_is_unknown() -> None:
    below_limit = employee(rate=None, rate_side="<", rate_limit="20")
    member = only(judge_pay("rate + 1 < 100", [below_limit]))
    assert said(member) == ("no_data", "left_null", {"rate": ["censored"]})


def test_a_censored_linked_operand_is_right_null_where_it_does_not_decide() -> None:
    floor = award(floor=None, floor_side="<", floor_limit="26")
    member = only(judge_pay(BELOW, [employee()], [floor]))
    assert said(member) == ("no_data", "right_null", {"award.floor": ["censored"]})
    decided = only(judge_pay(BELOW, [employee(rate="26")], [floor]))
    assert said(decided) == ("compliant", None, {})


def test_only_comparisons_unknown_up_to_the_root_give_reason_and_causes() -> None:
    member = only(judge_pay("rate > 20 and (note = 'x' or bonus > 1 and hours > 50)", [employee(bonus=None)]))
    assert said(member) == ("no_data", "left_null", {"note": ["null"]})


def test_the_first_reason_in_the_order_of_the_law_wins_and_the_causes_join() -> None:
    member = only(judge_pay(f"{BELOW} or bonus > 1", [employee(bonus="?")], [award(floor="inf")]))
    causes = {"award.floor": ["not_finite"], "bonus": ["not_castable"]}
    assert said(member) == ("no_data", "left_null", causes)
    member = only(judge_pay("award.floor < 1 or allowance.amount < 1", [employee()], [award(floor="inf")]))
    assert said(member) == ("no_data", "right_missing", {"award.floor": ["not_finite"]})


def test_a_member_is_decided_although_a_part_of_its_condition_is_unknown() -> None:
    member = only(judge_pay("bonus > 1 or rate > 20", [employee(bonus=None)]))
    assert said(member) == ("breach", None, {})


# Scope, partial, strict.


def test_a_row_of_unknown_scope_is_no_data_and_a_row_out_of_scope_is_no_member() -> None:
    employees = [employee(hours="40"), employee(hours="x"), employee(hours="10")]
    result = judge_pay("rate < 30", employees, where="hours > 20")
    assert [member.row for member in result.members] == [0, 1]
    assert said(result.members[0]) == ("breach", None, {})
    assert said(result.members[1]) == ("no_data", "scope_unknown", {"hours": ["not_castable"]})
    assert (result.population, result.breach, result.no_data, result.compliant) == (2, 1, 1, 0)


def test_scope_unknown_replaces_every_other_reason_and_its_causes() -> None:
    member = only(judge_pay("rate < 30", [employee(rate=None, hours=None)], where="hours > 20"))
    assert said(member) == ("no_data", "scope_unknown", {"hours": ["null"]})


@pytest.mark.parametrize(
    ("condition", "where", "rate"),
    [
        (BELOW, None, "23"),
        (BELOW, None, "25"),
        ("rate > 0", "award.floor > 1", "25"),
        ("rate > 0 or award.floor > 1", None, "25"),
        (f"{BELOW} or hours > 1", None, None),
    ],
)
def test_a_decided_member_that_met_an_indeterminate_row_is_partial(
    condition: str, where: str | None, rate: str | None
) -> None:
    result = judge_pay(condition, [employee(rate=rate)], [award(floor="24"), award(floor=None)], where=where)
    member = only(result)
    assert member.verdict is not Verdict.NO_DATA
    assert member.partial
    assert result.partial == 1


def test_a_member_is_not_partial_where_every_matching_row_is_determinate() -> None:
    result = judge_pay(BELOW, [employee()], [award(), award(level="B", floor=None)])
    assert not only(result).partial


def test_a_member_without_a_verdict_is_not_partial() -> None:
    result = judge_pay("award.floor > 1 and bonus > 1", [employee(bonus=None)], [award(), award(floor=None)])
    assert said(only(result)) == ("no_data", "left_null", {"bonus": ["null"]})
    assert result.partial == 0


def test_strict_makes_a_comparison_unknown_that_meets_an_indeterminate_row() -> None:
    awards = [award(floor="26"), award(floor=None)]
    member = only(judge_pay(BELOW, [employee()], awards, strict=True))
    assert said(member) == ("no_data", "right_null", {"award.floor": ["null"]})
    either = only(judge_pay(f"{BELOW} or hours > 1", [employee()], awards, strict=True))
    assert said(either) == ("breach", None, {})
    assert either.partial


def test_strict_holds_for_the_scope_too() -> None:
    awards = [award(floor="26"), award(floor=None)]
    member = only(judge_pay("rate > 1", [employee()], awards, where="award.floor > 1", strict=True))
    assert said(member) == ("no_data", "scope_unknown", {"award.floor": ["null"]})


def test_strict_puts_an_indeterminate_row_before_ambiguity() -> None:
    awards = [award(floor="26"), award(floor="24"), award(floor=None)]
    member = only(judge_pay(BELOW, [employee()], awards, of=ONE, strict=True))
    assert said(member) == ("no_data", "right_null", {"award.floor": ["null"]})


def test_the_reason_precedence_is_the_order_of_the_law() -> None:
    asked_of_rows = ["left_null", "right_missing", "right_null", "right_ambiguous"]
    law = ["scope_unknown", "left_missing", *asked_of_rows, "insufficient", "source_stale"]
    assert [str(reason) for reason in Reason] == law
