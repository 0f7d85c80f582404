"""Whether every figure, date and name of a draft stands in the result, and where.

A claim is bound to a place: behind the name of a row, a figure must stand in that row. So two
swapped figures are found, although both are cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from catalog.engines.port import Cell
from resolver.consensus import as_number
from resolver.drafting import Draft
from resolver.outcome import Claim, ClaimVerdict, ResultTable, cell_text

_DAY = r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?"
_NUMBER = r"-?\d+(?:,\d{3})*(?:\.\d+)?"
_CODE = r"[A-Za-z]+[-_]?\d[\w-]*"
_WORD = r"[A-Z][\w'-]*"
_YEAR = re.compile(r"(?:19|20)\d{2}")


def ground(draft: Draft, table: ResultTable) -> tuple[Claim, ...]:
    """Every claim of the draft with its verdict, in the order of the text."""
    return _Grounding(draft, table).claims()


def is_grounded(claims: Iterable[Claim]) -> bool:
    """Whether no claim is without ground."""
    return all(claim.verdict is not ClaimVerdict.UNGROUNDED for claim in claims)


@dataclass
class _Grounding:
    draft: Draft
    table: ResultTable
    rows: frozenset[int] = field(default_factory=frozenset)
    """The rows that the last name stands in; empty before the first."""

    def claims(self) -> tuple[Claim, ...]:
        """Reads the draft from left to right."""
        self._names = self._named_cells()
        draft = self.draft
        known = sorted({*self._names, *draft.stated, *draft.derived, *draft.labels}, key=len, reverse=True)
        phrases = "|".join(re.escape(name) for name in known if name)
        pattern = rf"(?P<known>(?<![\w.])(?:{phrases})(?![\w]|\.\d))|" if phrases else ""
        pattern += rf"(?P<day>\b{_DAY}\b)|(?P<code>\b{_CODE}\b)"
        pattern += rf"|(?P<number>(?<![\w.]){_NUMBER}(?!\w))|(?P<word>\b{_WORD}\b)"
        found: list[Claim] = []
        for match in re.finditer(pattern, self.draft.text):
            claim = self._claim(match)
            if claim is not None:
                found.append(claim)
        return tuple(found)

    def _named_cells(self) -> dict[str, list[tuple[int, int]]]:
        """Where each text of the result stands."""
        places: dict[str, list[tuple[int, int]]] = {}
        for row, cells in enumerate(self.table.rows):
            for column, cell in enumerate(cells):
                if isinstance(cell, str) and any(char.isalpha() for char in cell):
                    places.setdefault(cell, []).append((row, column))
        return places

    def _claim(self, match: re.Match[str]) -> Claim | None:
        text = match[0]
        if text in self._names:
            places = self._names[text]
            self.rows = frozenset(row for row, _ in places)
            return Claim(text, "name", ClaimVerdict.GROUNDED, _place(places[0]))
        groups = match.groupdict()
        number = as_number(text.replace(",", ""))
        if number is not None or groups["day"]:
            return self._figure(text, number)
        if text in self.draft.derived:
            return Claim(text, "name", ClaimVerdict.DERIVED)
        if text in self.draft.stated:
            return Claim(text, "name", ClaimVerdict.STATED)
        if text in self.draft.labels or (groups["word"] and self._begins_a_sentence(match.start())):
            return None
        return Claim(text, "name", ClaimVerdict.UNGROUNDED)

    def _figure(self, text: str, number: Decimal | None) -> Claim:
        kind = "date" if number is None else "year" if _YEAR.fullmatch(text) else "number"
        place = self._find(text, number, kind)
        if place is not None:
            return Claim(text, kind, ClaimVerdict.GROUNDED, _place(place))
        stated = {as_number(value) for value in self.draft.stated} - {None}
        if text in self.draft.stated or number in stated:
            return Claim(text, kind, ClaimVerdict.STATED)
        if text in self.draft.derived:
            return Claim(text, kind, ClaimVerdict.DERIVED)
        return Claim(text, kind, ClaimVerdict.UNGROUNDED)

    def _find(self, text: str, number: Decimal | None, kind: str) -> tuple[int, int] | None:
        for row, cells in enumerate(self.table.rows):
            if self.rows and row not in self.rows:
                continue
            for column, cell in enumerate(cells):
                if _holds(cell, text, number, kind):
                    return row, column
        return None

    def _begins_a_sentence(self, start: int) -> bool:
        before = self.draft.text[:start].rstrip()
        return not before or before[-1] in ".!?"


def _holds(cell: Cell, text: str, number: Decimal | None, kind: str) -> bool:
    """Whether a cell holds a figure at the precision at which it is stated."""
    if isinstance(cell, datetime | date):
        return cell.isoformat() == text or (kind == "year" and str(cell.year) == text)
    if kind == "date":
        return isinstance(cell, str) and cell == text
    if number is None:
        return False
    held = as_number(Decimal(cell_text(cell)) if isinstance(cell, float) else cell)
    if held is None:
        return False
    exponent = number.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if isinstance(cell, int):
        return held == number
    return abs(held - number) * 2 <= Decimal(1).scaleb(-digits)


def _place(place: tuple[int, int]) -> tuple[int, int]:
    return place[0] + 1, place[1] + 1
