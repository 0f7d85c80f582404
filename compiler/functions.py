"""The functions of one row, in SQL. A result is NULL where an argument is, or where the function fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from catalog.datatypes import DataType, Kind
from catalog.expressions.checking import Scope, type_of
from catalog.expressions.tree import Call, Function
from compiler.dialects.dialect import Dialect

_PARTS = {
    Function.YEAR: "YEAR",
    Function.QUARTER: "QUARTER",
    Function.MONTH: "MONTH",
    Function.DAY: "DAY",
    Function.WEEKDAY: "ISODOW",
}
_MICROSECONDS = {
    Function.DAYS: 86_400_000_000,
    Function.HOURS: 3_600_000_000,
    Function.MINUTES: 60_000_000,
    Function.SECONDS: 1_000_000,
}


@dataclass(frozen=True, slots=True)
class FunctionSql:
    """Writes calls of functions."""

    scope: Scope
    dialect: Dialect
    at: datetime | None

    def can_fail(self, call: Call) -> bool:
        """Whether the result can be missing although the arguments have values."""
        types = [type_of(argument, self.scope) for argument in call.arguments]
        if call.function in _PARTS or call.function is Function.DAY_OF:
            # In UTC an instant of the years 1 to 9999 has a local date in them.
            return types[0].kind is Kind.TIMESTAMP and self._zone != "UTC"
        return call.function is Function.ABS and types[0].kind in (Kind.INTEGER, Kind.DURATION)

    def call(self, call: Call, arguments: Sequence[str]) -> str:
        """A call over arguments that are written already."""
        dialect = self.dialect
        match call.function:
            case Function.LOWER:
                return dialect.ascii_lower(arguments[0])
            case Function.UPPER:
                return dialect.ascii_upper(arguments[0])
            case Function.TRIM:
                return dialect.trimmed(arguments[0])
            case Function.LENGTH:
                return dialect.code_points(arguments[0])
            case Function.STARTS_WITH:
                return dialect.starts_with(arguments[0], arguments[1])
            case Function.ENDS_WITH:
                return dialect.ends_with(arguments[0], arguments[1])
            case Function.CONTAINS:
                return dialect.contains(arguments[0], arguments[1])
            case Function.YEAR | Function.QUARTER | Function.MONTH | Function.DAY | Function.WEEKDAY:
                return dialect.date_part(_PARTS[call.function], self._local(call, arguments[0]))
            case Function.DAY_OF:
                return f"CAST({self._local(call, arguments[0])} AS DATE)"
            case Function.NOW:
                return dialect.instant(self._instant)
            case Function.TODAY:
                return self._today
            case Function.AGE:
                return self._age(call, arguments[0])
            case Function.DAYS | Function.HOURS | Function.MINUTES | Function.SECONDS:
                whole = f"CAST({_MICROSECONDS[call.function]} AS DOUBLE)"
                return dialect.twelve_digits(f"CAST({arguments[0]} AS DOUBLE) / {whole}")
            case Function.ABS:
                return self._absolute(call, arguments[0])

    def _type(self, call: Call) -> DataType:
        return type_of(call.arguments[0], self.scope)

    @property
    def _zone(self) -> str:
        return self.scope.contract.calendar.time_zone

    @property
    def _instant(self) -> datetime:
        if self.at is None:
            raise LookupError("the condition looks at the slot's instant, and none was given")
        return self.at.astimezone(UTC)

    @property
    def _today(self) -> str:
        return self.dialect.literal(self._instant.astimezone(ZoneInfo(self._zone)).date(), self._zone)

    def _local(self, call: Call, moment: str) -> str:
        """A date as it is; of an instant, the time on the wall, NULL outside of the years 1 to 9999."""
        if self._type(call).kind is Kind.DATE or self._zone == "UTC":
            return moment
        return self.dialect.wall_time(moment, self._zone)

    def _age(self, call: Call, moment: str) -> str:
        if self._type(call).kind is Kind.DATE:
            return self.dialect.days_between(self._today, moment)
        return self.dialect.microseconds_between(self.dialect.instant(self._instant), moment)

    def _absolute(self, call: Call, value: str) -> str:
        if self._type(call).kind in (Kind.INTEGER, Kind.DURATION):
            return self.dialect.guarded(f"ABS(CAST({value} AS BIGINT))")
        return f"ABS({value})"
