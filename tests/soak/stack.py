"""The ground that a soak of the whole topology is held on: `trivet stack up`, and what is done to its processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import redis

from tests.acceptance.command import start
from tests.acceptance.daemons import QUICK, all_ended, kill, opened, wait_for
from tests.soak import faults
from tests.soak.faults import PAST_A_LEASE
from tests.soak.ground import Ground, soaked_workspace
from tests.soak.report import last_slot
from worker.stack.folder import BROKER_URL, STORE_URL, StackFolder
from worker.stack.supervisor import FINE_STATES, PartState

MONITORS = 5
KILLED = ("redis", "postgres", "beat", "worker-1", "worker-2")


@dataclass
class Stack:
    """The processes of a stack, whoever started it."""

    folder: StackFolder
    supervisor: subprocess.Popen[str]

    def process(self, part: str) -> int | None:
        """The process of a part; None while it is started again."""
        return next((item["pid"] for item in self._parts() if item["name"] == part), None)

    def is_running(self, part: str) -> bool:
        """Whether a part can be used."""
        return any(item["name"] == part and item["state"] == PartState.RUNNING for item in self._parts())

    def is_whole(self) -> bool:
        """Whether every part can be used."""
        found = self._parts()
        return bool(found) and all(item["state"] in FINE_STATES for item in found)

    def signal(self, part: str, number: signal.Signals) -> None:
        """To a part and all its children, if it runs."""
        process = self.process(part)
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process, number)

    def _parts(self) -> list[dict[str, Any]]:
        state = self.folder.state()
        # What an earlier supervisor said is not of these processes.
        return state["parts"] if state is not None and state["supervisor"] == self.supervisor.pid else []


@dataclass
class StackGround(Ground):
    """A stack, of which every part may be met."""

    stack: Stack | None = field(default=None)

    @property
    def parts(self) -> Stack:
        """The processes."""
        assert self.stack is not None
        return self.stack

    @property
    def environment(self) -> dict[str, str]:
        """What the command runs with here."""
        return QUICK | self.parts.folder.access().environment()

    @property
    def logs(self) -> list[Path]:
        """What the supervisor and the parts write to."""
        return [*super().logs, *sorted(self.parts.folder.logs.glob("*.log"))]

    def heal(self) -> None:
        """Takes every fault out again, and waits for every part."""
        for workspace in self.workspaces:
            self.put(workspace, "whole")
        wait_for(self.parts.is_whole, self.alive)

    def rest(self) -> None:
        """Nothing is planned any more; what was handed out is at its end already."""
        self.parts.signal("beat", signal.SIGSTOP)
        # Longer than a tick that was sent already can wait.
        time.sleep(PAST_A_LEASE)
        wait_for(lambda: all_ended(self.store, last_slot(self)), self.alive)


def part_killed(ground: StackGround) -> None:
    """A part ends as by a power cut."""
    ground.parts.signal(ground.random.choice(KILLED), signal.SIGKILL)


def child_killed(ground: StackGround) -> None:
    """One of the processes that evaluate ends, and its worker does not."""
    worker = ground.parts.process(ground.random.choice(("worker-1", "worker-2")))
    children = _children(worker) if worker is not None else []
    if children:
        with suppress(ProcessLookupError):
            os.kill(ground.random.choice(children), signal.SIGKILL)


def worker_stopped(ground: StackGround) -> None:
    """A worker does nothing for longer than its lease, and goes on."""
    worker = ground.random.choice(("worker-1", "worker-2"))
    ground.parts.signal(worker, signal.SIGSTOP)
    time.sleep(PAST_A_LEASE)
    ground.parts.signal(worker, signal.SIGCONT)


def redis_emptied(ground: StackGround) -> None:
    """Redis forgets all messages."""
    with suppress(redis.RedisError), closing(redis.Redis.from_url(ground.environment[BROKER_URL])) as client:
        client.flushall()


def both_workers_killed(ground: StackGround) -> None:
    """Nobody evaluates for a moment."""
    for worker in ("worker-1", "worker-2"):
        ground.parts.signal(worker, signal.SIGKILL)


def everything_killed(ground: StackGround) -> None:
    """As by a power cut of the whole machine, but for the supervisor."""
    for part in KILLED:
        ground.parts.signal(part, signal.SIGKILL)


def server_reads_only(ground: StackGround) -> None:
    """PostgreSQL takes nothing new for a while."""
    wait_for(lambda: ground.parts.is_running("postgres"), ground.alive)
    faults.server_reads_only(ground)


PROCESS_FAULTS: Sequence[Callable[[StackGround], None]] = (
    part_killed,
    part_killed,
    child_killed,
    worker_stopped,
    redis_emptied,
    both_workers_killed,
    everything_killed,
)
"""What needs nothing of Trivet, so that it can be done to others, too."""
STACK_FAULTS: Sequence[Callable[[Any], None]] = (
    *PROCESS_FAULTS,
    faults.data_changed,
    faults.data_damaged,
    faults.data_locked,
    faults.paused,
    faults.published,
    server_reads_only,
)


@contextmanager
def stacks(folder: Path, random: Random) -> Iterator[list[StackGround]]:
    """One stack with two workers, and five monitors that come due every two seconds."""
    del folder  # Where root runs it, PostgreSQL runs as somebody who cannot enter every folder.
    place = Path(tempfile.mkdtemp(prefix="trivet-stack-soak-"))
    place.chmod(0o755)
    workspace = soaked_workspace(place / "workspace", MONITORS)
    with (place / "daemons.log").open("a") as log:
        supervisor = start("stack", "up", at=workspace, environment=QUICK, before=os.setsid, output=log, errors=log)
        stack = Stack(StackFolder.of(workspace), supervisor)
        try:
            wait_for(stack.is_whole, supervisor)
            url = stack.folder.access().environment()[STORE_URL]
            with opened(url) as store:
                ground = StackGround("stack", [workspace], url, store, random, None, log, stack=stack)
                ground.daemons[workspace] = supervisor
                ground.heal()
                yield [ground]
        finally:
            kill(supervisor)
            shutil.rmtree(place, ignore_errors=True)


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8")
    except FileNotFoundError:
        return []
    return [int(child) for child in text.split()]
