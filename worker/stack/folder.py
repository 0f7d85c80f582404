"""The folder of a stack: its servers' data, their logs, one secret, and what the supervisor says of itself."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivet.errors import UnavailableError

NAME = ".stack"
STORE_URL, BROKER_URL = "TRIVET_STACK_STORE_URL", "TRIVET_STACK_BROKER_URL"
"""Variables that hold the addresses, with their passwords."""


@dataclass(frozen=True, slots=True)
class Access:
    """How the servers are reached."""

    postgres_port: int
    redis_port: int
    password: str

    def environment(self) -> dict[str, str]:
        """The settings by which any command works on the stack."""
        return {
            "TRIVET_STORE__URL": f"env:{STORE_URL}",
            STORE_URL: f"postgresql+psycopg://trivet:{self.password}@127.0.0.1:{self.postgres_port}/postgres",
            "TRIVET_SCHEDULER__MODE": "celery",
            "TRIVET_SCHEDULER__BROKER": f"env:{BROKER_URL}",
            BROKER_URL: f"redis://:{self.password}@127.0.0.1:{self.redis_port}/0",
        }


@dataclass(frozen=True, slots=True)
class StackFolder:
    """One workspace's."""

    path: Path

    @classmethod
    def of(cls, workspace: Path) -> StackFolder:
        """The folder of a workspace's stack, which need not be there yet."""
        return cls(workspace.resolve() / NAME)

    @property
    def postgres(self) -> Path:
        """PostgreSQL's data."""
        return self.path / "postgres"

    @property
    def redis(self) -> Path:
        """Redis's data and configuration."""
        return self.path / "redis"

    @property
    def logs(self) -> Path:
        """One file for each part."""
        return self.path / "logs"

    def prepare(self) -> Access:
        """Makes what is missing, and chooses ports that are free now."""
        for path, mode in ((self.path, 0o711), (self.redis, 0o700), (self.logs, 0o700)):
            path.mkdir(exist_ok=True)
            path.chmod(mode)
        (self.path / ".gitignore").write_text("*\n", "utf-8")
        password = self._access()["password"] if self._access_file.exists() else secrets.token_hex(24)
        made = Access(free_port(), free_port(), password)
        found = {"postgres": made.postgres_port, "redis": made.redis_port, "password": password}
        write_private(self._access_file, json.dumps(found))
        return made

    def access(self) -> Access:
        """How the running servers are reached.

        Raises:
            UnavailableError: there is no stack.
        """
        if not self._access_file.exists():
            raise UnavailableError("there is no stack here; `trivet stack up` makes one")
        found = self._access()
        return Access(found["postgres"], found["redis"], found["password"])

    @contextmanager
    def only_supervisor(self) -> Iterator[None]:
        """Keeps a second supervisor out.

        Raises:
            UnavailableError: there is one.
        """
        with self._lock_file.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnavailableError("the stack is up already; `trivet stack down` ends it") from None
            yield

    def is_up(self) -> bool:
        """Whether a supervisor runs."""
        if not self._lock_file.exists():
            return False
        with self._lock_file.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Says how it stands, for others to read at any time."""
        write_private(self._state_file, json.dumps(state))

    def state(self) -> dict[str, Any] | None:
        """What the supervisor last said; None where it never said anything."""
        if not self._state_file.exists():
            return None
        found: dict[str, Any] = json.loads(self._state_file.read_text("utf-8"))
        return found

    def _access(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._access_file.read_text("utf-8"))
        return found

    @property
    def _access_file(self) -> Path:
        return self.path / "access.json"

    @property
    def _state_file(self) -> Path:
        return self.path / "state.json"

    @property
    def _lock_file(self) -> Path:
        return self.path / "lock"


def write_private(path: Path, text: str) -> None:
    """Writes a file that its owner alone reads, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
        handle.write(text)
    new.replace(path)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
