"""`exists(link)` and `count(link)`, worked out by hand, and judged by oracle and compiled queries alike."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import pytest

from catalog.contract import Contract, EffectiveDates, Restates
from tests.conformance.harness import differences, judge_compiled
from tests.oracle.scenes import Row, award, contract, employee, only, pay_world, said
from tests.oracle.strategies import judge_world

PLAIN = contract()
CHANGES = contract(as_of=EffectiveDates("pay_date", "starts", Restates.CHANGES))
UNTIL = contract(as_of=EffectiveDates("pay_date", "starts", Restates.CHANGES, "ends"))
ALL = contract(as_of=EffectiveDates("pay_date", "starts", Restates.ALL))

Said: TypeAlias = tuple[str, str | None, dict[str, list[str]]]

BREACH: Said = ("breach", None, {})
COMPLIANT: Said = ("compliant", None, {})
NO_KEY = ("no_data", "right_missing", {"award": ["key_null"]})
NO_DATE = ("no_data", "left_null", {"pay_date": ["null"]})
NO_START = ("no_data", "right_null", {"award.starts": ["not_castable"]})

USABLE, UNUSABLE = award(), award(starts="soon")
TWO_KEYS = [award(starts="2024-07-01"), award(point="2", starts="2025-07-01")]


class Case(NamedTuple):
    """One condition over one employee, and what it must come to."""

    condition: str
    of: Contract
    awards: list[Row]
    expected: tuple[str, str | None, dict[str, list[str]]]
    partial: bool = False
    strict: bool = False
    own: tuple[tuple[str, object], ...] = ()
    """Cells of the employee."""


CASES = [
    Case("exists(award)", PLAIN, [award()], BREACH),
    Case("exists(award)", PLAIN, [award(level="B")], COMPLIANT),
    Case("not exists(award)", PLAIN, [], BREACH),
    Case("exists(award)", PLAIN, [award(floor=None)], BREACH),
    Case("exists(award)", PLAIN, [award(point=None)], COMPLIANT),
    Case("exists(award)", PLAIN, [award()], NO_KEY, own=(("point", "one"),)),
    Case("not exists(award)", PLAIN, [], NO_KEY, own=(("level", " "),)),
    Case("exists(award)", contract(to_one=True), [award(), award()], BREACH),
    Case("exists(award)", CHANGES, [USABLE], BREACH),
    Case("exists(award)", CHANGES, [award(starts="2026-01-01")], COMPLIANT),
    Case("exists(award)", CHANGES, [UNUSABLE], NO_START),
    Case("exists(award)", CHANGES, [USABLE, UNUSABLE], BREACH, partial=True),
    Case("exists(award)", CHANGES, [USABLE, UNUSABLE], NO_START, strict=True),
    Case("exists(award)", CHANGES, [USABLE], BREACH, strict=True),
    Case("exists(award)", CHANGES, [USABLE], NO_DATE, own=(("pay_date", None),)),
    Case("exists(award)", CHANGES, [], NO_DATE, own=(("pay_date", None),)),
    Case(
        "exists(award)",
        CHANGES,
        [UNUSABLE],
        ("no_data", "left_null", {"award.starts": ["not_castable"], "pay_date": ["null"]}),
        own=(("pay_date", None),),
    ),
    Case("exists(award)", UNTIL, [award(ends="2025-07-15")], COMPLIANT),
    Case("exists(award)", UNTIL, [award(ends="2025-07-16")], BREACH),
    Case("exists(award)", UNTIL, [award(ends="later")], ("no_data", "right_null", {"award.ends": ["not_castable"]})),
    Case("exists(award)", ALL, TWO_KEYS, COMPLIANT),
    Case("count(award) = 0", ALL, TWO_KEYS, BREACH),
    Case("count(award) = 3", PLAIN, [award(), award(), award(floor="x"), award(level="B")], BREACH),
    Case("count(award) = 0", PLAIN, [], BREACH),
    Case("count(award) > 0", PLAIN, [award()], NO_KEY, own=(("level", None),)),
    Case("count(award) > 0", CHANGES, [USABLE, UNUSABLE], NO_START),
    Case("count(award) > 0", CHANGES, [USABLE], NO_DATE, own=(("pay_date", None),)),
    Case("count(award) > 5 or hours = 38", CHANGES, [UNUSABLE], BREACH, partial=True),
    Case("exists(award) or hours = 38", CHANGES, [UNUSABLE], BREACH, partial=True),
    Case("exists(award) and hours = 1", PLAIN, [], COMPLIANT, own=(("level", None),)),
    Case("count(award) * hours > 38", PLAIN, [award(), award()], BREACH),
    Case(
        "hours / count(award) > 38",
        PLAIN,
        [],
        ("no_data", "right_null", {"hours / count(award)": ["division_by_zero"]}),
    ),
    Case("count(award) > hours", PLAIN, [award()], ("no_data", "left_null", {"hours": ["null"]}), own=(("hours", ""),)),
    Case("award.units = count(award)", PLAIN, [award(units="2"), award()], BREACH),
    Case("all(award.units = count(award))", PLAIN, [award(units="2"), award()], COMPLIANT),
    Case("award.units = count(award)", PLAIN, [], ("no_data", "right_missing", {})),
    Case("award.units in (1, count(award))", CHANGES, [USABLE, UNUSABLE], NO_START),
    Case("award.units > count(allowance)", PLAIN, [award()], BREACH),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.condition)
def test_the_matching_rows_decide_whatever_they_hold(case: Case) -> None:
    world = pay_world(case.condition, [employee(**dict(case.own))], case.awards, of=case.of, strict=case.strict)
    member = only(judge_world(world))
    assert (said(member), member.partial) == (case.expected, case.partial)
    assert differences(world) == []


def shown(condition: str, awards: list[Row], **own: object) -> tuple[dict[str, Any], int]:
    """The operands of the only member, and the rows whose provenance stands beside it."""
    found = judge_compiled(pay_world(condition, [employee(**own)], awards, of=CHANGES))
    (member,) = (*found.breached, *found.undecided)
    return dict(member.operands), len(member.provenance)


def test_a_count_is_shown_as_an_operand() -> None:
    assert shown("count(award) + hours > 3", [award(), award()])[0] == {"count(award)": "2", "hours": "38"}
    assert shown("count(award) > 1", [UNUSABLE])[0] == {"count(award)": None}


def test_a_member_is_listed_once_however_many_rows_it_counts() -> None:
    found = judge_compiled(pay_world("exists(award) and count(award) = 3", [employee()], [award()] * 3))
    assert len(found.breached) == 1
