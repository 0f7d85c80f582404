"""Interleaved rounds, each subject in a process of its own, so that each has a peak of memory of its own.

Machines drift, so no subject is measured at a time of its own: a round asks each of them once, in
turn, and the medians over the rounds are compared. A process is made ready (imports, compiled
queries) before the first round, as a daemon's is.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol, TypeAlias

Figures: TypeAlias = Mapping[str, float]
"""What one run came to, by name: seconds, or bytes."""


class Job(Protocol):
    """What a process measures. It is sent there, so it is made of plain values."""

    def prepare(self) -> Callable[[], Figures]:
        """Makes everything ready, and gives what each round runs."""


def measure(jobs: Mapping[str, Job], rounds: int) -> dict[str, dict[str, float]]:
    """The summary of the rounds, by the names of the jobs and of their figures."""
    found: dict[str, list[Figures]] = {name: [] for name in jobs}
    with _processes(jobs) as processes:
        for _ in range(rounds):
            for name, connection in processes.items():
                found[name].append(_answer(name, connection))
    return {name: summary(figures) for name, figures in found.items()}


class Stopwatch:
    """Wall-clock and processor time since it was made; the latter counts all threads of the process."""

    def __init__(self) -> None:
        self._wall, self._work = time.perf_counter(), time.process_time()

    def read(self, name: str) -> dict[str, float]:
        """Both times, named for what was done in them."""
        wall, work = time.perf_counter() - self._wall, time.process_time() - self._work
        return {f"{name} seconds": wall, f"{name} work": work}


def peak_memory() -> int:
    """The most bytes that this process ever held, where the system tells it; 0 elsewhere."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    lines = (line.split() for line in status.read_text("utf-8").splitlines())
    return next((int(line[1]) * 1024 for line in lines if line[0] == "VmHWM:"), 0)


@contextmanager
def _processes(jobs: Mapping[str, Job]) -> Iterator[dict[str, Connection]]:
    context = multiprocessing.get_context("spawn")
    started, connections = [], {}
    try:
        for name, job in jobs.items():
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(job, theirs), daemon=True)
            process.start()
            theirs.close()
            started.append(process)
            connections[name] = ours
        yield connections
    finally:
        for connection in connections.values():
            connection.close()
        for process in started:
            process.join()


def _serve(job: Job, connection: Connection) -> None:
    """Runs the job once for each question, until nobody asks any more."""
    run: Callable[[], Figures] | None = None
    try:
        while connection.recv() is None:
            run = run or job.prepare()
            connection.send(dict(run()))
    except EOFError:
        return


def _answer(name: str, connection: Connection) -> Figures:
    connection.send(None)
    try:
        figures: Figures = connection.recv()
    except EOFError:
        raise RuntimeError(f"the process that measures '{name}' ended; what it said stands above") from None
    return figures


def summary(figures: Sequence[Figures]) -> dict[str, float]:
    """The median of each figure over the rounds. A peak is that of the first round: later ones only add to it."""
    first = figures[0]
    return {
        name: first[name] if name.startswith("peak") else statistics.median(item[name] for item in figures)
        for name in first
    }
