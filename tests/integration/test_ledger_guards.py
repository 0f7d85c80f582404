"""What is recorded cannot be changed by accident: triggers on both databases, and a role without the right to."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from ledger.verification.verify import verify_store
from tests.integration.store import record_evaluation, record_silence
from worker.stores import read_only

FIXED = ("ledger_entry", "evaluation", "audit", "member", "measure", "member_change", "outcome")
CHANGES = {
    "ledger_entry": "payload = '{}'",
    "evaluation": "verdict = 'compliant'",
    "audit": "count = 0",
    "member": "partial = NOT partial",
    "measure": "value = '7'",
    "member_change": "state = 'compliant'",
    "outcome": "state = 'ANSWER'",
}
OUTCOME = (
    "INSERT INTO outcome (request_id, asked_at, finished_at, question, state, verdict, contract_id, contract_version,"
    " contract_hash, document, candidates, salt) VALUES ('Q1', '', '', 'who?', 'ABSTAIN', 'no_data', '', '', '', '{}',"
    " '[]', 'aa')"
)
MEMBER_CHANGE = (
    "INSERT INTO member_change (evaluation_id, ordinal, member_key, state, salt) VALUES ('E1', 1, '{}', 'breach', 'aa')"
)


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    with any_store.begin() as connection:
        connection.exec_driver_sql(OUTCOME)
        connection.exec_driver_sql(MEMBER_CHANGE)
        record_evaluation(connection, "E1", measures=2)
        record_silence(connection, "S1")
    return any_store


def refused(store: sa.Engine, statement: str, match: str = "append-only") -> None:
    with pytest.raises(DBAPIError, match=match), store.begin() as connection:
        connection.exec_driver_sql(statement)


@pytest.mark.parametrize("table", FIXED)
def test_what_is_recorded_is_neither_updated_nor_deleted(store: sa.Engine, table: str) -> None:
    refused(store, f"UPDATE {table} SET {CHANGES[table]}")
    refused(store, f"DELETE FROM {table}")


@pytest.mark.parametrize("table", [*FIXED, "ledger_head"])
def test_no_table_of_the_ledger_is_truncated(store: sa.Engine, table: str) -> None:
    if store.dialect.name == "postgresql":
        refused(store, f"TRUNCATE {table} CASCADE")
    else:
        refused(store, f"DELETE FROM {table}", match="append-only|kept")


@pytest.mark.parametrize("table", FIXED)
def test_a_row_is_not_replaced_either(store: sa.Engine, table: str) -> None:
    if store.dialect.name == "sqlite":
        refused(
            store, f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1", match="append-only|ledger_entry: "
        )
    else:
        refused(store, f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1", match="duplicate key")


@pytest.mark.parametrize("change", ["seq = seq - 1", "seq = 0", "entry_hash = entry_hash"])
def test_the_head_only_moves_forward(store: sa.Engine, change: str) -> None:
    refused(store, f"UPDATE ledger_head SET {change}", match="only moves forward")
    refused(store, "DELETE FROM ledger_head", match="append-only|kept")


def test_the_guards_let_the_ledger_grow(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E2", slot="2026-12-01T06:00:00")
    with read_only(store).connect() as connection:
        report = verify_store(connection)
        assert (report.entries, [item.kind for item in report.damage]) == (3, ["orphan_rows"] * 2)


@pytest.mark.parametrize(("seq", "subject"), [(9, "S9"), (1, "S9"), (3, "S1")])
def test_an_entry_in_the_wrong_place_is_refused(store: sa.Engine, seq: int, subject: str) -> None:
    sqlite = "an entry follows the last one|one entry for each type and subject"
    match = sqlite if store.dialect.name == "sqlite" else "duplicate key"
    values = f"{seq}, entry_type, '{subject}', payload, leaf_hash, prev_hash, entry_hash"
    with pytest.raises(IntegrityError, match=match), store.begin() as connection:
        connection.exec_driver_sql(f"INSERT INTO ledger_entry SELECT {values} FROM ledger_entry WHERE seq = 2")
