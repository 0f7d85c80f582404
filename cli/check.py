"""`trivet check`: settings, contract and monitors, all errors at once."""

from __future__ import annotations

from collections.abc import Sequence

import click

from catalog.engines.port import EngineFault
from catalog.verified_queries import referee_findings
from cli.invocation import Invocation, command
from sources.check import lacking_columns
from sources.document import read_sources
from sources.views import read_views
from trivet.errors import InputError, UnavailableError
from trivet.exits import Exit
from trivet.findings import Finding
from worker.live_checks import LiveReport, check_live
from worker.places import Places, where_of_column
from worker.rule_testing import RuleTestResult, run_rule_tests
from worker.workspace import CONTRACT_FILE, SOURCES_FILE, VIEWS_FOLDER, Workspace, stands


@click.command()
@click.option("--live", is_flag=True, help="Also hold contract and monitors against the warehouse.")
@click.option("--tests", is_flag=True, help="Also run the rule tests of the monitor files.")
@command
def check(invocation: Invocation, live: bool, tests: bool) -> int:
    """Check settings, contract, monitors, sources and views: all errors at once."""
    workspace = invocation.workspace()
    faults = [*workspace.findings, *_source_findings(workspace)]
    if workspace.contract is not None:
        faults += referee_findings(workspace.contract, workspace.contract_documents)
    if faults:
        raise InputError(faults)
    report = _live_report(invocation, workspace) if live else None
    results = _test_results(invocation, workspace) if tests else None
    found = [*(report.findings if report else ()), *(item for result in results or () for item in result.findings)]
    if invocation.output.as_json:
        _document(invocation, found, report, results)
    for warning in report.warnings if report else ():
        invocation.output.complain(f"warning: {warning}")
    for finding in found:
        invocation.output.complain(str(finding))
    failed = [result for result in results or () if result.differences]
    if failed:
        invocation.output.complain(f"{len(failed)} of {_counted(results or (), 'rule test')} failed")
    if found:
        return Exit.CHECK_FAILED
    invocation.output.print(f"fine: {_summary(workspace, results)}")
    return Exit.FINE


def _source_findings(workspace: Workspace) -> list[Finding]:
    if not stands(workspace.path / SOURCES_FILE):
        return []
    declared, findings = read_sources(workspace.path, SOURCES_FILE)
    if not declared:
        # Every table that a view reads would be unknown, and the fault is not there.
        return findings
    _, view_findings = read_views(workspace.path, VIEWS_FOLDER, [source.name for source in declared])
    return [*findings, *view_findings]


def _live_report(invocation: Invocation, workspace: Workspace) -> LiveReport:
    _, contract, monitors = workspace.require()
    wiring = invocation.wiring(workspace)
    engine = wiring.engine()
    try:
        with engine.snapshot() as snapshot:
            found = {item.view: columns for item in contract.object_types if (columns := snapshot.columns(item.view))}
        places = Places((*workspace.contract_documents, *workspace.documents))
        lacking = tuple(
            places.finding(where_of_column(contract, item.view, item.column), CONTRACT_FILE, item.message)
            for item in lacking_columns({of.view: of.columns for of in contract.object_types}, found)
        )
        # Of a contract whose views are not all there, the data says nothing more.
        if lacking:
            return LiveReport(lacking, ())
        now = invocation.clock.now()
        return check_live(contract, monitors, engine, CONTRACT_FILE, now, wiring.look_back(contract), places)
    except EngineFault as error:
        raise UnavailableError(str(error)) from error


def _test_results(invocation: Invocation, workspace: Workspace) -> list[RuleTestResult]:
    _, contract, monitors = workspace.require()
    return list(run_rule_tests(monitors, contract, invocation.wiring(workspace).fixture))


def _document(
    invocation: Invocation,
    found: Sequence[Finding],
    report: LiveReport | None,
    results: Sequence[RuleTestResult] | None,
) -> None:
    document: dict[str, object] = {"ok": not found, "findings": [item.to_json() for item in found]}
    if report is not None:
        document["warnings"] = [item.to_json() for item in report.warnings]
    if results is not None:
        document["tests"] = [result.to_json() for result in results]
    invocation.output.document(document)


def _summary(workspace: Workspace, results: Sequence[RuleTestResult] | None) -> str:
    _, contract, monitors = workspace.require()
    counted: list[tuple[Sequence[object], str]] = [
        (contract.object_types, "object type"),
        (contract.link_types, "link"),
        (monitors, "monitor"),
    ]
    counted += [(results, "rule test")] if results is not None else []
    return f"contract {contract.id} {contract.version}, {', '.join(_counted(items, noun) for items, noun in counted)}"


def _counted(items: Sequence[object], noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"
