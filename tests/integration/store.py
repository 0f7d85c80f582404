"""A migrated SQLite store with evaluations in it, for tests."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from ledger.append import append
from ledger.bound_rows import collect_rows_root
from ledger.entries import EntryType, LedgerEntry
from trivet.canonical import canonical_json
from worker.binding import EVALUATION_BINDING
from worker.migrating import upgrade_store
from worker.stores import open_store
from worker.tables import audit, evaluation, measure, member

MIGRATIONS = Path(__file__).parents[2] / "migrations"


def migrated_store(folder: Path) -> sa.Engine:
    """An empty store at the latest revision, in `folder`."""
    (folder / "trivet.db").write_bytes(_migrated())
    return open_store(f"sqlite:///{folder / 'trivet.db'}", create=False)


@cache
def _migrated() -> bytes:
    """The file of an empty store: a hundred tests want one each, and the migrations take longer than most of them."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trivet.db"
        engine = open_store(f"sqlite:///{file}")
        upgrade_store(engine, MIGRATIONS)
        # The last connection that closes moves what is in the log into the file.
        engine.dispose()
        return file.read_bytes()


def copied_store(engine: sa.Engine, folder: Path) -> sa.Engine:
    """A store of its own in `folder` that holds what `engine` holds."""
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(str(engine.url.database), folder / "trivet.db")
    return open_store(f"sqlite:///{folder / 'trivet.db'}", create=False)


def strike_guards(file: Path) -> None:
    """Strikes constraints and triggers out of a store's file, as anyone who holds the file can do."""
    with closing(sqlite3.connect(file)) as store:
        store.execute("PRAGMA writable_schema=ON")
        store.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
        store.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
        store.commit()


def lift_guards(connection: sa.Connection) -> None:
    """Drops the triggers that keep rows from being changed, as the owner of a database can do."""
    if connection.dialect.name == "sqlite":
        names = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        for name in connection.exec_driver_sql(names).scalars().all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        return
    for table in (
        "ledger_entry",
        "ledger_head",
        "evaluation",
        "audit",
        "member",
        "measure",
        "member_change",
        "outcome",
    ):
        connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")


def record_evaluation(
    connection: sa.Connection,
    evaluation_id: str,
    slot: str = "2026-11-30T06:00:00",
    members: int = 3,
    trigger: str = "schedule",
    measures: int = 0,
) -> LedgerEntry:
    """Writes an evaluation with its audit rows, members and measures, and appends its ledger entry."""
    connection.execute(sa.insert(evaluation), _evaluation(evaluation_id, slot, members) | {"trigger": trigger})
    connection.execute(sa.insert(audit), _audit(evaluation_id, members))
    if members:
        connection.execute(sa.insert(member), [_member(evaluation_id, n) for n in range(1, members + 1)])
    if measures:
        connection.execute(sa.insert(measure), [_measure(evaluation_id, n) for n in range(1, measures + 1)])
    root = collect_rows_root(connection, EVALUATION_BINDING, evaluation_id)
    return append(connection, EntryType.EVALUATION, evaluation_id, {"rows_root": root.hex(), "version": 1})


def record_silence(connection: sa.Connection, silence_id: str) -> LedgerEntry:
    """Appends an entry that binds no rows."""
    return append(connection, EntryType.SILENCE, silence_id, {"matcher": {"monitor": "pay-below-floor"}})


def _json(value: Any) -> str:
    return canonical_json(value).decode("utf-8")


def _evaluation(evaluation_id: str, slot: str, members: int) -> dict[str, Any]:
    return {
        "evaluation_id": evaluation_id,
        "monitor": "pay-below-floor",
        "definition_hash": "d" * 64,
        "contract_id": "aruma",
        "contract_version": "1.2.0",
        "contract_hash": "c" * 64,
        "object": "employee_pay",
        "trigger": "schedule",
        "slot": f"{slot}+11:00",
        "scheduled_for": f"{slot}.000000Z",
        "started_at": f"{slot}.100000Z",
        "finished_at": f"{slot}.900000Z",
        "status": "completed",
        "verdict": "breach" if members else "compliant",
        "reason": None,
        "cause": None,
        "message": None,
        "population": members + 52,
        "breach": members,
        "no_data": 0,
        "compliant": 52,
        "partial": 0,
        "duplicate_keys": 0,
        "unexpected": None,
        "no_data_reasons": "{}",
        "engine": "duckdb",
        "engine_version": "2.0.1",
        "snapshot": _json({"file": "warehouse.duckdb", "generation": 7}),
        "queries_hash": None,
        "recorded_truncated": False,
    }


def _audit(evaluation_id: str, members: int) -> list[dict[str, Any]]:
    counts = {"breach": members, "no_data": 0, "compliant": 52}
    return [
        {"evaluation_id": evaluation_id, "verdict": verdict, "count": count, "reasons": "{}"}
        for verdict, count in counts.items()
    ]


def _member(evaluation_id: str, ordinal: int) -> dict[str, Any]:
    return {
        "evaluation_id": evaluation_id,
        "ordinal": ordinal,
        "verdict": "breach",
        "member_key": _json({"employee_id": f"{evaluation_id}-{ordinal:04}"}),
        "reason": None,
        "causes": "{}",
        "operands": _json({"governed_by.min_hourly_rate": "28.04", "hourly_rate": f"27.{ordinal:02}"}),
        "provenance": _json([{"document": "café.pdf", "page": ordinal}]),
        "partial": ordinal % 2 == 0,
        "salt": f"{ordinal:032x}",
    }


def _measure(evaluation_id: str, ordinal: int) -> dict[str, Any]:
    return {
        "evaluation_id": evaluation_id,
        "measure_hash": "e" * 64,
        "ordinal": ordinal,
        "measure": "count()",
        "member_key": f'{{"employee_id":"{evaluation_id}-{ordinal:04}"}}',
        "value": None if ordinal % 3 == 0 else str(ordinal),
        "reason": "insufficient" if ordinal % 3 == 0 else None,
        "salt": f"{ordinal:032x}",
    }
