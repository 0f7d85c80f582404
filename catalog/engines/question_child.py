"""The process in which one question runs: limits first, then the engine, then its result as JSON on standard output.

Of a result that was cut a second line says how many rows there are, if there is time to count them.

It is started by `catalog/engines/duckdb_question.py` and trusts nothing of the statement: were it let through by
mistake, it could read the governed file, use the memory it is given, and no more. Its last limit is a timer whose
signal ends the process without asking the engine, so it ends even where the one that started it is gone.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from catalog.engines.cells import UnknownCell, encode

LONGEST_RESULT = 16 * 1024 * 1024
"""Characters of JSON that a result may have; a row may hold texts of any length."""

_FETCH = 256


def main() -> int:
    """Reads the request from standard input and answers it."""
    request = json.load(sys.stdin)
    _limit(request["address_space"], request["seconds"])
    # Imported under the limits, and by nobody who only starts such a process.
    from catalog.engines.duckdb_instance import faults
    from catalog.engines.port import EngineFault

    try:
        with faults():
            _answer(request)
    except (EngineFault, UnknownCell) as error:
        _tell({"fault": type(error).__name__, "message": str(error)})
    return 0


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _limit(address_space: int, seconds: float) -> None:
    """No more memory than this, no written file, no core, and an end after this time."""
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(request: dict[str, Any]) -> None:
    import duckdb

    from catalog.engines.duckdb_instance import begin, hold_file, open_locked
    from catalog.engines.port import QueryTooLarge

    path, timeout = Path(request["path"]), timedelta(seconds=request["timeout"])
    connection, status = hold_file(
        path,
        lambda: open_locked(
            path, threads=request["threads"], memory_limit=request["memory_limit"], spill=None, timeout=timeout
        ),
    )
    with connection:
        identity = begin(connection, status)
        result = connection.execute(request["sql"])
        columns = [[str(column[0]), str(column[1])] for column in result.description or []]
        rows, size, max_rows = [], 0, request["max_rows"]
        for row in _rows(result, max_rows + 1):
            cells = [encode(value) for value in row]
            size += len(json.dumps(cells))
            if size > LONGEST_RESULT:
                raise QueryTooLarge(f"the result has more than {LONGEST_RESULT} characters")
            rows.append(cells)
        truncated = len(rows) > max_rows
        _tell(
            {"columns": columns, "rows": rows[:max_rows], "truncated": truncated, "snapshot": identity.to_json()},
        )
        if truncated:
            # What is there is told already, so that it is not lost where this takes too long.
            with suppress(duckdb.Error, RuntimeError, MemoryError):
                (counted,) = connection.execute(request["counting_sql"]).fetchall()
                _tell({"total": counted[0]})


def _rows(result: Any, most: int) -> Iterator[tuple[Any, ...]]:
    given = 0
    while given < most and (rows := result.fetchmany(min(_FETCH, most - given))):
        yield from rows
        given += len(rows)


if __name__ == "__main__":
    sys.exit(main())
