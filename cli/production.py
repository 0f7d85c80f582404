"""`trivet beat` and `trivet worker`: the Celery parts, with the project's own settings."""

from __future__ import annotations

from functools import partial

import click

from cli.invocation import Invocation, command
from trivet.exits import Exit
from worker.app import make_app, run_beat, run_worker
from worker.processes import DaemonKind


@click.command()
@command
def beat(invocation: Invocation) -> int:
    """Send a tick to the workers again and again, until stopped."""
    wiring = invocation.wiring()
    app = make_app(wiring)
    # Where nothing is in force yet, files that are at fault are told at once, and not by a line of the log.
    wiring.prepared()
    run_beat(app)
    return Exit.FINE


@click.command()
@command
def worker(invocation: Invocation) -> int:
    """Plan and evaluate as ticks and batches come in, until stopped."""
    level = invocation.environment.get("TRIVET_LOG", "WARNING").upper()
    wiring = invocation.wiring()
    # What is named and cannot be read is said at once, and not by every task.
    wiring.signing_key()
    wiring.life_sign()
    return run_worker(make_app(wiring, wiring.prepared()), level, partial(wiring.at_end, DaemonKind.WORKER))
