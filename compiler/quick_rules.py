"""The type rules at the price of a cast: a cheap test first, the whole rule only where that is not certain.

`tests/conformance/test_quick_rules.py` holds the two forms equal. The readable queries keep to the
stages of `compiler/determinacy.py`; the plans that read every row of a view begin with this value.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.datatypes import Kind
from compiler import names
from compiler.determinacy import PropertyRules
from compiler.pruning import Selection

_UNBLANKED = (Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP)
"""Types of which the quick test holds for no text with blanks at its ends."""


@dataclass(frozen=True, slots=True)
class QuickRules(PropertyRules):
    """The stages of one property, with its determinate value read in the first one.

    The stages' other columns stay what they are; where nothing uses them, pruning leaves them out.
    """

    def text_stage(self, alias: str) -> list[Selection]:
        """What the view's columns say, and the determinate value."""
        # No bare super(): a class with slots is made twice, and it would mean the first one.
        return [*PropertyRules.text_stage(self, alias), (self.quick(alias), names.quick(self.declared.name))]

    def _value(self, alias: str) -> str:
        return self._column(alias, names.quick(self.declared.name))

    def quick(self, alias: str) -> str:
        """The determinate value over the view's own columns, NULL where there is none."""
        item = self.declared
        refused = []
        if item.cause:
            refused.append(self._is_told(alias, item.cause))
        if item.censored:
            refused.append(self._is_told(alias, item.censored.side))
        value = self._quick_cell(alias)
        return f"CASE WHEN {' OR '.join(refused)} THEN NULL ELSE {value} END" if refused else value

    def _is_told(self, alias: str, column: str) -> str:
        """Whether a companion column says anything; most say nothing."""
        text = self._as_text(alias, column)
        return f"CASE WHEN {text} IS NULL OR {text} = '' THEN FALSE ELSE {self.dialect.trimmed(text)} <> '' END"

    def _quick_cell(self, alias: str) -> str:
        item = self.declared
        text = self._as_text(alias, item.name)
        if self._is_exact and item.type.kind is not Kind.TEXT:
            rule = self._typed_rule(alias)
            return f"CASE WHEN {text} IN ({self._marks}) THEN NULL ELSE {rule} END" if item.missing else rule
        quick = None if self._is_interval else self.dialect.quick_value(item.type, text, self.zone)
        if quick is None:
            return self._whole_rule(alias, text)
        test, value = quick
        certain = " AND ".join([f"({test})", *self._no_mark(text)])
        absent = [f"{text} IS NULL", *filter(None, [self.dialect.is_hopeless(item.type, text)])]
        whole = self._whole_rule(alias, text)
        return f"CASE WHEN {certain} THEN {value} WHEN {' OR '.join(absent)} THEN NULL ELSE {whole} END"

    @property
    def _marks(self) -> str:
        return ", ".join(self.dialect.text(mark) for mark in self.declared.missing)

    def _no_mark(self, text: str) -> list[str]:
        """Tests that hold for no text that is a missing mark once its blanks are dropped."""
        if not self.declared.missing:
            return []
        if self.declared.type.kind in _UNBLANKED:
            return [f"{text} NOT IN ({self._marks})"]
        return [f"NOT {self.dialect.contains(text, self.dialect.text(mark))}" for mark in self.declared.missing]

    def _whole_rule(self, alias: str, text: str) -> str:
        """The rule of the stages in one expression."""
        item = self.declared
        trimmed = self.dialect.trimmed(text)
        refused = [f"{trimmed} IN ({self._marks})"] if item.missing else []
        if item.type.kind is Kind.TEXT:
            refused.append(f"{trimmed} = ''")
        if self._is_interval:
            rule = self.dialect.interval_value(self._column(alias, item.name))
        else:
            rule = self._rule_of(alias, trimmed)
        return f"CASE WHEN {' OR '.join(refused)} THEN NULL ELSE {rule} END" if refused else rule

    def _rule_of(self, alias: str, text: str) -> str:
        number = self.dialect.plain_number(text) if self.declared.type.exact_digits is not None else ""
        return self._rule_over(text, number, self._unread(alias))
