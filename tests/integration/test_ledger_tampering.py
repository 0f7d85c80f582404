"""Random damage of random histories is found and located by both verifiers; no undamaged history is accused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.export import export_ledger
from ledger.verification.findings import Report
from ledger.verification.verify import verify_store
from tests.integration.store import migrated_store, strike_guards
from tests.integration.tampering import KEY, Damage, History, auditor, damages, record_history, unguard, witness_of

pytestmark = pytest.mark.slow
ROUNDS = {"sqlite": 12, "postgresql": 4}
"""Histories for each way of damaging one."""
AUDITOR = auditor()


@contextmanager
def a_history(store: sa.Engine, seed: object) -> Iterator[tuple[sa.Connection, History, Random]]:
    """A random history in an empty store, its guards lifted; all of it is rolled back in the end."""
    random = Random(str(seed))  # noqa: S311 (nothing is to be kept secret)
    with store.connect() as connection:
        unguard(connection)
        history = record_history(connection, random)
        while not history.size:
            history = record_history(connection, random)
        yield connection, history, random
        connection.rollback()


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> sa.Engine:
    """A SQLite store that refuses nothing."""
    engine = migrated_store(tmp_path_factory.mktemp("loose"))
    strike_guards(Path(str(engine.url.database)))

    def lax(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("PRAGMA ignore_check_constraints=ON")

    sa.event.listen(engine, "connect", lax)
    with engine.begin() as connection:
        # A unique index cannot be struck out; a table without one is as good.
        connection.exec_driver_sql("CREATE TABLE bare AS SELECT * FROM ledger_entry")
        connection.exec_driver_sql("DROP TABLE ledger_entry")
        connection.exec_driver_sql("ALTER TABLE bare RENAME TO ledger_entry")
    return engine


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> sa.Engine:
    """Each test runs once on SQLite and once on PostgreSQL."""
    engine = request.getfixturevalue("loose" if request.param == "sqlite" else "postgres_store")
    assert isinstance(engine, sa.Engine)
    return engine


def by_both(
    connection: sa.Connection, history: History, folder: Path
) -> tuple[Report, list[tuple[int | None, str, str]]]:
    """What the program says of the store, and what the auditor's script says of its export."""
    report = verify_store(connection, [KEY.public], witness_of(history))
    folder.mkdir()
    export_ledger(connection, folder, "now")
    witness = folder / "witness"
    witness.write_text(history.witness, "utf-8")
    keys = {(KEY.name, KEY.public.key_id): KEY.public.data}
    ledger = AUDITOR.Ledger(folder, keys, [str(witness)] if history.witness else [])
    return report, list(ledger.findings())


def judge(damage: Damage, report: Report, theirs: list[tuple[int | None, str, str]]) -> str | None:
    """Why a damage was not found as it must be; None where it was."""
    if not damage.covered and not report.damage and not theirs:
        return None
    if not report.damage:
        return "the program found nothing"
    first = report.damage[0]
    if first.kind not in damage.kinds or (first.seq or 0) not in damage.first:
        return f"the program says {first}, expected {set(damage.kinds)} in {damage.first}"
    if not theirs or theirs[0][:2] != (first.seq, first.kind):
        return f"the program says {first}, and the script {theirs[:2]}"
    return None


@pytest.mark.parametrize("way", damages())
def test_damage_is_found_and_located_by_both_verifiers(store: sa.Engine, way: str, tmp_path: Path) -> None:
    applied = 0
    for seed in range(ROUNDS[store.dialect.name]):
        with a_history(store, (way, seed)) as (connection, history, random):
            damage = damages()[way](connection, history, random)
            if damage is None:
                continue
            applied += 1
            report, theirs = by_both(connection, history, tmp_path / str(seed))
            fault = judge(damage, report, theirs)
            assert fault is None, f"seed {seed}, {history}, {damage.what}: {fault}; {report.damage}; {theirs}"
    assert applied >= 2


def test_no_undamaged_history_is_accused(store: sa.Engine, tmp_path: Path) -> None:
    for seed in range(3 * ROUNDS[store.dialect.name]):
        with a_history(store, seed) as (connection, history, _):
            report, theirs = by_both(connection, history, tmp_path / str(seed))
            assert (report.damage, theirs, report.entries) == ((), [], history.size)
            assert report.coverage.size == max(history.checkpoints, default=0)
            assert report.coverage.witnessed == max(history.checkpoints, default=0)
