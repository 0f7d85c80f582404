"""The role that Trivet runs as on PostgreSQL: it may do everything that Trivet does, and change nothing recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from ledger.checkpoints import CheckpointPolicy
from ledger.keys import new_signing_key
from ledger.verification.verify import verify_store
from tests.integration.servers import PostgresServer
from tests.integration.store import MIGRATIONS
from tests.integration.worlds import a_warehouse, evaluate
from trivet.clock import FixedClock
from trivet.errors import UsageError
from worker.grants import grants
from worker.migrating import upgrade_store
from worker.sealing import Sealer
from worker.store_tables import store_tables
from worker.stores import open_store, read_only


@pytest.fixture
def as_role(postgres: PostgresServer) -> sa.Engine:
    """A store as the role sees it; another one owns it."""
    url = postgres.new_database()
    owner = open_store(url)
    upgrade_store(owner, MIGRATIONS)
    owner.dispose()
    address, role = url.replace("postgresql+psycopg", "postgresql"), f"app_of_{url.rpartition('/')[2]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN".encode())
        for statement in grants(role):
            connection.execute(statement.encode())
    return open_store(url.replace("postgres@", f"{role}@"))


def test_the_role_can_do_what_trivet_does(as_role: sa.Engine, tmp_path: Path) -> None:
    evaluate(a_warehouse(tmp_path), as_role)
    clock, key = FixedClock(datetime(2026, 11, 30, 6, tzinfo=UTC)), new_signing_key("example.com/log")
    assert Sealer(as_role, key, clock, CheckpointPolicy(), ()).seal().made is not None
    with read_only(as_role).connect() as connection:
        report = verify_store(connection, [key.public])
    assert (report.ok, report.coverage.checkpoints) == (True, 1)
    with as_role.begin() as connection:
        # Of members that recovered.
        connection.exec_driver_sql("DELETE FROM alert_member")
    as_role.dispose()


def test_the_role_cannot_change_what_was_recorded(as_role: sa.Engine, tmp_path: Path) -> None:
    evaluate(a_warehouse(tmp_path), as_role)
    for statement in (
        "UPDATE ledger_entry SET payload = '{}'",
        "DELETE FROM ledger_entry",
        "TRUNCATE ledger_entry",
        "DELETE FROM ledger_head",
        "UPDATE member SET verdict = 'compliant'",
        "UPDATE measure SET value = '7'",
        "UPDATE member_change SET state = 'compliant'",
        "DELETE FROM evaluation",
        "TRUNCATE audit CASCADE",
        "DROP TRIGGER ledger_entry_update ON ledger_entry",
        "ALTER TABLE ledger_entry DISABLE TRIGGER ALL",
        "DROP TABLE member",
    ):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"), as_role.begin() as connection:
            connection.exec_driver_sql(statement)
    as_role.dispose()


def test_every_table_of_the_store_is_granted() -> None:
    granted = " ".join(grants("app"))
    assert [table.name for table in store_tables() if f" ON {table.name} TO " not in granted] == []


@pytest.mark.parametrize("role", ["", "a b", 'a"; DROP TABLE member; --', "1a"])
def test_a_name_that_needs_quotes_is_refused(role: str) -> None:
    with pytest.raises(UsageError, match="no plain name"):
        list(grants(role))
