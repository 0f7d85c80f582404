"""What a stack consists of: the processes, what each waits for, and how it is ended."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from trivet.errors import TrivetError, UnavailableError
from worker.stack.folder import STORE_URL, Access, StackFolder, write_private
from worker.stack.programs import postgres_programs, redis_server
from worker.stores import open_store

_ENTRY = "import sys; from cli.main import main; sys.argv[0] = 'trivet'; main()"
_UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the stack."""

    name: str
    command: tuple[str, ...]
    after: tuple[str, ...] = ()
    """Parts that must be ready before."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """All of it: a server is handed none of the secrets that Trivet's own environment may hold."""
    answers: Callable[[], bool] | None = None
    """Whether others can begin to use it; None where they can as soon as it runs."""
    once: bool = False
    """Whether it does its work and ends; it is ready when it ended well."""
    user: str | None = None
    """Who runs it, where that is somebody else."""
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 15.0
    """Seconds that it has to end by itself."""
    orphan_signal: signal.Signals = signal.SIGKILL
    """What ends it when its supervisor dies."""

    def is_ready(self) -> bool:
        """Whether others can begin to use it, while it runs."""
        return self.answers is None or self.answers()


def parts(folder: StackFolder, access: Access, workspace: Path, workers: int) -> list[Part]:
    """All of them, in the order in which they are started.

    Raises:
        UnavailableError: a program is missing, or PostgreSQL cannot make its data folder.
    """
    environment = {**os.environ, **access.environment()}

    def trivet(name: str, *arguments: str, after: tuple[str, ...], **more: object) -> Part:
        return Part(name, trivet_command(workspace, *arguments), after, environment, **more)  # type: ignore[arg-type]

    return [
        _redis(folder, access),
        _postgres(folder, access),
        trivet("migrate", "db", "upgrade", after=("postgres",), once=True),
        trivet("beat", "beat", after=("redis", "migrate")),
        *(
            trivet(f"worker-{number}", "worker", after=("redis", "migrate"), grace=60.0)
            for number in range(1, workers + 1)
        ),
        trivet("serve", "serve", after=("migrate",)),
    ]


def trivet_command(workspace: Path, *arguments: str) -> tuple[str, ...]:
    """The program that runs here, called anew on a workspace."""
    return (sys.executable, "-c", _ENTRY, "-C", str(workspace), *arguments)


def _redis(folder: StackFolder, access: Access) -> Part:
    # The password stands in a file: everyone on the machine sees the arguments of a process.
    lines = (
        f"port {access.redis_port}",
        "bind 127.0.0.1",
        f"dir {folder.redis}",
        "appendonly yes",
        "appendfsync everysec",
        "maxmemory-policy noeviction",
        'save ""',
        f"requirepass {access.password}",
    )
    configuration = folder.redis / "redis.conf"
    write_private(configuration, "\n".join([*lines, ""]))
    command = (str(redis_server()), str(configuration))
    answers = partial(_listens, access.redis_port)
    return Part("redis", command, (), _plain(), answers=answers, orphan_signal=signal.SIGTERM)


def _postgres(folder: StackFolder, access: Access) -> Part:
    initdb, postgres = postgres_programs()
    user = _unprivileged_user(folder.postgres) if os.geteuid() == 0 else None
    data = folder.postgres / "data"
    if not (data / "PG_VERSION").exists():
        _make_data(initdb, folder.postgres, access.password, user)
    settings = (f"port={access.postgres_port}", "listen_addresses=127.0.0.1", "unix_socket_directories=")
    command = (str(postgres), "-D", str(data), *(part for item in settings for part in ("-c", item)))
    # A fast shutdown: whoever is connected is thrown out, and what was committed is on the disk.
    return Part(
        "postgres",
        command,
        (),
        _plain(),
        # One that was killed listens before it takes anyone.
        answers=partial(_takes_connections, access.environment()[STORE_URL]),
        user=user,
        stop_signal=signal.SIGINT,
        grace=60.0,
        orphan_signal=signal.SIGQUIT,
    )


def _plain() -> dict[str, str]:
    return {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH") if name in os.environ
    }


def _make_data(initdb: Path, place: Path, password: str, user: str | None) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    secret = place / "password"
    write_private(secret, password)
    if user is not None:
        for path in (place, secret):
            shutil.chown(path, user)
    options = ("-U", "trivet", "--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C")
    made = subprocess.run(  # noqa: S603 (a program found by its name)
        [initdb, "-D", place / "data", *options],
        cwd=place,
        env=_plain(),
        user=user,
        capture_output=True,
        text=True,
        check=False,
    )
    secret.unlink()
    if made.returncode != 0:
        shutil.rmtree(place, ignore_errors=True)
        raise UnavailableError(f"initdb failed: {made.stderr.strip().splitlines()[-1]}")


def _unprivileged_user(place: Path) -> str:
    """Somebody else than root, as whom PostgreSQL refuses to run, who can reach the folder."""
    for parent in place.parents:
        if not parent.stat().st_mode & 0o001:
            message = f"PostgreSQL does not run as root, and nobody else can enter {parent}"
            raise UnavailableError(f"{message}; put the workspace elsewhere, or be another user")
    for name in _UNPRIVILEGED:
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise UnavailableError(f"PostgreSQL does not run as root, and there is no user {' or '.join(_UNPRIVILEGED)}")


def _takes_connections(url: str) -> bool:
    store = open_store(url)
    try:
        with store.connect():
            return True
    except (TrivetError, SQLAlchemyError):
        return False
    finally:
        store.dispose()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
