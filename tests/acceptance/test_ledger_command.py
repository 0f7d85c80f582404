"""`trivet ledger`: what was recorded is shown, and whatever was altered by hand is found."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.entries import EntryType
from ledger.tables import ledger_entry, ledger_head
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.files import by_hand, rows_of
from worker.outcome_tables import outcome
from worker.tables import audit, evaluation, member

TABLES = (evaluation, audit, member, outcome, ledger_entry, ledger_head)
KINDS = {
    EntryType.CONTRACT_PUBLISHED: 1,
    EntryType.DEFINITION_PUBLISHED: 3,
    EntryType.EVALUATION: 4,
    EntryType.ALERT_CHANGE: 5,
    EntryType.MEMBER_CHANGES: 3,
    EntryType.DELIVERY: 1,
    EntryType.OUTCOME: 3,
}
"""Three monitors are in breach and one of them can no longer be judged, which is an outage; one has a receiver; three
questions."""
ENTRIES = sum(KINDS.values())
ROWS = 4 + (3 + 3 + 3 + 1) + 2 * (6 + 3 + 5) + 3
"""Evaluations, verdict counts, members and their moves, outcomes: all that is bound."""
UNCOVERED = f"no checkpoints: tail uncovered ({ENTRIES} of {ENTRIES} entries)\n"
COLUMNS = [(table.name, column.name) for table in TABLES for column in table.columns]


@pytest.fixture(scope="module")
def recorded(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all that the demo writes down, and an evaluation that could not be made."""
    workspace = Path(shutil.copytree(demo, tmp_path_factory.mktemp("recorded") / "demo"))
    (workspace / "warehouse.duckdb").unlink()
    assert trivet("evaluate", "hours-over-limit", at=workspace).code == 2
    return workspace


def entry_of(workspace: Path, monitor: str, entry_type: EntryType = EntryType.EVALUATION) -> int:
    """The number of the first entry of that type about a monitor."""
    found = (row for row in rows_of(workspace)["ledger_entry"] if row[1] == entry_type)
    return next(int(row[0]) for row in found if json.loads(row[3])["monitor_id"] == monitor)


def test_the_texts_that_evaluations_name_come_before_them(recorded: Path) -> None:
    entries = rows_of(recorded)["ledger_entry"]
    contract = next(json.loads(row[3]) for row in entries if row[1] == EntryType.CONTRACT_PUBLISHED)
    assert (contract["subject_id"], contract["contract"]["id"]) == (contract["contract"]["hash"], "aruma")
    for monitor in ("entitlements-short", "hours-over-limit", "pay-below-floor"):
        text = entry_of(recorded, monitor, EntryType.DEFINITION_PUBLISHED)
        assert text < entry_of(recorded, monitor)


@pytest.fixture
def copy(recorded: Path, tmp_path: Path) -> Path:
    """The store alone, to be tampered with: an auditor needs no more."""
    shutil.copy(recorded / "trivet.db", tmp_path)
    return tmp_path


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
    assert ended.out == f"fine: {ENTRIES} entries and {ROWS} bound rows verified\n{UNCOVERED}"
    document = trivet("ledger", "verify", "--json", at=recorded).document
    assert document == {
        "ok": True,
        "entries": ENTRIES,
        "rows": ROWS,
        "damage": [],
        "stopped_early": False,
        "checkpoints": {"checkpoints": 0, "size": 0, "witnessed": 0, "unchecked": 0},
        "uncovered": ENTRIES,
        "recoveries": [],
        "redactions": 0,
        "notices": [],
    }


def test_everything_that_happened_has_its_entry(recorded: Path) -> None:
    assert Counter(row[1] for row in rows_of(recorded)["ledger_entry"]) == KINDS


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
        unique = {"evaluation_id", "request_id", "seq", "id", "subject_id", "prev_hash", "entry_hash"}
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
    assert (ended.code, ended.out) == (4, UNCOVERED)
    message = f"the rows of evaluation {subject} in evaluation, audit, member, measure are not those that were recorded"
    assert ended.err == f"damage at entry {entry_of(copy, 'pay-below-floor')}: rows: {message}\n"


def test_the_last_entries_are_listed_with_what_they_record(recorded: Path) -> None:
    ended = trivet("ledger", "show", at=recorded)
    assert ended.code == 0
    outage = next(name for line in ended.out.splitlines() for name in line.split() if name.startswith("outage/"))[:-1]
    lines = [" ".join(line.split()) for line in ended.out.splitlines() if line.strip()[:1].isdigit()]
    assert [line[: line.rindex(" ")].split(maxsplit=1) for line in lines] == [
        [str(seq), what]
        for seq, what in enumerate(
            (
                "contract_published aruma 1.0.0",
                "definition_published entitlements-short",
                "evaluation entitlements-short: breach (3 breach, 3 no_data, 51 compliant)",
                "member_changes entitlements-short: 3 new > breach, 3 new > no_data",
                "alert_change entitlements-short: fired, breach",
                "definition_published hours-over-limit",
                "evaluation hours-over-limit: breach (2 breach, 1 no_data, 54 compliant)",
                "member_changes hours-over-limit: 2 new > breach, 1 new > no_data",
                "alert_change hours-over-limit: fired, breach",
                "definition_published pay-below-floor",
                "evaluation pay-below-floor: breach (4 breach, 1 no_data, 52 compliant)",
                "member_changes pay-below-floor: 4 new > breach, 1 new > no_data",
                "alert_change pay-below-floor: fired, breach",
                "delivery pay-below-floor: fired, delivered (console)",
                *(f"outcome {question}" for question in ASKED),
                "evaluation hours-over-limit: no_data",
                "alert_change hours-over-limit: changed, unjudged",
                f"alert_change {outage}: fired, no_data",
            ),
            start=1,
        )
    ]


ASKED = (
    "How many employees are paid below the floor?: ANSWER",
    "Who has no floor?: ANSWER",
    "What is our employee churn rate?: SCHEMA_MISMATCH",
)


def test_entries_are_given_one_document_to_a_line(recorded: Path) -> None:
    ended = trivet("ledger", "show", "--last", "3", "--json", at=recorded)
    assert [item["seq"] for item in ended.documents] == [ENTRIES - 2, ENTRIES - 1, ENTRIES]
    assert {frozenset(item) for item in ended.documents} == {frozenset({"seq", "entry_type", "entry_hash", "payload"})}
    made, changed_by_it, outage = (item["payload"] for item in ended.documents)
    assert (made["verdict"], made["status"], made["reason"]) == ("no_data", "not_made", "view_missing")
    assert set(made["counts"].values()) == {None}
    assert changed_by_it["evaluation_id"] == outage["evaluation_id"] == made["evaluation_id"]
    assert (changed_by_it["outage"], changed_by_it["alert_keys"], outage["monitors"]) == (outage["monitor_id"], [], 1)


@pytest.mark.parametrize("entry_type", EntryType)
def test_entries_of_one_type_are_given_alone(recorded: Path, entry_type: EntryType) -> None:
    found: list[dict[str, Any]] = trivet("ledger", "show", "--type", entry_type, "--json", at=recorded).documents
    assert [item["entry_type"] for item in found] == [entry_type] * KINDS.get(entry_type, 0)


def test_one_entry_is_shown_whole(recorded: Path) -> None:
    seq = entry_of(recorded, "pay-below-floor")
    shown = json.loads(trivet("ledger", "show", str(seq), at=recorded).out)
    given = trivet("ledger", "show", str(seq), "--json", at=recorded).document
    assert shown == given["payload"]
    assert (shown["monitor_id"], shown["counts"]["breach"], shown["no_data_reasons"]) == (
        "pay-below-floor",
        4,
        {"right_missing": 1},
    )
    stored = next(row for row in rows_of(recorded)["ledger_entry"] if row[0] == seq)
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
    assert ended == (type(ended))(0, f"fine: {ENTRIES} entries and {ROWS} bound rows verified\n{UNCOVERED}", "")
