"""The life of one ingest, top to bottom: read what is declared, stage, build, check, publish, prune.

Everything that is wrong is found before anything is published, and all of it is said at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from sources.csv_files import CsvDialect, stage_csv
from sources.document import Source, read_sources
from sources.layout import StagedFile, layout_findings
from sources.parquet_files import stage_parquet
from sources.publication import build_folder, new_generation, prune, publish
from sources.raw_tables import RawTable
from sources.report import IngestReport, report_of
from sources.views import read_views
from sources.warehouse_build import Columns, build_warehouse
from sources.workspace_files import WorkspaceFile, matching_files
from trivet.clock import Clock, utc_text
from trivet.errors import InputError
from trivet.findings import Finding

Check: TypeAlias = Callable[[Columns], Sequence[Finding]]
"""Judges the columns of the governed views of a build before it is published."""


def no_check(_columns: Columns) -> Sequence[Finding]:
    """The check of a workspace that counts on nothing."""
    return ()


def ingest(
    workspace: Path,
    *,
    sources: str = "sources.yaml",
    views: str = "views",
    warehouse: Path,
    keep: int,
    clock: Clock,
    check: Check = no_check,
) -> IngestReport:
    """Builds the warehouse anew from the workspace's files and publishes it, or changes nothing.

    Args:
        workspace: the directory that all paths are relative to.
        sources: the file that declares the sources, in the workspace.
        views: the folder of the governed views, in the workspace.
        warehouse: the file to replace; its generations lie beside it.
        keep: how many generations stay, this one included.
        clock: gives the build its instant.
        check: what else must hold of the governed views, such as the contract's columns.

    Raises:
        InputError: with every fault found in the declarations, the files, the views and by the check.
        UnavailableError: another ingest is running, or the file cannot be written.
    """
    started = clock.now()
    generation = new_generation(started)
    declared, findings = read_sources(workspace, sources)
    ordered, view_findings = read_views(workspace, views, [source.name for source in declared])
    if not declared:
        raise InputError(findings)
    with build_folder(warehouse, generation) as folder:
        tables, file_findings = _stage(workspace, declared, folder)
        _refuse([*findings, *view_findings, *file_findings])
        built = folder / "warehouse.duckdb"
        columns, rows = build_warehouse(built, tables, ordered, generation, utc_text(started))
        _refuse(check(columns))
        publish(built, warehouse, generation)
        pruned = prune(warehouse, keep, generation)
    return report_of(generation, tables, rows, pruned, started, clock.now())


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        raise InputError(findings)


def _stage(workspace: Path, declared: Sequence[Source], folder: Path) -> tuple[list[RawTable], list[Finding]]:
    """Every declared file checked and copied; the tables to load, and all that is wrong with the files."""
    tables: list[RawTable] = []
    findings: list[Finding] = []
    for number, source in enumerate(declared):
        try:
            files = matching_files(workspace, source.files)
        except ValueError as error:
            findings.append(source.finding(str(error)))
            continue
        staged: list[StagedFile] = []
        for count, file in enumerate(files):
            try:
                staged.append(_stage_file(file, source, folder / f"{number}-{count}.{source.format}"))
            except InputError as error:
                findings += error.findings
        findings += layout_findings(staged)
        tables.append(RawTable(source.name, source.format, tuple(staged)))
    return tables, findings


def _stage_file(file: WorkspaceFile, source: Source, copy: Path) -> StagedFile:
    if source.format == "parquet":
        return stage_parquet(file, copy)
    return stage_csv(file, _dialect(source), copy)


def _dialect(source: Source) -> CsvDialect:
    return CsvDialect(
        delimiter=source.delimiter,
        encoding=source.encoding,
        quote=source.quote,
        header=source.header,
        number_unnamed=source.unnamed == "number",
    )
