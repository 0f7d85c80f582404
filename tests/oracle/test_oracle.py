"""Verdicts, keys and counts over whole tables, worked out by hand."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from evals import oracle
from tests.oracle.scenes import Row, award, employee, judge_pay, only, said
from trivet.verdicts import Verdict

BELOW = "rate < award.floor"


def verdict(breach_when: str, awards: Sequence[Row] = (), **cells: object) -> str:
    return said(only(judge_pay(breach_when, [employee(**cells)], awards)))[0]


# The truth of `any` and `all`. The member is paid 25: a floor of 26 makes `rate < award.floor` true.


@pytest.mark.parametrize(
    ("floors", "some", "every"),
    [
        ([], "no_data", "no_data"),
        ([None], "no_data", "no_data"),
        (["26"], "breach", "breach"),
        (["24"], "compliant", "compliant"),
        (["26", "24"], "breach", "compliant"),
        (["26", None], "breach", "breach"),
        (["24", None], "compliant", "compliant"),
        (["26", "24", "NaN"], "breach", "compliant"),
    ],
)
def test_a_quantified_comparison_is_decided_by_its_determinate_rows(
    floors: list[str | None], some: str, every: str
) -> None:
    awards = [award(floor=floor) for floor in floors]
    assert verdict(BELOW, awards) == some
    assert verdict(f"any({BELOW})", awards) == some
    assert verdict(f"all({BELOW})", awards) == every


def test_a_member_without_own_value_is_no_data_whatever_matches() -> None:
    for rate in (None, "", "n/a", "NaN", "Infinity", "1,234.50", "$25.10", "1_000"):
        assert verdict(BELOW, [award(floor="24")], rate=rate) == "no_data"


def test_not_is_never_pushed_through_a_quantifier() -> None:
    awards = [award(floor="24"), award(floor="26")]
    assert verdict("not (rate < award.floor)", awards) == "compliant"
    assert verdict("rate >= award.floor", awards) == "breach"


def test_each_comparison_quantifies_alone_and_references_within_one_mean_the_same_row() -> None:
    awards = [award(floor="20", units="40"), award(floor="30", units="20")]
    assert verdict("award.floor > 25 and award.units > 30", awards) == "breach"
    assert verdict("award.floor = award.units + 10", awards) == "breach"
    assert verdict("award.floor = award.units - 10", awards) == "compliant"
    assert verdict("rate between award.floor and award.units", awards) == "breach"
    assert verdict("hours between award.units and award.floor", awards) == "compliant"


def test_membership_and_between_are_kleene_on_one_row() -> None:
    assert verdict("hours in (38, bonus)", bonus=None) == "breach"
    assert verdict("hours in (40, bonus)", bonus=None) == "no_data"
    assert verdict("hours between 40 and bonus", bonus=None) == "compliant"
    assert verdict("hours between 30 and bonus", bonus=None) == "no_data"


def test_an_own_operand_without_value_leaves_every_row_undecided_even_where_the_rest_would_decide() -> None:
    assert verdict("award.units in (1, bonus)", [award()], bonus=None) == "no_data"
    assert verdict("award.units in (1, hours / bonus)", [award()], bonus="0") == "breach"


def test_a_linked_operand_without_value_can_leave_its_row_decided() -> None:
    assert verdict("rate between award.units and award.floor", [award(units="30", floor=None)]) == "compliant"


@pytest.mark.parametrize(
    ("condition", "rate", "expected"),
    [
        ("rate is missing", None, "breach"),
        ("rate is missing", "n/a", "breach"),
        ("rate is missing", "NaN", "compliant"),
        ("rate is present", "see note 2", "breach"),
        ("rate is present", " ", "compliant"),
        ("award.floor is present", "25", "breach"),
        ("award.units is missing", "25", "breach"),
        ("allowance.amount is missing", "25", "breach"),
    ],
)
def test_presence_is_never_unknown(condition: str, rate: str | None, expected: str) -> None:
    member = only(judge_pay(condition, [employee(rate=rate)], [award(floor="see note 2", units=None)]))
    assert said(member) == (expected, None, {})
    assert not member.partial


def test_presence_behind_a_link_takes_one_present_row() -> None:
    assert verdict("award.floor is present", [award(floor=None), award(floor="24")]) == "breach"
    assert verdict("award.floor is missing", [award(floor=None), award(floor="24")]) == "compliant"


# Two links in one comparison.


def allowance(amount: str | None) -> Row:
    return {"level": "A", "amount": amount}


@pytest.mark.parametrize(
    ("floors", "amounts", "expected"),
    [
        (["24", "30"], ["25", "20"], ("breach", None, {})),
        (["30"], ["25"], ("compliant", None, {})),
        (["30"], [], ("no_data", "right_missing", {})),
        (
            [None, "30"],
            [None],
            ("no_data", "right_null", {"allowance.amount": ["null"], "award.floor": ["null"]}),
        ),
    ],
)
def test_two_links_in_one_comparison_are_judged_by_pairs(
    floors: list[str | None],
    amounts: list[str | None],
    expected: tuple[str, str | None, dict[str, list[str]]],
) -> None:
    awards = [award(floor=floor) for floor in floors]
    result = judge_pay("award.floor < allowance.amount", [employee()], awards, [allowance(a) for a in amounts])
    assert said(only(result)) == expected


def test_a_pair_with_an_indeterminate_side_makes_a_decided_member_partial() -> None:
    result = judge_pay("award.floor < allowance.amount", [employee()], [award()], [allowance("25"), allowance(None)])
    assert said(only(result)) == ("breach", None, {})
    assert only(result).partial


# Keys and counts.


def test_duplicated_linked_rows_never_duplicate_a_member() -> None:
    result = judge_pay(BELOW, [employee()], [award(floor="26")] * 3)
    assert (result.population, result.breach) == (1, 1)


def test_duplicate_keys_counts_keys_that_repeat_and_rows_without_key() -> None:
    ids = ["E1", "E1", "E1", "E2", "E3", "E3", None, " "]
    result = judge_pay("rate > 30", [employee(id=item) for item in ids])
    assert result.duplicate_keys == 4
    assert [member.key for member in result.members] == [(item,) for item in ids]


def test_duplicate_keys_counts_the_population_only() -> None:
    result = judge_pay("rate > 30", [employee(), employee(hours="1")], where="hours > 20")
    assert result.duplicate_keys == 0


def test_an_empty_table_has_no_members() -> None:
    result = judge_pay("rate > 30", [])
    assert (result.members, result.population, result.duplicate_keys) == ((), 0, 0)


def test_the_hard_cases_of_the_comparison_with_peers() -> None:
    """Cases of which each passes silently, or is called a breach, in some other tool."""
    cases: list[tuple[str | None, list[str | None], Verdict]] = [
        (None, ["24"], Verdict.NO_DATA),
        ("n/a", ["24"], Verdict.NO_DATA),
        ("", ["24"], Verdict.NO_DATA),
        ("NaN", ["24"], Verdict.NO_DATA),
        ("Infinity", ["24"], Verdict.NO_DATA),
        ("-Infinity", ["24"], Verdict.NO_DATA),
        ("1,234.50", ["24"], Verdict.NO_DATA),
        ("$25.10", ["26.50"], Verdict.NO_DATA),
        ("25", [None], Verdict.NO_DATA),
        ("25", ["see note 2"], Verdict.NO_DATA),
        ("25", ["NaN"], Verdict.NO_DATA),
        ("25", ["Infinity"], Verdict.NO_DATA),
        ("25", ["26", "26", "26"], Verdict.BREACH),
        ("31", [None, "30.00"], Verdict.COMPLIANT),
        ("25", [], Verdict.NO_DATA),
    ]
    employees = [employee(id=str(index), point=str(index), rate=rate) for index, (rate, _, _) in enumerate(cases)]
    awards = [award(point=str(index), floor=floor) for index, (_, floors, _) in enumerate(cases) for floor in floors]
    keyless = employee(id="keyless", level=None)
    result = judge_pay(BELOW, [*employees, keyless], awards)
    expected = [*(verdict for _, _, verdict in cases), Verdict.NO_DATA]
    assert [member.verdict for member in result.members] == expected
    assert (result.breach, result.no_data, result.compliant, result.partial) == (1, 14, 1, 1)


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def test_the_oracle_reads_the_contract_and_the_tree_of_conditions_and_nothing_that_works_on_them() -> None:
    shared = {
        "catalog.contract",
        "catalog.datatypes",
        "catalog.expressions.tree",
        # The walks say what a tree names, and decide nothing.
        "catalog.expressions.walking",
        "catalog.expressions.printing",
        "trivet.verdicts",
    }
    grouped = {
        "catalog.expressions.checking",
        "catalog.expressions.groups",
        "catalog.periods",
        "monitors.definition",
        "monitors.grouping",
    }
    assert _shared_by("evaluation") == shared
    assert _shared_by("groups") == shared | grouped


def _shared_by(entry: str) -> set[str]:
    """The modules of the project, outside the oracle, that an entry of the oracle imports, through whatever inside."""
    waiting, seen, shared = [entry], set[str](), set[str]()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for name in _imported(Path(oracle.__path__[0], f"{module}.py")):
            if name.startswith("evals.oracle."):
                waiting += {name.removeprefix("evals.oracle.")} - seen
            elif name.split(".")[0] not in sys.stdlib_module_names:
                shared.add(name)
    assert {"values", "operands", "linking", "conditions"} <= seen
    return shared
