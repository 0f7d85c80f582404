"""Rows whose text was erased: each must have its `redaction` entry, and hold nothing of the text any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ledger.verification.chain import object_of
from ledger.verification.source import RawEntry, RawRow


@dataclass(slots=True)
class Redactions:
    """What the `redaction` entries tell. They come after the entries whose rows they are about, so they are read first.

    The entries themselves are verified where they stand; one that is not sound is damage there.
    """

    met: int = 0
    """Rows that were found erased."""
    _told: dict[tuple[str, str], list[Mapping[str, Any]]] = field(default_factory=dict)

    def read(self, entries: Iterable[RawEntry]) -> None:
        """Takes the entries."""
        for entry in entries:
            content = object_of(entry.payload) or {}
            if isinstance(content.get("key"), dict):
                self._told.setdefault((str(content.get("table")), str(content.get("of"))), []).append(content)

    def check(self, item: RawRow, erasable: Mapping[str, str | None]) -> None:
        """Checks a row that says to be erased.

        Raises:
            ValueError: no entry tells of it, or text is left.
        """
        told = [
            content
            for content in self._told.get((item.table, str(item.subject)), ())
            if content.get("text") == item.row["erased"]
            and all(item.row.get(name) == value for name, value in content["key"].items())
        ]
        if not told:
            raise ValueError(f"a row of {item.table} is erased, and no entry tells of it")
        left = [name for name, empty in erasable.items() if item.row.get(name) != empty]
        if left or item.row.get("salt") is not None:
            raise ValueError(f"a row of {item.table} is said to be erased and is not: {', '.join(left or ['salt'])}")
        self.met += 1
