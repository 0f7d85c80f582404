"""Appending to the ledger and reading it, on a migrated SQLite file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.append import append
from ledger.bound_rows import BoundTable, collect_rows_root, row_leaf, rows_root
from ledger.entries import GENESIS, EntryType
from ledger.hashing import EMPTY_ROOT, GENESIS_HASH, entry_hash, leaf_hash, merkle_root
from ledger.reading import entries, entry, entry_about, head
from ledger.tables import ledger_entry, ledger_head
from ledger.verification.verify import verify_store
from tests.integration.store import lift_guards, migrated_store, record_evaluation, record_silence
from trivet.canonical import Json
from trivet.errors import CheckFailedError, InternalError
from worker.binding import EVALUATION_BINDING
from worker.stores import read_only
from worker.tables import evaluation, member

ERASABLE = {part.table.name: part.erasable for part in EVALUATION_BINDING.tables}


@pytest.fixture
def store(tmp_path: Path) -> sa.Engine:
    return migrated_store(tmp_path)


def test_a_fresh_store_has_an_empty_ledger_that_verifies(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        report = verify_store(connection)
        assert (report.ok, report.entries, report.rows, report.stopped_early) == (True, 0, 0, False)
        assert head(connection) == GENESIS
        assert head(connection).root == EMPTY_ROOT
        assert list(entries(connection)) == []


def test_an_entry_is_chained_to_the_one_before_it(store: sa.Engine) -> None:
    with store.begin() as connection:
        first = record_silence(connection, "S1")
        second = record_silence(connection, "S2")
    assert (first.seq, second.seq) == (1, 2)
    assert first.prev_hash == GENESIS_HASH
    assert second.prev_hash == first.entry_hash
    assert second.leaf_hash == leaf_hash(second.payload.encode())
    assert second.entry_hash == entry_hash(2, first.entry_hash, second.leaf_hash)


def test_the_payload_is_canonical_and_names_type_and_subject(store: sa.Engine) -> None:
    with store.begin() as connection:
        written = append(connection, EntryType.SILENCE, "S1", {"until": "2026-12-01", "a": [1, True, None]})
    expected = '{"a":[1,true,null],"entry_type":"silence","subject_id":"S1","until":"2026-12-01"}'
    assert written.payload == expected
    assert written.content()["until"] == "2026-12-01"


def test_the_head_follows_every_entry(store: sa.Engine) -> None:
    leaves = []
    for number in range(1, 12):
        with store.begin() as connection:
            written = record_silence(connection, f"S{number}")
            leaves.append(written.leaf_hash)
            assert head(connection).seq == number
            assert head(connection).entry_hash == written.entry_hash
            assert head(connection).root == merkle_root(leaves)


def test_nothing_is_appended_when_the_callers_transaction_rolls_back(store: sa.Engine) -> None:
    with store.connect() as connection:
        record_evaluation(connection, "E1")
        connection.rollback()
    with read_only(store).connect() as connection:
        assert head(connection) == GENESIS
        assert connection.execute(sa.select(sa.func.count()).select_from(member)).scalar_one() == 0


def test_a_savepoint_that_rolls_back_takes_its_entry_with_it(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1")
        with connection.begin_nested() as savepoint:
            record_evaluation(connection, "E2", slot="2026-12-01T06:00:00")
            savepoint.rollback()
        record_evaluation(connection, "E3", slot="2026-12-02T06:00:00")
    with read_only(store).connect() as connection:
        assert [item.subject_id for item in entries(connection)] == ["E1", "E3"]
        assert verify_store(connection).ok


def test_a_subject_has_one_entry_of_a_type(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_silence(connection, "S1")
        append(connection, EntryType.REDACTION, "S1", {})
    with pytest.raises(InternalError, match="silence S1"), store.begin() as connection:
        record_silence(connection, "S1")
    with read_only(store).connect() as connection:
        assert verify_store(connection).entries == 2
        assert verify_store(connection).ok


def test_appending_from_many_threads_gives_one_chain_without_gaps(store: sa.Engine) -> None:
    def work(writer: int) -> list[int]:
        seqs = []
        for number in range(10):
            with store.begin() as connection:
                seqs.append(record_silence(connection, f"{writer}-{number}").seq)
        return seqs

    with ThreadPoolExecutor(4) as pool:
        seqs = [seq for result in pool.map(work, range(4)) for seq in result]
    assert sorted(seqs) == list(range(1, 41))
    with read_only(store).connect() as connection:
        report = verify_store(connection)
        assert (report.ok, report.entries) == (True, 40)


def test_a_reader_sees_one_snapshot_while_others_write(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1")
    with read_only(store).connect() as reader:
        assert head(reader).seq == 1
        with store.begin() as writer:
            record_evaluation(writer, "E2", slot="2026-12-01T06:00:00")
        report = verify_store(reader)
        assert (report.ok, report.entries) == (True, 1)


@pytest.mark.parametrize("payload", [{"entry_type": "silence"}, {"subject_id": "S1", "a": 1}])
def test_a_payload_may_not_set_what_the_ledger_adds(store: sa.Engine, payload: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="the ledger adds it"), store.begin() as connection:
        append(connection, EntryType.SILENCE, "S1", payload)


def test_a_payload_without_a_canonical_form_is_refused_before_anything_is_written(store: sa.Engine) -> None:
    with store.begin() as connection:
        with pytest.raises(ValueError, match=r"\$\.rate: float"):
            append(connection, EntryType.SILENCE, "S1", {"rate": 0.5})  # type: ignore[dict-item]
        assert head(connection) == GENESIS


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM ledger_head",
        "UPDATE ledger_head SET seq = 3",
        "UPDATE ledger_head SET seq = 'one'",
        "UPDATE ledger_head SET entry_hash = hex(zeroblob(16))",
        "UPDATE ledger_head SET entry_hash = 'text'",
        "UPDATE ledger_head SET merkle_frontier = '[1]'",
        "UPDATE ledger_head SET merkle_frontier = 'not JSON'",
        "UPDATE ledger_head SET merkle_frontier = '[\"ff\"]'",
    ],
)
def test_nothing_is_appended_to_a_damaged_head(store: sa.Engine, damage: str) -> None:
    with store.begin() as connection:
        record_silence(connection, "S1")
        lift_guards(connection)
        connection.exec_driver_sql(damage)
        with pytest.raises(CheckFailedError, match="trivet ledger verify"):
            record_silence(connection, "S2")


def test_a_head_that_was_set_back_cannot_fork_the_chain(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_silence(connection, "S1")
    with store.begin() as connection:
        lift_guards(connection)
        genesis = {"seq": 0, "entry_hash": GENESIS_HASH, "merkle_frontier": "[]"}
        connection.execute(sa.update(ledger_head).values(genesis))
        connection.execute(sa.update(ledger_entry).values(seq=2))
        with pytest.raises(InternalError, match="changed by hand"):
            record_silence(connection, "S2")


def test_a_head_that_moves_during_an_append_is_a_fault(store: sa.Engine) -> None:
    with store.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER other_writer AFTER INSERT ON ledger_entry BEGIN UPDATE ledger_head SET seq = 9; END"
        )
        with pytest.raises(InternalError, match="head moved"):
            record_silence(connection, "S1")


def test_entries_are_read_by_place_number_and_type(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_silence(connection, "S1")
        record_evaluation(connection, "E1")
        record_silence(connection, "S2")
        record_silence(connection, "S3")
    with read_only(store).connect() as connection:
        assert [item.seq for item in entries(connection)] == [1, 2, 3, 4]
        assert [item.seq for item in entries(connection, after=1, limit=2)] == [2, 3]
        silences = entries(connection, after=1, entry_type=EntryType.SILENCE)
        assert [item.subject_id for item in silences] == ["S2", "S3"]
        assert entry(connection, 2) == entry_about(connection, EntryType.EVALUATION, "E1")
        assert entry(connection, 5) is None
        assert entry_about(connection, EntryType.SILENCE, "E1") is None


@pytest.mark.parametrize("change", ["entry_type = 'unheard'", "payload = x'00'", "leaf_hash = 'text'"])
def test_reading_a_damaged_entry_says_so(store: sa.Engine, change: str) -> None:
    with store.begin() as connection:
        record_silence(connection, "S1")
        lift_guards(connection)
        connection.exec_driver_sql(f"UPDATE ledger_entry SET {change}")
        with pytest.raises(CheckFailedError, match="entry 1 is damaged"):
            list(entries(connection))


def test_rows_are_hashed_by_table_and_then_by_their_order(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1", members=11)
        collected = collect_rows_root(connection, EVALUATION_BINDING, "E1")
        rows = [
            (part.table.name, dict(row))
            for part in EVALUATION_BINDING.tables
            for row in connection.execute(
                sa.select(part.table).order_by(*(part.table.c[name] for name in part.order))
            ).mappings()
        ]
    assert [name for name, _ in rows] == ["evaluation"] + ["audit"] * 3 + ["member"] * 11
    assert [row["ordinal"] for name, row in rows if name == "member"] == list(range(1, 12))
    assert (
        collected
        == rows_root(EVALUATION_BINDING, rows)
        == merkle_root([row_leaf(name, row, ERASABLE.get(name, ())) for name, row in rows])
    )


def test_a_row_leaf_is_the_hash_of_the_rows_canonical_json() -> None:
    leaf = row_leaf("member", {"verdict": "breach", "ordinal": 1, "partial": False, "reason": None})
    text = b'{"row":{"ordinal":1,"partial":false,"verdict":"breach"},"table":"member"}'
    assert leaf == leaf_hash(text)


def test_a_nullable_column_added_later_leaves_earlier_rows_as_they_are() -> None:
    before: dict[str, Json] = {"ordinal": 1, "verdict": "breach"}
    assert row_leaf("member", {**before, "added": None}) == row_leaf("member", before)
    assert row_leaf("member", {**before, "added": ""}) != row_leaf("member", before)


def test_a_subject_without_rows_has_the_empty_root(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        assert collect_rows_root(connection, EVALUATION_BINDING, "nothing") == EMPTY_ROOT


def test_a_binding_refuses_columns_it_cannot_hash() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Text), sa.Column("rate", sa.Float))
    with pytest.raises(ValueError, match=r"t\.rate: a bound column is text, integer or boolean"):
        BoundTable(table, subject="id", order=("id",))
    with pytest.raises(ValueError, match="evaluation has no column ordinal"):
        BoundTable(evaluation, subject="evaluation_id", order=("ordinal",))


def test_verification_tells_its_progress(store: sa.Engine) -> None:
    with store.begin() as connection:
        record_evaluation(connection, "E1", members=2)
        record_silence(connection, "S1")
    seen: list[tuple[int, int]] = []
    with read_only(store).connect() as connection:
        report = verify_store(connection, progress=lambda *counts: seen.append(counts))
    assert seen == [(2, 6)]
    assert (report.entries, report.rows) == (2, 6)


def test_an_entry_that_should_bind_rows_and_does_not_is_damage(store: sa.Engine) -> None:
    with store.begin() as connection:
        append(connection, EntryType.EVALUATION, "E1", {})
        [damage] = verify_store(connection).damage
        assert (damage.seq, damage.kind) == (1, "rows")


def test_rows_that_the_verifier_does_not_know_are_not_passed_as_verified(store: sa.Engine) -> None:
    with store.begin() as connection:
        append(connection, EntryType.SILENCE, "S1", {"rows_root": EMPTY_ROOT.hex()})
        [damage] = verify_store(connection).damage
        assert str(damage) == "entry 1: rows: it binds rows, and none are known for 'silence'"
