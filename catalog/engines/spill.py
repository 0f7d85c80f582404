"""Folders for what does not fit into an engine's memory.

Each belongs to one snapshot, and outlives it only if its process was killed; whoever starts next takes it away then.
A folder is held by a lock on itself, which the system lets go of however its owner ends. A process id would not do:
ids are used again, and containers that share a folder each count their own.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "trivet-spill-"
_log = logging.getLogger(__name__)


@contextmanager
def spill_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder that no other process takes away, and that is gone afterwards.

    Args:
        parent: where; the system's folder for temporary files if absent.

    Raises:
        OSError: it cannot be made there.
    """
    folder, handle = _held(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def sweep_spill(parent: Path | None) -> int:
    """Takes away what killed processes of this user left there, and says how many folders that were."""
    place = Path(tempfile.gettempdir()) if parent is None else parent
    try:
        found = [Path(entry.path) for entry in os.scandir(place) if _is_ours(entry)]
    except OSError:
        return 0
    swept = sum(_take_away(folder) for folder in found)
    if swept:
        _log.info("%d folders of killed processes were removed from %s", swept, place)
    return swept


def _held(parent: Path | None) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        # Another process can sweep it until it is locked: before it is opened, while it is, or before the lock.
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        if _lock(handle) and folder.exists():
            return folder, handle
        os.close(handle)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
        return is_folder and entry.name.startswith(PREFIX) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False


def _take_away(folder: Path) -> bool:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if not _lock(handle):
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
