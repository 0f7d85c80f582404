"""The seams of DuckDB: how it spells the type rules that `compiler/determinacy.py` composes.

Everything here is text that sqlglot parses and the referee certifies. An engine's own cast is
more generous than the type rules (`1_000` is 1000, `0x10` an integer, `2024-02-03 10:00` a date),
so no cast stands here without a pattern before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from string import ascii_lowercase, ascii_uppercase

from catalog.datatypes import DataType, Kind
from catalog.periods import Period
from compiler.dialects.dialect import Dialect
from compiler.names import spelled

_BLANKS = "' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)"
_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_EXPONENT = r"[eE][+-]?[0-9]+"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
_OFFSET = r"(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)"
_DATE = r"(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_PADDING = 999
"""Zeros set on both sides of a mantissa before its point is moved; bounds the exponents that are read."""
_DURATION = r"[+-]?P([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?"


class DuckDBDialect(Dialect):
    """DuckDB 2.0's spelling."""

    name = "duckdb"

    def identifier(self, name: str) -> str:
        return '"' + spelled(name).replace('"', '""') + '"'

    def text(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def physical_type(self, data_type: DataType) -> str:
        match data_type.kind:
            case Kind.TEXT:
                return "VARCHAR"
            case Kind.INTEGER | Kind.DURATION:
                return "BIGINT"
            case Kind.DECIMAL:
                return f"DECIMAL({data_type.precision},{data_type.scale})"
            case Kind.DOUBLE:
                return "DOUBLE"
            case Kind.BOOLEAN:
                return "BOOLEAN"
            case Kind.DATE:
                return "DATE"
            case Kind.TIMESTAMP:
                return "TIMESTAMP"

    def literal(self, value: Decimal | str | bool | date | datetime | timedelta, zone: str) -> str:
        match value:
            case bool():
                return "TRUE" if value else "FALSE"
            case Decimal():
                return f"{value:f}" if value >= 0 else f"({value:f})"
            case str():
                return self.text(value)
            case datetime():
                local = f"TIMESTAMP {self.text(value.isoformat(' '))}"
                return f"(({local} AT TIME ZONE {self.text(zone)}) AT TIME ZONE 'UTC')"
            case date():
                return f"DATE {self.text(value.isoformat())}"
            case timedelta():
                return str((value.days * 86_400 + value.seconds) * 1_000_000)

    def as_text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def trimmed(self, text: str) -> str:
        return f"TRIM({text}, {_BLANKS})"

    def plain_number(self, text: str) -> str:
        """`text` with its exponent, if it is a number that has one, worked into its digits.

        DuckDB reads `1500e-2` as too wide for DECIMAL(5,2): it checks the mantissa before it moves
        the point. So the point is moved here, in text, where nothing is lost.
        """
        mantissa = rf"'^[+-]?([0-9]*)\.?([0-9]*){_EXPONENT}$'"
        whole = f"REGEXP_EXTRACT({text}, {mantissa}, 1)"
        fraction = f"REGEXP_EXTRACT({text}, {mantissa}, 2)"
        zeros = f"REPEAT('0', {_PADDING})"
        padded = f"{zeros} || {whole} || {fraction} || {zeros}"
        shift = f"CAST(REGEXP_EXTRACT({text}, '[eE]([+-]?[0-9]+)$', 1) AS INTEGER)"
        point = f"{_PADDING} + LENGTH({whole}) + {shift}"
        sign = f"CASE WHEN LEFT({text}, 1) = '-' THEN '-' ELSE '' END"
        movable = self._matches(text, rf"{_NUMBER}[eE][+-]?0*[0-9]{{1,3}}")
        zero = self._matches(text, rf"[+-]?(0+\.?0*|\.0+){_EXPONENT}")
        return (
            f"CASE WHEN {text} NOT ILIKE '%e%' THEN {text} WHEN {zero} THEN '0' "
            f"WHEN {movable} THEN {sign} || LEFT({padded}, {point}) || '.' || SUBSTRING({padded}, {point} + 1) "
            f"ELSE {text} END"
        )

    def exact_value(self, data_type: DataType, text: str) -> str:
        whole, scale = data_type.exact_digits or (0, 0)
        digits = f"0*[0-9]{{1,{whole}}}" if whole else "0+"
        fraction = f"[0-9]{{0,{scale}}}0*" if scale else "0*"
        bare_fraction = f"[0-9]{{1,{scale}}}0*" if scale else "0+"
        pattern = rf"[+-]?({digits}(\.{fraction})?|\.{bare_fraction})"
        cast = f"TRY_CAST({text} AS DECIMAL({whole + scale},{scale}))"
        if data_type.kind is Kind.INTEGER:
            cast = f"TRY_CAST({cast} AS BIGINT)"
        return f"CASE WHEN {self._matches(text, pattern)} THEN {cast} END"

    def double_value(self, text: str) -> str:
        value = f"TRY_CAST({text} AS DOUBLE)"
        finite = self.is_finite_double(value)
        return f"CASE WHEN {self.is_number(text)} AND {finite} AND NOT {self.is_lost_as_zero(text)} THEN {value} END"

    def is_lost_as_zero(self, text: str) -> str:
        significant = self._matches(text, "[^eE]*[1-9].*")
        return f"({self.is_number(text)} AND TRY_CAST({text} AS DOUBLE) = 0 AND {significant})"

    def is_number(self, text: str) -> str:
        return self._matches(text, rf"{_NUMBER}({_EXPONENT})?")

    def is_not_finite(self, text: str) -> str:
        return self._matches(text, "(?i)[+-]?(nan|inf|infinity)")

    def date_value(self, text: str) -> str:
        midnight = rf"00:00(:00(\.0+)?)?{_OFFSET}?"
        pattern = rf"{_DATE}([T ]{midnight})?"
        return f"CASE WHEN {self._matches(text, pattern)} THEN TRY_CAST(LEFT({text}, 10) AS DATE) END"

    def timestamp_value(self, text: str, zone: str) -> str:
        exact = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6}0*)?)?"
        local = self._matches(text, rf"{_DATE}([T ]{exact})?")
        placed = self._matches(text, rf"{_DATE}[T ]{exact}{_OFFSET}")
        in_zone = self._placed(f"TRY_CAST({text} AS TIMESTAMP)", zone)
        return (
            f"CASE WHEN {local} THEN {in_zone} "
            f"WHEN {placed} THEN TRY_CAST({text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' END"
        )

    def is_moment(self, text: str) -> str:
        written = self._matches(text, rf"{_DATE}([T ]{_TIME}{_OFFSET}?)?")
        return f"({written} AND TRY_CAST(LEFT({text}, 10) AS DATE) IS NOT NULL)"

    def boolean_value(self, text: str) -> str:
        return f"CASE {text} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"

    def duration_value(self, text: str) -> str:
        parts = [
            f"COALESCE(TRY_CAST(REGEXP_EXTRACT({text}, '{pattern}', 1) AS DECIMAL(38,6)), 0) * {seconds}"
            for pattern, seconds in (
                (r"P([0-9]+)W", 604_800),
                (r"[PW]([0-9]+)D", 86_400),
                (r"T([0-9]+)H", 3_600),
                (r"[TH]([0-9]+)M", 60),
                (r"([0-9]+(\.[0-9]{1,6})?)0*S", 1),
            )
        ]
        sign = f"CASE WHEN LEFT({text}, 1) = '-' THEN -1 ELSE 1 END"
        micros = f"TRY(CAST(({' + '.join(parts)}) * 1000000 * {sign} AS BIGINT))"
        exact = self._matches(text, r"[^.]*(\.[0-9]{1,6}0*S)?")
        return f"CASE WHEN {self.is_duration(text)} AND {exact} THEN {micros} END"

    def interval_value(self, column: str) -> str:
        parts = (
            f"CAST(EXTRACT(DAY FROM {column}) AS BIGINT) * 86400000000",
            f"CAST(EXTRACT(HOUR FROM {column}) AS BIGINT) * 3600000000",
            f"CAST(EXTRACT(MINUTE FROM {column}) AS BIGINT) * 60000000",
            f"CAST(EXTRACT(MICROSECOND FROM {column}) AS BIGINT)",
        )
        months = f"EXTRACT(YEAR FROM {column}) = 0 AND EXTRACT(MONTH FROM {column}) = 0"
        return f"CASE WHEN {months} THEN {self.guarded(' + '.join(parts))} END"

    def is_duration(self, text: str) -> str:
        return f"({self._matches(text, _DURATION)} AND {self._matches(text, '.*[0-9][WDHMS]')})"

    def is_finite_double(self, column: str) -> str:
        return f"(ABS({column}) < CAST('Infinity' AS DOUBLE))"

    def is_finite_date(self, column: str) -> str:
        return f"({self.as_text(column)} NOT IN ('infinity', '-infinity'))"

    def quick_value(self, data_type: DataType, text: str, zone: str) -> tuple[str, str] | None:
        """Text that the value itself is written as needs no pattern: the engine wrote it, and writes nothing odd.

        `25.1` begins `25.1000`, which DECIMAL(12,4) writes; `1_0`, `1e1`, `+1` and `1.00005` begin no such text.
        A double has no such text, but of what DuckDB reads as a finite double the type rule refuses only
        underscores, two signs (`+-1`; `+` sorts before `-`), and what was lost as zero.
        """
        value = f"TRY_CAST({text} AS {self.physical_type(data_type)})"
        written = self.as_text(value)
        match data_type.kind:
            case Kind.DECIMAL:
                return f"STARTS_WITH({written}, {text})", value
            case Kind.INTEGER:
                return f"{written} = {text}", value
            case Kind.DOUBLE:
                within = f"ABS({value}) < CAST('Infinity' AS DOUBLE)"
                plain = f"{text} >= '-' AND NOT {self.contains(text, self.text('_'))}"
                return f"{within} AND ({value} <> 0 OR {text} = '0') AND {plain}", value
            case Kind.DATE:
                return f"{written} = {text} AND {value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'", value
            case Kind.TIMESTAMP:
                years = "BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
                return f"{written} = {text} AND {value} {years}", self._placed(value, zone)
            case Kind.BOOLEAN:
                return f"{text} IN ('true', 'false')", self.boolean_value(text)
            case Kind.TEXT:
                # All blanks sort before the first sign that is not one.
                return f"{text} >= '!'", text
            case Kind.DURATION:
                return None

    def is_hopeless(self, data_type: DataType, text: str) -> str | None:
        if data_type.is_number or data_type.kind in (Kind.DATE, Kind.TIMESTAMP):
            # Letters sort behind digits, signs, the point and all blanks, so no value begins with one.
            return f"{text} >= ':'"
        return None

    def any_of(self, test: str) -> str:
        return f"BOOL_OR({test})"

    def count_if(self, test: str) -> str:
        # A FILTER would slice the columns of all aggregates for each of them; of no row COUNT_IF is NULL.
        return f"COALESCE(COUNT_IF({test}), 0)"

    def distinct_values(self, value: str) -> str:
        return f"ARRAY_AGG(DISTINCT {value}) FILTER (WHERE {value} IS NOT NULL)"

    def is_listed(self, values: str, value: str) -> str:
        return f"ARRAY_CONTAINS({values}, {value})"

    def records(self, fields: Sequence[tuple[str, str]]) -> str:
        record = ", ".join(f"{self.identifier(name)} := {expression}" for expression, name in fields)
        return f"ARRAY_AGG(STRUCT_PACK({record}))"

    def unnested(self, values: str) -> str:
        return f"UNNEST({values})"

    def field(self, record: str, name: str) -> str:
        return f"STRUCT_EXTRACT({record}, {self.text(name)})"

    def end_of_time(self, data_type: DataType, *, negative: bool = False) -> str:
        return f"CAST('{'-' if negative else ''}infinity' AS {self.physical_type(data_type)})"

    def to_double(self, expression: str, data_type: DataType) -> str:
        """The nearest double of an exact number.

        DuckDB divides a decimal's digits by a power of ten, which rounds twice beyond 2**53; its
        reading of text rounds once.
        """
        if data_type.kind is Kind.DOUBLE:
            return expression
        if data_type.kind is Kind.INTEGER:
            return f"CAST({expression} AS DOUBLE)"
        return f"CAST(CAST({expression} AS VARCHAR) AS DOUBLE)"

    def twelve_digits(self, double: str) -> str:
        return f"CAST(FORMAT('{{:.11e}}', {double}) AS DOUBLE)"

    def finite(self, double: str) -> str:
        # NaN is above all numbers here. DuckDB writes a NULLIF out, so two in one another would name this four times.
        return f"CASE WHEN ABS({double}) < CAST('Infinity' AS DOUBLE) THEN {double} END"

    def decimal_text(self, value: str, data_type: DataType, least: int) -> str:
        text, scale = self.as_text(value), data_type.scale or 0
        if least >= scale:
            return text
        spare = scale - least
        kept = f"LEFT({text}, LENGTH({text}) - {spare}) || RTRIM(RIGHT({text}, {spare}), '0')"
        return kept if least else f"RTRIM({kept}, '.')"

    def instant_text(self, value: str) -> str:
        return f"REPLACE({self.as_text(value)}, ' ', 'T') || 'Z'"

    def guarded(self, expression: str) -> str:
        return f"TRY({expression})"

    def days_between(self, later: str, earlier: str) -> str:
        return f"DATE_DIFF('day', {earlier}, {later}) * 86400000000"

    def microseconds_between(self, later: str, earlier: str) -> str:
        return f"DATE_DIFF('microsecond', {earlier}, {later})"

    def moved_instant(self, instant: str, operator: str, micros: str) -> str:
        # An interval is made from 32-bit counts, so days, seconds and microseconds move one by one.
        parts = (
            f"({micros}) // 86400000000 * INTERVAL '1' DAY",
            f"({micros}) % 86400000000 // 1000000 * INTERVAL '1' SECOND",
            f"({micros}) % 1000000 * INTERVAL '1' MICROSECOND",
        )
        moved = f"{instant} {operator} ({' + '.join(parts)})"
        within = f"({moved}) BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
        return self.guarded(f"CASE WHEN {within} THEN {moved} END")

    def moved_date(self, day: str, operator: str, micros: str) -> str:
        moved = f"{day} {operator} CAST({micros} // 86400000000 AS INTEGER)"
        within = f"({moved}) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        return self.guarded(f"CASE WHEN {within} THEN {moved} END")

    def ascii_lower(self, text: str) -> str:
        # LOWER changes letters of every script, and not as other engines do.
        return f"TRANSLATE({text}, '{ascii_uppercase}', '{ascii_lowercase}')"

    def ascii_upper(self, text: str) -> str:
        return f"TRANSLATE({text}, '{ascii_lowercase}', '{ascii_uppercase}')"

    def code_points(self, text: str) -> str:
        return f"LENGTH({text})"

    def starts_with(self, text: str, other: str) -> str:
        return f"STARTS_WITH({text}, {other})"

    def ends_with(self, text: str, other: str) -> str:
        return f"ENDS_WITH({text}, {other})"

    def contains(self, text: str, other: str) -> str:
        return f"CONTAINS({text}, {other})"

    def instant(self, at: datetime) -> str:
        return f"TIMESTAMP {self.text(at.replace(tzinfo=None).isoformat(' '))}"

    def wall_time(self, instant: str, zone: str) -> str:
        local = f"(({instant}) AT TIME ZONE 'UTC') AT TIME ZONE {self.text(zone)}"
        within = f"({local}) BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
        return f"CASE WHEN {within} THEN {local} END"

    def date_part(self, part: str, moment: str) -> str:
        return f"EXTRACT({part} FROM {moment})"

    def joined_causes(self, cause: str) -> str:
        return f"STRING_AGG(DISTINCT {cause}, ',' ORDER BY {cause})"

    def _placed(self, local: str, zone: str) -> str:
        return f"({local} AT TIME ZONE {self.text(zone)}) AT TIME ZONE 'UTC'"

    def compensated_sum(self, double: str) -> str:
        return f"FSUM({double})"

    def unscaled(self, value: str, data_type: DataType) -> str:
        text = self.as_text(f"CAST({value} AS DECIMAL(38,{data_type.scale or 0}))")
        return f"CAST(REPLACE({text}, '.', '') AS HUGEINT)"

    def scaled(self, digits: str, data_type: DataType) -> str:
        whole = f"CAST({digits} AS DECIMAL(38,0))"
        return f"{whole} * 0.{'1'.rjust(data_type.scale, '0')}" if data_type.scale else whole

    def lower_middle(self, value: str) -> str:
        return f"QUANTILE_DISC({value}, 0.5)"

    def period_start(self, period: Period, day: str) -> str:
        return day if period is Period.DAY else f"CAST(DATE_TRUNC('{period}', {day}) AS DATE)"

    def period_moved(self, period: Period, first: str, by: int) -> str:
        # DuckDB knows no interval of quarters.
        count, unit = (3 * by, Period.MONTH) if period is Period.QUARTER else (by, period)
        return f"CAST({first} + INTERVAL '{count}' {unit.upper()} AS DATE)"

    def period_label(self, period: Period, first: str) -> str:
        year = f"LEFT({self.as_text(first)}, 4)"
        match period:
            case Period.YEAR:
                return year
            case Period.QUARTER:
                return f"{year} || '-Q' || {self.as_text(f'EXTRACT(QUARTER FROM {first})')}"
            case Period.MONTH:
                return f"LEFT({self.as_text(first)}, 7)"
            case Period.WEEK:
                # A week belongs to the year of its Thursday.
                thursday = f"CAST({first} + INTERVAL '3' DAY AS DATE)"
                number = self.as_text(f"(EXTRACT(DOY FROM {thursday}) - 1) // 7 + 1")
                return f"LEFT({self.as_text(thursday)}, 4) || '-W' || RIGHT('0' || {number}, 2)"
            case Period.DAY:
                return self.as_text(first)

    def periods_between(self, period: Period, first: str, last: str) -> str:
        return f"DATE_DIFF('{period}', {first}, {last})"

    def period_series(self, period: Period, first: date, last: date) -> str:
        count, unit = (3, Period.MONTH) if period is Period.QUARTER else (1, period)
        ends = f"DATE '{first.isoformat()}', DATE '{last.isoformat()}'"
        return f"CAST(UNNEST(GENERATE_SERIES({ends}, INTERVAL '{count}' {unit.upper()})) AS DATE)"

    def duration_text(self, micros: str) -> str:
        days = f"'P' || {self.as_text(f'{micros} // 86400000000')} || 'D'"
        seconds = f"CAST({micros} AS DECIMAL(38,0)) * 0.000001"
        plain = f"RTRIM(RTRIM({self.as_text(seconds)}, '0'), '.')"
        return f"CASE WHEN {micros} % 86400000000 = 0 THEN {days} ELSE 'PT' || {plain} || 'S' END"

    @staticmethod
    def _matches(text: str, pattern: str) -> str:
        return f"REGEXP_FULL_MATCH({text}, '{pattern}')"
