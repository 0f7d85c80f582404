"""From a cell of a warehouse column to what the property turns out to be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from zoneinfo import ZoneInfo

from catalog.contract import CensoredColumns, Property
from catalog.datatypes import DataType, Kind
from evals.oracle.outcomes import Censored, Determinate, Duration, Indeterminate, Instant, Outcome, Value, cause_of
from evals.oracle.texts import at_offset, read_text, trim, zone_offset
from trivet.verdicts import Cause

_EXACT = Context(prec=100)
_SIDES = ("<", "<=", ">", ">=")
_SAME_PHYSICAL = {
    Kind.TEXT: ("VARCHAR",),
    Kind.INTEGER: ("BIGINT",),
    Kind.DOUBLE: ("DOUBLE",),
    Kind.BOOLEAN: ("BOOLEAN",),
    Kind.DATE: ("DATE",),
    Kind.TIMESTAMP: ("TIMESTAMP", "TIMESTAMPTZ"),
    Kind.DURATION: ("INTERVAL",),
}


def read_property(of: Property, row: Mapping[str, object], physical: Mapping[str, str], zone: ZoneInfo) -> Outcome:
    """What a property turns out to be in one row.

    Args:
        of: The property; its companion columns are read too.
        row: Cells by column name.
        physical: DuckDB type text by column name; a column that is not named is VARCHAR.
        zone: The contract's time zone.
    """
    outcome = _without_cause(of, row, physical, zone)
    if of.cause is None or _is_blank(row[of.cause]):
        return outcome
    given = trim(text_of(row[of.cause]))
    if given == Cause.CENSORED and isinstance(outcome, Censored):
        # The view says why there is no value, and the bound says what there is instead.
        return outcome
    if given in set(Cause):
        return Indeterminate(Cause(given))
    return Indeterminate(cause_of(outcome) or Cause.NOT_CASTABLE)


def _without_cause(of: Property, row: Mapping[str, object], physical: Mapping[str, str], zone: ZoneInfo) -> Outcome:
    if of.censored is None or _is_blank(row[of.censored.side]):
        return _read_cell(row[of.name], physical.get(of.name, "VARCHAR"), of, zone)
    return _read_bound(of, of.censored, row, physical, zone)


def _read_bound(
    of: Property,
    columns: CensoredColumns,
    row: Mapping[str, object],
    physical: Mapping[str, str],
    zone: ZoneInfo,
) -> Outcome:
    side = trim(text_of(row[columns.side]))
    if side not in _SIDES:
        return Indeterminate(Cause.NOT_CASTABLE)
    limit = _read_cell(row[columns.limit], physical.get(columns.limit, "VARCHAR"), of, zone)
    if not isinstance(limit, Determinate):
        return limit
    if of.non_negative and _leaves_nothing(side, limit.value):
        return Indeterminate(Cause.OUT_OF_RANGE)
    return Censored(side, limit.value, of.non_negative)


def _leaves_nothing(side: str, limit: Value) -> bool:
    """Whether a bound of what cannot be negative is a bound of nothing."""
    assert isinstance(limit, int | float | Decimal)
    return limit < 0 if side == "<=" else side == "<" and limit <= 0


def _is_blank(cell: object) -> bool:
    return cell is None or not trim(text_of(cell))


def _read_cell(cell: object, physical: str, of: Property, zone: ZoneInfo) -> Determinate | Indeterminate:
    if _is_blank(cell) or trim(text_of(cell)) in of.missing:
        return Indeterminate(Cause.NULL)
    if _is_declared(physical, of.type):
        return _take(cell, of.type, zone)
    return read_text(text_of(cell), of.type, zone)


def _is_declared(physical: str, declared: DataType) -> bool:
    spelled = physical.upper().replace(" ", "")
    if declared.kind is Kind.DECIMAL:
        return spelled == f"DECIMAL({declared.precision},{declared.scale})"
    return spelled in _SAME_PHYSICAL[declared.kind]


def _take(cell: object, declared: DataType, zone: ZoneInfo) -> Determinate | Indeterminate:
    """A cell of the declared physical type, as it is. An infinite date or time is given as text."""
    match cell:
        case str() if declared.kind is not Kind.TEXT:
            return Indeterminate(Cause.NOT_FINITE)
        case float() if not math.isfinite(cell):
            return Indeterminate(Cause.NOT_FINITE)
        case datetime():
            return Determinate(instant(cell, zone))
        case timedelta():
            return Determinate(duration(cell))
        case Decimal():
            return Determinate(cell.quantize(Decimal((0, (1,), -(declared.scale or 0))), context=_EXACT))
        case str() | bool() | int() | float() | date():
            return Determinate(cell)
    raise TypeError(f"no warehouse column holds {cell!r}")


def instant(moment: datetime, zone: ZoneInfo) -> Instant:
    """The instant of a `datetime`, read in `zone` where it has no offset."""
    if moment.tzinfo is None:
        return at_offset(moment, zone_offset(moment, zone))
    return at_offset(moment.astimezone(UTC), 0)


def duration(length: timedelta) -> Duration:
    """A `timedelta` in whole microseconds."""
    return Duration(length // timedelta(microseconds=1))


def text_of(cell: object) -> str:
    """The shortest text that reads back as the cell, as a warehouse prints it."""
    match cell:
        case str():
            return cell
        case bool():
            return "true" if cell else "false"
        case Decimal():
            return f"{cell:f}"
        case float():
            return repr(cell)
        case datetime() if cell.tzinfo is not None:
            return f"{cell.astimezone(UTC).replace(tzinfo=None).isoformat(' ')}+00"
        case datetime():
            return cell.isoformat(" ")
        case date():
            return cell.isoformat()
        case int() | timedelta():
            return str(cell)
    raise TypeError(f"no warehouse column holds {cell!r}")
