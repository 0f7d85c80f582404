"""The type rule for text: the one definition of what a text is as a value of each declared type."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from catalog.datatypes import DataType, Kind
from evals.oracle.outcomes import Determinate, Duration, Indeterminate, Instant
from trivet.verdicts import Cause

ASCII_BLANKS = " \t\n\v\f\r"
LEAST_INTEGER, GREATEST_INTEGER = -(2**63), 2**63 - 1

_NUMBER = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_DURATION = re.compile(
    r"([+-]?)P(?=[0-9T])(?:([0-9]+)W)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\.([0-9]+))?S)?)?"
)
_EPOCH = date(1970, 1, 1).toordinal()
_ENDLESS = 10**12
"""Stands for every exponent beyond it: no declared type reaches a trillionth of that."""

Reading = Determinate | Indeterminate


def trim(text: str) -> str:
    """The text without ASCII blanks around it; other blanks are part of a text."""
    return text.strip(ASCII_BLANKS)


def read_text(text: str, data_type: DataType, zone: ZoneInfo) -> Reading:
    """What a text that is neither blank nor a missing mark is, as a value of `data_type`."""
    trimmed = trim(text)
    match data_type.kind:
        case Kind.TEXT:
            return Determinate(text)
        case Kind.BOOLEAN:
            return Determinate(trimmed == "true") if trimmed in ("true", "false") else _not_castable()
        case Kind.DURATION:
            return _read_duration(trimmed)
        case Kind.DATE | Kind.TIMESTAMP | Kind.INTEGER | Kind.DECIMAL | Kind.DOUBLE:
            if _NOT_FINITE.fullmatch(trimmed):
                return Indeterminate(Cause.NOT_FINITE)
    match data_type.kind:
        case Kind.DATE:
            return _read_date(trimmed)
        case Kind.TIMESTAMP:
            return _read_timestamp(trimmed, zone)
        case Kind.INTEGER:
            return _read_integer(trimmed)
        case Kind.DECIMAL:
            return _read_decimal(trimmed, data_type)
    return _read_double(trimmed)


def _not_castable() -> Indeterminate:
    return Indeterminate(Cause.NOT_CASTABLE)


def _out_of_range() -> Indeterminate:
    return Indeterminate(Cause.OUT_OF_RANGE)


@dataclass(frozen=True, slots=True)
class _Exact:
    """A number exactly as written: `digits` times ten to `exponent`. No outer zeros, so none for zero."""

    negative: bool
    digits: str
    exponent: int

    @property
    def digits_before_point(self) -> int:
        return max(0, len(self.digits) + self.exponent) if self.digits else 0

    @property
    def digits_after_point(self) -> int:
        return max(0, -self.exponent) if self.digits else 0

    def at_scale(self, scale: int) -> Decimal:
        """The number as a decimal with exactly `scale` digits after the point, which must suffice."""
        unscaled = int(self.digits or "0") * 10 ** (scale + self.exponent if self.digits else 0)
        sign = 1 if self.negative and unscaled else 0
        return Decimal((sign, tuple(int(digit) for digit in str(unscaled)), -scale))


def _exact(text: str) -> _Exact | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, mantissa, exponent_text = match.groups()
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    exponent = _bounded(exponent_text or "0") - len(fraction) + len(digits) - len(significant)
    return _Exact(sign == "-", significant, exponent)


def _bounded(exponent_text: str) -> int:
    digits = exponent_text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) <= 12 else _ENDLESS
    return -size if exponent_text.startswith("-") else size


def _read_integer(text: str) -> Reading:
    exact = _exact(text)
    if exact is None:
        return _not_castable()
    if exact.digits_after_point or exact.digits_before_point > 19:
        return _out_of_range()
    value = int(exact.at_scale(0))
    return Determinate(value) if LEAST_INTEGER <= value <= GREATEST_INTEGER else _out_of_range()


def _read_decimal(text: str, data_type: DataType) -> Reading:
    precision, scale = data_type.precision, data_type.scale
    assert precision is not None
    assert scale is not None
    exact = _exact(text)
    if exact is None:
        return _not_castable()
    if exact.digits_after_point > scale or exact.digits_before_point > precision - scale:
        return _out_of_range()
    return Determinate(exact.at_scale(scale))


def _read_double(text: str) -> Reading:
    exact = _exact(text)
    if exact is None:
        return _not_castable()
    value = float(text)
    if math.isinf(value):
        return Indeterminate(Cause.NOT_FINITE)
    return _out_of_range() if exact.digits and value == 0 else Determinate(value)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A date and a wall-clock time, as written."""

    day: date
    seconds: int
    """Since midnight."""
    fraction: str
    """Digits behind the point of the seconds."""
    offset: str | None


def _moment(text: str) -> _Moment | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    hours, minutes, seconds = (int(part or "0") for part in (hour, minute, second))
    if hours > 23 or minutes > 59 or seconds > 59 or (offset and not _is_offset(offset)):
        return None
    try:
        written = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return _Moment(written, hours * 3600 + minutes * 60 + seconds, fraction or "", offset)


def _is_offset(offset: str) -> bool:
    digits = offset.lstrip("Z+-").replace(":", "")
    return int(digits[:2] or "0") <= 23 and int(digits[2:] or "0") <= 59


def _read_date(text: str) -> Reading:
    moment = _moment(text)
    if moment is None:
        return _not_castable()
    return _out_of_range() if moment.seconds or moment.fraction.strip("0") else Determinate(moment.day)


def _read_timestamp(text: str, zone: ZoneInfo) -> Reading:
    moment = _moment(text)
    if moment is None:
        return _not_castable()
    if moment.fraction[6:].strip("0"):
        return _out_of_range()
    wall = datetime.combine(moment.day, datetime.min.time()) + timedelta(seconds=moment.seconds)
    offset = zone_offset(wall, zone) if moment.offset is None else _written_offset(moment.offset)
    return Determinate(at_offset(wall.replace(microsecond=int(moment.fraction[:6].ljust(6, "0"))), offset))


def _written_offset(offset: str) -> int:
    digits = offset.lstrip("Z+-").replace(":", "")
    seconds = int(digits[:2] or "0") * 3600 + int(digits[2:] or "0") * 60
    return -seconds if offset.startswith("-") else seconds


def zone_offset(wall: datetime, zone: ZoneInfo) -> int:
    """Seconds east of UTC. A repeated hour is its later one, a skipped hour reads as before the change."""
    offsets = [wall.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1)]
    return min(offsets) // timedelta(seconds=1)


def at_offset(wall: datetime, offset: int) -> Instant:
    """The instant at which clocks `offset` seconds east of UTC show `wall`."""
    seconds = (wall.toordinal() - _EPOCH) * 86400 + wall.hour * 3600 + wall.minute * 60 + wall.second - offset
    return Instant(seconds * 1_000_000 + wall.microsecond)


def _read_duration(text: str) -> Reading:
    match = _DURATION.fullmatch(text)
    if match is None:
        return _not_castable()
    sign, weeks, days, hours, minutes, seconds, fraction = match.groups()
    # A text of thousands of digits is no length of time, and `int` refuses to read it.
    if any(len(part or "") > 30 for part in (weeks, days, hours, minutes, seconds)):
        return _out_of_range()
    fraction = fraction or ""
    if fraction[6:].strip("0"):
        return _out_of_range()
    sizes = (604800, 86400, 3600, 60, 1)
    parts = (weeks, days, hours, minutes, seconds)
    whole = sum(int(part or "0") * size for part, size in zip(parts, sizes, strict=True))
    total = whole * 1_000_000 + int(fraction[:6].ljust(6, "0"))
    total = -total if sign == "-" else total
    return Determinate(Duration(total)) if LEAST_INTEGER <= total <= GREATEST_INTEGER else _out_of_range()
