"""Keeps the parts of a stack running: starts them in order, starts again what ended, and ends all in reverse."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trivet.clock import SystemClock, utc_text
from worker.stack.folder import StackFolder
from worker.stack.parts import Part

_LOOK_EVERY = 0.2
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
"""Seconds before a part that ended is started again; twice as long each time."""
_STEADY_AFTER = 15.0
"""Seconds after which a part that runs is forgiven what happened before."""
_PR_SET_PDEATHSIG = 1


class PartState(StrEnum):
    """How a part stands."""

    WAITING = "waiting"
    """For parts that it needs."""
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    """It did its work and ended."""
    ENDED = "ended"
    """It ended by itself, and is started again in a moment."""


FINE_STATES = (PartState.RUNNING, PartState.DONE)


@dataclass
class _Watched:
    part: Part
    process: subprocess.Popen[bytes] | None = None
    is_ready: bool = False
    is_done: bool = False
    since: str | None = None
    """Of its present run."""
    began: float = 0.0
    restarts: int = 0
    last_end: str | None = None
    """How its last run ended."""
    ended_at: str | None = None
    delay: float = _FIRST_DELAY
    starts_at: float = 0.0

    @property
    def state(self) -> PartState:
        """As it is told."""
        if self.is_done:
            return PartState.DONE
        if self.process is None:
            return PartState.WAITING if self.last_end is None else PartState.ENDED
        return PartState.RUNNING if self.is_ready else PartState.STARTING

    def to_json(self) -> dict[str, Any]:
        """As the state file holds it."""
        return {
            "name": self.part.name,
            "state": self.state.value,
            "pid": self.process.pid if self.process is not None else None,
            "since": self.since,
            "restarts": self.restarts,
            "last_end": self.last_end,
            "ended_at": self.ended_at,
        }


class Supervisor:
    """Of one stack."""

    def __init__(self, folder: StackFolder, parts: Sequence[Part], tell: Callable[[str], None]) -> None:
        """Of these parts; `tell` is given each change in words."""
        self._folder = folder
        self._watched = {part.name: _Watched(part) for part in parts}
        self._tell = tell
        self._began = utc_text(SystemClock().now())
        self._told: Mapping[str, Any] | None = None

    def run(self, stop: threading.Event) -> None:
        """Keeps everything running until `stop` is set, and then ends it. In the process's first thread only."""
        try:
            while not stop.is_set():
                for item in self._watched.values():
                    self._look(item)
                self._write()
                stop.wait(_LOOK_EVERY)
        finally:
            self._end_all()
            self._write()

    def _look(self, item: _Watched) -> None:
        now = time.monotonic()
        if item.is_done:
            return
        if item.process is None:
            if now >= item.starts_at and all(self._is_usable(name) for name in item.part.after):
                self._start(item)
            return
        code = item.process.poll()
        if code is not None:
            self._ended(item, code)
        elif not item.is_ready:
            item.is_ready = not item.part.once and item.part.is_ready()
        elif now - item.began > _STEADY_AFTER:
            item.delay = _FIRST_DELAY

    def _is_usable(self, name: str) -> bool:
        item = self._watched[name]
        return item.is_done or item.is_ready

    def _start(self, item: _Watched) -> None:
        part = item.part
        with (self._folder.logs / f"{part.name}.log").open("ab") as log:
            item.process = subprocess.Popen(  # noqa: S603 (parts are written in parts.py)
                part.command,
                env=dict(part.environment),
                cwd=self._folder.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=part.user,
                extra_groups=[] if part.user is not None else None,
                preexec_fn=lambda: _dies_with_parent(part.orphan_signal),
            )
        item.began, item.since, item.is_ready = time.monotonic(), utc_text(SystemClock().now()), False
        self._tell(f"{part.name} started, process {item.process.pid}")

    def _ended(self, item: _Watched, code: int) -> None:
        if item.process is not None:
            # What it had forked goes with it, so that nothing works on unwatched.
            _signal_group(item.process, signal.SIGKILL)
        item.process, item.is_ready, item.since = None, False, None
        if item.part.once and code == 0:
            item.is_done = True
            self._tell(f"{item.part.name} is done")
            return
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
        item.last_end, item.ended_at, item.restarts = how, utc_text(SystemClock().now()), item.restarts + 1
        item.starts_at = time.monotonic() + item.delay
        self._tell(f"{item.part.name} ended {how}; it is started again in {item.delay:g} s")
        item.delay = min(2 * item.delay, _LONGEST_DELAY)

    def _end_all(self) -> None:
        for item in reversed(self._watched.values()):
            process = item.process
            if process is None:
                continue
            process.send_signal(item.part.stop_signal)
            try:
                process.wait(timeout=item.part.grace)
            except subprocess.TimeoutExpired:
                self._tell(f"{item.part.name} did not end within {item.part.grace:g} s and is killed")
            _signal_group(process, signal.SIGKILL)
            process.wait()
            item.process, item.since, item.last_end = None, None, "stopped"
            self._tell(f"{item.part.name} ended")

    def _write(self) -> None:
        state = {
            "supervisor": os.getpid(),
            "since": self._began,
            "parts": [item.to_json() for item in self._watched.values()],
        }
        if state != self._told:
            self._folder.write_state(state)
            self._told = state


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _dies_with_parent(number: signal.Signals) -> None:
    """Of Linux: a supervisor that is killed leaves nobody who works on unwatched."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
