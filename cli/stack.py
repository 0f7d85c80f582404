"""`trivet stack`: the whole production topology on one machine, without containers."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

import click
from rich.table import Table

from cli.invocation import Invocation, command
from cli.output import visible
from trivet.errors import UnavailableError
from trivet.exits import Exit
from worker.stack.folder import StackFolder
from worker.stack.parts import parts, trivet_command
from worker.stack.supervisor import FINE_STATES, Supervisor

_PATIENCE = 120.0
"""Seconds that everything has to come up, or to end."""
_LOOK_EVERY = 0.2


@click.group()
def stack() -> None:
    """Run Redis, PostgreSQL, beat, workers and the health server together, supervised."""


@stack.command()
@click.option("--workers", type=click.IntRange(1, 32), default=2, show_default=True, help="How many worker processes.")
@click.option("--detach", "-d", is_flag=True, help="Go on in the background once everything runs.")
@command
def up(invocation: Invocation, workers: int, detach: bool) -> int:
    """Start everything, and start again what ends, until stopped."""
    folder = StackFolder.of(invocation.path)
    # What is wrong with the settings is said once and here, and not by each part in its log.
    invocation.workspace().require_settings()
    if detach:
        return _detached(invocation, folder, workers)
    folder.path.mkdir(exist_ok=True)
    with folder.only_supervisor():
        found = parts(folder, folder.prepare(), invocation.path.resolve(), workers)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: stop.set())
        invocation.output.print(f"logs are in {folder.logs}; stop with Ctrl-C or `trivet stack down`")
        Supervisor(folder, found, lambda line: invocation.output.print(visible(line))).run(stop)
    return Exit.FINE


@stack.command()
@command
def down(invocation: Invocation) -> int:
    """End everything, the workers after what they are at. The data stays."""
    folder = StackFolder.of(invocation.path)
    state = folder.state()
    if state is None or not folder.is_up():
        invocation.output.print("the stack is not up")
        return Exit.FINE
    os.kill(state["supervisor"], signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE
    while folder.is_up():
        if time.monotonic() > deadline:
            raise UnavailableError(f"process {state['supervisor']} does not end; look at {folder.logs}")
        time.sleep(_LOOK_EVERY)
    invocation.output.print("the stack is down")
    return Exit.FINE


@stack.command()
@command
def status(invocation: Invocation) -> int:
    """Show how each part stands. Exits with 4 where one does not run, and with 69 where the stack is not up."""
    folder = StackFolder.of(invocation.path)
    is_up, state = folder.is_up(), folder.state()
    found: list[dict[str, Any]] = state["parts"] if state is not None and is_up else []
    if invocation.output.as_json:
        since = state["since"] if state is not None and is_up else None
        invocation.output.document({"up": is_up, "since": since, "logs": str(folder.logs), "parts": found})
    if not is_up:
        invocation.output.print("the stack is not up; `trivet stack up` starts it")
        return Exit.UNAVAILABLE
    invocation.output.print(_table(found))
    return Exit.FINE if all(item["state"] in FINE_STATES for item in found) else Exit.CHECK_FAILED


@stack.command("exec", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, required=True)
@command
def execute(invocation: Invocation, arguments: tuple[str, ...]) -> int:
    """Run a command of trivet on the stack's store, such as `trivet stack exec doctor`."""
    folder = StackFolder.of(invocation.path)
    called = trivet_command(invocation.path, *arguments, *(["--json"] if invocation.output.as_json else []))
    environment = dict(invocation.environment) | folder.access().environment()
    return subprocess.run(called, env=environment, check=False).returncode  # noqa: S603 (this very program)


def _detached(invocation: Invocation, folder: StackFolder, workers: int) -> int:
    if folder.is_up():
        raise UnavailableError("the stack is up already; `trivet stack down` ends it")
    folder.path.mkdir(exist_ok=True)
    folder.logs.mkdir(exist_ok=True)
    log = folder.logs / "supervisor.log"
    with log.open("ab") as output:
        started = subprocess.Popen(  # noqa: S603 (this very program)
            trivet_command(invocation.path.resolve(), "stack", "up", "--workers", str(workers)),
            env=dict(invocation.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + _PATIENCE
    while not _is_complete(folder.state(), started.pid):
        if started.poll() is not None or time.monotonic() > deadline:
            last = log.read_text("utf-8").strip().splitlines()[-1:]
            raise UnavailableError(f"the stack did not come up: {' '.join(last)}; look at {folder.logs}")
        time.sleep(_LOOK_EVERY)
    invocation.output.print(f"the stack is up; `trivet stack status` shows it, and its logs are in {folder.logs}")
    return Exit.FINE


def _is_complete(state: Mapping[str, Any] | None, supervisor: int) -> bool:
    return (
        state is not None
        and state["supervisor"] == supervisor
        and all(item["state"] in FINE_STATES for item in state["parts"])
    )


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("part", "state", "process", "since", "restarts", "last end", "at"):
        table.add_column(name)
    for item in found:
        values = (item[name] for name in ("name", "state", "pid", "since", "restarts", "last_end", "ended_at"))
        table.add_row(*("" if value is None else str(value) for value in values))
    return table
