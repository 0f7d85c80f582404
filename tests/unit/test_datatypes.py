"""The closed list of types: how each is spelled, and what each can hold exactly."""

from __future__ import annotations

import pytest

from catalog.datatypes import DOUBLE, INTEGER, TEXT, TYPE_NAMES, DataType, Kind, decimal, parse_type


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_spelling_that_reads_back(kind: Kind) -> None:
    data_type = decimal(12, 4) if kind is Kind.DECIMAL else DataType(kind)
    assert parse_type(str(data_type)) == data_type
    assert any(name.startswith(kind) for name in TYPE_NAMES)


@pytest.mark.parametrize("text", ["decimal(12,4)", "decimal(12, 4)", "decimal( 12 ,4 )"])
def test_blanks_inside_the_brackets_of_a_decimal_do_not_count(text: str) -> None:
    assert parse_type(text) == decimal(12, 4)
    assert str(decimal(12, 4)) == "decimal(12,4)"


@pytest.mark.parametrize(
    "text",
    [
        "", "Text", "TEXT", " text", "int", "varchar", "decimal", "decimal()", "decimal(12)", "decimal(12.4)",
        "decimal(0,0)", "decimal(39,0)", "decimal(4,5)", "decimal(-1,0)", "decimal(\u0664,2)", "decimal (4,2)",
        "decimal(4,2)x", "decimal(4,\n2)", "decimal(004,2)",
    ],
)  # fmt: skip
def test_anything_else_is_no_type(text: str) -> None:
    assert parse_type(text) is None


@pytest.mark.parametrize(("precision", "scale"), [(0, 0), (39, 0), (4, 5), (4, -1)])
def test_a_decimal_that_no_engine_holds_cannot_be_made(precision: int, scale: int) -> None:
    with pytest.raises(ValueError, match="is not a type"):
        decimal(precision, scale)


def test_digits_before_and_after_the_point_are_known_of_exact_types_only() -> None:
    assert decimal(12, 4).exact_digits == (8, 4)
    assert decimal(38, 38).exact_digits == (0, 38)
    assert INTEGER.exact_digits == (19, 0)
    assert DOUBLE.exact_digits is None
    assert TEXT.exact_digits is None


def test_numbers_are_integers_decimals_and_doubles() -> None:
    assert {kind for kind in Kind if DataType(kind).is_number} == {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}
