"""`trivet check`: settings, contract and monitors, all errors at once."""

from __future__ import annotations

import click

from catalog.engines.port import EngineFault
from cli.invocation import Invocation, command
from sources.check import check_columns
from sources.document import read_sources
from sources.views import read_views
from trivet.errors import InputError, UnavailableError
from trivet.exits import Exit
from trivet.findings import Finding
from worker.workspace import CONTRACT_FILE, SOURCES_FILE, VIEWS_FOLDER, Workspace


@click.command()
@click.option("--live", is_flag=True, help="Also hold the contract against the warehouse.")
@command
def check(invocation: Invocation, live: bool) -> int:
    """Check settings, contract, monitors, sources and views: all errors at once."""
    workspace = invocation.workspace()
    findings = [*workspace.findings, *_source_findings(workspace)]
    if findings:
        raise InputError(findings)
    found = _live_findings(invocation, workspace) if live else ()
    if invocation.output.as_json:
        invocation.output.document({"ok": not found, "findings": [item.to_json() for item in found]})
    for finding in found:
        invocation.output.complain(str(finding))
    if found:
        return Exit.CHECK_FAILED
    _, contract, monitors = workspace.require()
    counted = ((contract.object_types, "object type"), (contract.link_types, "link"), (monitors, "monitor"))
    counts = ", ".join(f"{len(items)} {noun}{'' if len(items) == 1 else 's'}" for items, noun in counted)
    invocation.output.print(f"fine: contract {contract.id} {contract.version}, {counts}")
    return Exit.FINE


def _source_findings(workspace: Workspace) -> list[Finding]:
    if not (workspace.path / SOURCES_FILE).exists():
        return []
    declared, findings = read_sources(workspace.path, SOURCES_FILE)
    if not declared:
        # Every table that a view reads would be unknown, and the fault is not there.
        return findings
    _, view_findings = read_views(workspace.path, VIEWS_FOLDER, [source.name for source in declared])
    return [*findings, *view_findings]


def _live_findings(invocation: Invocation, workspace: Workspace) -> tuple[Finding, ...]:
    _, contract, _ = workspace.require()
    try:
        with invocation.wiring(workspace).engine().snapshot() as snapshot:
            found = {item.view: columns for item in contract.object_types if (columns := snapshot.columns(item.view))}
    except EngineFault as error:
        raise UnavailableError(str(error)) from error
    return check_columns({item.view: item.columns for item in contract.object_types}, found, CONTRACT_FILE)
