"""What a condition means against a contract: its types, and every fault of one that means nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.contract import Contract
from catalog.datatypes import BOOLEAN, DATE, DOUBLE, DURATION, INTEGER, TEXT, TIMESTAMP, DataType, decimal
from catalog.expressions import checking
from catalog.expressions.checking import Scope, TypeFault, check_condition, common_decimal, type_of
from catalog.expressions.satisfiability import breach_fault, never_faults
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import Comparison, Condition, PropertyRef
from catalog.loading import load_contract
from trivet.documents import read_yaml

CASES = Path(__file__).parent.parent / "cases" / "expressions"


def read_contract() -> Contract:
    document = read_yaml((CASES / "contract.yaml").read_bytes(), file="contract.yaml").document
    assert document is not None
    contract = load_contract([document]).contract
    assert contract is not None
    return contract


def scope_of(name: str) -> Scope:
    object_type = CONTRACT.object_type(name)
    assert object_type is not None
    return Scope(CONTRACT, object_type)


def cases(name: str) -> list[Any]:
    loaded: list[Any] = yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    return loaded


def parsed(text: str) -> Condition:
    condition = parse_condition(text)
    assert not isinstance(condition, SyntaxFault), condition
    return condition


CONTRACT = read_contract()
PAY = scope_of("pay")


@pytest.mark.parametrize("text", cases("meaningful"))
def test_a_condition_that_means_something_has_no_fault(text: str) -> None:
    assert check_condition(parsed(text), PAY) == ()


@pytest.mark.parametrize("case", cases("meaningless"), ids=lambda case: case["condition"])
def test_each_fault_is_told_with_the_words_that_it_is_about(case: dict[str, Any]) -> None:
    text = case["condition"]
    found = check_condition(parsed(text), PAY)
    assert [{"of": text[slice(*fault.span)], "says": fault.message} for fault in found] == case["faults"]
    assert found


@pytest.mark.parametrize("case", cases("never"), ids=lambda case: case["condition"])
def test_a_condition_that_can_never_be_true_or_false_is_told_with_the_parts_that_exclude_each_other(
    case: dict[str, Any],
) -> None:
    condition = parsed(case["condition"])
    assert check_condition(condition, PAY) == ()
    assert [fault.message for fault in never_faults(condition, PAY)] == case["says"]


def test_a_condition_with_too_many_ways_is_let_through() -> None:
    narrow = "(step = 1 or step = 2) and step > 5"
    assert never_faults(parsed(narrow), PAY) != ()
    wide = " and ".join(f"(hours > {n} or step < {n})" for n in range(40))
    assert never_faults(parsed(f"{wide} and {narrow}"), PAY) == ()


def test_a_breach_outside_of_where_is_told() -> None:
    fault = breach_fault(parsed("hours > 5"), parsed("hours < 3 and step > 1"), PAY)
    assert fault is not None
    assert fault.message == "can never be true within `where`: `hours > 5` and `hours < 3` exclude each other"
    assert breach_fault(parsed("hours > 5"), parsed("hours > 3"), PAY) is None


def test_every_fault_that_the_code_can_tell_is_told_by_some_case() -> None:
    source = "".join(
        path.read_text("utf-8") for path in Path(checking.__file__).parent.glob("*.py") if path.stem != "syntax"
    )
    patterns = re.findall(r'(?<![A-Za-z])(?:Type)?Fault\(\s*f?"([^"]*)"', source)
    every = [*cases("meaningless"), *cases("groups_meaningless")]
    said = [fault["says"] for case in every for fault in case["faults"]]
    said += ["can never be true within `where`: ", *(says for case in cases("never") for says in case["says"])]
    assert len(patterns) > 12
    for pattern in patterns:
        expected = ".*".join(re.escape(part) for part in re.split(r"\{[^}]*\}", pattern))
        assert any(re.search(expected, message) for message in said), pattern


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        ("hourly_rate", decimal(12, 4)),
        ("governed_by.yearly", decimal(12, 2)),
        ("12.50", decimal(4, 2)),
        ("0.05", decimal(3, 2)),
        ("-3", decimal(1, 0)),
        ("1e3", decimal(4, 0)),
        ("'a'", TEXT),
        ("true", BOOLEAN),
        ("date(2025, 7, 1)", DATE),
        ("timestamp(2025, 7, 1)", TIMESTAMP),
        ("15m", DURATION),
        ("hours + step", INTEGER),
        ("hours * step", INTEGER),
        ("hours / step", DOUBLE),
        ("hours + 1", decimal(20, 0)),
        ("hourly_rate / 2", DOUBLE),
        ("hourly_rate * 2", decimal(13, 4)),
        ("hourly_rate * loading", decimal(24, 8)),
        ("bonus + hourly_rate", decimal(13, 4)),
        ("hourly_rate + governed_by.yearly", DOUBLE),
        ("governed_by.yearly + hourly_rate", decimal(17, 4)),
        ("hours + minutes_worked", DOUBLE),
        ("minutes_worked + hours", decimal(22, 0)),
        ("hourly_rate - 1", decimal(13, 4)),
        ("hourly_rate + score", DOUBLE),
        ("wide + 1", decimal(38, 0)),
        ("paid - born", DURATION),
        ("paid + 14d", DATE),
        ("paid - 2w", DATE),
        ("seen - seen", DURATION),
        ("seen + 90m", TIMESTAMP),
        ("seen - break_time", TIMESTAMP),
        ("break_time - 5m", DURATION),
    ],
)
def test_an_operand_has_a_type(operand: str, expected: DataType) -> None:
    condition = parsed(f"{operand} = 1")
    assert isinstance(condition, Comparison)
    assert type_of(condition.left, PAY) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((decimal(12, 4), decimal(12, 2)), decimal(14, 4)),
        ((INTEGER, decimal(4, 2)), decimal(21, 2)),
        ((INTEGER, INTEGER), decimal(19, 0)),
        ((decimal(38, 0), decimal(1, 0)), decimal(38, 0)),
        ((decimal(38, 0), decimal(2, 1)), None),
        ((decimal(38, 38), INTEGER), None),
    ],
)
def test_exact_operands_compare_in_one_decimal_or_in_none(
    types: tuple[DataType, ...], expected: DataType | None
) -> None:
    assert common_decimal(types) == expected


def test_a_double_is_no_exact_operand() -> None:
    with pytest.raises(LookupError, match="double is not exact"):
        common_decimal((DOUBLE, INTEGER))


def test_names_are_resolved_from_the_object_type_outwards() -> None:
    assert PAY.resolve(PropertyRef("min_rate", "governed_by")).unit == "AUD/hour"
    assert scope_of("rate").resolve(PropertyRef("hours", "payments")).type == INTEGER
    with pytest.raises(TypeFault, match="rate has no link 'governed_by'; known: payments"):
        scope_of("rate").resolve(PropertyRef("min_rate", "governed_by"))
    with pytest.raises(TypeFault, match=r"shift has no link 'governed_by'$"):
        scope_of("shift").resolve(PropertyRef("min_rate", "governed_by"))
