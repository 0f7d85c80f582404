"""What a soak does to a ground. Each fault is over when its function returns, but for what a daemon makes of it."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from tests.acceptance.daemons import kill, set_read_only
from tests.acceptance.dying import POINTS, entry
from tests.acceptance.test_crash_points import SCANT
from tests.soak.ground import WEATHERS, WHOLE, Ground, identity_of

PAST_A_LEASE = 4.0
"""Seconds; a lease lasts three."""
BRIEFLY = 2.0


def killed(ground: Ground) -> None:
    """A daemon ends as by a power cut, and another is started."""
    ground.wake(ground.any_workspace())


def killed_at_a_point(ground: Ground) -> None:
    """A daemon ends at one of the named points of an evaluation."""
    workspace = ground.any_workspace()
    dying = ground.wake(workspace, entry=entry(ground.random.choice(sorted(POINTS.values()))))
    with suppress(subprocess.TimeoutExpired):
        dying.wait(timeout=3 * PAST_A_LEASE)
    ground.wake(workspace)


def stopped(ground: Ground) -> None:
    """A daemon does nothing for longer than its lease, and goes on."""
    daemon = ground.daemons[ground.any_workspace()]
    with suppress(ProcessLookupError):
        os.killpg(daemon.pid, signal.SIGSTOP)
        time.sleep(PAST_A_LEASE)
        os.killpg(daemon.pid, signal.SIGCONT)


def data_changed(ground: Ground) -> None:
    """The warehouse is swapped for one that says something else."""
    ground.put(ground.any_workspace(), ground.random.choice(sorted(WEATHERS)))


def data_damaged(ground: Ground) -> None:
    """The warehouse is cut short, overwritten or removed, and there again after a while."""
    workspace = ground.any_workspace()
    file = workspace / "warehouse.duckdb"
    match ground.random.randrange(3):
        case 0:
            os.truncate(file, 9000)
        case 1:
            with file.open("r+b") as handle:
                handle.write(ground.random.randbytes(os.stat(file).st_size))
        case _:
            file.unlink()
    time.sleep(BRIEFLY)
    ground.put(workspace, WHOLE)


def data_locked(ground: Ground) -> None:
    """Another program holds the warehouse for writing."""
    code = "import sys, duckdb, time; c = duckdb.connect(sys.argv[1]); time.sleep(60)"
    file = ground.any_workspace() / "warehouse.duckdb"
    truth = ground.truths[identity_of(file)]
    # Where a daemon reads it just now it cannot be held, and nothing is done.
    writer = subprocess.Popen([sys.executable, "-c", code, str(file)], stderr=subprocess.DEVNULL)
    time.sleep(BRIEFLY)
    writer.kill()
    writer.wait()
    # Opening it for writing touches it.
    ground.truths[identity_of(file)] = truth


def paused(ground: Ground) -> None:
    """Somebody pauses the monitor for a few seconds, if the store lets them."""
    why = ("--owner", "soak", "--reason", "a fault")
    ground.command("monitors", "pause", "reading-too-warm", "--until", "3s", *why)


def published(ground: Ground) -> None:
    """Somebody publishes other monitors, if the store lets them."""
    for workspace in ground.workspaces:
        file = workspace / "monitors" / "example.yaml"
        text = file.read_text("utf-8")
        one, other = ("severity: warning", "severity: critical")
        file.write_text(text.replace(one, other) if one in text else text.replace(other, one), "utf-8")
    ground.command("apply")


def store_locked(ground: Ground) -> None:
    """Somebody else writes to the SQLite file for a while."""
    with closing(sqlite3.connect(ground.workspaces[0] / "trivet.db", isolation_level=None, timeout=60)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(PAST_A_LEASE)
        other.execute("ROLLBACK")


def store_full(ground: Ground) -> None:
    """A daemon is allowed to write hardly anything."""
    (workspace,) = ground.workspaces
    ground.wake(workspace, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SCANT, SCANT)))
    time.sleep(PAST_A_LEASE)
    ground.wake(workspace)


def server_ended(ground: Ground) -> None:
    """PostgreSQL ends at once, and is there again after a moment."""
    assert ground.server is not None
    ground.server.stop()
    time.sleep(ground.random.uniform(0, BRIEFLY))
    ground.server.start()


def server_reads_only(ground: Ground) -> None:
    """PostgreSQL throws everyone out and takes nothing new for a while."""
    set_read_only(ground.store, "on")
    time.sleep(PAST_A_LEASE)
    set_read_only(ground.store, "off")


def all_killed(ground: Ground) -> None:
    """Nothing runs for longer than a lease."""
    for workspace in ground.workspaces:
        kill(ground.daemons.pop(workspace))
    time.sleep(PAST_A_LEASE)
    for workspace in ground.workspaces:
        ground.wake(workspace)


_ANYWHERE = (killed, killed_at_a_point, stopped, data_changed, data_damaged, data_locked, paused, published, all_killed)
FAULTS: Mapping[str, tuple[Callable[[Ground], None], ...]] = {
    "sqlite": (*_ANYWHERE, store_locked, store_full),
    "postgresql": (*_ANYWHERE, server_ended, server_reads_only),
}
"""Those of a ground, by its store."""
