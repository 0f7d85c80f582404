"""What an ingest did, as a command prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sources.raw_tables import RawTable
from trivet.clock import utc_text


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """One file that was loaded."""

    document: str
    """Relative to the workspace."""
    sha256: str
    """Of its bytes, as hex."""
    bytes: int
    rows: int
    blank_lines: int
    """Blank lines of a CSV file, which hold no record."""


@dataclass(frozen=True, slots=True)
class TableReport:
    """One raw table, in the schema `raw`."""

    name: str
    rows: int
    bytes: int
    documents: tuple[DocumentReport, ...]


@dataclass(frozen=True, slots=True)
class ViewReport:
    """One governed view."""

    name: str
    """`schema.name`."""
    rows: int


@dataclass(frozen=True, slots=True)
class IngestReport:
    """A warehouse that was built and published."""

    generation: str
    tables: tuple[TableReport, ...]
    views: tuple[ViewReport, ...]
    pruned: tuple[str, ...]
    """Names of the files of older generations that were removed."""
    started_at: datetime
    finished_at: datetime

    @property
    def seconds(self) -> float:
        """How long it took, by the clock that was passed in."""
        return (self.finished_at - self.started_at).total_seconds()

    def to_json(self) -> dict[str, object]:
        """The report as `--json` prints it."""
        times = {"started_at": utc_text(self.started_at), "finished_at": utc_text(self.finished_at)}
        return asdict(self) | times


def report_of(
    generation: str,
    tables: Sequence[RawTable],
    views: Mapping[str, int],
    pruned: tuple[str, ...],
    started_at: datetime,
    finished_at: datetime,
) -> IngestReport:
    """The report of a build, from what was loaded and the rows of each view."""
    return IngestReport(
        generation=generation,
        tables=tuple(_table_report(table) for table in tables),
        views=tuple(ViewReport(name, rows) for name, rows in views.items()),
        pruned=pruned,
        started_at=started_at,
        finished_at=finished_at,
    )


def _table_report(table: RawTable) -> TableReport:
    documents = tuple(
        DocumentReport(file.document, file.sha256, file.size, file.rows, file.blank_lines) for file in table.files
    )
    return TableReport(table.name, table.rows, sum(document.bytes for document in documents), documents)
