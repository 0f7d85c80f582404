"""A workspace whose contract and monitors are read again when their files change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from trivet.findings import Finding
from worker.workspace import CONTRACT_FILE, CONTRACT_FOLDER, MONITORS_FOLDER, SETTINGS_FILE, Workspace, read_workspace

_Stamps: TypeAlias = "tuple[tuple[str, int, int, int], ...]"
_log = logging.getLogger(__name__)


class WatchedWorkspace:
    """The last workspace that was without fault; settings in force stay those that the process began with.

    Raises:
        InputError: the files are at fault at the beginning, so that there is no last good state.
    """

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._lock = threading.Lock()
        self._stamps = self._look()
        self._good = read_workspace(path, environment)
        self._good.require()

    def current(self) -> Workspace:
        """The workspace as its files say it; while they are at fault, as they said it last."""
        with self._lock:
            stamps = self._look()
            if stamps != self._stamps:
                self._stamps = stamps
                self._read_again()
            return self._good

    def _read_again(self) -> None:
        read = read_workspace(self._path, self._environment)
        if read.findings or read.contract is None:
            _tell(read.findings)
        else:
            _log.info("the workspace changed and was read again: %d monitors", len(read.monitors))
            self._good = read

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


def _tell(findings: tuple[Finding, ...]) -> None:
    _log.error("the workspace changed and is at fault; it stays in force as it was before")
    for finding in findings:
        _log.error("%s", finding)
