"""`trivet ledger`: what was recorded is shown, and whatever was altered by hand is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.tables import ledger_entry, ledger_head
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.files import rows_of
from worker.tables import audit, evaluation, member

TABLES = (evaluation, audit, member, ledger_entry, ledger_head)
COLUMNS = [(table.name, column.name) for table in TABLES for column in table.columns]


@pytest.fixture(scope="module")
def recorded(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three evaluations of the demo and one that could not be made."""
    workspace = Path(shutil.copytree(demo, tmp_path_factory.mktemp("recorded") / "demo"))
    (workspace / "warehouse.duckdb").unlink()
    assert trivet("evaluate", "hours-over-limit", at=workspace).code == 2
    return workspace


@pytest.fixture
def copy(recorded: Path, tmp_path: Path) -> Path:
    """The store alone, to be tampered with: an auditor needs no more."""
    shutil.copy(recorded / "trivet.db", tmp_path)
    return tmp_path


@contextmanager
def by_hand(workspace: Path) -> Iterator[sqlite3.Connection]:
    """The store's file as anyone who holds it can write it, its constraints struck out."""
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("PRAGMA writable_schema=ON")
        store.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
        store.commit()
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("PRAGMA ignore_check_constraints=ON")
        yield store
        store.commit()


def changed(value: object) -> object:
    """Another value of the same kind."""
    match value:
        case None:
            return 0
        case int():
            return 1 - value if value in (0, 1) else value + 1
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1])
        case _:
            return f"{value} "


def test_an_untouched_ledger_verifies(recorded: Path) -> None:
    ended = trivet("ledger", "verify", at=recorded)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "fine: 4 entries and 28 bound rows verified\n"
    assert trivet("ledger", "verify", "--json", at=recorded).document == {
        "ok": True,
        "entries": 4,
        "rows": 4 + (3 + 3 + 3 + 1) + (6 + 3 + 5),
        "damage": [],
    }


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_value_that_was_changed_by_hand_is_found(copy: Path, table: str, column: str) -> None:
    with by_hand(copy) as store:
        rowid, before = store.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid DESC").fetchone()
        store.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed(before), rowid))
    ended = trivet("ledger", "verify", "--json", at=copy)
    assert ended.code == 4
    assert ended.document["ok"] is False
    assert ended.document["damage"]
    assert ended.err.startswith("damage at ")


@pytest.mark.parametrize("table", [table.name for table in TABLES])
@pytest.mark.parametrize("which", ["ASC", "DESC"])
def test_a_row_that_was_deleted_is_found(copy: Path, table: str, which: str) -> None:
    with by_hand(copy) as store:
        store.execute(f"DELETE FROM {table} WHERE rowid = (SELECT rowid FROM {table} ORDER BY rowid {which} LIMIT 1)")
    assert trivet("ledger", "verify", at=copy).code == 4


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_row_that_was_inserted_is_found(copy: Path, table: sa.Table) -> None:
    with by_hand(copy) as store:
        names = [column.name for column in table.columns]
        row = store.execute(f"SELECT {', '.join(names)} FROM {table.name} ORDER BY rowid DESC").fetchone()
        unique = {"evaluation_id", "seq", "id", "subject_id", "prev_hash", "entry_hash"}
        new = [changed(value) if name in unique else value for name, value in zip(names, row, strict=True)]
        store.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(new))})", new)
    assert trivet("ledger", "verify", at=copy).code == 4


def test_a_member_that_was_added_to_a_recorded_evaluation_is_found(copy: Path) -> None:
    with by_hand(copy) as store:
        names = ", ".join(column.name for column in member.columns if column.name != "ordinal")
        store.execute(
            f"INSERT INTO member (ordinal, {names}) SELECT 99, {names} FROM member ORDER BY rowid DESC LIMIT 1"
        )
    ended = trivet("ledger", "verify", at=copy)
    assert ended.code == 4
    assert "rows: the rows of evaluation" in ended.err


def test_two_rows_that_were_exchanged_are_found(copy: Path) -> None:
    with by_hand(copy) as store:
        (first, one), (second, other) = store.execute(
            "SELECT rowid, operands FROM member WHERE verdict = 'breach' ORDER BY rowid LIMIT 2"
        ).fetchall()
        store.executemany("UPDATE member SET operands = ? WHERE rowid = ?", [(other, first), (one, second)])
    assert trivet("ledger", "verify", at=copy).code == 4


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_a_table_that_was_dropped_is_found(copy: Path, table: str) -> None:
    with by_hand(copy) as store:
        store.execute(f"DROP TABLE {table}")
    ended = trivet("ledger", "verify", at=copy)
    assert ended.code == 4
    assert f"schema: table {table} is missing" in ended.err


def test_the_damage_is_named_to_a_person(copy: Path) -> None:
    with by_hand(copy) as store:
        store.execute("UPDATE audit SET count = 0 WHERE verdict = 'breach' AND count = 4")
    (subject,) = (row[0] for row in rows_of(copy)["audit"] if row[1:3] == ("breach", 0))
    ended = trivet("ledger", "verify", at=copy)
    assert (ended.code, ended.out) == (4, "")
    message = f"the rows of evaluation {subject} in evaluation, audit, member are not those that were recorded"
    assert ended.err == f"damage at entry 3: rows: {message}\n"


def test_the_last_entries_are_listed_with_what_they_record(recorded: Path) -> None:
    ended = trivet("ledger", "show", at=recorded)
    assert ended.code == 0
    lines = [" ".join(line.split()) for line in ended.out.splitlines() if "evaluation" in line]
    assert [line[: line.rindex(" ")] for line in lines] == [
        "1 evaluation entitlements-short: breach (3 breach, 3 no_data, 51 compliant)",
        "2 evaluation hours-over-limit: breach (2 breach, 1 no_data, 54 compliant)",
        "3 evaluation pay-below-floor: breach (4 breach, 1 no_data, 52 compliant)",
        "4 evaluation hours-over-limit: no_data",
    ]


def test_entries_are_given_one_document_to_a_line(recorded: Path) -> None:
    ended = trivet("ledger", "show", "--last", "2", "--json", at=recorded)
    assert [item["seq"] for item in ended.documents] == [3, 4]
    assert {frozenset(item) for item in ended.documents} == {frozenset({"seq", "entry_type", "entry_hash", "payload"})}
    payload = ended.documents[1]["payload"]
    assert (payload["verdict"], payload["status"], payload["reason"]) == ("no_data", "not_made", "view_missing")
    assert set(payload["counts"].values()) == {None}
    assert trivet("ledger", "show", "--type", "outcome", "--json", at=recorded).documents == []


def test_one_entry_is_shown_whole(recorded: Path) -> None:
    shown = json.loads(trivet("ledger", "show", "3", at=recorded).out)
    given = trivet("ledger", "show", "3", "--json", at=recorded).document
    assert shown == given["payload"]
    assert (shown["monitor_id"], shown["counts"]["breach"], shown["no_data_reasons"]) == (
        "pay-below-floor",
        4,
        {"right_missing": 1},
    )
    stored = next(row for row in rows_of(recorded)["ledger_entry"] if row[0] == 3)
    assert given["entry_hash"] == stored[6].hex()


@pytest.mark.parametrize("payload", ["not json", "[]", "null", "[" * 5000, "x''"])
def test_showing_a_damaged_entry_says_that_it_is_damaged(copy: Path, payload: str) -> None:
    with by_hand(copy) as store:
        store.execute("UPDATE ledger_entry SET payload = ? WHERE seq = 2", (payload,))
    for arguments in (["show"], ["show", "2"], ["show", "2", "--json"]):
        ended = trivet("ledger", *arguments, at=copy)
        assert ended.code == 4
        assert ended.err == "ledger entry 2 is damaged; run `trivet ledger verify`\n"


def test_verifying_works_as_a_command_of_its_own(recorded: Path) -> None:
    ended = finish(start("ledger", "verify", at=recorded))
    assert ended == (type(ended))(0, "fine: 4 entries and 28 bound rows verified\n", "")
