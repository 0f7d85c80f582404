"""How a finished warehouse file becomes the one that readers open, and what stays beside it.

Beside `warehouse.duckdb` lie its generations, `warehouse.<generation>.duckdb`, of which the served
name is one by hard link. The name is moved by `rename(2)`, which is atomic: a reader meets the whole
old file or the whole new one, and one that has the old file open keeps it. A build that is killed
leaves its hidden folder behind, which the next build removes: it alone holds the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from trivet.errors import UnavailableError

_GENERATION = r"\d{8}T\d{12}Z-[0-9a-f]{4}"


def new_generation(instant: datetime) -> str:
    """A name for a build: its UTC time to the microsecond and chance, `20261130T061500123456Z-ab12`.

    Names sort by time, and two builds within a microsecond still differ.
    """
    return f"{instant.astimezone(UTC):%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(2)}"


def generation_instant(generation: str) -> datetime | None:
    """The time of the build in a generation's name, in UTC; None where the name is none."""
    if not re.fullmatch(_GENERATION, generation):
        return None
    try:
        return datetime.strptime(generation.partition("Z")[0], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return None


def kept_generations(target: Path) -> list[str]:
    """The generations that lie beside `target`, oldest first."""
    pattern = re.compile(rf"{re.escape(target.stem)}\.({_GENERATION}){re.escape(target.suffix)}")
    return sorted(match[1] for path in target.parent.iterdir() if (match := pattern.fullmatch(path.name)))


def generation_file(target: Path, generation: str) -> Path:
    """Where a generation of `target` is kept."""
    return target.with_name(f"{target.stem}.{generation}{target.suffix}")


@contextlib.contextmanager
def build_folder(target: Path, generation: str) -> Iterator[Path]:
    """A private folder beside `target`, for as long as this build is the only one.

    Raises:
        UnavailableError: another build of the same warehouse is running, or the system refuses to write.
    """
    folder = target.with_name(f".{target.stem}.{generation}.build")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(target.with_name(f".{target.stem}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UnavailableError(f"{target.parent} cannot be written: {error.strerror}") from error
    try:
        _lock(lock, target)
        remove_leftovers(target)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        except OSError as error:
            place = error.filename or target
            raise UnavailableError(f"the warehouse could not be built: {place}: {error.strerror}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _lock(handle: int, target: Path) -> None:
    """Takes the lock, which the system gives back when its process ends, however it ends."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
        process = f"process {holder or 'unknown'}"
        message = f"another ingest is building {target.name} ({process}); wait for it, then retry"
        raise UnavailableError(message) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)


def remove_leftovers(target: Path) -> None:
    """Removes what killed builds left behind. Only the holder of the lock may call this."""
    pattern = re.compile(rf"\.{re.escape(target.stem)}\.{_GENERATION}\.(build|link)")
    for path in target.parent.iterdir():
        if pattern.fullmatch(path.name):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def publish(built: Path, target: Path, generation: str) -> Path:
    """Makes a finished file the one that `target` names; the path of its generation.

    Raises:
        UnavailableError: a write-ahead log lies beside `target`.
        OSError: the file could not be named; nothing has changed then.
    """
    if target.with_name(f"{target.name}.wal").exists():
        # The engine would replay that log, of another file, into this one.
        advice = f"a program writes into {target.name}; close it and remove the log"
        raise UnavailableError(f"{target.name}.wal exists: {advice}")
    kept = generation_file(target, generation)
    link = target.with_name(f".{target.stem}.{generation}.link")
    _sync(built)
    built.rename(kept)
    try:
        _link(kept, link)
        link.replace(target)
    except OSError:
        link.unlink(missing_ok=True)
        kept.unlink(missing_ok=True)
        raise
    _sync(target.parent)
    return kept


def prune(target: Path, keep: int, current: str) -> tuple[str, ...]:
    """Removes all but the `keep` latest generations, never `current`; the names of the files removed."""
    others = [name for name in kept_generations(target) if name != current]
    superseded = others[::-1][max(keep, 1) - 1 :]
    doomed = [generation_file(target, generation) for generation in superseded]
    for path in doomed:
        path.unlink()
    return tuple(sorted(path.name for path in doomed))


def _link(kept: Path, link: Path) -> None:
    """A second name for a file; a second file where the file system has no hard links."""
    try:
        os.link(kept, link)
    except OSError:
        shutil.copy(kept, link)
        _sync(link)


def _sync(path: Path) -> None:
    """Waits until a file's content, or a folder's names, are on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
