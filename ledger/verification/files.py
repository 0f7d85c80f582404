"""The files of an export as a source: `entries.jsonl`, `rows.jsonl` and `head.json`, read with no store at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ledger.verification.findings import Damage, DamageKind
from ledger.verification.layout import LAYOUT
from ledger.verification.source import RawEntry, RawHead, RawRow

ENTRIES, ROWS, HEAD, MANIFEST = "entries.jsonl", "rows.jsonl", "head.json", "manifest.json"
_BATCH = 1000
_HASHES = ("leaf_hash", "prev_hash", "entry_hash")


class ExportSource:
    """A folder that `trivet ledger export` wrote.

    The rows of one subject need not stand together, so where each stands in the file is kept: a few numbers a row.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[tuple[Any, Any], list[int]] = {}
        self._known: set[tuple[Any, Any]] = set()

    def reading(self) -> AbstractContextManager[None]:
        """Nothing is held open."""
        return nullcontext()

    def faults(self) -> Iterable[Damage]:
        """Missing files, and lines that are none of an export."""
        for name in (ENTRIES, ROWS, HEAD):
            if not (self._folder / name).is_file():
                yield Damage(None, DamageKind.SCHEMA, f"file {name} is missing")
                return
        for name in (ENTRIES, ROWS, HEAD):
            last = 0
            with (self._folder / name).open("rb") as lines:
                for number, line in enumerate(lines, start=1):
                    item = _object(line)
                    if not isinstance(item, dict):
                        yield Damage(None, DamageKind.SCHEMA, f"{name}, line {number}: not a JSON object")
                        return
                    seq = item.get("seq") if name == ENTRIES else None
                    if isinstance(seq, int) and seq < last:
                        yield Damage(seq, DamageKind.ORDER, f"{name}, line {number}: it stands behind entry {last}")
                        return
                    last = seq if isinstance(seq, int) else last
        manifest = _object((self._folder / MANIFEST).read_bytes()) if (self._folder / MANIFEST).is_file() else {}
        if isinstance(manifest, dict) and manifest.get("filter") is not None:
            yield Damage(None, DamageKind.SCHEMA, "only some entries were exported; an export of all can be verified")

    def entries(self) -> Iterator[Sequence[RawEntry]]:
        """The entries in the order of the file, which is that of their `seq`."""
        batch: list[RawEntry] = []
        for item in self._objects(ENTRIES):
            batch.append(_entry(item))
            self._known.add((_hashable(item.get("entry_type")), _hashable(item.get("subject_id"))))
            if len(batch) == _BATCH:
                yield batch
                batch = []
        yield batch

    def rows(self, entry_type: str, subjects: Sequence[str]) -> Iterator[RawRow]:
        """The bound rows of some subjects."""
        self._index()
        with (self._folder / ROWS).open("rb") as lines:
            for subject in subjects:
                for place in self._places.get((entry_type, subject), ()):
                    lines.seek(place)
                    item = _object(lines.readline())
                    row = item.get("row")
                    if isinstance(row, dict):
                        yield RawRow(subject, str(item.get("table")), row, _fault(row))
                    else:
                        yield RawRow(subject, str(item.get("table")), {}, "a line of the export holds no row")

    def head(self) -> Sequence[RawHead]:
        """The head rows."""
        return [
            RawHead(item.get("id"), item.get("seq"), _hash(item.get("entry_hash")), item.get("merkle_frontier"))
            for item in self._objects(HEAD)
        ]

    def orphans(self) -> Iterator[tuple[str, str, Any, int]]:
        """Bound rows without an entry."""
        self._index()
        for entry_type, subject in self._places:
            if (entry_type, subject) not in self._known:
                tables: dict[str, int] = {}
                for item in self._objects(ROWS):
                    if (item.get("entry_type"), _hashable(item.get("subject_id"))) == (entry_type, subject):
                        table = str(item.get("table"))
                        tables[table] = tables.get(table, 0) + 1
                columns = {part.table: part.subject for part in LAYOUT.get(str(entry_type), ())}
                yield from ((table, columns.get(table, "subject"), subject, count) for table, count in tables.items())

    def of_type(self, entry_type: str) -> Iterator[RawEntry]:
        """The entries of one type."""
        return (_entry(item) for item in self._objects(ENTRIES) if item.get("entry_type") == entry_type)

    def places(self, column: str, value: bytes) -> list[int]:
        """Where a hash stands."""
        found = (item.get("seq") for item in self._objects(ENTRIES) if item.get(column) == value.hex())
        return [seq for seq in found if isinstance(seq, int)][:3]

    def _objects(self, name: str) -> Iterator[dict[str, Any]]:
        with (self._folder / name).open("rb") as lines:
            for line in lines:
                yield _object(line)

    def _index(self) -> None:
        if self._places:
            return
        with (self._folder / ROWS).open("rb") as lines:
            place = 0
            for line in lines:
                item = _object(line)
                key = (_hashable(item.get("entry_type")), _hashable(item.get("subject_id")))
                self._places.setdefault(key, []).append(place)
                place += len(line)


def _object(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _entry(item: dict[str, Any]) -> RawEntry:
    values = {name: _hash(item.get(name)) if name in _HASHES else item.get(name) for name in RawEntry._fields}
    return RawEntry(**values)


def _hash(value: object) -> object:
    try:
        return bytes.fromhex(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _hashable(value: object) -> object:
    return value if isinstance(value, (str, int, type(None))) else json.dumps(value, sort_keys=True)


def _fault(row: dict[str, Any]) -> str | None:
    for name, value in row.items():
        if isinstance(value, (float, dict, list)):
            return f"{name} holds what is no text, number or truth value"
    return None
