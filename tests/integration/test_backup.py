"""Backups that are made while others write, restored to either database, and told of in the ledger."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.checkpoints import CheckpointPolicy
from ledger.keys import new_signing_key
from ledger.reading import entry, head
from ledger.verification.findings import Report
from ledger.verification.notes import read_witness
from ledger.verification.verify import verify_store
from tests.integration.servers import PostgresServer
from tests.integration.store import MIGRATIONS, lift_guards, migrated_store, record_evaluation, record_silence
from trivet.clock import FixedClock
from trivet.errors import CheckFailedError, UsageError
from worker.backup import back_up, restore
from worker.redacting import redact_member
from worker.sealing import Sealer
from worker.stores import open_store, read_only
from worker.tables import evaluation, member

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
KEY = new_signing_key("example.com/log")


def filled(store: sa.Engine) -> sa.Engine:
    with store.begin() as connection:
        record_evaluation(connection, "E1", members=4)
        record_silence(connection, "S1")
    redact_member(store, "E1", 2, "data officer", "asked for", NOW)
    return store


def sealer(store: sa.Engine, witness: Path) -> Sealer:
    return Sealer(store, KEY, FixedClock(NOW), CheckpointPolicy(), (witness,))


def verified(store: sa.Engine, *witnesses: Path) -> Report:
    with read_only(store).connect() as connection:
        read = [read_witness(file.read_text("utf-8"), file.name) for file in witnesses]
        return verify_store(connection, [KEY.public], read)


def contents(store: sa.Engine) -> list[object]:
    with read_only(store).connect() as connection:
        return [
            connection.execute(sa.select(table).order_by(*table.primary_key.columns)).all()
            for table in (evaluation, member)
        ]


def url_of(store: sa.Engine) -> str:
    return store.url.render_as_string(hide_password=False)


def test_a_backup_is_a_store_that_verifies(any_store: sa.Engine, tmp_path: Path) -> None:
    filled(any_store)
    made = back_up(any_store, tmp_path / "backup.db", MIGRATIONS)
    assert (made.report.ok, made.report.entries, made.report.redactions) == (True, 3, 1)
    copy = open_store(f"sqlite:///{made.file}", create=False)
    assert contents(copy) == contents(any_store)
    with read_only(copy).connect() as there, read_only(any_store).connect() as here:
        assert head(there) == head(here)
    assert not made.file.with_name("backup.db-wal").exists()
    with pytest.raises(UsageError, match="exists already"):
        back_up(any_store, made.file, MIGRATIONS)


def test_an_empty_store_is_backed_up_as_well(any_store: sa.Engine, tmp_path: Path) -> None:
    assert back_up(any_store, tmp_path / "backup.db", MIGRATIONS).report.entries == 0


def test_a_backup_is_whole_while_others_write(any_store: sa.Engine, tmp_path: Path) -> None:
    stop = threading.Event()
    written = []

    def write() -> None:
        while not stop.is_set():
            with any_store.begin() as connection:
                written.append(record_evaluation(connection, f"E{len(written)}", f"S{len(written)}", members=3).seq)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = [back_up(any_store, tmp_path / f"{number}.db", MIGRATIONS).report for number in range(5)]
    finally:
        stop.set()
        writer.join()
    assert [report.damage for report in made] == [()] * 5
    sizes = [report.entries for report in made]
    assert sizes == sorted(sizes)
    assert sizes[-1] <= len(written)


def test_a_restored_backup_tells_what_was_lost_for_ever(any_store: sa.Engine, tmp_path: Path) -> None:
    witness, folder = tmp_path / "witness", tmp_path / "restored"
    folder.mkdir()
    filled(any_store)
    sealer(any_store, witness).seal(now=True)
    backup = back_up(any_store, tmp_path / "backup.db", MIGRATIONS).file
    with any_store.begin() as connection:
        record_silence(connection, "S2")
        record_silence(connection, "S3")
    sealer(any_store, witness).seal(now=True)
    url = f"sqlite:///{folder / 'trivet.db'}"
    made = restore(backup, url, MIGRATIONS, [witness], NOW)
    assert (made.size, made.seen, made.entry.seq, made.aside) == (4, 6, 5, None)
    store = open_store(url, create=False)
    report = verified(store, witness)
    assert report.ok
    assert [(item.seq, item.lost) for item in report.recoveries] == [(5, (5, 6))]
    assert contents(store) == contents(any_store)
    with store.begin() as connection:
        record_silence(connection, "S4")
    assert sealer(store, witness).seal(now=True).problems == ()
    report = verified(store, witness)
    assert (report.ok, report.coverage.witnessed, report.recoveries[0].lost) == (True, 6, (5, 6))


def test_an_old_copy_that_is_put_back_by_hand_is_a_cut_tail(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    store = filled(migrated_store(tmp_path))
    backup = back_up(store, tmp_path / "backup.db", MIGRATIONS).file
    with store.begin() as connection:
        record_silence(connection, "S2")
    sealer(store, witness).seal(now=True)
    old = open_store(f"sqlite:///{backup}", create=False)
    assert [(item.seq, item.kind) for item in verified(old, witness).damage] == [(4, "tail_cut")]


def test_a_backup_goes_from_one_database_to_the_other(
    any_store: sa.Engine, postgres: PostgresServer, tmp_path: Path
) -> None:
    filled(any_store)
    backup = back_up(any_store, tmp_path / "backup.db", MIGRATIONS).file
    url = postgres.new_database()
    made = restore(backup, url, MIGRATIONS, [], NOW)
    assert (made.size, made.seen) == (3, None)
    there = open_store(url)
    report = verified(there)
    assert (report.ok, report.entries, report.redactions) == (True, 4, 1)
    assert contents(there) == contents(any_store)
    with pytest.raises(UsageError, match="holds a ledger already"):
        restore(backup, url, MIGRATIONS, [], NOW, replace=True)
    there.dispose()


def test_a_store_that_is_there_is_put_aside_only_if_that_is_said(tmp_path: Path) -> None:
    store = filled(migrated_store(tmp_path))
    backup = back_up(store, tmp_path / "backup.db", MIGRATIONS).file
    with store.begin() as connection:
        record_silence(connection, "S2")
    with pytest.raises(UsageError, match="say --replace"):
        restore(backup, url_of(store), MIGRATIONS, [], NOW)
    made = restore(backup, url_of(store), MIGRATIONS, [], NOW, replace=True)
    assert made.aside is not None
    assert verified(open_store(f"sqlite:///{made.aside}", create=False)).entries == 4
    assert verified(store).entries == 4
    with read_only(store).connect() as connection:
        last = entry(connection, 4)
    assert last is not None
    assert last.entry_type == "recovery"
    assert last.content()["restored"]["size"] == 3


def test_the_store_that_is_given_up_says_what_it_knew(tmp_path: Path) -> None:
    store = filled(migrated_store(tmp_path))
    backup = back_up(store, tmp_path / "backup.db", MIGRATIONS).file
    with store.begin() as connection:
        record_silence(connection, "S2")
    sealer(store, tmp_path / "gone").seal(now=True)
    (tmp_path / "gone").unlink()
    made = restore(backup, url_of(store), MIGRATIONS, [tmp_path / "gone"], NOW, replace=True)
    assert (made.size, made.seen) == (3, 4)


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    store = filled(migrated_store(tmp_path))
    with store.begin() as connection:
        lift_guards(connection)
        connection.exec_driver_sql("UPDATE member SET verdict = 'no_data' WHERE ordinal = 1")
    made = back_up(store, tmp_path / "backup.db", MIGRATIONS)
    assert [item.kind for item in made.report.damage] == ["rows"]
    with pytest.raises(CheckFailedError, match="the backup is damaged: entry 1: rows"):
        restore(made.file, f"sqlite:///{tmp_path / 'other.db'}", MIGRATIONS, [], NOW)
    assert not (tmp_path / "other.db").exists()


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(UsageError, match="is no backup"):
        restore(tmp_path / "empty.db", f"sqlite:///{tmp_path / 'other.db'}", MIGRATIONS, [], NOW)
    with pytest.raises(UsageError, match="there is no backup"):
        restore(tmp_path / "absent.db", f"sqlite:///{tmp_path / 'other.db'}", MIGRATIONS, [], NOW)
