"""Files of the workspace, and only of the workspace: no path that is declared can lead out of it."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from trivet.errors import InputError
from trivet.findings import Finding

_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A regular file inside the workspace."""

    document: str
    """Its path in the workspace as it was named or matched, with forward slashes."""
    path: Path
    """Absolute, every symbolic link resolved."""


def matching_files(workspace: Path, pattern: str) -> tuple[WorkspaceFile, ...]:
    """The files that a path or glob names, in order of their path.

    A glob does not match names that begin with a dot: editors and spreadsheets leave lock files.

    Raises:
        ValueError: the pattern or a match leaves the workspace, or nothing matches.
    """
    _refuse_escapes(pattern)
    root = workspace.resolve()
    if _WILDCARDS.isdisjoint(pattern):
        matches = [root / pattern]
        if not matches[0].is_file():
            raise ValueError(f"no file {pattern!r} in the workspace")
    else:
        matches = sorted(path for path in root.glob(pattern) if path.is_file() and not _is_hidden(path, root))
        if not matches:
            raise ValueError(f"no file in the workspace matches {pattern!r}")
    return tuple(_inside(path, root) for path in matches)


def open_regular(file: WorkspaceFile) -> io.FileIO:
    """The file, open for reading its bytes.

    Raises:
        InputError: it cannot be read, or is no regular file (a pipe would wait for ever).
    """
    try:
        handle = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise InputError([Finding(file.document, None, "", f"cannot be read: {error.strerror}")]) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError([Finding(file.document, None, "", "is not a regular file")])
    return io.FileIO(handle, "rb")


def _refuse_escapes(pattern: str) -> None:
    if "\\" in pattern or "\0" in pattern:
        raise ValueError(f"{pattern!r}: write the path with forward slashes")
    if PurePosixPath(pattern).is_absolute() or PureWindowsPath(pattern).drive or pattern.startswith("~"):
        raise ValueError(f"{pattern!r}: write the path relative to the workspace")
    if ".." in PurePosixPath(pattern).parts:
        raise ValueError(f"{pattern!r}: a path may not contain '..'; move the file into the workspace")


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _inside(path: Path, root: Path) -> WorkspaceFile:
    document = path.relative_to(root).as_posix()
    resolved = path.resolve()
    if not resolved.is_relative_to(root):
        raise ValueError(f"{document!r} is a link that leads out of the workspace; copy the file into it")
    try:
        document.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"the file name {document!r} is not UTF-8; rename the file") from None
    return WorkspaceFile(document, resolved)
