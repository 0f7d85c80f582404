"""Cells as warehouses hold them: ordinary values that often meet, and all that only looks like one.

Each pool lists the ordinary cells first, so that a failing example shrinks to them.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

from catalog.datatypes import Kind

BLANKS: tuple[str | None, ...] = (None, "", " ", "\t\r\n")
_NUMBER_TEXTS = (
    "1,000", "1_000", "NaN", "-inf", "Infinity", "1e400", "1e-400", "1e38", "0e999999", "-0", "2.00005",
    "\u0663", "\uff11\uff12", "\u00a02", "2\u00a0", "\u22122", "\ufeff1", "\u0131nf",
    "$2", "<2", "see note 2", "n/a", "TBC", "-1", "--1", "0x1", "1e", ".", "-",
    "99999999999999.9999", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
)  # fmt: skip
_HUGE = ("9e18", "9" * 28, "9e17", "1e308") * 3
# The last number of each is so large that arithmetic overflows now and then.
ORDINARY: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("a", "b", "A"),
    Kind.INTEGER: ("1", "2", "3", "0", "2.0", "9e18"),
    Kind.DECIMAL: ("1", "2", "2.5", "2.50", "0", "9e17"),
    Kind.DOUBLE: ("1", "2", "2.5", "0.1", "0", "1e308"),
    Kind.BOOLEAN: ("true", "false"),
    Kind.DATE: ("2025-07-01", "2025-07-15", "2024-07-01"),
    Kind.TIMESTAMP: ("2025-07-01", "2025-07-15T06:30:00Z", "2025-07-15 06:30"),
    Kind.DURATION: ("P1D", "PT24H", "P2W"),
}
ODD: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: (
        "a ", " a", "\u00e9", "e\u0301", "O'Brien", 'say "hi"', "n/a", "TBC", "NULL",
        "\u00a0", "\U0001f4a1", "\\", "%",
    ),
    Kind.INTEGER: ("+2", " 2\t", "02", "2.", "20e-1", ".5", "2.5", "1e5", *_NUMBER_TEXTS, *_HUGE),
    Kind.DECIMAL: ("+2", " 2\n", "02.5000", ".5", "25e-1", "2.0000000001", "1e12", *_NUMBER_TEXTS, *_HUGE),
    Kind.DOUBLE: ("+2", " 2\v", "0.30000000000000004", "5e-324", "1e16", *_NUMBER_TEXTS, *_HUGE),
    Kind.BOOLEAN: (" true\t", "True", "1", "yes", "n/a", "f"),
    Kind.DATE: (
        "2025-07-01T00:00:00+00:00", " 2025-07-15 00:00", "2025-07-15T00:00:00.000+10", "2025-07-15 10:00",
        "2025-07-15T00:00:00.0000001", "0001-01-01", "9999-12-31", "0000-01-01", "2024-02-30", "20250701",
        "2025-7-1", "01/07/2025", "2025-07-01Z", "\u0662\u0660\u0662\u0665-07-01", "infinity", "epoch", "n/a",
    ),
    Kind.TIMESTAMP: (
        "2025-07-15T06:30:00.000000Z", "2025-07-15T16:30:00+10:00", "2025-07-15T01:00:00-0530",
        "2025-07-15 06:30:00.5", "2025-07-15T06:30:00.0000001Z", "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z", "2025-07-15T24:00", "2025-07-15T06:30:60", "2025-02-29",
        "2025-04-06 02:30", "2025-10-05 02:30", "-infinity", "now", "n/a",
    ),
    Kind.DURATION: (
        "-P1D", "PT1H30M", "PT0.000001S", "PT0.0000001S", "P106751991D", "P106751992D", "P1M", "P1Y", "PT",
        "1 day", "24:00:00", "n/a",
    ),
}  # fmt: skip
KEYS: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("a", "b"),
    Kind.INTEGER: ("1", "2"),
    Kind.DATE: ("2025-07-01", "2025-07-15"),
}
ODD_KEYS: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("A", "a ", "n/a", "O'Brien", 'say "hi"', "\u00a0a", "e\u0301", "\u00e9"),
    Kind.INTEGER: ("01", "1.0", " 1 ", "+1", "1_0", "10e-1", "1.5", "n/a", "NaN", "\uff19"),
    Kind.DATE: ("2025-07-01T00:00:00Z", "2025-07-01 00:00", "2025-7-1", "infinity", "2025-07-01 10:00"),
}  # fmt: skip
_DAYS, _TIMES = (date(2025, 7, 1), date(2025, 7, 15)), (datetime(2025, 7, 1), datetime(2025, 7, 15, 6, 30))
TYPED: dict[str, tuple[object, ...]] = {
    "BIGINT": (1, 2, 3, 0, None, -1, 2**63 - 1, -(2**63)),
    "INTEGER": (1, 2, 3, 0, None, -1),
    "DOUBLE": (1.0, 2.0, 2.5, None, 0.1, 0.0, -0.0, math.nan, math.inf, 1e300, 5e-324, 1e16, 1e-5),
    "DECIMAL(12,4)": (*(Decimal(text) for text in ("1.0000", "2.0000", "2.5000", "0.0000", "-2.5001")), None),
    "DECIMAL(18,6)": (*(Decimal(text) for text in ("1.000000", "2.500000", "2.500001")), None),
    "BOOLEAN": (True, False, None),
    "DATE": (*_DAYS, date(2024, 7, 1), None, date(9999, 12, 31), "infinity"),
    "TIMESTAMP": (*_TIMES, datetime(2024, 7, 1), None, datetime(2025, 7, 15, 6, 30, 0, 1), "-infinity"),
    "TIMESTAMPTZ": (*(moment.replace(tzinfo=UTC) for moment in _TIMES), None, "infinity"),
    "INTERVAL": (*(timedelta(hours=hours) for hours in (24, 14 * 24)), None, timedelta(microseconds=-1)),
}  # fmt: skip
OTHER_PHYSICAL: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("BIGINT", "DATE", "BOOLEAN"),
    Kind.INTEGER: ("BIGINT", "BIGINT", "INTEGER", "DOUBLE", "DECIMAL(12,4)"),
    Kind.DECIMAL: ("DECIMAL(12,4)", "DECIMAL(12,4)", "DECIMAL(18,6)", "DOUBLE", "BIGINT"),
    Kind.DOUBLE: ("DOUBLE", "DOUBLE", "BIGINT", "DECIMAL(18,6)"),
    Kind.BOOLEAN: ("BOOLEAN", "BOOLEAN", "BIGINT"),
    Kind.DATE: ("DATE", "DATE", "TIMESTAMP"),
    Kind.TIMESTAMP: ("TIMESTAMP", "TIMESTAMPTZ", "DATE"),
    Kind.DURATION: ("INTERVAL",),
}
LIMITS: dict[Kind, tuple[str | None, ...]] = {
    Kind.INTEGER: ("1", "2", "3", None, "two", "n/a"),
    Kind.DECIMAL: ("1", "2", "2.5", None, "<2", "0.00000000001", "n/a", "-1"),
    Kind.DOUBLE: ("1", "2", "2.5", None, "NaN", "-1"),
    Kind.DATE: ("2025-07-01", "2025-07-15", None, "soon"),
    Kind.TIMESTAMP: ("2025-07-01", "2025-07-15T06:30:00Z", None, "soon"),
}
"""Of bounds. Few are below zero, where a value that is not negative has no room, and that is a missing mark too."""

VALUES: dict[Kind, tuple[Decimal | str | bool | date | datetime | timedelta, ...]] = {
    Kind.TEXT: ("a", "b", "A"),
    **dict.fromkeys(
        (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE),
        (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(0), Decimal(-1), Decimal(3)),
    ),
    Kind.BOOLEAN: (True, False),
    Kind.DATE: (date(2025, 7, 1), date(2025, 7, 15), date(2024, 7, 1)),
    Kind.TIMESTAMP: (datetime(2025, 7, 1), datetime(2025, 7, 15, 6, 30), datetime(2024, 7, 1)),
    Kind.DURATION: (timedelta(days=1), timedelta(0), timedelta(days=14)),
}
"""Ordinary values, whatever a column holds them in."""
KEY_VALUES = {
    **VALUES,
    Kind.TEXT: VALUES[Kind.TEXT][:2],
    **dict.fromkeys((Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE), (Decimal(1), Decimal(2))),
    Kind.DATE: VALUES[Kind.DATE][:2],
    Kind.TIMESTAMP: VALUES[Kind.TIMESTAMP][:2],
}
"""Of keys, so few that rows meet often."""

SIDES: tuple[str | None, ...] = (None, "", "<", ">")
ODD_SIDES = ("<=", ">=", " <\t", "\u2264", "n/a")
CAUSES: tuple[str | None, ...] = (None, " ")
ODD_CAUSES = ("ocr_unconfirmed", " unit_mismatch ", "null", "censored", "smudged")
IDENTIFIERS: tuple[str | None, ...] = (
    "E1", "E2", "E3", "E4", "E5", "E6", "O'Brien", 'E"1', "e1", "E1 ", None, "", "\u00c91",
)  # fmt: skip
"""Of a key that should be unique, and is not."""
ODD_STARTS: tuple[str | None, ...] = ("2025-07-10", "2026-07-01", None, "", "TBC", "infinity")
"""Dates from which a row counts, or on which a member is judged."""
OPEN_ENDS: tuple[str | None, ...] = (None, "")
ODD_ENDS = ("2025-07-16", "2099-01-01", "soon", "infinity")

SLOTS = (
    datetime(2025, 7, 15, 6, 30, tzinfo=UTC),
    datetime(2025, 7, 15, 23, 30, 0, 1, tzinfo=timezone(timedelta(hours=10))),
    datetime(2025, 7, 1, tzinfo=UTC),
    datetime(2024, 6, 30, 20, tzinfo=UTC),
)
"""Instants to judge at; some are on another day in UTC than in a contract's time zone."""
