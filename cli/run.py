"""`trivet run`: the embedded daemon."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType

import click
from rich.text import Text

from cli.invocation import Invocation, command
from cli.output import STYLES, visible
from monitors.evaluation import NotMade
from trivet.errors import UsageError
from trivet.exits import Exit
from worker.bootstrap import Wiring
from worker.embedded import EmbeddedDaemon, only_daemon
from worker.evaluate import Recorded


@click.command("run")
@command
def run_daemon(invocation: Invocation) -> int:
    """Evaluate monitors as they come due, until stopped (JSON Lines with --json)."""
    workspace = invocation.workspace()
    settings, _, monitors = workspace.require()
    if settings.scheduler.mode != "embedded":
        raise UsageError("scheduler.mode is celery; start `trivet beat` and `trivet worker` instead")
    wiring = invocation.wiring(workspace)
    with only_daemon(lock_file(wiring)):
        telling = threading.Lock()

        def report(recorded: Recorded) -> None:
            with telling:
                _show(invocation, recorded)
                # Whoever reads along is not to wait until a buffer is full.
                invocation.output.flush()

        def tell(text: str) -> None:
            with telling:
                invocation.output.tell(text)

        daemon = EmbeddedDaemon(wiring.runtime(tell), settings.scheduler.workers, report)
        scheduled = sum(item.enabled and item.schedule is not None for item in monitors)
        told = f"{scheduled} monitor is" if scheduled == 1 else f"{scheduled} monitors are"
        invocation.output.print(f"{told} scheduled; stop with Ctrl-C")
        daemon.run(settings.scheduler.tick, _stop_signal())
    return Exit.FINE


def lock_file(wiring: Wiring) -> Path:
    """Beside a SQLite store, so that it is the store's own; in the workspace where the store is a server."""
    file = wiring.store_url().removeprefix("sqlite:///")
    return Path(f"{file}-lock") if file != wiring.store_url() else wiring.path / ".trivet-run.lock"


def _stop_signal() -> threading.Event:
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
