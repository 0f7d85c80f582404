"""`trivet ledger export`: the ledger as files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from catalog.engines.duckdb_parquet import write_parquet
from cli.invocation import Invocation, command
from cli.output import Output
from ledger.entries import EntryType
from ledger.export import ExportFilter, ExportReport, export_ledger, exported_tables
from ledger.verification.files import ENTRIES
from ledger.verification.layout import BOOLEAN, INTEGER, LAYOUT, TEXT
from trivet.clock import utc_text
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.stores import read_only

_PROGRESS_EVERY = 50_000
_ENTRY_TYPES = [item.value for item in EntryType]
_COLUMNS = {
    "seq": "BIGINT",
    "entry_type": "VARCHAR",
    "subject_id": "VARCHAR",
    "payload": "VARCHAR",
    "leaf_hash": "VARCHAR",
    "prev_hash": "VARCHAR",
    "entry_hash": "VARCHAR",
}
_TYPES = {TEXT: "VARCHAR", INTEGER: "BIGINT", BOOLEAN: "BOOLEAN"}


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="JSON Lines, which can be verified, or Parquet, for other programs.",
)
@click.option(
    "--type", "types", multiple=True, type=click.Choice([item.value for item in EntryType]), help="Only these."
)
@click.option("--from", "first", type=click.IntRange(min=1), default=1, help="From this entry on.")
@click.option("--to", "last", type=click.IntRange(min=1), help="Up to this entry.")
@click.option("--monitor", metavar="ID", help="Only entries that name this monitor.")
@command
def export(
    invocation: Invocation,
    folder: Path,
    form: str,
    types: tuple[str, ...],
    first: int,
    last: int | None,
    monitor: str | None,
) -> int:
    """Write the ledger and the rows that it binds to DIR, which must be new or empty."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty; name a new directory")
    chosen = ExportFilter(types, first, last, monitor)
    engine = read_only(invocation.wiring().store(create=False))
    folder.mkdir(parents=True, exist_ok=True)
    now = utc_text(invocation.clock.now())
    progress = _Progress(invocation.output)
    with engine.connect() as connection:
        if form == "jsonl":
            report = export_ledger(connection, folder, now, chosen, progress)
        else:
            with tempfile.TemporaryDirectory(prefix="trivet-export-") as scratch:
                report = export_ledger(connection, Path(scratch), now, chosen, progress)
                _as_parquet(Path(scratch), folder)
    _told(invocation.output, folder, form, chosen, report)
    return Exit.FINE


def _as_parquet(lines: Path, folder: Path) -> None:
    write_parquet(lines / ENTRIES, _COLUMNS, folder / "entries.parquet")
    columns = {part.table: part.columns for parts in LAYOUT.values() for part in parts}
    for table, file in exported_tables(lines):
        kinds = {name: _TYPES[kind] for name, kind in columns[table].items()}
        write_parquet(file, kinds, folder / f"{table}.parquet")


def _told(output: Output, folder: Path, form: str, chosen: ExportFilter, report: ExportReport) -> None:
    verifiable = form == "jsonl" and chosen.is_whole
    if output.as_json:
        about = {"folder": str(folder), "format": form, "entries": report.entries, "rows": report.rows}
        output.document({**about, "verifiable": verifiable})
    output.print(f"{folder}: {report.entries:,} entries and {report.rows:,} bound rows")
    if verifiable:
        output.print(f"`trivet ledger verify --export {folder}` verifies it, and so does docs/auditor/verify.py")


class _Progress:
    """Says how far an export is where someone watches."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._told = 0

    def __call__(self, entries: int) -> None:
        if entries - self._told >= _PROGRESS_EVERY:
            self._told = entries
            self._output.progress(f"{entries:,} entries written so far")
