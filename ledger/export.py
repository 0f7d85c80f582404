"""The ledger as files: for whoever verifies it without the store, or wants to read it with other programs.

What is exported is what is stored, cell by cell; nothing is interpreted, so that damage is exported as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import sqlalchemy as sa

from ledger.verification.files import ENTRIES, HEAD, MANIFEST, ROWS
from ledger.verification.layout import LAYOUT
from ledger.verification.source import RawEntry, RawRow
from ledger.verification.tables import StoreSource

FORMAT = "trivet/ledger-export/v1"


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which entries are exported. Only an export of all of them can be verified as a ledger."""

    types: tuple[str, ...] = ()
    """Entry types; all where there are none."""
    first: int = 1
    last: int | None = None
    monitor: str | None = None
    """Only entries that name this monitor."""

    @property
    def is_whole(self) -> bool:
        """Whether everything is exported."""
        return self == ExportFilter()

    def takes(self, entry: RawEntry) -> bool:
        """Whether an entry is exported."""
        if self.types and entry.entry_type not in self.types:
            return False
        if isinstance(entry.seq, int) and not self.first <= entry.seq <= (self.last or entry.seq):
            return False
        return self.monitor is None or _monitor(entry.payload) == self.monitor


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written."""

    entries: int
    rows: int


def export_ledger(
    connection: sa.Connection,
    folder: Path,
    exported_at: str,
    chosen: ExportFilter | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExportReport:
    """Writes `entries.jsonl`, `rows.jsonl`, `head.json` and `manifest.json` into a folder.

    Args:
        connection: whose transaction sees one snapshot (`worker.stores.read_only`).
        folder: exists, and holds none of these files.
        exported_at: canonical UTC text.
        chosen: which entries; all if absent.
        progress: told now and then how many entries were written.
    """
    which = chosen or ExportFilter()
    source = StoreSource(connection, any_text=True)
    entries, rows = 0, 0
    with source.reading():
        with _new(folder / ENTRIES) as entry_lines, _new(folder / ROWS) as row_lines:
            for batch in source.entries():
                taken = [entry for entry in map(RawEntry._make, batch) if which.takes(entry)]
                for entry in taken:
                    _write(entry_lines, {name: _jsonable(value) for name, value in entry._asdict().items()})
                rows += _write_rows(row_lines, source, taken)
                entries += len(taken)
                if progress is not None:
                    progress(entries)
            rows += _write_orphans(row_lines, source) if which.is_whole else 0
        with _new(folder / HEAD) as lines:
            for head in source.head():
                _write(lines, {name: _jsonable(value) for name, value in head._asdict().items()})
    with _new(folder / MANIFEST) as lines:
        filters = None if which.is_whole else _filters(which)
        manifest = {"format": FORMAT, "exported_at": exported_at, "entries": entries, "rows": rows, "filter": filters}
        _write(lines, manifest)
    return ExportReport(entries, rows)


def _write_rows(lines: TextIO, source: StoreSource, entries: Sequence[RawEntry]) -> int:
    """The rows of some entries: those of one subject stand together, in the order in which they are hashed."""
    count = 0
    for entry_type in LAYOUT:
        subjects = [entry.subject_id for entry in entries if entry.entry_type == entry_type]
        by_subject: dict[Any, list[RawRow]] = {}
        for row in source.rows(entry_type, [item for item in dict.fromkeys(subjects) if isinstance(item, str)]):
            by_subject.setdefault(row.subject, []).append(row)
        for found in by_subject.values():
            for row in found:
                _write(lines, _row(entry_type, row))
            count += len(found)
    return count


def _write_orphans(lines: TextIO, source: StoreSource) -> int:
    """Rows that no entry knows: they belong to what an auditor is to find."""
    count = 0
    types = {part.table: entry_type for entry_type, parts in LAYOUT.items() for part in parts}
    seen: set[tuple[str, Any]] = set()
    for table, _, subject, _ in source.orphans():
        if (types[table], subject) in seen:
            continue
        seen.add((types[table], subject))
        found = [_row(types[table], row) for row in source.rows(types[table], [subject])] if subject is not None else []
        if not found:
            found = [{"entry_type": types[table], "subject_id": _jsonable(subject), "table": table, "row": {}}]
        for item in found:
            _write(lines, item)
        count += len(found)
    return count


def _row(entry_type: str, row: RawRow) -> dict[str, Any]:
    values = {name: _jsonable(value) for name, value in row.row.items() if value is not None}
    return {"entry_type": entry_type, "subject_id": _jsonable(row.subject), "table": row.table, "row": values}


def _filters(which: ExportFilter) -> dict[str, Any]:
    return {"types": list(which.types), "first": which.first, "last": which.last, "monitor": which.monitor}


def _monitor(payload: object) -> object:
    try:
        content = json.loads(payload) if isinstance(payload, str) else None
    except (ValueError, RecursionError):
        return None
    return content.get("monitor_id") if isinstance(content, dict) else None


def _jsonable(value: object) -> object:
    """A cell as JSON: hashes as hex, and what no cell should hold so that it is seen to be that."""
    if isinstance(value, bytes):
        return value.hex() if len(value) == 32 else {"bytes": value.hex()}
    return {"number": repr(value)} if isinstance(value, float) else value


def _new(file: Path) -> TextIO:
    return file.open("x", encoding="ascii")


def _write(lines: TextIO, item: dict[str, Any]) -> None:
    lines.write(json.dumps(item) + "\n")


def exported_tables(folder: Path) -> Iterator[tuple[str, Path]]:
    """Splits `rows.jsonl` into one file for each table, for programs that want columns; name and file of each."""
    targets: dict[str, TextIO] = {}
    try:
        with (folder / ROWS).open(encoding="ascii") as lines:
            for line in lines:
                item = json.loads(line)
                name = item["table"]
                if name not in targets:
                    targets[name] = _new(folder / f"{name}.jsonl")
                _write(targets[name], item["row"])
    finally:
        for target in targets.values():
            target.close()
    for name in targets:
        yield name, folder / f"{name}.jsonl"
