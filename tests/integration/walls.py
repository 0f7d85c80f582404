"""The attack corpus against the engine's profiles alone, without the referee: `python -m tests.integration.walls`.

It prints the table of `docs/explanation/referee.md`. Each statement runs in a forked process under the limits of the
question profile, so that one which outruns the engine ends too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import duckdb

from catalog.engines.duckdb_instance import begin, hold_file, open_locked
from catalog.engines.duckdb_question import ADDRESS_SPACE
from catalog.engines.question_child import _limit
from catalog.referee.certified import Clause, Purpose
from catalog.referee.certify import certify
from catalog.referee.decisions import Allowed
from tests.unit.test_referee import CASES, CERTIFIED, cases

SECONDS = 1.0
"""A statement that has not ended by then is stopped, as `limits.timeout` would stop it later."""


def build(folder: Path) -> Path:
    """The warehouse of the fixture."""
    path = folder / "lab.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((CASES / "fixture.sql").read_text("utf-8"))
    return path


def runs(sql: str, path: Path, spill: str | None) -> bool:
    """Whether a statement ends well in the profile that spills there, or in the question profile."""
    child = os.fork()
    if child == 0:
        _try(sql, path, spill)
    return os.waitpid(child, 0)[1] == 0


def _try(sql: str, path: Path, spill: str | None) -> None:
    code = 1
    try:
        os.chdir(path.parent)  # Some attacks name the served file as the fixture does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _limit(ADDRESS_SPACE, SECONDS + 1)
        timeout = timedelta(seconds=SECONDS)
        connection, status = hold_file(
            path, lambda: open_locked(path, threads=1, memory_limit="512MB", spill=spill, timeout=timeout)
        )
        begin(connection, status)
        connection.execute(sql).fetchmany(1001)
        code = 0
    finally:
        os._exit(code)


def attacks() -> Iterator[tuple[Clause, str]]:
    """Every statement that the referee stops, with the clause that does."""
    for case in (*cases("attacks"), *cases("corpus")):
        decision = certify(case["sql"], CERTIFIED, Purpose.QUESTION)
        if not isinstance(decision, Allowed):
            yield decision.objection.clause, case["sql"]


def table() -> list[tuple[str, int, int, int]]:
    """By clause: how many attacks it stops, and how many of these each profile alone stops."""
    every, monitor, question = Counter[Clause](), Counter[Clause](), Counter[Clause]()
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder))
        for clause, sql in attacks():
            every[clause] += 1
            monitor[clause] += not runs(sql, path, folder)
            question[clause] += not runs(sql, path, None)
    return [(clause.value, every[clause], monitor[clause], question[clause]) for clause in Clause if every[clause]]


if __name__ == "__main__":
    sys.stdout.write("".join(json.dumps(row) + "\n" for row in table()))
