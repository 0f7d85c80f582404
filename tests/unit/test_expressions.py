"""The condition language: what is read, how it is spelled, what is refused, and that nothing crashes it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from catalog.expressions.printing import print_condition
from catalog.expressions.syntax import (
    KEYWORDS,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_OPERATORS,
    SyntaxFault,
    parse_condition,
)
from catalog.expressions.tree import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Between,
    Comparison,
    ComparisonOperator,
    Condition,
    Literal,
    Membership,
    Not,
    Operand,
    Or,
    Presence,
    PropertyRef,
    Quantifier,
)
from catalog.expressions.walking import atom_links, atoms, condition_references

CASES = Path(__file__).parent.parent / "cases" / "expressions"
LIMIT = f"nested deeper than {MAX_DEPTH} levels or longer than {MAX_OPERATORS} operators; split the monitor"


def cases(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    return loaded


def parsed(text: str) -> Condition:
    condition = parse_condition(text)
    assert not isinstance(condition, SyntaxFault), condition
    return condition


def fault(text: str) -> SyntaxFault:
    found = parse_condition(text)
    assert isinstance(found, SyntaxFault), print_condition(found)
    return found


@pytest.mark.parametrize("case", cases("accepted"), ids=lambda case: repr(case["condition"]))
def test_a_condition_is_read_and_has_one_spelling(case: dict[str, Any]) -> None:
    condition = parsed(case["condition"])
    assert print_condition(condition) == case["prints"]
    assert parsed(case["prints"]) == condition


@pytest.mark.parametrize("case", cases("refused"), ids=lambda case: repr(case["condition"]))
def test_a_text_that_is_no_condition_is_refused_at_its_place(case: dict[str, Any]) -> None:
    found = fault(case["condition"])
    assert (list(found.span), found.message) == (case["at"], case["says"])


def test_no_case_stands_twice() -> None:
    texts = [case["condition"] for name in ("accepted", "refused") for case in cases(name)]
    assert len(texts) == len(set(texts))


RATE = PropertyRef("rate")
FLOOR = PropertyRef("floor", "governed_by")
LESS = ComparisonOperator.LESS


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("rate < governed_by.floor", Comparison(LESS, RATE, FLOOR)),
        ("all(rate < governed_by.floor)", Comparison(LESS, RATE, FLOOR, Quantifier.ALL)),
        ("rate between 1 and 2.50", Between(RATE, Literal(Decimal(1)), Literal(Decimal("2.50")))),
        ("rate not between 1 and 2", Not(Between(RATE, Literal(Decimal(1)), Literal(Decimal(2))))),
        ("rate in (1, governed_by.floor)", Membership(RATE, (Literal(Decimal(1)), FLOOR))),
        ("rate not in (1)", Not(Membership(RATE, (Literal(Decimal(1)),)))),
        ("rate is missing", Presence(RATE, present=False)),
        ("governed_by.floor is present", Presence(FLOOR, present=True)),
        ("rate < -1.5", Comparison(LESS, RATE, Literal(Decimal("-1.5")))),
        ("rate < 'a b'", Comparison(LESS, RATE, Literal("a b"))),
        ("rate = true", Comparison(ComparisonOperator.EQUAL, RATE, Literal(True))),
        ("rate < date(2025, 7, 1)", Comparison(LESS, RATE, Literal(date(2025, 7, 1)))),
        ("rate < timestamp(2025, 7, 1, 6)", Comparison(LESS, RATE, Literal(datetime(2025, 7, 1, 6)))),
        ("rate < 36h", Comparison(LESS, RATE, Literal(timedelta(hours=36)))),
    ],
)
def test_a_text_means_this_tree(text: str, tree: Condition) -> None:
    assert parsed(text) == tree


def test_and_binds_stronger_than_or_and_not_strongest() -> None:
    a, b, c = (Comparison(LESS, PropertyRef(name), Literal(Decimal(1))) for name in "abc")
    assert parsed("a < 1 or not b < 1 and c < 1") == Or((a, And((Not(b), c))))
    assert parsed("a < 1 and b < 1 and c < 1") == And((a, b, c))


def test_arithmetic_of_one_rank_groups_to_the_left() -> None:
    a, b, c = (PropertyRef(name) for name in "abc")
    minus, times = ArithmeticOperator.SUBTRACT, ArithmeticOperator.MULTIPLY
    assert parsed("a - b - c < 1") == Comparison(
        LESS, Arithmetic(minus, Arithmetic(minus, a, b), c), Literal(Decimal(1))
    )
    assert parsed("a - b * c < 1") == Comparison(
        LESS, Arithmetic(minus, a, Arithmetic(times, b, c)), Literal(Decimal(1))
    )


def test_a_literal_keeps_every_digit() -> None:
    digits = "12345678901234567890123456789012345678"
    for text in (digits, f"-{digits}", f"-0.{digits}", f"{digits[:19]}.{digits[19:]}"):
        comparison = parsed(f"a < {text}")
        assert isinstance(comparison, Comparison)
        assert comparison.right == Literal(Decimal(text))
        assert print_condition(comparison) == f"a < {text}"


def test_positions_do_not_count_in_a_comparison_of_trees() -> None:
    assert parsed("a<1   and  b<2") == parsed("a < 1 and b < 2")


def test_each_part_knows_where_it_stands() -> None:
    text = "a < 1 and l.bb between 2 and c"
    first, second = atoms(parsed(text))
    assert isinstance(second, Between)
    assert [text[slice(*part.span)] for part in (first, second, second.value, second.high)] == [
        "a < 1",
        "l.bb between 2 and c",
        "l.bb",
        "c",
    ]


def test_references_and_links_are_listed_once_and_in_order() -> None:
    condition = parsed("l.b + a > m.c and l.b in (a, l.d) or not l is present")
    assert [str(ref) for ref in condition_references(condition)] == ["l.b", "a", "m.c", "l.d", "l"]
    assert [atom_links(atom) for atom in atoms(condition)] == [("l", "m"), ("l",), ()]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("(" * (MAX_DEPTH + 1) + "a < 1" + ")" * (MAX_DEPTH + 1), MAX_DEPTH),
        ("not " * (MAX_OPERATORS + 1) + "a < 1", 4 * MAX_OPERATORS),
        ("not(" * (MAX_DEPTH + 1) + "a < 1" + ")" * (MAX_DEPTH + 1), 4 * MAX_DEPTH + 3),
        ("a" + " + a" * (MAX_OPERATORS + 1) + " < 1", 4 * MAX_OPERATORS + 2),
        ("a < " + "-" * (MAX_OPERATORS + 1) + "1", MAX_OPERATORS + 4),
        (("not " * 20 + "(a = 1 and ") * 10 + "a = 1" + ")" * 10, 455),
    ],
)
def test_what_would_nest_too_deeply_is_refused(text: str, at: int) -> None:
    assert fault(text) == SyntaxFault(LIMIT, (at, at + 1))


@pytest.mark.parametrize(
    "text",
    [
        "(" * MAX_DEPTH + "a < 1" + ")" * MAX_DEPTH,
        "not " * MAX_OPERATORS + "a < 1",
        "a" + " + a" * MAX_OPERATORS + " < 1",
        "a" + " / a" * MAX_OPERATORS + " < 1",
        ("not " * 2 + "(a = 1 and ") * MAX_DEPTH + "a = 1" + ")" * MAX_DEPTH,
        f"a = '{'(' * 1000}' or b = \"{'not ' * 500}\"",
        "a < 1" + " and a < 1" * 390,
        f"a in ({', '.join(['1'] * 1300)})",
    ],
)
def test_what_stays_within_the_bounds_is_read_and_printed(text: str) -> None:
    condition = parsed(text)
    assert parsed(print_condition(condition)) == condition


def test_a_condition_has_a_longest_length() -> None:
    parsed("a < 1".ljust(MAX_LENGTH))
    assert fault("a < 1".ljust(MAX_LENGTH + 1)) == SyntaxFault(
        f"a condition has at most {MAX_LENGTH} characters, this one {MAX_LENGTH + 1}", (0, MAX_LENGTH + 1)
    )


def test_a_message_shows_only_the_start_of_what_is_long() -> None:
    assert fault(f"a {'b' * 500}").message == f"unexpected '{'b' * 60}...'"


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name not in KEYWORDS)
REFERENCES = st.builds(PropertyRef, NAMES, st.none() | NAMES)
NUMBERS = st.builds(
    lambda digits, scale, sign: Decimal(sign * digits).scaleb(-scale) if digits < 10**20 else Decimal(sign * digits),
    st.integers(0, 10**38 - 1),
    st.integers(0, 10),
    st.sampled_from([1, -1]),
)
TEXTS = st.text(st.characters(exclude_characters="\n\"'", exclude_categories=["Cs"]), max_size=8)
LITERALS = st.builds(
    Literal,
    st.one_of(
        NUMBERS,
        TEXTS,
        TEXTS.map(lambda text: f"it's {text}"),
        TEXTS.map(lambda text: f'say "{text}"'),
        st.booleans(),
        st.dates(),
        st.datetimes().map(lambda moment: moment.replace(microsecond=0)),
        st.integers(0, 10**10).map(lambda seconds: timedelta(seconds=seconds)),
    ),
)
OPERANDS: st.SearchStrategy[Operand] = st.recursive(
    REFERENCES | LITERALS,
    lambda inner: st.builds(Arithmetic, st.sampled_from(ArithmeticOperator), inner, inner),
    max_leaves=6,
)
QUANTIFIERS = st.sampled_from(Quantifier)
ATOMS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, st.sampled_from(ComparisonOperator), OPERANDS, OPERANDS, QUANTIFIERS),
    st.builds(Between, OPERANDS, OPERANDS, OPERANDS, QUANTIFIERS),
    st.builds(Membership, OPERANDS, st.lists(OPERANDS, min_size=1, max_size=3).map(tuple), QUANTIFIERS),
    st.builds(Presence, REFERENCES, st.booleans()),
)


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, inner)


CONDITIONS = st.recursive(ATOMS, _combined, max_leaves=6)


@given(CONDITIONS)
def test_any_tree_prints_as_a_text_that_reads_back_as_the_same_tree(condition: Condition) -> None:
    text = print_condition(condition)
    again = parsed(text)
    assert again == condition
    assert print_condition(again) == text


@given(st.text(max_size=60))
@example("a < 1e99999999999999999999")
@example("a < .")
@example("a < '")
@example("a < 1e-9999999")
@example("a > " + "9" * 3000 + "s")
@example("a > date(" + "9" * 3000 + ", 1, 1)")
@example("a > timestamp(" + "9" * 3000 + ", 1, 1)")
@example("a < " + "1_" * 1000)
@example("a < " + "9" * 3990)
def test_no_text_at_all_crashes_the_parser(text: str) -> None:
    found = parse_condition(text)
    if isinstance(found, SyntaxFault):
        start, end = found.span
        assert 0 <= start <= end <= max(len(text), end)
        assert found.message.isprintable()
        assert len(found.message) < 200


WORDS = [
    "a", "l.b", "1", "-1", "2.5", "'x'", "date(2025, 7, 1)", "3d", "true", "<", "=", "!=", "+", "*", "-", "(", ")", ",",
    "and", "or", "not", "between", "in", "is", "missing", "present", "any", "all", "any(", "all(", ".", "'", "null",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_words_in_any_order_are_read_or_refused_with_a_place(text: str) -> None:
    found = parse_condition(text)
    if isinstance(found, SyntaxFault):
        assert 0 <= found.span[0] <= found.span[1] <= len(text)
    else:
        assert parsed(print_condition(found)) == found
