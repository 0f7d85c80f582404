"""The functions of one row: each example of the reference page, and the edges, by oracle and compiled queries."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias, TypeGuard

import pytest

from catalog.expressions.functions import SIGNATURES
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import Call, Function, Operand
from catalog.expressions.walking import atom_nodes, atoms
from tests.conformance.harness import differences
from tests.oracle.scenes import contract, employee, only, pay_world, said
from tests.oracle.strategies import World, judge_world

SYDNEY = contract(time_zone="Australia/Sydney")
Said: TypeAlias = tuple[str, str | None, dict[str, list[str]]]

BREACH: Said = ("breach", None, {})
COMPLIANT: Said = ("compliant", None, {})


def agreed(world: World) -> tuple[str, str | None, dict[str, list[str]]]:
    """What the oracle says of the only member, after compiled queries said the same."""
    assert differences(world) == []
    return said(only(judge_world(world)))


def test_every_function_has_its_signature_in_the_order_of_definition() -> None:
    assert list(SIGNATURES) == list(Function)


@pytest.mark.parametrize("function", Function)
def test_an_example_comes_to_what_the_page_says(function: Function) -> None:
    example, value = SIGNATURES[function].example, SIGNATURES[function].value
    texts = {"true": example, "false": f"not {example}"}
    condition = parse_condition(texts.get(value, f"{example} = {value}"))
    assert not isinstance(condition, SyntaxFault)
    assert function in {node.function for atom in atoms(condition) for node in atom_nodes(atom) if is_call(node)}
    # Checking would refuse it, since it names no property.
    assert agreed(replace(pay_world("hours = 38", [employee()]), breach_when=condition)) == BREACH


def is_call(node: Operand) -> TypeGuard[Call]:
    return isinstance(node, Call)


@pytest.mark.parametrize(
    ("condition", "own", "expected"),
    [
        ("lower(note) = 'straße i'", {"note": "STRAßE I"}, BREACH),
        ("lower(note) = 'Éa'", {"note": "ÉA"}, BREACH),
        ("upper(note) = 'STRAßE'", {"note": "straße"}, BREACH),
        ("upper(note) = '\u0131A'", {"note": "\u0131a"}, BREACH),
        ("trim(note) = 'a'", {"note": " \t a\r\n"}, BREACH),
        ("length(trim(note)) = 2", {"note": " \u00a0a "}, BREACH),
        ("length(note) = 3", {"note": "e\u0301\U0001f4a1"}, BREACH),
        ("starts_with(note, 'e')", {"note": "e\u0301"}, BREACH),
        ("contains(note, '\u00e9')", {"note": "e\u0301"}, COMPLIANT),
        ("contains(note, '%')", {"note": "abc"}, COMPLIANT),
        ("ends_with(note, note)", {"note": "abc"}, BREACH),
        ("contains(note, 'a')", {"note": " "}, ("no_data", "left_null", {"note": ["null"]})),
        ("weekday(pay_date) = 7", {"pay_date": "2025-07-13"}, BREACH),
        ("quarter(pay_date) = 4", {"pay_date": "2025-12-31"}, BREACH),
        ("year(pay_date) = 2025", {"pay_date": "soon"}, ("no_data", "left_null", {"pay_date": ["not_castable"]})),
        ("year(pay_date) = 1", {"pay_date": "0001-01-01"}, BREACH),
        ("abs(rate) = 2.5", {"rate": "-2.5000"}, BREACH),
        ("abs(score) = 2.5", {"score": "-25e-1"}, BREACH),
        ("abs(hours) = 9223372036854775807", {"hours": "-9223372036854775807"}, BREACH),
        (
            "abs(hours) > 0",
            {"hours": "-9223372036854775808"},
            ("no_data", "left_null", {"abs(hours)": ["overflow"]}),
        ),
        ("abs(shift) = 8h", {"shift": "-PT8H"}, BREACH),
        ("abs(rate) > 1", {"rate_side": "<", "rate_limit": "1"}, ("no_data", "left_null", {"rate": ["censored"]})),
        (
            "abs(rate) / hours > 1",
            {"hours": "0"},
            ("no_data", "left_null", {"abs(rate) / hours": ["division_by_zero"]}),
        ),
        ("days(shift) = 0.333333333333", {}, BREACH),
        ("hours(shift) = 8 and minutes(shift) = 480 and seconds(shift) = 28800", {}, BREACH),
        ("seconds(shift) = 9223372036850", {"shift": "PT9223372036854.775807S"}, BREACH),
        ("age(seen) = 30m", {}, BREACH),
        ("age(seen) < 0s", {"seen": "2026-01-01"}, BREACH),
        ("age(pay_date) = 0s and pay_date = today()", {}, BREACH),
        ("seen < now() - 29m and seen + 30m = now()", {}, BREACH),
    ],
)
def test_a_function_at_its_edges(condition: str, own: dict[str, object], expected: object) -> None:
    assert agreed(pay_world(condition, [employee(**own)])) == expected


@pytest.mark.parametrize(
    ("condition", "seen", "expected"),
    [
        ("day_of(seen) = date(2025, 7, 16)", "2025-07-15T14:00:00Z", BREACH),
        ("day_of(seen) = date(2025, 7, 15)", "2025-07-15T13:59:59.999999Z", BREACH),
        ("year(seen) = 2026 and month(seen) = 1 and day(seen) = 1", "2025-12-31T13:00:00Z", BREACH),
        ("weekday(seen) = 1 and quarter(seen) = 1", "2025-03-30T13:30:00Z", BREACH),
        (
            "year(seen) = 9999",
            "9999-12-31T20:00:00Z",
            ("no_data", "left_null", {"year(seen)": ["overflow"]}),
        ),
        (
            "day_of(seen) = pay_date",
            "9999-12-31T20:00:00Z",
            ("no_data", "left_null", {"day_of(seen)": ["overflow"]}),
        ),
    ],
)
def test_parts_of_an_instant_are_those_of_the_contracts_time_zone(condition: str, seen: str, expected: object) -> None:
    assert agreed(pay_world(condition, [employee(seen=seen)], of=SYDNEY)) == expected


def test_today_is_the_day_of_the_slot_in_the_contracts_time_zone() -> None:
    slot = datetime(2025, 7, 14, 23, 30, tzinfo=UTC)
    world = pay_world("pay_date = today()", [employee()], of=SYDNEY, at=slot)
    assert agreed(world) == BREACH
    assert agreed(replace(world, at=datetime(2025, 7, 14, 13, 30, tzinfo=UTC))) == COMPLIANT
