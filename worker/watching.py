"""The workspace's files beside what is in force. That they differ is told, since nothing follows from it by itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from worker.applying import workspace_content
from worker.in_force import Definitions
from worker.publication import changes
from worker.workspace import CONTRACT_FILE, CONTRACT_FOLDER, MONITORS_FOLDER, SETTINGS_FILE, read_workspace

_Stamps: TypeAlias = "tuple[tuple[str, int, int, int], ...]"
_log = logging.getLogger(__name__)


class WatchedFiles:
    """The files of one workspace, read where they or the publication changed."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._lock = threading.Lock()
        self._seen: tuple[_Stamps, int | None] | None = None

    def look(self, in_force: Definitions | None) -> None:
        """Logs how the files differ from what is in force, once for each change of either."""
        with self._lock:
            seen = (self._look(), in_force.seq if in_force is not None else None)
            if seen == self._seen:
                return
            self._seen = seen
        if told := difference(self._path, self._environment, in_force):
            _log.warning("%s", told)

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


def difference(path: Path, environment: Mapping[str, str], in_force: Definitions | None) -> str | None:
    """How a workspace's files differ from what is in force, and what to do; None where they do not, or there are none.

    A worker's machine may have no files but the settings.
    """
    if in_force is None:
        return "nothing is in force yet, so nothing comes due; run `trivet apply`"
    read = read_workspace(path, environment)
    if read.contract is None and not read.documents and not _has_contract(path):
        return None
    if read.findings:
        return f"the files are at fault and have no effect: {read.findings[0]}; mend them, then run `trivet apply`"
    different = changes(in_force.content, workspace_content(read))
    if not different:
        return None
    return f"the files differ from what is in force ({different.words()}); run `trivet apply`"


def _has_contract(path: Path) -> bool:
    return (path / CONTRACT_FILE).exists() or any((path / CONTRACT_FOLDER).glob("*.yaml"))
