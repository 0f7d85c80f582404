"""Small workspaces of `tests/cases`, each a contract and the SQL of its warehouse, and questions asked of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import duckdb

from catalog.contract import Contract
from catalog.engines.port import EngineFault, QuestionResult, ResultColumn, SnapshotIdentity
from catalog.referee.certified import CertifiedQuery
from monitors.definition import MonitorDefinition
from resolver.candidates import Proposer
from resolver.outcome import Outcome
from resolver.pipeline import Resolver
from trivet.clock import SystemClock
from worker.asking import resolver_of
from worker.bootstrap import Wiring
from worker.workspace import Workspace, read_workspace

CASES = Path(__file__).parents[1] / "cases"


def make_workspace(path: Path, name: str = "shop") -> Path:
    """The workspace of a folder of `tests/cases` at `path`, with its warehouse."""
    path.mkdir(parents=True, exist_ok=True)
    for file in ("contract.yaml", "trivet.yaml"):
        shutil.copy(CASES / name / file, path / file)
    with duckdb.connect(str(path / "warehouse.duckdb")) as connection:
        connection.execute((CASES / name / "warehouse.sql").read_text("utf-8"))
    return path


class HereEngine:
    """Runs certified statements in this process: a process for each would take most of the time of these tests."""

    name, version = "duckdb", "here"

    def __init__(self, warehouse: Path) -> None:
        self.connection = duckdb.connect(str(warehouse), read_only=True)

    def run(self, query: CertifiedQuery) -> QuestionResult:
        assert query.purpose.is_asked
        assert query.max_rows is not None
        try:
            found = self.connection.execute(query.bounded_sql)
        except duckdb.Error as error:
            raise EngineFault(str(error)) from error
        columns = tuple(ResultColumn(item[0], str(item[1])) for item in found.description or ())
        rows: Sequence[tuple[object, ...]] = found.fetchall()
        kept = tuple(tuple(row) for row in rows[: query.max_rows])
        identity = SnapshotIdentity(device=1, inode=1, size=1, modified_ns=1, generation=None)
        return QuestionResult(columns, kept, len(rows) > query.max_rows, len(rows), identity)


class Shop:
    """One of them."""

    def __init__(self, path: Path, name: str = "shop") -> None:
        self.path = make_workspace(path, name)

    @cached_property
    def workspace(self) -> Workspace:
        return read_workspace(self.path, {})

    @property
    def contract(self) -> Contract:
        return self.workspace.require()[1]

    @property
    def monitors(self) -> tuple[MonitorDefinition, ...]:
        return self.workspace.require()[2]

    @cached_property
    def engine(self) -> HereEngine:
        return HereEngine(self.path / "warehouse.duckdb")

    def resolver(self, proposer: Proposer | None = None) -> Resolver:
        wiring = Wiring(self.path, self.workspace.require_settings(), {}, SystemClock())
        made = replace(resolver_of(wiring, self.contract, self.monitors), engine=self.engine)
        return made if proposer is None else replace(made, proposer=proposer)

    def ask(self, question: str, proposer: Proposer | None = None) -> Outcome:
        return self.resolver(proposer).ask(question).outcome
