"""Runs a world of `tests/oracle` through compiler, referee and DuckDB, and says where the oracle differs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import duckdb

from catalog.contract import Contract
from catalog.engines.duckdb_engine import DuckDBSnapshot
from catalog.engines.port import HeldName, SnapshotIdentity
from catalog.engines.watchdog import Watchdog
from catalog.referee.certified import CertifiedQuery
from compiler.planning import why_readable
from evals.oracle.evaluation import Table
from evals.proving import agreement
from monitors.definition import MonitorDefinition
from tests.oracle.grouped_worlds import GroupedWorld
from tests.oracle.strategies import World, judge_world
from worker.judging import Judgement, judge
from worker.scanning import Due, judge_together


@dataclass(frozen=True, slots=True)
class Scripted(Table):
    """A view that SQL makes, since a constraint or a join in it matters; `rows` are what it holds."""

    script: str = ""
    """Makes this view; empty where another view's script makes it too."""


class AskedOnce(DuckDBSnapshot):
    """A snapshot that runs the same text over the same rows once: a plan that repeats what another asked shows no more.

    What reads held rows is always run, since they change.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, identity: SnapshotIdentity, watchdog: Watchdog) -> None:
        super().__init__(connection, identity, watchdog)
        self._answers: dict[str, list[tuple[Any, ...]]] = {}

    def stream(self, query: CertifiedQuery, timeout: timedelta) -> Iterator[tuple[Any, ...]]:
        """The rows of a certified query."""
        if any(name in query.sql for name in HeldName):
            return super().stream(query, timeout)
        if query.sql not in self._answers:
            self._answers[query.sql] = list(super().stream(query, timeout))
        return iter(self._answers[query.sql])


@contextmanager
def snapshot_of(
    tables: Mapping[str, Table], kind: Callable[..., DuckDBSnapshot] = DuckDBSnapshot
) -> Iterator[DuckDBSnapshot]:
    """A snapshot over tables that stand where the governed views would. Only one can be open at a time."""
    connection = _engine(os.getpid()).cursor()
    try:
        connection.execute("ATTACH ':memory:' AS warehouse; USE warehouse; SET TimeZone = 'UTC'")
        for view, table in tables.items():
            _create(connection, view, table)
        with closing(Watchdog(connection.interrupt)) as watchdog:
            yield kind(connection, SnapshotIdentity(None, 0, 0, 0, 0), watchdog)
    finally:
        connection.execute("USE memory; DETACH DATABASE IF EXISTS warehouse")
        connection.close()


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """One for each process: to start an engine takes as long as to judge a monitor of a few rows."""
    return duckdb.connect(":memory:", config={"threads": 1})


def _create(connection: duckdb.DuckDBPyConnection, view: str, table: Table) -> None:
    if isinstance(table, Scripted):
        connection.execute(table.script)
        return
    namespace, _, _ = view.partition(".")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {namespace}")
    columns = ", ".join(f'"{name}" {kind}' for name, kind in table.columns.items())
    connection.execute(f"CREATE TABLE {view} ({columns})")
    if table.rows:
        holes = ", ".join("?" for _ in table.columns)
        every = ", ".join(f"({holes})" for _ in table.rows)
        cells = [row.get(name) for row in table.rows for name in table.columns]
        connection.execute(f"INSERT INTO {view} VALUES {every}", cells)


def definition_of(world: World, name: str = "world") -> MonitorDefinition:
    """The monitor of a world."""
    return MonitorDefinition(
        id=name,
        object=world.object_name,
        breach_when=world.breach_when,
        where=world.where,
        strict=world.strict,
        allow_empty=True,
        timeout=timedelta(minutes=5),
    )


def judge_compiled(world: World) -> Judgement:
    """What the readable queries make of a world."""
    with snapshot_of(world.tables) as snapshot:
        return judge(definition_of(world), world.contract, snapshot, world.at)


def _due(worlds: Sequence[World]) -> list[Due]:
    """The monitors, each under the same name by every plan, so that it is compiled once."""
    return [(definition_of(world, f"world-{number}"), world.at) for number, world in enumerate(worlds)]


def _pair(worlds: Sequence[World], snapshot: DuckDBSnapshot) -> list[Judgement | None]:
    return [judge(definition, worlds[0].contract, snapshot, at) for definition, at in _due(worlds)]


def _scans_of_one(worlds: Sequence[World], snapshot: DuckDBSnapshot) -> list[Judgement | None]:
    return [found for item in _due(worlds) for found in _together([item], worlds[0].contract, snapshot, 0)]


def _shared_scan(worlds: Sequence[World], snapshot: DuckDBSnapshot, small_view: int) -> list[Judgement | None]:
    return _together(_due(worlds), worlds[0].contract, snapshot, small_view)


def _together(
    due: Sequence[Due], contract: Contract, snapshot: DuckDBSnapshot, small_view: int
) -> list[Judgement | None]:
    """Judges as by `judge_many`, but with the size named from which the readable queries ask held rows alone."""
    shared = [item for item in due if why_readable(item[0], contract) is None]
    together = iter(judge_together(shared, contract, snapshot, small_view=small_view) if shared else ())
    return [next(together) if item in shared else None for item in due]


PLANS: dict[str, Callable[[Sequence[World], DuckDBSnapshot], list[Judgement | None]]] = {
    "pair": _pair,
    "scan of one": _scans_of_one,
    "shared scan": lambda worlds, snapshot: _shared_scan(worlds, snapshot, 0),
    "shared scan, small view": lambda worlds, snapshot: _shared_scan(worlds, snapshot, 1_000_000),
}
"""Every way in which monitors over the same data are judged; None stands for a monitor that cannot be judged so."""


def differences(*worlds: World, plans: Iterable[str] = tuple(PLANS)) -> list[str]:
    """Where a plan and the oracle disagree: counts first, then members. Empty where they agree.

    Args:
        worlds: conditions over one and the same data.
        plans: which of `PLANS` are asked.
    """
    expected = [judge_world(world) for world in worlds]
    lines = []
    with snapshot_of(worlds[0].tables, AskedOnce) as snapshot:
        for plan in plans:
            found = PLANS[plan](worlds, snapshot)
            for world, one, other in zip(worlds, expected, found, strict=True):
                if other is None:
                    continue
                lines += [f"{plan}, {world}: {line}" for line in agreement.differences(other, one)]
    return lines


def describe(world: World | GroupedWorld) -> str:
    """A world as a person needs it to see why a case fails."""
    lines = [str(world)]
    lines += [str(item) for item in world.contract.link_types]
    for view, table in world.tables.items():
        lines.append(f"{view} {dict(table.columns)}")
        lines += [f"  {dict(row)}" for row in table.rows]
    return "\n".join(lines)
