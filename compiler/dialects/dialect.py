"""The port between the compiler and the engines' ways of spelling SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

from catalog.datatypes import DataType
from catalog.periods import Period


class Dialect(ABC):
    """How one engine spells what the compiler composes.

    Every argument and result is SQL text, but for literals and types. Texts named `text` have no
    ASCII blanks at their ends. A value function gives NULL wherever the type rule gives no value.
    """

    name: str
    """The engine's name, which is also sqlglot's name of the dialect."""

    @abstractmethod
    def identifier(self, name: str) -> str:
        """A column or table name, always quoted."""

    @abstractmethod
    def text(self, value: str) -> str:
        """A text literal."""

    @abstractmethod
    def physical_type(self, data_type: DataType) -> str:
        """The physical type that holds a determinate value of a declared type."""

    @abstractmethod
    def literal(self, value: Decimal | str | bool | date | datetime | timedelta, zone: str) -> str:
        """A literal of the expression language; times are read in `zone` and held in UTC."""

    @abstractmethod
    def as_text(self, expression: str) -> str:
        """The shortest text that reads back as the same value."""

    @abstractmethod
    def trimmed(self, text: str) -> str:
        """`text` without ASCII blanks at either end."""

    @abstractmethod
    def plain_number(self, text: str) -> str:
        """`text` with its exponent, if it is a number that has one, worked into its digits."""

    @abstractmethod
    def exact_value(self, data_type: DataType, text: str) -> str:
        """The value of decimal or integer text, as `plain_number` left it; NULL where it is none."""

    @abstractmethod
    def double_value(self, text: str) -> str:
        """The nearest double of number text, NULL where it is none."""

    @abstractmethod
    def is_lost_as_zero(self, text: str) -> str:
        """Whether number text has a digit that is not zero, and still reads as the double 0."""

    @abstractmethod
    def is_number(self, text: str) -> str:
        """Whether text is written as a number at all."""

    @abstractmethod
    def is_not_finite(self, text: str) -> str:
        """Whether text spells NaN or an infinity."""

    @abstractmethod
    def date_value(self, text: str) -> str:
        """The date that text spells; a time of day must be midnight as written."""

    @abstractmethod
    def timestamp_value(self, text: str, zone: str) -> str:
        """The instant that text spells, in UTC; without an offset it is read in `zone`."""

    @abstractmethod
    def is_moment(self, text: str) -> str:
        """Whether text spells a calendar day that exists, with or without a time of day."""

    @abstractmethod
    def boolean_value(self, text: str) -> str:
        """The truth value that text spells."""

    @abstractmethod
    def duration_value(self, text: str) -> str:
        """The microseconds of an ISO 8601 duration without years and months."""

    @abstractmethod
    def interval_value(self, column: str) -> str:
        """The microseconds of a column of the engine's interval type; months have no fixed length."""

    @abstractmethod
    def is_duration(self, text: str) -> str:
        """Whether text is written as an ISO 8601 duration without years and months."""

    @abstractmethod
    def is_finite_double(self, column: str) -> str:
        """Whether a DOUBLE column holds a number; NaN sorts above infinity here."""

    @abstractmethod
    def is_finite_date(self, column: str) -> str:
        """Whether a DATE or TIMESTAMP column holds a moment."""

    @abstractmethod
    def quick_value(self, data_type: DataType, text: str, zone: str) -> tuple[str, str] | None:
        """A cheap test of text as it stands in the column, and its value where the test holds; None for no such test.

        Where the test holds, the type rule gives the very same value; where it does not, it tells nothing.
        """

    @abstractmethod
    def contains(self, text: str, other: str) -> str:
        """Whether another text stands in a text, by code point."""

    @abstractmethod
    def is_hopeless(self, data_type: DataType, text: str) -> str | None:
        """A cheap test that holds for no text to which the type rule gives a value; None for no such test."""

    @abstractmethod
    def any_of(self, test: str) -> str:
        """Whether a test holds for any row of a group; the test is two-valued."""

    @abstractmethod
    def count_if(self, test: str) -> str:
        """How many rows a test holds for; NULL says the same as false."""

    @abstractmethod
    def distinct_values(self, value: str) -> str:
        """The distinct values of a group as one list, without NULL."""

    @abstractmethod
    def is_listed(self, values: str, value: str) -> str:
        """Whether a list holds a value."""

    @abstractmethod
    def records(self, fields: Sequence[tuple[str, str]]) -> str:
        """One record for each row of a group, as one list; `fields` are expressions and names."""

    @abstractmethod
    def unnested(self, values: str) -> str:
        """A row for each element of a list, in a SELECT list."""

    @abstractmethod
    def field(self, record: str, name: str) -> str:
        """One field of a record."""

    @abstractmethod
    def end_of_time(self, data_type: DataType, *, negative: bool = False) -> str:
        """A moment later than every determinate one; earlier if `negative`."""

    @abstractmethod
    def to_double(self, expression: str, data_type: DataType) -> str:
        """The nearest double of an exact number."""

    @abstractmethod
    def twelve_digits(self, double: str) -> str:
        """A double rounded to 12 significant digits."""

    @abstractmethod
    def guarded(self, expression: str) -> str:
        """`expression`, NULL for the rows in which the engine raises."""

    @abstractmethod
    def days_between(self, later: str, earlier: str) -> str:
        """`later - earlier` of two dates in microseconds."""

    @abstractmethod
    def microseconds_between(self, later: str, earlier: str) -> str:
        """`later - earlier` of two instants in microseconds."""

    @abstractmethod
    def moved_instant(self, instant: str, operator: str, micros: str) -> str:
        """An instant moved by microseconds."""

    @abstractmethod
    def joined_causes(self, cause: str) -> str:
        """The distinct causes of a group as one text, sorted, separated by commas."""

    @abstractmethod
    def moved_date(self, day: str, operator: str, micros: str) -> str:
        """A date moved by microseconds that make whole days."""

    @abstractmethod
    def finite(self, double: str) -> str:
        """Arithmetic over finite doubles, NULL where it left their range."""

    @abstractmethod
    def decimal_text(self, value: str, data_type: DataType, least: int) -> str:
        """A decimal in plain notation, without zeros at its end beyond `least` digits after the point."""

    @abstractmethod
    def instant_text(self, value: str) -> str:
        """An instant in UTC as ISO 8601 with a Z."""

    @abstractmethod
    def ascii_lower(self, text: str) -> str:
        """A text with its ASCII letters in lower case, and nothing else changed."""

    @abstractmethod
    def ascii_upper(self, text: str) -> str:
        """A text with its ASCII letters in upper case, and nothing else changed."""

    @abstractmethod
    def code_points(self, text: str) -> str:
        """How many code points a text has."""

    @abstractmethod
    def starts_with(self, text: str, other: str) -> str:
        """Whether a text begins with another, by code point."""

    @abstractmethod
    def ends_with(self, text: str, other: str) -> str:
        """Whether a text ends with another, by code point."""

    @abstractmethod
    def instant(self, at: datetime) -> str:
        """A literal of an instant in UTC."""

    @abstractmethod
    def wall_time(self, instant: str, zone: str) -> str:
        """What clocks of `zone` show at an instant, NULL outside of the years 1 to 9999."""

    @abstractmethod
    def date_part(self, part: str, moment: str) -> str:
        """YEAR, QUARTER, MONTH, DAY or ISODOW (Monday is 1) of a date or wall time, as an integer."""

    @abstractmethod
    def compensated_sum(self, double: str) -> str:
        """The sum of doubles over a group, with the error of each addition carried along."""

    @abstractmethod
    def unscaled(self, value: str, data_type: DataType) -> str:
        """All digits of a decimal as a whole number of 128 bits."""

    @abstractmethod
    def scaled(self, digits: str, data_type: DataType) -> str:
        """The decimal of 38 digits that has such digits, in the scale of `data_type`."""

    @abstractmethod
    def lower_middle(self, value: str) -> str:
        """The middle value of a group; of an even number of values, the lower one of the middle two."""

    @abstractmethod
    def period_start(self, period: Period, day: str) -> str:
        """The first day of the period that a date lies in."""

    @abstractmethod
    def period_moved(self, period: Period, first: str, by: int) -> str:
        """The first day of the period so many periods after the one that begins on a date."""

    @abstractmethod
    def period_label(self, period: Period, first: str) -> str:
        """`2024`, `2024-Q1`, `2024-03`, `2024-W05` or `2024-03-05`."""

    @abstractmethod
    def periods_between(self, period: Period, first: str, last: str) -> str:
        """How many periods begin after the one of the day `first`, up to the one of the day `last`."""

    @abstractmethod
    def period_series(self, period: Period, first: date, last: date) -> str:
        """A column of the first days of all periods from `first` to `last`, one a row."""

    @abstractmethod
    def duration_text(self, micros: str) -> str:
        """A duration as ISO 8601, in whole days or else in seconds."""
