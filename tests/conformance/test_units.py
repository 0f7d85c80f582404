"""Values in two units of one dimension: by hand, by library, and by oracle and compiled queries alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.contract import Calendar, Cardinality, CensoredColumns, Contract, LinkType, ObjectType, Property
from catalog.datatypes import DOUBLE, INTEGER, TEXT, DataType, decimal
from catalog.expressions.checking import Scope, check_condition
from catalog.expressions.syntax import SyntaxFault, parse_condition
from catalog.units import Conversion, NotConverted, convert
from evals.oracle.evaluation import Table
from evals.oracle.units import FAMILIES, change
from tests.conformance.harness import describe, differences, judge_compiled
from tests.oracle.strategies import World, judge_world


@dataclass(frozen=True, slots=True)
class Side:
    """A property, its unit and its cells."""

    data_type: DataType
    unit: str
    censored: bool = False


def world(near: Side, far: Side, rows: Sequence[tuple[object, ...]], condition: str) -> World:
    """Members with `x` in one unit and `y` in another, linked to themselves as `other`; a row is x, side, limit, y."""
    censored = CensoredColumns("x_side", "x_limit") if near.censored else None
    item = ObjectType(
        "reading",
        "ontology.reading",
        ("id",),
        (
            Property("id", TEXT),
            Property("x", near.data_type, unit=near.unit, censored=censored, non_negative=near.censored),
            Property("y", far.data_type, unit=far.unit),
        ),
    )
    link = LinkType("other", "reading", ("id",), "reading", ("id",), Cardinality.ONE_TO_ONE)
    contract = Contract("units", "1.0.0", "draft", "0" * 64, (item,), (link,), calendar=Calendar())
    tree = parse_condition(condition)
    assert not isinstance(tree, SyntaxFault)
    assert check_condition(tree, Scope(contract, item)) == ()
    names = ["id", "x", "y", *(["x_side", "x_limit"] if censored else [])]
    cells = [
        {"id": f"R{i}", "x": x, "x_side": side, "x_limit": limit, "y": y} for i, (x, side, limit, y) in enumerate(rows)
    ]
    table = Table(dict.fromkeys(names, "VARCHAR"), [{name: row[name] for name in names} for row in cells])
    return World(contract, "reading", None, tree, False, {item.view: table})


MONEY = decimal(12, 4)


@pytest.mark.parametrize(
    ("near", "far", "x", "condition", "y", "breaches"),
    [
        (("hour", INTEGER), ("minute", INTEGER), "2", "x = y", "120", True),
        (("minute", INTEGER), ("hour", INTEGER), "121", "x > y", "2", True),
        (("minute", MONEY), ("hour", MONEY), "20.0001", "x > y", "0.3333", True),
        (("minute", MONEY), ("hour", MONEY), "19.998", "x = y", "0.3333", True),
        (("km", MONEY), ("mile", MONEY), "1.6093", "x < y", "1", True),
        (("km", decimal(12, 6)), ("mile", INTEGER), "1.609344", "x = y", "1", True),
        (("degC", MONEY), ("degF", MONEY), "-40", "x = y", "-40", True),
        (("degF", MONEY), ("degC", MONEY), "99.5", "x > y", "37.5", False),
        (("degF", MONEY), ("degC", MONEY), "99.5001", "x > y", "37.5", True),
        (("degC", DOUBLE), ("degF", DOUBLE), "37.5", "x = y", "99.5", True),
        (("percent", DOUBLE), ("ppm", DOUBLE), "0.57", "x = y", "5700", True),
        (("km", DOUBLE), ("cm", DOUBLE), "1e308", "x > y", "1e308", True),
        (("cm", DOUBLE), ("km", DOUBLE), "1e308", "x < y", "1e308", True),
        (("AUD/hour", MONEY), ("AUD/week", MONEY), "25", "x = y", "4200", True),
        (("hour", INTEGER), ("minute", INTEGER), "1", "x + y = 1.5", "30", True),
        (("minute", INTEGER), ("hour", INTEGER), "30", "x + y = 90", "1", True),
        (("hour", INTEGER), ("minute", INTEGER), "1", "y - x > 0", "61", True),
        (("hour", INTEGER), ("minute", INTEGER), "1", "x + y = 1.33333333333", "20", False),
        (("hour", INTEGER), ("minute", INTEGER), "1", "x + y > 1.33333333333", "20", True),
        (("hour", INTEGER), ("minute", INTEGER), "2", "x between 60 and y", "120", False),
        (("hour", INTEGER), ("minute", INTEGER), "2", "x between 1 and y", "120", True),
        (("hour", INTEGER), ("minute", INTEGER), "2", "x in (1, other.y)", "120", True),
        (("km", INTEGER), ("m", INTEGER), "9223372036854775807", "x > y", "9223372036854775807", True),
    ],
)
def test_values_in_two_units_compare_as_worked_out_by_hand(
    near: tuple[str, DataType], far: tuple[str, DataType], x: str, condition: str, y: str, breaches: bool
) -> None:
    of = world(Side(near[1], near[0]), Side(far[1], far[0]), [(x, None, None, y)], condition)
    assert differences(of) == []
    assert judge_world(of).breach == breaches


@pytest.mark.parametrize(
    ("side", "limit", "condition", "y", "verdict"),
    [
        ("<", "2", "x < y", "120", "breach"),
        ("<", "2", "x < y", "119", "no_data"),
        ("<=", "2", "x <= y", "120", "breach"),
        (">", "2", "x < y", "120", "compliant"),
        ("<", "2", "x >= y", "0", "breach"),
        (">=", "2", "x = y", "119", "compliant"),
    ],
)
def test_both_ends_of_a_bound_are_converted(side: str, limit: str, condition: str, y: str, verdict: str) -> None:
    of = world(Side(MONEY, "hour", censored=True), Side(INTEGER, "minute"), [(None, side, limit, y)], condition)
    assert differences(of) == []
    assert judge_world(of).members[0].verdict == verdict


def test_a_sum_beyond_the_doubles_is_an_overflow_under_its_text() -> None:
    of = world(Side(DOUBLE, "cm"), Side(DOUBLE, "km"), [("1", None, None, "1e305")], "x + y > 1")
    assert differences(of) == []
    (member,) = judge_compiled(of).undecided
    assert member.causes == {"x + y": ("overflow",)}


_TYPES = (INTEGER, MONEY, decimal(18, 6), DOUBLE)
_VALUES = tuple(Fraction(text) for text in ("0", "1", "2.5", "60", "-40", "0.1", "37.5", "1000", "0.57", "168", "1/3"))
_CONDITIONS = ("x {} y", "y {} x", "x {} other.y", "x + y {} 3", "y - x {} x", "abs(x) {} y", "2 * x {} y")


@st.composite
def _worlds(draw: st.DrawFn) -> World:
    """Values of which many are equal, or nearly so, in the other unit."""
    family = draw(st.sampled_from([family for family in FAMILIES if len(family) > 1]))
    near, far = draw(st.permutations(family))[:2]
    censored = draw(st.booleans())
    sides = Side(draw(st.sampled_from(_TYPES)), near, censored), Side(draw(st.sampled_from(_TYPES)), far)
    rows = []
    changed = change(near, far)
    assert changed is not None
    for value in draw(st.lists(st.sampled_from(_VALUES), min_size=1, max_size=8)):
        nudge = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10**6), Fraction(-1)]))
        cells = (_text(value), _text(value * changed.factor + changed.offset + nudge))
        side = draw(st.sampled_from([None, None, "<", ">="])) if censored else None
        rows.append((cells[0], side, cells[0], cells[1]))
    shapes = _CONDITIONS[:3] if changed.offset else _CONDITIONS
    operator = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
    return world(*sides, rows, draw(st.sampled_from(shapes)).format(operator))


def _text(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"


@settings(max_examples=40)
@given(_worlds())
def test_oracle_and_compiled_queries_agree_in_two_units(of: World) -> None:
    assert differences(of) == [], describe(of)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_library_and_the_oracle_know_the_same_units(family: tuple[str, ...]) -> None:
    for of in family:
        for to in family:
            changed = change(of, to)
            expected = Conversion(Fraction(1)) if changed is None else Conversion(changed.factor, changed.offset)
            assert convert(of, to) == expected
            if changed is not None:
                assert expected.is_terminating == changed.is_decimal


_UNKNOWN = "'{}' is no unit that can be converted, and is compared only with itself"


@pytest.mark.parametrize(
    ("of", "to", "reason"),
    [
        ("AUD", "USD", "currencies are never converted"),
        ("AUD/hour", "USD/hour", "currencies are never converted"),
        ("AUD/hour", "hour", "they are of different dimensions"),
        ("percent", "degree", "they are of different dimensions"),
        ("rpm", "Hz", "they are of different dimensions"),
        ("hour/week", "percent", "they are of different dimensions"),
        ("dB", "percent", "they are not proportional to each other"),
        ("NTU", "percent", _UNKNOWN.format("NTU")),
        ("mg/L as N", "mg/L", _UNKNOWN.format("mg/L as N")),
        ("100 mL", "mL", _UNKNOWN.format("100 mL")),
        (
            "__import__('os')",
            "m",
            _UNKNOWN.format("__import__('os')"),
        ),
        ("m" * 101, "m", _UNKNOWN.format("m" * 101)),
    ],
)
def test_what_is_not_converted_is_told_why(of: str, to: str, reason: str) -> None:
    assert convert(of, to) == NotConverted(reason)


@pytest.mark.parametrize(
    ("of", "to", "factor"),
    [
        ("m^3/s", "L/s", 1000),
        ("mg/L", "g/m^3", 1),
        ("kAUD", "AUD", 1000),
        ("J", "N*m", 1),
        ("°C", "degC", 1),
        ("%", "percent", 1),
    ],
)
def test_units_are_read_as_people_write_them(of: str, to: str, factor: int) -> None:
    assert convert(of, to) == Conversion(Fraction(factor))
