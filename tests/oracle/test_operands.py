"""Arithmetic, comparison and Kleene logic, worked out by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.expressions.tree import (
    ArithmeticOperator,
    Comparison,
    ComparisonOperator,
    LinkCount,
    PropertyRef,
    Quantifier,
)
from evals.oracle.evaluation import SLOT
from evals.oracle.kleene import Truth, conjunction, disjunction, negation, quantified
from evals.oracle.operands import Place, calculate, compare, evaluate, failures
from evals.oracle.outcomes import Censored, Determinate, Duration, Indeterminate, Instant, Outcome, Value
from trivet.verdicts import Cause

OVERFLOW, ZERO = Cause.OVERFLOW, Cause.DIVISION_BY_ZERO
DAY = 86_400_000_000
LAST_INSTANT = Instant(253402300799_999999)


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (2**62, "+", 2**62, OVERFLOW),
        (2**62, "+", 2**62 - 1, 2**63 - 1),
        (-(2**62), "*", 2, -(2**63)),
        (2**62, "*", Decimal("2"), Decimal(2**63)),
        (Decimal("0.10"), "+", Decimal("0.2"), Decimal("0.30")),
        (Decimal("9" * 38), "+", Decimal(1), OVERFLOW),
        (Decimal("9" * 28 + ".0000000000"), "*", Decimal("10.0"), OVERFLOW),
        (Decimal("1.0000000000"), "*", Decimal("1.0000000000"), Decimal("1." + "0" * 20)),
        (0.1, "+", 0.2, 0.30000000000000004),
        (0.1, "-", Decimal("0.1"), 0.0),
        (1e308, "*", 10, OVERFLOW),
        (1, "/", 3, 0.333333333333),
        (Decimal("2"), "/", Decimal("3"), 0.666666666667),
        (1e-300, "/", 7.0, 1.42857142857e-301),
        (7, "/", 0, ZERO),
        (0.0, "/", -0.0, ZERO),
        (1e308, "/", 0.1, OVERFLOW),
        (date(2024, 3, 1), "-", date(2024, 2, 28), Duration(2 * DAY)),
        (date(2024, 2, 28), "+", Duration(2 * DAY), date(2024, 3, 1)),
        (date(9999, 12, 31), "+", Duration(DAY), OVERFLOW),
        (date(1, 1, 1), "-", Duration(DAY), OVERFLOW),
        (Instant(5), "-", Instant(8), Duration(-3)),
        (Instant(5), "-", Duration(8), Instant(-3)),
        (LAST_INSTANT, "+", Duration(1), OVERFLOW),
        (Duration(5), "+", Duration(8), Duration(13)),
        (Duration(2**63 - 1), "+", Duration(1), OVERFLOW),
    ],
)
def test_arithmetic_is_exact_or_says_why_it_fails(
    left: Value, operator: str, right: Value, expected: Value | Cause
) -> None:
    outcome = Indeterminate(expected) if isinstance(expected, Cause) else Determinate(expected)
    assert calculate(ArithmeticOperator(operator), left, right) == outcome


def test_decimal_results_keep_the_scale_of_their_type() -> None:
    total = calculate(ArithmeticOperator.ADD, Decimal("0.10"), Decimal("0.2"))
    assert isinstance(total, Determinate)
    assert str(total.value) == "0.30"


def comparison(text: str) -> Comparison:
    tree = parse_condition(text)
    assert not isinstance(tree, SyntaxFault)
    assert isinstance(tree, Comparison)
    return tree


def test_the_smallest_failing_arithmetic_is_named() -> None:
    outcomes: dict[str, Outcome] = {"a": Determinate(1), "b": Determinate(0), "c": Indeterminate(Cause.NULL)}

    def lookup(ref: PropertyRef | LinkCount) -> Outcome:
        assert isinstance(ref, PropertyRef)
        return outcomes[ref.name]

    place = Place(ZoneInfo("UTC"), SLOT)
    failing = comparison("a / b + a > 3").left
    assert list(failures(failing, lookup, place)) == [("a / b", ZERO)]
    assert evaluate(failing, lookup, place) is None
    without_value = comparison("c / b > 3").left
    assert list(failures(without_value, lookup, place)) == []
    assert evaluate(without_value, lookup, place) is None


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (Decimal("25.10"), "=", Decimal("25.1000"), True),
        (2**53 + 1, ">", 2**53, True),
        (2**53 + 1, "=", float(2**53), True),
        (Decimal("0.1"), "=", 0.1, True),
        (Decimal("0.30"), "=", 0.1 + 0.2, False),
        (0.0, "=", -0.0, True),
        ("a", ">", "B", True),
        ("\uffff", "<", "\U00010000", True),
        ("a", "=", "a ", False),
        (False, "!=", True, True),
        (date(2024, 1, 1), "<=", date(2024, 1, 1), True),
    ],
)
def test_values_compare_in_their_own_type(left: Value, operator: str, right: Value, expected: bool) -> None:
    assert compare(ComparisonOperator(operator), Determinate(left), Determinate(right)) is expected


def bound(side: str, limit: int, non_negative: bool = False) -> Censored:
    return Censored(side, Decimal(limit), non_negative)


def point(value: int) -> Determinate:
    return Determinate(Decimal(value))


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (bound("<", 5), "<", point(5), True),
        (bound("<", 5), "<=", point(4), None),
        (bound("<=", 5), "<", point(5), None),
        (bound("<=", 5), "<=", point(5), True),
        (bound("<", 5), ">", point(5), False),
        (bound("<", 5), ">=", point(5), False),
        (bound("<=", 5), ">=", point(5), None),
        (bound("<", 5), ">", point(4), None),
        (bound("<", 5), "<", point(-100), None),
        (bound("<", 5, non_negative=True), "<", point(0), False),
        (bound("<", 5, non_negative=True), ">=", point(0), True),
        (bound("<", 5, non_negative=True), ">", point(0), None),
        (bound(">", 20), ">", point(20), True),
        (bound(">=", 20), ">", point(20), None),
        (bound(">=", 20), "<", point(20), False),
        (bound(">", 20, non_negative=True), "<", point(0), False),
        (bound("<", 5), "=", point(5), False),
        (bound("<=", 5), "=", point(5), None),
        (bound("<", 5), "!=", point(5), True),
        (bound("<=", 0, non_negative=True), "=", point(0), True),
        (bound("<", 5), "<", bound(">", 5), True),
        (bound("<=", 5), "<", bound(">=", 5), None),
        (bound("<=", 5), "<", bound(">", 5), True),
        (bound("<", 5), "<", bound("<", 9), None),
        (bound("<", 5), "=", bound(">=", 5), False),
        (bound("<", 0, non_negative=True), "<", point(5), None),
        (bound("<", 5), "<", Determinate(5.0), True),
        (Censored("<", Duration(5), True), ">=", Determinate(Duration(0)), True),
        (bound("<", 5), "<", Indeterminate(Cause.NULL), None),
        (point(1), "<", None, None),
    ],
)
def test_a_bound_decides_what_holds_for_its_whole_interval(
    left: Outcome | None, operator: str, right: Outcome | None, expected: Truth
) -> None:
    assert compare(ComparisonOperator(operator), left, right) is expected


T, F, U = True, False, None


@pytest.mark.parametrize(
    ("left", "right", "both", "either"),
    [
        (T, T, T, T),
        (T, F, F, T),
        (T, U, U, T),
        (F, F, F, F),
        (F, U, F, U),
        (U, U, U, U),
    ],
)
def test_and_and_or_are_strong_kleene(left: Truth, right: Truth, both: Truth, either: Truth) -> None:
    for pair in ([left, right], [right, left]):
        assert conjunction(pair) is both
        assert disjunction(pair) is either


def test_not_leaves_the_unknown_unknown() -> None:
    assert [negation(truth) for truth in (T, F, U)] == [F, T, U]


@pytest.mark.parametrize(
    ("truths", "some", "every", "strict_some", "strict_every", "one_some", "one_every"),
    [
        ([], U, U, U, U, U, U),
        ([U], U, U, U, U, U, U),
        ([T], T, T, T, T, T, T),
        ([F], F, F, F, F, F, F),
        ([T, T], T, T, T, T, T, T),
        ([F, F], F, F, F, F, F, F),
        ([T, F], T, F, T, F, U, U),
        ([T, U], T, T, U, U, T, T),
        ([F, U], F, F, U, U, F, F),
        ([T, F, U], T, F, U, U, U, U),
    ],
)
def test_any_and_all_are_decided_by_the_determinate_rows(
    truths: list[Truth],
    some: Truth,
    every: Truth,
    strict_some: Truth,
    strict_every: Truth,
    one_some: Truth,
    one_every: Truth,
) -> None:
    for quantifier, plain, strict, one in (
        (Quantifier.ANY, some, strict_some, one_some),
        (Quantifier.ALL, every, strict_every, one_every),
    ):
        assert quantified(quantifier, truths, to_one=False, strict=False) is plain
        assert quantified(quantifier, truths, to_one=False, strict=True) is strict
        assert quantified(quantifier, truths, to_one=True, strict=False) is one
