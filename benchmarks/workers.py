"""What one, two and four workers of a stack make: evaluations a second, and how long a slot waits at 80 % of that.

The topology is that of `trivet stack up`, on this one machine: Redis, PostgreSQL with fsync, beat, `serve`, and so many
workers of one evaluating process each. The workspace is the one that `trivet init` makes, of four rows. First more
monitors than can be made come due, spread over half a minute; what is made of them each second, once it runs, is the
rate. A rate of monitors that come due all at once would not do: they are made in batches, and are cheaper each. Then
so many as make 80 % of that rate come due spread over half a minute, and of each the time from when it came due until
it was begun is taken. It runs from the root of the checkout as `python -m benchmarks.workers`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from benchmarks.sustained import CONDITIONS, ROOT
from tests.acceptance.command import finish, start
from tests.acceptance.daemons import kill, opened
from worker.stack.folder import STORE_URL, StackFolder
from worker.stores import read_only
from worker.tables import evaluation

_SETTINGS = {"TRIVET_SCHEDULER__TICK": "1s", "TRIVET_SCHEDULER__WORKERS": "1", "TRIVET_API__PORT": "0"}


def workspace(folder: Path, condition: str, delays: Sequence[int], every: int) -> Path:
    """The workspace of `trivet init` with a monitor for each delay, in seconds."""
    made = Path(shutil.copytree(ROOT / "examples" / "empty", folder))
    lines = [
        f"  - {{id: small-{number:05}, object: reading, breach_when: '{condition}', "
        f"schedule: {{every: {every}s}}, delay: {delay}s}}"
        for number, delay in enumerate(delays)
    ]
    (made / "monitors" / "example.yaml").write_text("\n".join(["monitors:", *lines, ""]), "utf-8")
    for command in ("check", "ingest"):
        ended = finish(start(command, at=made))
        if ended.code != 0:
            raise SystemExit(ended.err)
    return made


@contextmanager
def stack(place: Path, workers: int) -> Iterator[sa.Engine]:
    """The store of a stack that runs."""
    with (place / "log").open("w") as log:
        arguments = ("stack", "up", "--workers", str(workers))
        supervisor = start(*arguments, at=place, environment=_SETTINGS, before=os.setsid, output=log, errors=log)
        try:
            folder = StackFolder.of(place)
            while not _is_up(folder, supervisor.pid):
                if supervisor.poll() is not None:
                    raise SystemExit((place / "log").read_text("utf-8"))
                time.sleep(0.2)
            with opened(folder.access().environment()[STORE_URL]) as store:
                yield store
        finally:
            kill(supervisor)


def _is_up(folder: StackFolder, supervisor: int) -> bool:
    state = folder.state()
    if state is None or state["supervisor"] != supervisor:
        return False
    return all(item["state"] in ("running", "done") for item in state["parts"])


def evaluations(place: Path, workers: int, rounds: int, every: int) -> list[sa.RowMapping]:
    """What is stored of each slot once so many intervals have passed after a first one, in which much is built."""
    with stack(place, workers) as store:
        time.sleep((rounds + 2) * every)
        with read_only(store).connect() as connection:
            return list(connection.execute(sa.select(evaluation)).mappings())


def window(made: Sequence[sa.RowMapping], rounds: int, every: int) -> tuple[datetime, datetime]:
    """From the second instant on, so many intervals."""
    began = sorted({datetime.fromisoformat(row["scheduled_for"]) for row in made})[1]
    return began, began + timedelta(seconds=rounds * every)


def rate(made: Sequence[sa.RowMapping], rounds: int, every: int) -> float:
    """Evaluations a second that ended in the window, though more came due than were made."""
    since, until = window(made, rounds, every)
    ended = [datetime.fromisoformat(row["finished_at"]) for row in made if row["status"] == "completed"]
    within = sum(since <= at < until for at in ended)
    due = sum(since <= datetime.fromisoformat(row["scheduled_for"]) < until for row in made)
    if within >= 0.95 * due:
        raise SystemExit(f"all but all of {due} were made: take more monitors")
    return within / (until - since).total_seconds()


def waits(made: Sequence[sa.RowMapping], delays: Sequence[int], rounds: int, every: int) -> list[float]:
    """Seconds from when each came due until it was begun; until it came due again where nobody began it."""
    since, until = window(made, rounds, every)
    found = []
    for row in made:
        at = datetime.fromisoformat(row["scheduled_for"])
        if not since <= at < until:
            continue
        due = at + timedelta(seconds=delays[int(row["monitor"][6:])])
        begun = row["status"] == "completed"
        found.append((datetime.fromisoformat(row["started_at"]) - due).total_seconds() if begun else float(every))
    return sorted(found)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--monitors", type=int, default=2000, help="that come due in an interval, more than are made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=30, help="seconds from one instant to the next")
    parser.add_argument("--load", type=float, default=0.8, help="share of the rate at which waits are taken")
    options = parser.parse_args()
    condition, every, rounds = CONDITIONS["two members to tell"], options.every, options.rounds

    def spread(place: Path, monitors: int, workers: int) -> tuple[list[sa.RowMapping], list[int]]:
        delays = [number % every for number in range(monitors)]
        return evaluations(workspace(place, condition, delays, every), workers, rounds, every), delays

    for workers in options.workers:
        folder = Path(tempfile.mkdtemp(prefix="trivet-bench-"))
        folder.chmod(0o755)
        overloaded, _ = spread(folder / "rate", options.monitors, workers)
        most = rate(overloaded, rounds, every)
        made, delays = spread(folder / "wait", int(options.load * most * every), workers)
        found = waits(made, delays, rounds, every)
        p95 = found[int(0.95 * (len(found) - 1))]
        print(
            f"{workers} workers: {most:.0f} evaluations/s; of {len(delays)} in {every} s one waits "
            f"{statistics.median(found):.1f} s (p95 {p95:.1f}, at most {found[-1]:.1f})",
            flush=True,
        )
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
