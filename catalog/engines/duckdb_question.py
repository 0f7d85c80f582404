"""The question profile of DuckDB: each statement in a process of its own, with hard limits of memory and time.

The engine's own limits leak: one call that makes a long text outruns both its time and its memory. So the operating
system holds them, on a process that has no more than the statement and the path of the warehouse.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catalog.engines import port
from catalog.engines.cells import decode
from catalog.engines.port import EngineFault, QuestionResult, ResultColumn, SnapshotIdentity
from catalog.referee.certified import CertifiedQuery
from trivet.errors import InternalError

ADDRESS_SPACE = 2 * 1024**3
"""Bytes of address space of the process. The engine and Python take up to a quarter of it before anything runs."""

_GRACE = 1.0
"""Seconds that the engine has for ending a statement by itself, before its process ends."""
_START = 20.0
"""Seconds that the process has for starting up, on a machine that is busy."""


class DuckDBQuestionEngine:
    """A DuckDB file that questions are asked of. Any number can be asked at once, from any thread or process."""

    name = "duckdb"
    version = version("duckdb")

    def __init__(self, path: Path, *, timeout: timedelta, threads: int = 1, memory_limit: str = "512MB") -> None:
        """Args: the warehouse file; the time, the threads and the engine's own memory limit of one statement."""
        self._path = path.absolute()
        self._timeout = timeout
        self._threads = threads
        self._memory_limit = memory_limit

    def run(self, query: CertifiedQuery) -> QuestionResult:
        """The rows of a query that was certified for a question or beside one; raises as the port says."""
        if not query.purpose.is_asked or query.max_rows is None:
            raise InternalError(f"a query for purpose {query.purpose} has no business in the question profile")
        seconds = self._timeout.total_seconds()
        request = {
            "path": str(self._path),
            "sql": query.bounded_sql,
            "counting_sql": query.counting_sql,
            "max_rows": query.max_rows,
            "timeout": seconds,
            "seconds": seconds + _GRACE,
            "threads": self._threads,
            "memory_limit": self._memory_limit,
            "address_space": ADDRESS_SPACE,
        }
        code, output = _run_child(json.dumps(request), seconds + _GRACE + _START)
        first, complete, rest = output.partition("\n")
        if code == -signal.SIGALRM and not complete:
            raise port.QueryTimeout(f"it took longer than {seconds:g} s")
        if code != 0 and not (complete and code == -signal.SIGALRM):
            raise EngineFault(f"the process that ran it ended with {_ending(code)}")
        return _result(first, rest)


def _run_child(request: str, seconds: float) -> tuple[int, str]:
    """Exit code and standard output of one process; none of it is left when this returns or raises."""
    # The environment may hold secrets, and the statement needs nothing of it.
    environment = {"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)}
    command = [sys.executable, "-P", "-s", "-m", "catalog.engines.question_child"]
    with subprocess.Popen(  # noqa: S603 - nothing in it comes from outside
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=os.sep,
        start_new_session=True,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            output, _ = process.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise port.QueryTimeout(f"its process took longer than {seconds:g} s") from None
        finally:
            process.kill()
    return process.returncode, output


def _result(output: str, counted: str) -> QuestionResult:
    try:
        answer: dict[str, Any] = json.loads(output)
        if "fault" in answer:
            raise _fault(str(answer["fault"]), str(answer["message"]))
        rows = tuple(tuple(decode(cell) for cell in row) for row in answer["rows"])
        columns = tuple(ResultColumn(str(name), str(kind)) for name, kind in answer["columns"])
        snapshot, truncated = _identity(answer["snapshot"]), bool(answer["truncated"])
        total = len(rows) if not truncated else int(json.loads(counted)["total"]) if counted.endswith("\n") else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineFault(f"the process that ran it gave no result: {type(error).__name__}") from error
    return QuestionResult(columns, rows, truncated, total, snapshot)


def _fault(name: str, message: str) -> EngineFault:
    known = {kind.__name__: kind for kind in (port.QueryTimeout, port.QueryTooLarge, port.WarehouseMissing)}
    return known.get(name, EngineFault)(message)


def _identity(document: dict[str, Any]) -> SnapshotIdentity:
    numbers = {key: int(document[key]) for key in ("device", "inode", "size", "modified_ns")}
    generation = document["generation"]
    return SnapshotIdentity(generation=None if generation is None else str(generation), **numbers)


def _ending(code: int) -> str:
    if code < 0:
        return f"signal {signal.Signals(-code).name}" if -code in list(signal.Signals) else f"signal {-code}"
    return f"code {code}"
