"""The ground that a soak is held on: a store, the workspaces whose daemons share it, and what their data said when."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO, TypeAlias

import duckdb
import sqlalchemy as sa

from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import QUICK, kill, opened, stop
from tests.acceptance.files import replace_in
from tests.integration.servers import PostgresServer, running_postgres
from tests.integration.store import MIGRATIONS
from worker.migrating import upgrade_store

Counts: TypeAlias = tuple[int, int, int, int]
"""Population, breach, no_data, compliant."""
Identity: TypeAlias = tuple[str, str, str, str]
"""Of a warehouse file: device, inode, size, time of its last change in nanoseconds."""

WHOLE = "whole"
WEATHERS: Mapping[str, tuple[str, Counts | None]] = {
    WHOLE: ("SELECT 1", (4, 1, 1, 2)),
    "values gone": ("UPDATE raw.readings SET temperature = NULL", (4, 0, 4, 0)),
    "values that are none": ("UPDATE raw.readings SET temperature = 'NaN'", (4, 0, 4, 0)),
    "all too warm": ("UPDATE raw.readings SET temperature = '99'", (4, 4, 0, 0)),
    "rows gone": ("DELETE FROM raw.readings", None),
}
"""What the data may say, how to make it say so, and what an evaluation of it must come to; None: to no counts."""


@dataclass
class Ground:
    """A store, one or two workspaces with a daemon each, and everything that was ever put there to be judged."""

    name: str
    workspaces: list[Path]
    url: str
    store: sa.Engine
    random: Random
    server: PostgresServer | None
    log: IO[str]
    truths: dict[Identity, Counts | None] = field(default_factory=dict)
    daemons: dict[Path, subprocess.Popen[str]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What the command runs with here."""
        return {**QUICK, "TRIVET_STORE__URL": self.url}

    def any_workspace(self) -> Path:
        """One of them."""
        return self.random.choice(self.workspaces)

    def wake(self, workspace: Path, before: Callable[[], None] = lambda: None, **more: str) -> subprocess.Popen[str]:
        """Starts the daemon of a workspace, which is ended first if it runs."""
        if workspace in self.daemons:
            kill(self.daemons.pop(workspace))

        def alone() -> None:
            os.setsid()
            before()

        daemon = start(
            "run", at=workspace, environment=self.environment, before=alone, output=self.log, errors=self.log, **more
        )
        self.daemons[workspace] = daemon
        return daemon

    def command(self, *arguments: str, at: Path | None = None) -> tuple[int, str]:
        """A command beside the daemons: how it ended, and what it said."""
        ended = finish(start(*arguments, at=at or self.workspaces[0], environment=self.environment))
        return ended.code, ended.out + ended.err

    def put(self, workspace: Path, weather: str) -> None:
        """Swaps the warehouse for one that says something else."""
        new = workspace / "new.duckdb"
        shutil.copyfile(workspace / "weathers" / f"{weather}.duckdb", new)
        self.truths[identity_of(new)] = WEATHERS[weather][1]
        new.replace(workspace / "warehouse.duckdb")

    @property
    def logs(self) -> list[Path]:
        """What the daemons write to."""
        return [Path(self.log.name)]

    @property
    def alive(self) -> subprocess.Popen[str]:
        """What must not end by itself."""
        return self.daemons[self.workspaces[0]]

    def rest(self) -> None:
        """Ends whatever evaluates, and leaves the store to be looked at."""
        for workspace in self.workspaces:
            stop(self.daemons.pop(workspace))

    def heal(self) -> None:
        """Takes every fault out again, and has every daemon run."""
        for workspace in self.workspaces:
            self.put(workspace, WHOLE)
            daemon = self.daemons.get(workspace)
            if daemon is None or daemon.poll() is not None:
                self.wake(workspace)


def identity_of(file: Path) -> Identity:
    """As an evaluation records it."""
    found = file.stat()
    return str(found.st_dev), str(found.st_ino), str(found.st_size), str(found.st_mtime_ns)


def recorded_identity(snapshot: str) -> Identity:
    """What an evaluation recorded."""
    found = json.loads(snapshot)
    return found["device"], found["inode"], str(found["size"]), found["modified_ns"]


@contextmanager
def daemons(folder: Path, random: Random) -> Iterator[list[Ground]]:
    """One on SQLite, with one daemon; one on PostgreSQL, with two."""
    with ExitStack() as stack:
        server = stack.enter_context(running_postgres(durable=True))
        places = {"sqlite": 1, "postgresql": 2}
        made = []
        for name, count in places.items():
            workspaces = [soaked_workspace(folder / name / str(number)) for number in range(count)]
            url = f"sqlite:///{workspaces[0] / 'trivet.db'}" if name == "sqlite" else server.new_database()
            store = stack.enter_context(opened(url))
            upgrade_store(store, MIGRATIONS)
            log = stack.enter_context((folder / name / "daemons.log").open("a"))
            own = server if name == "postgresql" else None
            made.append(Ground(name, workspaces, url, store, Random(random.random()), own, log))  # noqa: S311
        try:
            for ground in made:
                ground.heal()
            yield made
        finally:
            for ground in made:
                for daemon in ground.daemons.values():
                    with suppress(ProcessLookupError):
                        os.killpg(daemon.pid, signal.SIGCONT)
                    kill(daemon)


def soaked_workspace(path: Path, monitors: int = 1) -> Path:
    """The workspace that `trivet init` makes, its monitor due every two seconds, and the weathers beside it.

    Args:
        path: where.
        monitors: how many there are, which differ in their names alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    assert trivet("init", path).code == 0
    assert trivet("ingest", at=path).code == 0
    replace_in(path / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    text = (path / "monitors" / "example.yaml").read_text("utf-8")
    for number in range(2, monitors + 1):
        more = text.replace("reading-too-warm", f"reading-too-warm-{number}")
        (path / "monitors" / f"example-{number}.yaml").write_text(more, "utf-8")
    (path / "weathers").mkdir()
    for name, (sql, _) in WEATHERS.items():
        file = path / "weathers" / f"{name}.duckdb"
        shutil.copyfile((path / "warehouse.duckdb").resolve(), file)
        with duckdb.connect(str(file)) as connection:
            connection.execute(sql)
    return path
