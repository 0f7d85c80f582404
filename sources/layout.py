"""What a file must look like before it becomes rows of a raw table, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivet.findings import Finding, Position

SOURCE_DOCUMENT = "_source_document"
SOURCE_TABLE = "_source_table"
SOURCE_PAGE = "_source_page"
SOURCE_ROW = "_source_row"
PROVENANCE = (SOURCE_DOCUMENT, SOURCE_TABLE, SOURCE_PAGE, SOURCE_ROW)
"""Columns that every raw table carries; a file may not bring its own."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file."""

    name: str
    """Exactly as the file writes it."""
    type: str
    """DuckDB's name of the physical type; VARCHAR for every column of a CSV file."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A source file, checked and copied to where the loader reads it."""

    document: str
    """Path in the workspace, with forward slashes."""
    path: Path
    """The private copy: nothing that happens to the original matters any more."""
    columns: tuple[Column, ...]
    rows: int
    blank_lines: int
    """Lines of a CSV file that hold nothing: no records, yet counted in row numbers."""
    sha256: str
    """Of the original bytes, as hex."""
    size: int
    """Of the original, in bytes."""


def header_findings(names: Sequence[str], document: str, position: Position | None) -> list[Finding]:
    """What is wrong with the column names of a file; `position` is where its header stands."""
    found: list[str] = []
    first_at: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        # The engine ignores case in names, so `Rate` beside `rate` would be one column twice.
        folded = name.casefold()
        if not name.strip():
            found.append(f"column {number} has no name; give it one in the header")
        elif folded in PROVENANCE:
            advice = "which ingestion adds itself; rename it in the file"
            found.append(f"column {number} is named {name!r}, {advice}")
        elif folded in first_at:
            both = f"columns {first_at[folded]} and {number}"
            found.append(f"{both} are both named {name!r} (case is ignored); rename one")
        first_at.setdefault(folded, number)
    return [Finding(document, position, "", message) for message in found]


def layout_findings(files: Sequence[StagedFile]) -> list[Finding]:
    """One finding for each file whose columns are not exactly those of the first."""
    found: list[Finding] = []
    for other in files[1:]:
        difference = _difference(files[0].columns, other.columns)
        if difference:
            message = f"not of the layout of {files[0].document}, with which it forms one table: {difference}"
            found.append(Finding(other.document, None, "", message))
    return found


def _difference(expected: Sequence[Column], found: Sequence[Column]) -> str:
    if len(expected) != len(found):
        missing = sorted({column.name for column in expected} - {column.name for column in found})
        extra = sorted({column.name for column in found} - {column.name for column in expected})
        text = f"{len(found)} columns and not {len(expected)}"
        text += f"; missing: {', '.join(missing)}" if missing else ""
        return text + (f"; more: {', '.join(extra)}" if extra else "")
    for number, (left, right) in enumerate(zip(expected, found, strict=True), start=1):
        if left.name != right.name:
            return f"column {number} is {right.name!r} and not {left.name!r}"
        if left.type != right.type:
            return f"column {left.name!r} is {right.type} and not {left.type}"
    return ""
