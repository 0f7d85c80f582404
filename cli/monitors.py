"""`trivet monitors`: definitions, their SQL, and the same in words."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click
from rich.text import Text

from catalog.contract import Contract
from catalog.engines.port import EngineFault
from catalog.expressions.printing import print_condition
from cli.invocation import Invocation, command, find_monitors
from cli.monitors_pause import pause, pauses_if_known, resume
from cli.output import visible
from cli.proving import MOST_DATA_SETS, exit_of, print_proof, proof_json, proof_of
from compiler.compile import DIALECTS, compile_monitor
from compiler.compiled import CompiledMonitor
from compiler.plan import PhysicalColumns
from compiler.words import explain_monitor
from monitors.alerting_loading import alerting_json
from monitors.baselines import rule_json
from monitors.definition import MonitorDefinition, Schedule
from trivet.durations import duration_text
from trivet.exits import Exit
from worker.bootstrap import Wiring
from worker.judging import involved_objects
from worker.pauses import Pause


@click.group()
def monitors() -> None:
    """What is watched."""


@monitors.command("list")
@command
def list_monitors(invocation: Invocation) -> int:
    """List every monitor."""
    workspace = invocation.workspace()
    _, _, known = workspace.require()
    paused = pauses_if_known(invocation, invocation.wiring(workspace))
    if invocation.output.as_json:
        invocation.output.document({"monitors": [_as_json(item) | _pause_json(item.id, paused) for item in known]})
    rows = [(item.id, item.object, item.severity, _due_text(item, paused or {}), item.title) for item in known]
    invocation.output.table(["monitor", "object", "severity", "schedule", "title"], rows)
    return Exit.FINE


@monitors.command()
@click.argument("name", metavar="ID")
@command
def show(invocation: Invocation, name: str) -> int:
    """Show one definition, with every default filled in."""
    _, _, known = invocation.workspace().require()
    definition = find_monitors(known, (name,))[0]
    document = _as_json(definition)
    if invocation.output.as_json:
        invocation.output.document(document)
    for key, value in document.items():
        invocation.output.print(Text.assemble((f"{key:16}", "dim"), visible(_said(value))))
    return Exit.FINE


@monitors.command("compile")
@click.argument("name", metavar="ID")
@click.option("--dialect", type=click.Choice(sorted(DIALECTS)), default="duckdb", show_default=True)
@click.option("--at", metavar="TIME", help="The slot to compile for (ISO 8601); the present if absent.")
@command
def compile_(invocation: Invocation, name: str, dialect: str, at: str | None) -> int:
    """Print the breach, no_data and population queries, as they are run."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    definition = find_monitors(known, (name,))[0]
    physical = _physical(invocation.wiring(workspace), definition, contract)
    instant = invocation.instant(at, contract.calendar.time_zone)
    compiled = compile_monitor(definition, contract, physical, dialect, instant)
    queries = _queries(compiled)
    if invocation.output.as_json:
        invocation.output.document(
            {
                "monitor": definition.id,
                "definition_hash": definition.definition_hash,
                "dialect": dialect,
                **queries,
            }
        )
        return Exit.FINE
    for title, sql in queries.items():
        invocation.output.raw(f"-- {definition.id}: {title} query\n{sql};\n")
    return Exit.FINE


@monitors.command()
@click.argument("name", metavar="ID")
@click.option(
    "--prove",
    "data_sets",
    type=click.IntRange(1, MOST_DATA_SETS),
    metavar="N",
    help="Also hold its verdicts against an independent evaluation, on N generated data sets.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="What the data follows from.")
@command
def explain(invocation: Invocation, name: str, data_sets: int | None, seed: int) -> int:
    """Say in words what a monitor decides, and when it cannot."""
    workspace = invocation.workspace()
    _, contract, known = workspace.require()
    definition = find_monitors(known, (name,))[0]
    lines = explain_monitor(definition, contract)
    document: dict[str, object] = {"monitor": definition.id, "explanation": lines}
    for line in lines:
        invocation.output.print(Text(visible(line)))
    proof = None if data_sets is None else proof_of(invocation, workspace, definition, data_sets, seed)
    if proof is not None:
        document["proof"] = proof_json(proof)
        print_proof(invocation.output, proof)
    if invocation.output.as_json:
        invocation.output.document(document)
    return Exit.FINE if proof is None else exit_of(proof)


monitors.add_command(pause)
monitors.add_command(resume)


def _due_text(definition: MonitorDefinition, paused: Mapping[str, Pause]) -> str:
    """When a monitor comes due, or why it does not."""
    if not definition.enabled:
        return "disabled"
    found = paused.get(definition.id)
    return schedule_text(definition.schedule) if found is None else found.words()


def _pause_json(name: str, paused: Mapping[str, Pause] | None) -> dict[str, object]:
    if paused is None:
        return {}
    return {"paused": paused[name].to_json() if name in paused else None}


def schedule_text(schedule: Schedule | None) -> str:
    """When a monitor comes due, in words."""
    if schedule is None:
        return "on demand"
    if schedule.after_refresh:
        return "after refresh"
    if schedule.every is not None:
        return f"every {duration_text(schedule.every)}"
    return f"{schedule.cron} {schedule.timezone or ''}".strip()


def _rules(schedule: Schedule | None) -> dict[str, object]:
    """How a schedule treats what does not come due plainly."""
    held = schedule or Schedule()
    return {
        "catch_up": held.catch_up,
        "delay": duration_text(held.delay),
        "jitter": duration_text(held.jitter),
        "dst": {"nonexistent": held.nonexistent, "ambiguous": held.ambiguous},
    }


def _said(value: object) -> str:
    """A value as the files spell it."""
    if value is None or value in ({}, []):
        return "—"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _queries(compiled: CompiledMonitor) -> dict[str, str]:
    return {
        "breach": compiled.breach.query.sql,
        "no_data": compiled.no_data.query.sql,
        "population": compiled.population.sql,
    }


def _physical(wiring: Wiring, definition: MonitorDefinition, contract: Contract) -> PhysicalColumns | None:
    """The column types that an evaluation would meet; None where there is no warehouse to look at."""
    try:
        with wiring.engine().snapshot() as snapshot:
            found = {item.view: snapshot.columns(item.view) for item in involved_objects(definition, contract)}
    except EngineFault:
        return None
    known = {view: columns for view, columns in found.items() if columns is not None}
    return known if len(known) == len(found) else None


def _as_json(definition: MonitorDefinition) -> dict[str, object]:
    return {
        "id": definition.id,
        "title": definition.title,
        "description": definition.description or None,
        "object": definition.object,
        "where": print_condition(definition.where) if definition.where is not None else None,
        "breach_when": print_condition(definition.breach_when),
        "grouping": definition.grouping.judged() if definition.grouping is not None else None,
        "baselines": {rule.name: rule_json(rule) for rule in definition.baselines},
        "strict": definition.strict,
        "allow_empty": definition.allow_empty,
        "severity": definition.severity,
        "schedule": schedule_text(definition.schedule),
        **_rules(definition.schedule),
        "enabled": definition.enabled,
        **alerting_json(definition.alerting, definition.no_data),
        "notify": list(definition.notify),
        "samples": definition.samples,
        "timeout": duration_text(definition.timeout) if definition.timeout is not None else None,
        "owner": definition.owner or None,
        "runbook": definition.runbook or None,
        "labels": dict(definition.labels),
        "tests": [test.name for test in definition.tests],
        "definition_hash": definition.definition_hash,
        "file": definition.file,
    }
