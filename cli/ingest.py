"""`trivet ingest`: sources to raw tables to governed views, swapped in as one."""

from __future__ import annotations

import click

from cli.invocation import Invocation, command
from trivet.errors import InputError
from trivet.exits import Exit


@click.command()
@command
def ingest(invocation: Invocation) -> int:
    """Build the warehouse anew from the sources, and swap it in."""
    workspace = invocation.workspace()
    if workspace.contract is None:
        raise InputError(workspace.findings)
    report = invocation.wiring(workspace).ingest(workspace.contract)
    if invocation.output.as_json:
        invocation.output.document(report.to_json())
        return Exit.FINE
    invocation.output.table(
        ["raw table", "rows", "from"],
        [(item.name, f"{item.rows:,}", ", ".join(one.document for one in item.documents)) for item in report.tables],
    )
    invocation.output.table(["governed view", "rows"], [(item.name, f"{item.rows:,}") for item in report.views])
    invocation.output.print(f"warehouse {report.generation} is in place ({report.seconds:.1f} s)")
    return Exit.FINE
