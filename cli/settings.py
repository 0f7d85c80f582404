"""`trivet settings`: the settings in force, and where each came from."""

from __future__ import annotations

import json

import click

from cli.invocation import Invocation, command
from trivet.exits import Exit


@click.command()
@command
def settings(invocation: Invocation) -> int:
    """Print the effective settings with their origins; secrets are shown as references."""
    workspace = invocation.workspace()
    workspace.require_settings()
    effective = workspace.effective.effective
    if invocation.output.as_json:
        invocation.output.document({item.key: {"value": item.value, "origin": item.origin} for item in effective})
    rows = [
        (item.key, item.value if isinstance(item.value, str) else json.dumps(item.value), item.origin)
        for item in effective
    ]
    invocation.output.table(["setting", "value", "from"], rows)
    return Exit.FINE
