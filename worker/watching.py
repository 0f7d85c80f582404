"""The workspace's files beside what is in force. That they differ is told, since nothing follows from it by itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from trivet.findings import Finding
from worker.applying import workspace_content
from worker.in_force import Definitions
from worker.publication import Content, changes
from worker.workspace import CONTRACT_FILE, CONTRACT_FOLDER, MONITORS_FOLDER, SETTINGS_FILE, Workspace, read_workspace

_Stamps: TypeAlias = "tuple[tuple[str, int, int, int], ...]"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Files:
    """What is to be known of files that were read, without all of them."""

    content: Content | None
    """What they would publish; None where they are at fault, or where there are none."""
    fault: Finding | None


class WatchedFiles:
    """The files of one workspace, read again where they changed."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._lock = threading.Lock()
        self._known: tuple[_Stamps, _Files] | None = None
        self._seen: tuple[_Stamps, int | None] | None = None

    def read(self) -> Workspace:
        """The files as they are now."""
        with self._lock:
            return self._read(self._look())

    def look(self, in_force: Definitions | None) -> None:
        """Logs how the files differ from what is in force, once for each change of either."""
        with self._lock:
            stamps = self._look()
            seen = (stamps, in_force.seq if in_force is not None else None)
            if seen == self._seen:
                return
            self._seen = seen
            files = self._files(stamps)
        if told := _difference(files, in_force):
            _log.warning("%s", told)

    def _files(self, stamps: _Stamps) -> _Files:
        if self._known is not None and self._known[0] == stamps:
            return self._known[1]
        return _of_interest(self._read(stamps))

    def _read(self, stamps: _Stamps) -> Workspace:
        found = read_workspace(self._path, self._environment)
        self._known = (stamps, _of_interest(found))
        return found

    def _look(self) -> _Stamps:
        """What tells a changed file: its time of change, its size, and whether it is still the same file."""
        files = [self._path / SETTINGS_FILE, self._path / CONTRACT_FILE]
        for folder in (CONTRACT_FOLDER, MONITORS_FOLDER):
            files += (self._path / folder).glob("*.yaml")
        stamps = []
        for file in sorted(files):
            try:
                status = file.stat()
            except OSError:
                continue
            stamps.append((str(file), status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(stamps)


def difference(workspace: Workspace, in_force: Definitions | None) -> str | None:
    """How a workspace's files differ from what is in force, and what to do; None where they do not, or there are none.

    A worker's machine may have no files but the settings.
    """
    return _difference(_of_interest(workspace), in_force)


def _of_interest(workspace: Workspace) -> _Files:
    if not workspace.defines_anything:
        return _Files(None, None)
    if workspace.findings:
        return _Files(None, workspace.findings[0])
    return _Files(workspace_content(workspace), None)


def _difference(files: _Files, in_force: Definitions | None) -> str | None:
    if in_force is None:
        return "nothing is in force yet, so nothing comes due; run `trivet apply`"
    if files.fault is not None:
        return f"the files are at fault and have no effect: {files.fault}; mend them, then run `trivet apply`"
    different = changes(in_force.content, files.content) if files.content is not None else None
    if not different:
        return None
    return f"the files differ from what is in force ({different.words()}); run `trivet apply`"
