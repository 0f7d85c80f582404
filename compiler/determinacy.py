"""The type rules of `docs/explanation/verdicts.md`, composed in this one place for every engine.

A property passes four stages, each a relation of its own, so that each rule is written once:

1. text    what the column says: its text without blanks at the ends, and the companion columns
2. number  exponents worked into the digits, where the type is an exact number
3. value   the determinate value, NULL where there is none
4. cause   why there is none, and what a person is shown
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.contract import Property
from catalog.datatypes import Kind
from compiler import names
from compiler.dialects.dialect import Dialect
from compiler.pruning import Selection
from trivet.verdicts import Cause

_CAUSES = ", ".join(f"'{cause}'" for cause in sorted(Cause))
_SIDES = "'<', '<=', '>', '>='"


@dataclass(frozen=True, slots=True)
class PropertyRules:
    """The three stages of one property over a view whose physical column types may be known."""

    declared: Property
    physical: Mapping[str, str] | None
    """Physical type of each column of the view; None where no warehouse was looked at."""
    dialect: Dialect
    zone: str
    """Time zone of moments that name none."""

    def text_stage(self, alias: str) -> list[Selection]:
        """What the view's columns say."""
        item = self.declared
        selections = [
            (self._column(alias, item.name), item.name),
            *self._cell_text(alias, item.name, item.name),
        ]
        if item.raw:
            selections.append((self._as_text(alias, item.raw), names.raw(item.name)))
        if item.cause:
            selections.append((self._companion(alias, item.cause), names.told(item.name)))
        if item.censored:
            selections.append((self._companion(alias, item.censored.side), names.side(item.name)))
            selections += self._cell_text(alias, item.censored.limit, names.limit(item.name))
        return selections

    def number_stage(self, alias: str) -> list[Selection]:
        """The text stage again, with numbers whose exponents are worked in."""
        kept = [(self._column(alias, name), name) for _, name in self.text_stage(alias)]
        item = self.declared
        if item.type.exact_digits is None:
            return kept
        cells = [] if self._is_exact else [item.name]
        cells += [names.limit(item.name)] if item.censored else []
        return kept + [
            (self.dialect.plain_number(self._column(alias, names.text(cell))), names.number(cell)) for cell in cells
        ]

    def value_stage(self, alias: str) -> list[Selection]:
        """The determinate value, and for censored properties the bound."""
        item = self.declared
        raw = self._column(alias, names.raw(item.name)) if item.raw else self._unread(alias)
        selections = [
            (self._value(alias), item.name),
            (self._column(alias, names.text(item.name)), names.text(item.name)),
            (raw, names.raw(item.name)),
        ]
        if item.cause:
            selections.append((self._column(alias, names.told(item.name)), names.told(item.name)))
            selections.append((self._rule(alias), names.read(item.name)))
        if item.censored:
            limit = names.limit(item.name)
            selections.append((self._column(alias, names.side(item.name)), names.side(item.name)))
            selections.append((self._limit(alias), limit))
            selections.append((self._column(alias, names.text(limit)), names.text(limit)))
        return selections

    def cause_stage(self, alias: str) -> list[Selection]:
        """Value, cause, what is shown, and for censored properties both ends of the interval."""
        item = self.declared
        value, raw = self._column(alias, item.name), self._column(alias, names.raw(item.name))
        shown = f"COALESCE({self._shown_value(value)}, {raw})"
        selections = [
            (value, item.name),
            (self._cause(alias), names.cause(item.name)),
            (shown, names.shown(item.name)),
        ]
        return selections + self._ends(alias) if item.censored else selections

    def _shown_value(self, value: str) -> str:
        """A determinate value as people read it: exact, without needless zeros."""
        match self.declared.type.kind:
            case Kind.DECIMAL:
                return self.dialect.decimal_text(value, self.declared.type, self.declared.display_scale or 0)
            case Kind.TIMESTAMP:
                return self.dialect.instant_text(value)
            case Kind.DURATION:
                return "NULL"
            case _:
                return self.dialect.as_text(value)

    def _column(self, alias: str, name: str) -> str:
        return f"{alias}.{self.dialect.identifier(name)}"

    def _as_text(self, alias: str, column: str) -> str:
        qualified = self._column(alias, column)
        is_text = self.physical is not None and self.physical.get(column) == "VARCHAR"
        return qualified if is_text else self.dialect.as_text(qualified)

    def _unread(self, alias: str) -> str:
        return self.dialect.as_text(self._column(alias, self.declared.name))

    def _companion(self, alias: str, column: str) -> str:
        return f"COALESCE({self.dialect.trimmed(self._as_text(alias, column))}, '')"

    def _cell_text(self, alias: str, column: str, name: str) -> list[Selection]:
        return [(self.dialect.trimmed(self._as_text(alias, column)), names.text(name))]

    @property
    def _is_exact(self) -> bool:
        """Whether the column already has the declared physical type, so that no text rule is needed."""
        kind = self.declared.type.kind
        if self.physical is None or kind in (Kind.TIMESTAMP, Kind.DURATION):
            return False
        return self.physical.get(self.declared.name) == self.dialect.physical_type(self.declared.type)

    def _value(self, alias: str) -> str:
        item = self.declared
        refused = []
        if item.cause:
            refused.append(f"{self._column(alias, names.told(item.name))} <> ''")
        if item.censored:
            refused.append(f"{self._column(alias, names.side(item.name))} <> ''")
        if item.missing:
            refused.append(self._is_missing_mark(alias, item.name))
        if item.type.kind is Kind.TEXT:
            refused.append(f"{self._column(alias, names.text(item.name))} = ''")
        rule = self._rule(alias)
        return f"CASE WHEN {' OR '.join(refused)} THEN NULL ELSE {rule} END" if refused else rule

    def _rule(self, alias: str) -> str:
        if self._is_interval:
            return self.dialect.interval_value(self._column(alias, self.declared.name))
        return self._typed_rule(alias) if self._is_exact else self._text_rule(alias, self.declared.name)

    @property
    def _is_interval(self) -> bool:
        if self.physical is None or self.declared.type.kind is not Kind.DURATION:
            return False
        return self.physical.get(self.declared.name) == "INTERVAL"

    def _typed_rule(self, alias: str) -> str:
        column = self._column(alias, self.declared.name)
        match self.declared.type.kind:
            case Kind.DOUBLE:
                return f"CASE WHEN {self.dialect.is_finite_double(column)} THEN {column} END"
            case Kind.DATE:
                return f"CASE WHEN {self.dialect.is_finite_date(column)} THEN {column} END"
            case _:
                return column

    def _text_rule(self, alias: str, name: str) -> str:
        text, number = (self._column(alias, part(name)) for part in (names.text, names.number))
        return self._rule_over(text, number, self._unread(alias))

    def _rule_over(self, text: str, number: str, unread: str) -> str:
        match self.declared.type.kind:
            case Kind.TEXT:
                return unread
            case Kind.INTEGER | Kind.DECIMAL:
                return self.dialect.exact_value(self.declared.type, number)
            case Kind.DOUBLE:
                return self.dialect.double_value(text)
            case Kind.BOOLEAN:
                return self.dialect.boolean_value(text)
            case Kind.DATE:
                return self.dialect.date_value(text)
            case Kind.TIMESTAMP:
                return self.dialect.timestamp_value(text, self.zone)
            case Kind.DURATION:
                return self.dialect.duration_value(text)

    def _limit(self, alias: str) -> str:
        limit = names.limit(self.declared.name)
        rule, marked = self._text_rule(alias, limit), self._is_missing_mark(alias, limit)
        return f"CASE WHEN {marked} THEN NULL ELSE {rule} END" if self.declared.missing else rule

    def _is_missing_mark(self, alias: str, name: str) -> str:
        marks = ", ".join(self.dialect.text(mark) for mark in self.declared.missing)
        return f"{self._column(alias, names.text(name))} IN ({marks})"

    def _cause(self, alias: str) -> str:
        item = self.declared
        value = self._column(alias, item.name)
        branches = []
        if item.cause:
            told = self._column(alias, names.told(item.name))
            branches.append(f"WHEN {told} IN ({_CAUSES}) THEN {told}")
        if item.censored:
            side = self._column(alias, names.side(item.name))
            branches.append(f"WHEN {side} <> '' THEN {self._censored_cause(alias)}")
        text = self._column(alias, names.text(item.name))
        branches.append(f"WHEN {self._is_absent(alias, item.name)} THEN '{Cause.NULL}'")
        if item.cause:
            # The view tells a cause that is none of ours: the value is refused all the same.
            branches.append(
                f"WHEN {self._column(alias, names.read(item.name))} IS NOT NULL AND {value} IS NULL "
                f"THEN '{Cause.NOT_CASTABLE}'"
            )
        why = f"'{Cause.OUT_OF_RANGE}'" if self._is_interval else self._why_no_value(text)
        branches.append(f"WHEN {value} IS NULL THEN {why}")
        return f"CASE {' '.join(branches)} END"

    def _is_absent(self, alias: str, name: str) -> str:
        text = self._column(alias, names.text(name))
        marks = f" OR {self._is_missing_mark(alias, name)}" if self.declared.missing else ""
        return f"{text} IS NULL OR {text} = ''{marks}"

    def _why_no_value(self, text: str) -> str:
        """The cause for text that is neither blank nor a missing mark."""
        dialect = self.dialect
        not_finite = f"WHEN {dialect.is_not_finite(text)} THEN '{Cause.NOT_FINITE}' "
        too_large = f"WHEN {dialect.is_number(text)} THEN '{Cause.NOT_FINITE}' "
        match self.declared.type.kind:
            case Kind.INTEGER | Kind.DECIMAL:
                branches = f"{not_finite}WHEN {dialect.is_number(text)} THEN '{Cause.OUT_OF_RANGE}' "
            case Kind.DOUBLE:
                silent_zero = f"WHEN {dialect.is_lost_as_zero(text)} THEN '{Cause.OUT_OF_RANGE}' "
                branches = f"{not_finite}{silent_zero}{too_large}"
            case Kind.DATE | Kind.TIMESTAMP:
                branches = f"{not_finite}WHEN {dialect.is_moment(text)} THEN '{Cause.OUT_OF_RANGE}' "
            case Kind.DURATION:
                branches = f"WHEN {dialect.is_duration(text)} THEN '{Cause.OUT_OF_RANGE}' "
            case Kind.TEXT | Kind.BOOLEAN:
                return f"'{Cause.NOT_CASTABLE}'"
        return f"CASE {branches}ELSE '{Cause.NOT_CASTABLE}' END"

    def _censored_cause(self, alias: str) -> str:
        side = self._column(alias, names.side(self.declared.name))
        limit = names.limit(self.declared.name)
        text = self._column(alias, names.text(limit))
        return (
            f"CASE WHEN {side} NOT IN ({_SIDES}) THEN '{Cause.NOT_CASTABLE}' "
            f"WHEN {self._is_absent(alias, limit)} THEN '{Cause.NULL}' "
            f"WHEN {self._column(alias, limit)} IS NULL THEN {self._why_no_value(text)} "
            f"{self._contradiction(alias)}ELSE '{Cause.CENSORED}' END"
        )

    def _contradiction(self, alias: str) -> str:
        """A bound below zero on a property that cannot be negative holds nothing: no interval."""
        if not self.declared.non_negative:
            return ""
        return f"WHEN {self._is_empty(alias)} THEN '{Cause.OUT_OF_RANGE}' "

    def _is_empty(self, alias: str) -> str:
        side = self._column(alias, names.side(self.declared.name))
        limit = self._column(alias, names.limit(self.declared.name))
        return f"({side} = '<' AND {limit} <= 0 OR {side} = '<=' AND {limit} < 0)"

    def _is_interval_known(self, alias: str) -> str:
        """Whether side and limit make an interval, and the view tells no cause that forbids it."""
        item = self.declared
        tests = [
            f"{self._column(alias, names.side(item.name))} IN ({_SIDES})",
            f"{self._column(alias, names.limit(item.name))} IS NOT NULL",
        ]
        if item.non_negative:
            tests.append(f"NOT {self._is_empty(alias)}")
        if item.cause:
            tests.append(f"{self._column(alias, names.told(item.name))} IN ('', '{Cause.CENSORED}')")
        return " AND ".join(tests)

    def _ends(self, alias: str) -> list[Selection]:
        item = self.declared
        value = self._column(alias, item.name)
        side, limit = (self._column(alias, part(item.name)) for part in (names.side, names.limit))
        known = self._is_interval_known(alias)
        floor = f" WHEN {known} THEN 0" if item.non_negative else ""
        low = f"CASE WHEN {side} IN ('>', '>=') AND {known} THEN {limit}{floor} ELSE {value} END"
        high = f"CASE WHEN {side} IN ('<', '<=') AND {known} THEN {limit} ELSE {value} END"
        return [(side, names.side(item.name)), (low, names.low(item.name)), (high, names.high(item.name))]
