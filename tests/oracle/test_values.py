"""The type rule, cell by cell; numbers in text have their own files (`test_number_cells.py`)."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from catalog.contract import CensoredColumns, Property
from catalog.datatypes import BOOLEAN, DATE, DOUBLE, DURATION, INTEGER, TEXT, TIMESTAMP, DataType, decimal
from evals.oracle.outcomes import Censored, Determinate, Duration, Indeterminate, Instant, Outcome, Value
from evals.oracle.values import read_property
from trivet.verdicts import Cause

NULL, NOT_CASTABLE = Cause.NULL, Cause.NOT_CASTABLE
NOT_FINITE, OUT_OF_RANGE = Cause.NOT_FINITE, Cause.OUT_OF_RANGE
MONEY = decimal(12, 4)
RATE = Property(
    "x",
    MONEY,
    missing=("n/a", "-1"),
    cause="why",
    censored=CensoredColumns("side", "limit"),
    non_negative=True,
)


def read(
    cell: object,
    data_type: DataType,
    physical: str = "VARCHAR",
    missing: tuple[str, ...] = (),
    time_zone: str = "UTC",
) -> Outcome:
    prop = Property("x", data_type, missing=missing)
    return read_property(prop, {"x": cell}, {"x": physical}, ZoneInfo(time_zone))


def read_rate(**cells: object) -> Outcome:
    row = {"x": "25", "why": None, "side": None, "limit": None, **cells}
    return read_property(RATE, row, {}, ZoneInfo("UTC"))


def at(*fields: int) -> Instant:
    since = datetime(*fields, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)  # type: ignore[arg-type, misc]
    return Instant(since // timedelta(microseconds=1))


def as_outcome(expected: Value | Cause) -> Outcome:
    return Indeterminate(expected) if isinstance(expected, Cause) else Determinate(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (None, NULL),
        ("", NULL),
        (" \t\n\v\f\r", NULL),
        ("\u00a0", "\u00a0"),
        (" A ", " A "),
        ("NaN", "NaN"),
        ("n/a", NULL),
        (" n/a\t", NULL),
        ("N/A", "N/A"),
    ],
)
def test_text_is_untrimmed_and_only_ascii_blanks_are_blank(cell: str | None, expected: Value | Cause) -> None:
    assert read(cell, TEXT, missing=("n/a",)) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("true", True),
        (" false ", False),
        ("True", NOT_CASTABLE),
        ("1", NOT_CASTABLE),
        ("yes", NOT_CASTABLE),
        ("nan", NOT_CASTABLE),
        ("", NULL),
    ],
)
def test_booleans_are_true_and_false(cell: str, expected: Value | Cause) -> None:
    assert read(cell, BOOLEAN) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        (" 2024-02-29\n", date(2024, 2, 29)),
        ("2021-07-01T00:00:00+00:00", date(2021, 7, 1)),
        ("2021-07-01 00:00", date(2021, 7, 1)),
        ("2021-07-01T00:00:00.000Z", date(2021, 7, 1)),
        ("2021-07-01T00:00+1000", date(2021, 7, 1)),
        ("2021-07-01T00:00-05", date(2021, 7, 1)),
        ("0001-01-01", date(1, 1, 1)),
        ("9999-12-31", date(9999, 12, 31)),
        ("2024-02-03 10:00", OUT_OF_RANGE),
        ("2024-02-03T00:00:00.0000001", OUT_OF_RANGE),
        ("2023-02-29", NOT_CASTABLE),
        ("2024-02-30", NOT_CASTABLE),
        ("2024-13-01", NOT_CASTABLE),
        ("0000-01-01", NOT_CASTABLE),
        ("2024-2-3", NOT_CASTABLE),
        ("20240203", NOT_CASTABLE),
        ("24-02-03", NOT_CASTABLE),
        ("03/02/2024", NOT_CASTABLE),
        ("2024-02-03Z", NOT_CASTABLE),
        ("2024-02-03  10:00", NOT_CASTABLE),
        ("2024-02-03t00:00", NOT_CASTABLE),
        ("2024-02-03T24:00", NOT_CASTABLE),
        ("2024-02-03T00:60", NOT_CASTABLE),
        ("2024-02-03T00:00:60", NOT_CASTABLE),
        ("2024-02-03T00", NOT_CASTABLE),
        ("2024-02-03T00:00:00.", NOT_CASTABLE),
        ("2024-02-03T00:00:00 Z", NOT_CASTABLE),
        ("2024-02-03T00:00:00+24:00", NOT_CASTABLE),
        ("2024-02-03T00:00:00+10:60", NOT_CASTABLE),
        ("٢٠٢٤-02-03", NOT_CASTABLE),
        ("12024-02-03", NOT_CASTABLE),
        ("infinity", NOT_FINITE),
        ("-Inf", NOT_FINITE),
        ("NaN", NOT_FINITE),
        ("see note 2", NOT_CASTABLE),
    ],
)
def test_dates_are_iso_8601_and_lose_nothing_but_midnight(cell: str, expected: Value | Cause) -> None:
    assert read(cell, DATE) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2021-07-01", at(2021, 7, 1)),
        ("2021-07-01 06:30", at(2021, 7, 1, 6, 30)),
        ("2021-07-01T06:30:15.25Z", at(2021, 7, 1, 6, 30, 15, 250_000)),
        ("2021-07-01T06:30:15.123456000+10:00", at(2021, 6, 30, 20, 30, 15, 123_456)),
        ("2021-07-01T06:30:15-0530", at(2021, 7, 1, 12, 0, 15)),
        ("2021-07-01T06:30:15.1234567", OUT_OF_RANGE),
        ("1969-12-31T23:59:59.999999Z", Instant(-1)),
        ("infinity", NOT_FINITE),
        ("2021-07-01T6:30", NOT_CASTABLE),
        ("", NULL),
    ],
)
def test_timestamps_are_instants(cell: str, expected: Value | Cause) -> None:
    assert read(cell, TIMESTAMP) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2021-07-01 06:30", at(2021, 6, 30, 20, 30)),
        ("2021-12-01 06:30", at(2021, 11, 30, 19, 30)),
        ("2021-07-01T06:30Z", at(2021, 7, 1, 6, 30)),
        ("2021-04-04 02:30", at(2021, 4, 3, 16, 30)),
        ("2021-10-03 02:30", at(2021, 10, 2, 16, 30)),
    ],
)
def test_a_time_without_offset_is_read_in_the_contracts_time_zone(cell: str, expected: Value) -> None:
    assert read(cell, TIMESTAMP, time_zone="Australia/Sydney") == Determinate(expected)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("P1D", Duration(86_400_000_000)),
        ("P2W", Duration(14 * 86_400_000_000)),
        ("-PT1H30M", Duration(-5_400_000_000)),
        ("+P1W1DT1H1M1.5S", Duration((8 * 86400 + 3661) * 1_000_000 + 500_000)),
        ("PT0.000001S", Duration(1)),
        ("PT0.0000010S", Duration(1)),
        ("PT0.0000001S", OUT_OF_RANGE),
        ("P106751992D", OUT_OF_RANGE),
        ("P" + "9" * 5000 + "D", OUT_OF_RANGE),
        ("P", NOT_CASTABLE),
        ("PT", NOT_CASTABLE),
        ("P1DT", NOT_CASTABLE),
        ("P1M", NOT_CASTABLE),
        ("P1Y", NOT_CASTABLE),
        ("P1.5D", NOT_CASTABLE),
        ("PT.5S", NOT_CASTABLE),
        ("PT1S1M", NOT_CASTABLE),
        ("1 day", NOT_CASTABLE),
        ("p1d", NOT_CASTABLE),
        ("inf", NOT_CASTABLE),
        ("", NULL),
    ],
)
def test_durations_are_iso_8601_without_months(cell: str, expected: Value | Cause) -> None:
    assert read(cell, DURATION) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "physical", "data_type", "expected"),
    [
        (None, "DOUBLE", DOUBLE, NULL),
        (1.5, "DOUBLE", DOUBLE, 1.5),
        (math.nan, "DOUBLE", DOUBLE, NOT_FINITE),
        (-math.inf, "DOUBLE", DOUBLE, NOT_FINITE),
        (3, "BIGINT", INTEGER, 3),
        (True, "BOOLEAN", BOOLEAN, True),
        (date(2024, 2, 3), "DATE", DATE, date(2024, 2, 3)),
        ("infinity", "DATE", DATE, NOT_FINITE),
        ("-infinity", "TIMESTAMP", TIMESTAMP, NOT_FINITE),
        (datetime(2024, 2, 3, 4), "TIMESTAMP", TIMESTAMP, at(2024, 2, 3, 4)),
        (datetime(2024, 2, 3, 4, tzinfo=UTC), "TIMESTAMPTZ", TIMESTAMP, at(2024, 2, 3, 4)),
        (timedelta(days=1), "INTERVAL", DURATION, Duration(86_400_000_000)),
        (
            Decimal("9" * 28 + ".0123456789"),
            "DECIMAL(38,10)",
            decimal(38, 10),
            Decimal("9" * 28 + ".0123456789"),
        ),
        (Decimal("25.1000"), "DECIMAL(12,4)", decimal(12, 4), Decimal("25.1000")),
    ],
)
def test_a_column_of_the_declared_type_is_taken_as_it_is(
    cell: object, physical: str, data_type: DataType, expected: Value | Cause
) -> None:
    assert read(cell, data_type, physical) == as_outcome(expected)


@pytest.mark.parametrize(
    ("cell", "physical", "data_type", "expected"),
    [
        (2.0, "DOUBLE", INTEGER, 2),
        (2.5, "DOUBLE", INTEGER, OUT_OF_RANGE),
        (0.1, "DOUBLE", MONEY, Decimal("0.1000")),
        (1e-5, "DOUBLE", MONEY, OUT_OF_RANGE),
        (math.nan, "DOUBLE", MONEY, NOT_FINITE),
        (7, "BIGINT", DOUBLE, 7.0),
        (Decimal("25.100000"), "DECIMAL(18,6)", MONEY, Decimal("25.1000")),
        (Decimal("25.100001"), "DECIMAL(18,6)", MONEY, OUT_OF_RANGE),
        (date(2024, 2, 3), "DATE", TIMESTAMP, at(2024, 2, 3)),
        (datetime(2024, 2, 3), "TIMESTAMP", DATE, date(2024, 2, 3)),
        (datetime(2024, 2, 3, 10), "TIMESTAMP", DATE, OUT_OF_RANGE),
        (datetime(2024, 2, 3, tzinfo=UTC), "TIMESTAMPTZ", DATE, date(2024, 2, 3)),
        (True, "BOOLEAN", TEXT, "true"),
        (7, "BIGINT", TEXT, "7"),
        (7, "BIGINT", BOOLEAN, NOT_CASTABLE),
    ],
)
def test_a_column_of_another_type_is_read_through_its_text(
    cell: object, physical: str, data_type: DataType, expected: Value | Cause
) -> None:
    assert read(cell, data_type, physical) == as_outcome(expected)


def test_a_missing_mark_meets_the_text_of_a_typed_column() -> None:
    assert read(-1, INTEGER, "BIGINT", missing=("-1",)) == Indeterminate(NULL)


def test_a_given_cause_wins_over_a_value() -> None:
    assert read_rate(why=" ocr_unconfirmed ") == Indeterminate(Cause.OCR_UNCONFIRMED)
    assert read_rate(why="null") == Indeterminate(NULL)
    assert read_rate(why=" ") == Determinate(Decimal("25.0000"))


def test_a_given_cause_outside_the_list_leaves_the_cells_own() -> None:
    assert read_rate(why="smudged", x="n/a") == Indeterminate(NULL)
    assert read_rate(why="smudged", side="<", limit="5") == Indeterminate(Cause.CENSORED)
    assert read_rate(why="smudged") == Indeterminate(NOT_CASTABLE)
    assert read_rate(why="NULL") == Indeterminate(NOT_CASTABLE)


def test_a_side_makes_a_bound_of_its_limit() -> None:
    assert read_rate(x=None, side=" <= ", limit="0.05") == Censored("<=", Decimal("0.0500"), non_negative=True)
    assert read_rate(side=">", limit="20") == Censored(">", Decimal("20.0000"), non_negative=True)


def test_a_side_without_a_usable_limit_is_no_bound() -> None:
    assert read_rate(side="<", limit=None) == Indeterminate(NULL)
    assert read_rate(side="<", limit="n/a") == Indeterminate(NULL)
    assert read_rate(side="<", limit="0.00001") == Indeterminate(OUT_OF_RANGE)
    assert read_rate(side="≤", limit="5") == Indeterminate(NOT_CASTABLE)


def test_a_bound_printed_in_the_cell_itself_is_no_number() -> None:
    assert read_rate(x="<0.05") == Indeterminate(NOT_CASTABLE)
