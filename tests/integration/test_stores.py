"""Opening the audit store and bringing it to the latest schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import IntegrityError, OperationalError

from tests.integration.store import MIGRATIONS, migrated_store, record_evaluation
from trivet.errors import InputError, UnavailableError, UsageError
from trivet.metadata import metadata
from worker.migrating import LATEST, store_revision, upgrade_store
from worker.stores import open_store, read_only
from worker.tables import evaluation


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def _schema(connection: sa.Connection) -> set[str]:
    rows = connection.exec_driver_sql(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'trigger'"
    ).scalars()
    # Constraints stand in another order where a migration lists them itself.
    return {" ".join(sorted(sql.replace(",", " ").replace("(", " ( ").split())) for sql in rows}


def test_the_migrations_make_what_the_tables_declare(store: sa.Engine, tmp_path: Path) -> None:
    declared = sa.create_engine("sqlite://")
    with declared.begin() as connection:
        metadata.create_all(connection)
        expected = _schema(connection)
    declared.dispose()
    with read_only(store).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        made = _schema(connection)
    assert {sql for sql in made if "alembic_version" not in sql} == expected


def test_a_store_knows_its_revision(tmp_path: Path) -> None:
    engine = open_store(f"sqlite:///{tmp_path / 'trivet.db'}")
    assert store_revision(engine) is None
    upgrade_store(engine, MIGRATIONS)
    assert store_revision(engine) == LATEST


def test_upgrading_twice_changes_nothing(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1")
    upgrade_store(store, MIGRATIONS)
    with read_only(store).connect() as connection:
        assert connection.execute(sa.select(evaluation.c.evaluation_id)).scalars().all() == ["E1"]


def test_a_store_of_a_later_version_is_refused(store: sa.Engine) -> None:
    with store.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match=r"revision 9999 .* upgrade Trivet"):
        upgrade_store(store, MIGRATIONS)


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    engine = open_store(f"sqlite:///{tmp_path / 'trivet.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE member (here_already TEXT)")
    with pytest.raises(OperationalError, match="member already exists"):
        upgrade_store(engine, MIGRATIONS)
    assert store_revision(engine) is None
    with read_only(engine).connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["member"]


def test_migrations_run_on_a_passed_connection_only() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with pytest.raises(UsageError, match="trivet db upgrade"):
        command.upgrade(config, "head")
    with pytest.raises(UsageError, match="trivet db upgrade"):
        command.upgrade(config, "head", sql=True)


@pytest.mark.parametrize("folder", ["with blank", "with%percent", "ünï"])
def test_a_store_may_stand_in_any_folder(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    migrated_store(tmp_path / folder)
    assert (tmp_path / folder / "trivet.db").is_file()


def test_sqlite_is_set_up_to_lose_nothing(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


def test_a_writing_transaction_holds_the_store_from_its_beginning(store: sa.Engine) -> None:
    other = sqlite3.connect(str(store.url.database), timeout=0, isolation_level=None)
    with store.connect() as connection:
        connection.begin()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")
    other.close()


def test_a_reading_transaction_holds_up_no_writer(store: sa.Engine) -> None:
    with read_only(store).connect() as reader:
        assert reader.execute(sa.select(sa.func.count()).select_from(evaluation)).scalar_one() == 0
        with store.begin() as writer:
            record_evaluation(writer, "E1")
        assert reader.execute(sa.select(sa.func.count()).select_from(evaluation)).scalar_one() == 0


def test_a_slot_of_a_schedule_has_one_evaluation(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1")
    with (
        pytest.raises(IntegrityError, match=r"evaluation\.monitor, evaluation\.scheduled_for"),
        store.begin() as c,
    ):
        record_evaluation(c, "E2")


def test_manual_runs_of_a_slot_are_free(store: sa.Engine) -> None:
    with store.begin() as connection:
        for number in range(3):
            record_evaluation(connection, f"E{number}", trigger="manual")


def test_a_missing_file_is_not_made_when_it_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="trivet db upgrade"):
        open_store(f"sqlite:///{tmp_path / 'trivet.db'}", create=False)
    assert not (tmp_path / "trivet.db").exists()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "not a database URL"),
        ("trivet.db", "not a database URL"),
        ("mysql://u:secret@h/d", r"mysql://u:\*\*\*@h/d is not a store"),
        ("postgresql+psycopg2://u:secret@h/d", r"psycopg2://u:\*\*\*@h/d is not a store"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_url_of_another_kind_is_refused_without_its_password(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        open_store(url)
    assert "secret" not in str(refusal.value)
    assert refusal.value.findings[0].key == "store.url"
