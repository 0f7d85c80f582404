"""The `trivet` command as tests call it: in this process for speed, or as a process of its own."""

from __future__ import annotations

import ctypes
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cli.main import run

ROOT = Path(__file__).parents[2]
_ENTRY = "import sys; from cli.main import main; sys.argv[0] = 'trivet'; main()"
# Of Linux: prctl(PR_CAPBSET_DROP, ...) and the capabilities by which root disregards permissions.
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of the command ended."""

    code: int
    out: str
    err: str

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as the one JSON document that it must be."""
        (found,) = self.documents
        return found


def trivet(*arguments: str | Path, at: Path | None = None) -> Ended:
    """Runs the command in this process, on the workspace `at`."""
    place = [] if at is None else ["-C", str(at)]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*place, *map(str, arguments)])
    return Ended(int(code), out.getvalue(), err.getvalue())


def start(
    *arguments: str | Path,
    at: Path,
    entry: str = _ENTRY,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    output: IO[str] | None = None,
    errors: IO[str] | None = None,
) -> subprocess.Popen[str]:
    """Starts the command, or another Python program in its place, as a process of its own.

    What it prints goes to `output`, and what it logs to `errors`; to a pipe where that is absent.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TRIVET_")}
    return subprocess.Popen(
        [sys.executable, "-c", entry, *map(str, arguments)],
        cwd=at,
        env=inherited | {"PYTHONPATH": str(ROOT)} | dict(environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.PIPE if errors is None else errors,
        text=True,
        preexec_fn=before,
    )


def finish(process: subprocess.Popen[str]) -> Ended:
    """Waits for a started process."""
    out, err = process.communicate(timeout=120)
    return Ended(process.returncode, out or "", err or "")


def obey_permissions() -> None:
    """Makes the program that a new process is about to become mind file permissions, even where root runs it."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")
