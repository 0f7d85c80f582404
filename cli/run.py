"""`trivet run`: the embedded daemon."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import click
from rich.text import Text

from api.app import make_http_app
from api.server import address_of, listen, serving
from cli.invocation import Invocation, command
from cli.output import STYLES, visible
from monitors.evaluation import NotMade
from trivet.errors import UnavailableError, UsageError
from trivet.exits import Exit
from worker.applying import person
from worker.bootstrap import Wiring
from worker.embedded import EmbeddedDaemon, only_daemon
from worker.evaluate import Recorded
from worker.runtime import process_name
from worker.workspace import Workspace

_log = logging.getLogger(__name__)


@click.command("run")
@command
def run_daemon(invocation: Invocation) -> int:
    """Evaluate monitors as they come due, until stopped (JSON Lines with --json)."""
    workspace = invocation.workspace()
    settings, _, monitors = workspace.require()
    if settings.scheduler.mode != "embedded":
        raise UsageError("scheduler.mode is celery; start `trivet beat` and `trivet worker` instead")
    wiring = invocation.wiring(workspace)
    process = process_name()
    with only_daemon(lock_file(wiring), process) as before:
        telling = threading.Lock()

        def report(recorded: Recorded) -> None:
            with telling:
                _show(invocation, recorded)
                # Whoever reads along is not to wait until a buffer is full.
                invocation.output.flush()

        def tell(text: str) -> None:
            with telling:
                invocation.output.tell(text)

        # Whatever the settings name must be there before anything is written.
        runtime = replace(wiring.runtime(tell), process=process)
        publish(invocation, wiring, workspace)
        runtime.take_over(before)
        daemon = EmbeddedDaemon(runtime, settings.scheduler.workers, report)
        stop = stop_signal()
        scheduled = sum(item.enabled and item.schedule is not None for item in monitors)
        told = f"{scheduled} monitor is" if scheduled == 1 else f"{scheduled} monitors are"
        with _served(invocation, wiring, daemon):
            invocation.output.print(f"{told} scheduled; stop with Ctrl-C")
            daemon.run(settings.scheduler.tick, stop)
    return Exit.FINE


@contextmanager
def _served(invocation: Invocation, wiring: Wiring, daemon: EmbeddedDaemon) -> Iterator[None]:
    """Serves health and metrics while the daemon runs. Where that cannot be, it says so, and evaluates all the same."""
    api = wiring.settings.api
    try:
        listening = listen(api.host, api.port)
    except UnavailableError as error:
        _log.warning("%s; monitors are evaluated all the same", error)
        yield
        return
    with serving(make_http_app(wiring, daemon.pulse), listening):
        announce(invocation, listening)
        yield


def announce(invocation: Invocation, listening: socket.socket) -> None:
    """Says where health and metrics are."""
    address = address_of(listening)
    invocation.output.print(f"health and metrics at {address}/healthz, /readyz and /metrics")
    _log.info("serving at %s", address)


def publish(invocation: Invocation, wiring: Wiring, workspace: Workspace) -> None:
    """Puts the files in force where something else is: whoever edits and starts again need not know of `apply`."""
    store = wiring.store()
    try:
        done = wiring.publisher(store).publish(workspace, person())
    finally:
        store.dispose()
    if done.published:
        invocation.output.print(f"published as ledger entry {done.seq}: {visible(done.changes.words())}")


def lock_file(wiring: Wiring) -> Path:
    """Beside a SQLite store, so that it is the store's own; in the workspace where the store is a server."""
    file = wiring.store_url().removeprefix("sqlite:///")
    return Path(f"{file}-lock") if file != wiring.store_url() else wiring.path / ".trivet-run.lock"


def stop_signal() -> threading.Event:
    """An event that SIGTERM and SIGINT set. A second signal ends the process as if nothing listened."""
    stop = threading.Event()

    def listen(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, listen)
    signal.signal(signal.SIGINT, listen)
    return stop


def _show(invocation: Invocation, recorded: Recorded) -> None:
    made = recorded.evaluation
    if invocation.output.as_json:
        invocation.output.document(made.to_json(recorded.ledger_seq))
        return
    outcome = made.outcome
    if isinstance(outcome, NotMade):
        told = f"{outcome.reason}: {outcome.cause}" if outcome.cause else outcome.reason.value
    else:
        told = made.badge or ""
    parts = (made.slot.isoformat(timespec="seconds"), visible(made.definition.id))
    invocation.output.print(Text.assemble("  ".join(parts), "  ", (made.verdict, STYLES[made.verdict]), "  ", told))
