"""Every change made to the ledger by hand is found, and none of them stops the verifier."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from ledger.append import append
from ledger.entries import EntryType
from ledger.tables import ledger_entry, ledger_head
from ledger.verification.findings import MAX_FINDINGS, DamageKind, Report
from ledger.verification.verify import verify_store
from tests.integration.store import copied_store, migrated_store, record_evaluation, record_silence, strike_guards
from worker.binding import EVALUATION_BINDING
from worker.stores import read_only

TABLES = [ledger_entry, ledger_head, *(part.table for part in EVALUATION_BINDING.tables)]
COLUMNS = [(table.name, column.name) for table in TABLES for column in table.columns]

# SQL that gives a value of every storage class, and the awkward ones of each.
VALUES = [
    "NULL",
    "''",
    "'x'",
    "'7'",
    "0",
    "1",
    "2",
    "-1",
    "9007199254740993",
    "-9223372036854775808",
    "0.5",
    "9e999",
    "x''",
    "x'ff'",
    "zeroblob(32)",
    "CAST(x'ff' AS TEXT)",
    "CAST(x'edb08061' AS TEXT)",
    "CAST(x'610062' AS TEXT)",
    "'cafe' || char(769)",
    '\'{"a":1,"a":1}\'',
    "'[1.0]'",
    "'NaN'",
    "replace(hex(zeroblob(50000)), '00', '[')",
    "replace(hex(zeroblob(5000)), '00', '9')",
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> sa.Engine:
    """Entries 1 to 5: an evaluation, a silence, two evaluations (one without members), a silence."""
    engine = migrated_store(tmp_path_factory.mktemp("recorded"))
    with engine.begin() as connection:
        record_evaluation(connection, "E1", slot="2026-11-30T06:00:00", measures=2)
        record_silence(connection, "S1")
        record_evaluation(connection, "E2", slot="2026-12-01T06:00:00", members=5, measures=3)
        record_evaluation(connection, "E3", slot="2026-12-02T06:00:00", members=0)
        record_silence(connection, "S2")
    return engine


@pytest.fixture(scope="module")
def loose(recorded: sa.Engine, tmp_path_factory: pytest.TempPathFactory) -> sa.Engine:
    """The recorded store, its constraints struck out as anyone who holds the file can do."""
    engine = copied_store(recorded, tmp_path_factory.mktemp("loose"))
    strike_guards(Path(str(engine.url.database)))
    sa.event.listen(engine, "connect", _drop_guards)
    return engine


def _drop_guards(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("PRAGMA ignore_check_constraints=ON")


@contextmanager
def by_hand(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that is rolled back in the end."""
    with engine.connect() as connection:
        yield connection
        connection.rollback()


def verified(connection: sa.Connection) -> Report:
    return verify_store(connection)


def found(connection: sa.Connection) -> list[tuple[int | None, DamageKind]]:
    return [(damage.seq, damage.kind) for damage in verified(connection).damage]


def interrupted(*_: int) -> None:
    raise KeyboardInterrupt


def _stored(connection: sa.Connection, table: str, column: str, rowid: int) -> object:
    query = f"SELECT typeof({column}), hex({column}) FROM {table} WHERE rowid = {rowid}"
    return tuple(connection.exec_driver_sql(query).one())


def _last_rowid(connection: sa.Connection, table: str) -> int:
    return int(connection.exec_driver_sql(f"SELECT max(rowid) FROM {table}").scalar_one())


def test_the_recorded_store_verifies(recorded: sa.Engine, loose: sa.Engine) -> None:
    for engine in (recorded, loose):
        with read_only(engine).connect() as connection:
            report = verified(connection)
            assert (report.damage, report.entries, report.rows) == ((), 5, 3 + 9 + 8 + 5)


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_any_value_put_into_any_column_is_found(loose: sa.Engine, table: str, column: str) -> None:
    changed = 0
    for value in VALUES:
        with by_hand(loose) as connection:
            rowid = _last_rowid(connection, table)
            before = _stored(connection, table, column, rowid)
            try:
                connection.exec_driver_sql(f'UPDATE {table} SET "{column}" = {value} WHERE rowid = {rowid}')
            except DBAPIError:
                continue
            rowid = _last_rowid(connection, table)
            if _stored(connection, table, column, rowid) != before:
                changed += 1
                assert not verified(connection).ok, value
    assert changed >= 3


@settings(max_examples=200, deadline=None)
@given(
    place=st.sampled_from(COLUMNS),
    row=st.integers(1, 8),
    value=st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary(),
)
def test_a_value_of_any_kind_is_found_in_any_row(
    loose: sa.Engine, place: tuple[str, str], row: int, value: object
) -> None:
    table, column = place
    with by_hand(loose) as connection:
        rowid = min(row, _last_rowid(connection, table))
        before = _stored(connection, table, column, rowid)
        try:
            connection.exec_driver_sql(f'UPDATE {table} SET "{column}" = ? WHERE rowid = {rowid}', (value,))
        except (DBAPIError, UnicodeEncodeError):
            return
        if column != "id" and _stored(connection, table, column, rowid) != before:
            assert not verified(connection).ok


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_any_row_that_is_deleted_is_found(loose: sa.Engine, table: str) -> None:
    with by_hand(loose) as connection:
        last = _last_rowid(connection, table)
    for rowid in range(1, last + 1):
        with by_hand(loose) as connection:
            gone = connection.exec_driver_sql(f"DELETE FROM {table} WHERE rowid = {rowid}")
            assert gone.rowcount == 1
            assert not verified(connection).ok


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (
            "ledger_entry",
            {"seq": 6, "subject_id": "'S3'", "prev_hash": "entry_hash", "entry_hash": "zeroblob(32)"},
        ),
        ("ledger_entry", {"seq": -3, "subject_id": "'S3'", "prev_hash": "x'01'", "entry_hash": "x'02'"}),
        ("ledger_head", {"id": 2}),
        ("evaluation", {"evaluation_id": "'E9'", '"trigger"': "'manual'"}),
        ("audit", {"verdict": "'other'"}),
        ("member", {"ordinal": 9}),
        ("member", {"evaluation_id": "'E3'"}),
        ("member", {"evaluation_id": "'E9'"}),
        ("member", {"evaluation_id": "NULL"}),
        ("member", {"evaluation_id": "x'4531'"}),
        ("measure", {"ordinal": 9}),
        ("measure", {"measure_hash": "'f'"}),
        ("measure", {"evaluation_id": "'E9'"}),
    ],
)
def test_a_row_that_is_added_is_found(loose: sa.Engine, table: str, change: dict[str, object]) -> None:
    with by_hand(loose) as connection:
        names = [row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table})")]
        quoted = [f'"{name}"' if name == "trigger" else name for name in names]
        values = ", ".join(str(change.get(name, name)) for name in quoted)
        connection.exec_driver_sql(f"INSERT INTO {table} SELECT {values} FROM {table} ORDER BY rowid DESC LIMIT 1")
        assert not verified(connection).ok


@pytest.mark.parametrize(
    ("table", "one", "other", "columns"),
    [
        ("ledger_entry", 1, 3, "payload"),
        ("ledger_entry", 1, 3, "payload, leaf_hash"),
        ("ledger_entry", 2, 5, "subject_id"),
        ("ledger_entry", 1, 2, "seq"),
        ("member", 1, 2, "ordinal"),
        ("member", 1, 2, "member_key"),
        ("member", 1, 4, "evaluation_id"),
        ("measure", 1, 2, "ordinal"),
        ("measure", 1, 2, "value"),
        ("measure", 1, 3, "evaluation_id"),
        ("audit", 1, 2, "count"),
        ("audit", 1, 4, "evaluation_id"),
        ("evaluation", 1, 2, "evaluation_id"),
    ],
)
def test_two_rows_that_are_exchanged_are_found(
    loose: sa.Engine, table: str, one: int, other: int, columns: str
) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql(f"CREATE TEMP TABLE held AS SELECT rowid AS place, * FROM {table}")
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE rowid IN ({one}, {other})")
        connection.exec_driver_sql("UPDATE held SET place = -place WHERE place IN (?, ?)", (one, other))
        names = [row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table})")]
        for place, giver in ((one, other), (other, one)):
            givers = {name: giver if name in columns.split(", ") else place for name in names}
            values = ", ".join(f'(SELECT "{name}" FROM held WHERE place = -{row})' for name, row in givers.items())
            connection.exec_driver_sql(f"INSERT INTO {table} SELECT {values}")
        connection.exec_driver_sql("DROP TABLE held")
        assert not verified(connection).ok


def test_a_changed_payload_is_one_finding_at_its_entry(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        change = "payload = replace(payload, 'pay-below-floor', 'pay-below-fl00r')"
        connection.exec_driver_sql(f"UPDATE ledger_entry SET {change} WHERE seq = 2")
        assert found(connection) == [(2, DamageKind.CONTENT)]


def test_a_changed_member_is_one_finding_at_the_entry_of_its_evaluation(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql("UPDATE member SET verdict = 'no_data' WHERE evaluation_id = 'E2' AND ordinal = 4")
        assert found(connection) == [(3, DamageKind.ROWS)]
        assert "E2" in verified(connection).damage[0].message


def test_a_value_of_the_wrong_kind_is_named_with_its_place(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql("UPDATE member SET partial = 2 WHERE evaluation_id = 'E1' AND ordinal = 1")
        [damage] = verified(connection).damage
        assert str(damage) == "entry 1: rows: evaluation E1: member.partial holds 2, which is no boolean"


def test_missing_entries_are_named(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql("DELETE FROM ledger_entry WHERE seq IN (2, 3)")
        damage = verified(connection).damage
        assert (damage[0].seq, damage[0].kind) == (2, DamageKind.GAP)
        assert damage[0].message == "entries 2 to 3 are missing"
        assert DamageKind.ORPHAN_ROWS in {item.kind for item in damage}


def test_a_tail_that_was_cut_with_its_rows_is_found_through_the_head(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql("DELETE FROM ledger_entry WHERE seq >= 3")
        for part in EVALUATION_BINDING.tables:
            connection.exec_driver_sql(f"DELETE FROM {part.table.name} WHERE evaluation_id <> 'E1'")
        assert found(connection) == [(3, DamageKind.TAIL_CUT)]
        assert verified(connection).damage[0].message == "the head row says 5 entries, and the last entry is 2"


def test_an_emptied_ledger_is_found_through_the_head(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        for table in TABLES:
            if table is not ledger_head:
                connection.exec_driver_sql(f"DELETE FROM {table.name}")
        assert found(connection) == [(1, DamageKind.TAIL_CUT)]


def test_a_tail_that_was_cut_together_with_its_head_leaves_orphan_rows(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        kept = connection.exec_driver_sql("SELECT entry_hash, leaf_hash FROM ledger_entry WHERE seq = 1").one()
        connection.exec_driver_sql("DELETE FROM ledger_entry WHERE seq > 1")
        connection.exec_driver_sql(
            "UPDATE ledger_head SET seq = 1, entry_hash = ?, merkle_frontier = ?",
            (kept.entry_hash, f'["{kept.leaf_hash.hex()}"]'),
        )
        damage = verified(connection).damage
        assert {item.kind for item in damage} == {DamageKind.ORPHAN_ROWS}
        assert damage[0].message == "evaluation, evaluation_id 'E2': 1 row without an entry"


def test_a_whole_evaluation_that_was_added_is_found_in_every_table(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        savepoint = connection.begin_nested()
        record_evaluation(connection, "E9", slot="2026-12-09T06:00:00", measures=1)
        savepoint.commit()
        connection.exec_driver_sql("DELETE FROM ledger_entry WHERE subject_id = 'E9'")
        damage = verified(connection).damage
        orphans = [item.message for item in damage if item.kind is DamageKind.ORPHAN_ROWS]
        assert orphans == [
            "evaluation, evaluation_id 'E9': 1 row without an entry",
            "audit, evaluation_id 'E9': 3 rows without an entry",
            "member, evaluation_id 'E9': 3 rows without an entry",
            "measure, evaluation_id 'E9': 1 row without an entry",
        ]


def test_an_entry_of_a_type_that_nobody_knows_is_damage(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        append(connection, EntryType.SILENCE, "S9", {})
        connection.exec_driver_sql("UPDATE ledger_entry SET entry_type = 'unheard' WHERE seq = 6")
        assert found(connection) == [(6, DamageKind.CONTENT)]


def test_verification_stops_when_it_has_found_enough(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        for number in range(30):
            record_silence(connection, f"many-{number}")
        connection.exec_driver_sql("UPDATE ledger_entry SET payload = '{}' WHERE subject_id LIKE 'many-%'")
        report = verified(connection)
        assert (len(report.damage), report.stopped_early) == (MAX_FINDINGS, True)


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_a_table_that_is_gone_is_damage(loose: sa.Engine, table: str) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO elsewhere")
        assert (None, DamageKind.SCHEMA) in found(connection)


def test_a_column_that_is_gone_is_damage(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        connection.exec_driver_sql("ALTER TABLE member DROP COLUMN operands")
        [damage] = verified(connection).damage
        assert str(damage) == "ledger: schema: column member.operands is missing"


def test_a_corrupt_page_is_damage_and_not_a_fault(recorded: sa.Engine, tmp_path: Path) -> None:
    engine = copied_store(recorded, tmp_path)
    with engine.connect() as connection:
        root = "SELECT rootpage FROM sqlite_schema WHERE name = 'ledger_entry'"
        page = connection.exec_driver_sql(root).scalar_one()
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    engine.dispose()
    with (tmp_path / "trivet.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 64)
    with read_only(engine).connect() as connection:
        report = verified(connection)
        assert [damage.kind for damage in report.damage] == [DamageKind.UNREADABLE]
        assert report.stopped_early


def test_verification_leaves_the_connection_as_it_was(loose: sa.Engine) -> None:
    with by_hand(loose) as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        assert verified(connection).ok
        assert driver.text_factory is str
        with pytest.raises(KeyboardInterrupt):
            verify_store(connection, progress=interrupted)
        assert driver.text_factory is str
