"""Copies of checkpoints in witness files: on another volume or host, where who can write the store cannot write.

A witness file holds signed notes, one after the other, with an empty line between them. Nothing is remembered of what
was copied: the end of the file says it, so a file that was away gets everything once it is back.
"""

from __future__ import annotations

import base64
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from ledger.checkpoints import StoredCheckpoint, checkpoint_at, checkpoints_after
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.notes import Checkpoint, read_checkpoint, read_witness
from trivet.errors import CheckFailedError

_END = 16_384
"""Bytes at the end of a witness file that are read to know its last checkpoint."""


def copy_checkpoints(connection: sa.Connection, origin: str, file: Path) -> int:
    """Appends to a witness file the checkpoints that it lacks, and gives how many those were.

    Any number of processes may do so at once.

    Args:
        connection: for reading; the checkpoints that it sees are committed.
        origin: whose checkpoints are looked for in the file, which other ledgers may share.
        file: the witness file; it is made where there is none, its folder is not.

    Raises:
        CheckFailedError: the file has seen another history than the store holds, and no recovery explains it.
        OSError: the file cannot be read or written.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        end = os.pread(handle, _END, max(size - _END, 0))
        last = _last(end, origin, file.name)
        missing = list(_missing(connection, last, file))
        if missing:
            _append(handle, end, missing)
    finally:
        os.close(handle)
    return len(missing)


def last_in(file: Path, origin: str) -> Checkpoint | None:
    """The last checkpoint of one origin in a witness file; None where there is no such file or checkpoint.

    Raises:
        OSError: the file cannot be read.
    """
    if not file.exists():
        return None
    with file.open("rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        return _last(os.pread(handle.fileno(), _END, max(size - _END, 0)), origin, file.name)


def _last(end: bytes, origin: str, name: str) -> Checkpoint | None:
    found = read_witness(end.decode("utf-8", "replace"), name).checkpoints
    return next((item for item in reversed(found) if item.origin == origin), None)


def _missing(connection: sa.Connection, last: Checkpoint | None, file: Path) -> Iterable[StoredCheckpoint]:
    if last is None:
        return checkpoints_after(connection, 0)
    held = checkpoint_at(connection, last.size)
    if held is not None and read_checkpoint(held.note).root == last.root:
        return checkpoints_after(connection, held.seq)
    recovery = _recovery_from(connection, last)
    if recovery is None:
        raise CheckFailedError(
            f"the witness file {file} has a checkpoint over {last.size} entries that the ledger does not hold: entries"
            " were cut off or rewritten, or an old copy was put in its place; run `trivet ledger verify`, and restore"
            " backups by `trivet db restore` alone"
        )
    return checkpoints_after(connection, recovery)


def _recovery_from(connection: sa.Connection, seen: Checkpoint) -> int | None:
    """The entry of the recovery that names this checkpoint as the last one that was seen."""
    stated = {"size": seen.size, "root": base64.b64encode(seen.root).decode("ascii")}
    for entry in entries(connection, entry_type=EntryType.RECOVERY):
        if stated in entry.content().get("seen", ()):
            return entry.seq
    return None


def _append(handle: int, end: bytes, missing: Iterable[StoredCheckpoint]) -> None:
    text = "\n".join(item.note for item in missing)
    # After a note that was cut off while it was written, the next one must still begin on a line of its own.
    gap = "" if not end else "\n" if end.endswith(b"\n") else "\n\n"
    data = f"{gap}{text}".encode()
    while data:
        data = data[os.write(handle, data) :]
    os.fsync(handle)
