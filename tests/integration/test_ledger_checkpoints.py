"""Checkpoints as they fall due, their copies, and what they find: on both databases."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from ledger.append import append, frontier_text
from ledger.checkpoints import CheckpointPolicy, last_checkpoint
from ledger.entries import EntryType
from ledger.hashing import extend_frontier
from ledger.keys import SigningKey, new_signing_key
from ledger.proving import consistency_proof, inclusion_proof
from ledger.reading import entry, head
from ledger.tables import ledger_entry, ledger_head
from ledger.verification.findings import DamageKind, Report
from ledger.verification.notes import PublicKey, read_checkpoint, read_witness
from ledger.verification.proofs import verify_proof
from ledger.verification.verify import verify_store
from tests.integration.store import lift_guards, record_evaluation, record_silence
from trivet.clock import FixedClock
from trivet.errors import CheckFailedError
from worker.sealing import Sealer
from worker.stores import read_only

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
KEY = new_signing_key("example.com/log")


def a_sealer(
    store: sa.Engine, *witnesses: Path, key: SigningKey = KEY, minutes: int = 0, entries: int = 1000
) -> Sealer:
    return Sealer(store, key, FixedClock(NOW + timedelta(minutes=minutes)), CheckpointPolicy(entries), witnesses)


def silences(store: sa.Engine, *names: str) -> None:
    with store.begin() as connection:
        for name in names:
            record_silence(connection, name)


def verified(store: sa.Engine, *witnesses: Path, keys: tuple[PublicKey, ...] = (KEY.public,)) -> Report:
    with read_only(store).connect() as connection:
        read = [read_witness(file.read_text("utf-8"), file.name) for file in witnesses]
        return verify_store(connection, keys, read)


def found(report: Report) -> list[tuple[int | None, str]]:
    return [(item.seq, item.kind) for item in report.damage]


@contextmanager
def unguarded(store: sa.Engine) -> Iterator[sa.Connection]:
    with store.begin() as connection:
        lift_guards(connection)
        yield connection


def cut(connection: sa.Connection, size: int) -> None:
    """Cuts the tail off and sets the head row back, so that nothing inside the store shows it."""
    leaves = connection.execute(
        sa.select(ledger_entry.c.leaf_hash, ledger_entry.c.entry_hash)
        .where(ledger_entry.c.seq <= size)
        .order_by(ledger_entry.c.seq)
    ).all()
    connection.execute(sa.delete(ledger_entry).where(ledger_entry.c.seq > size))
    _set_head(connection, size, leaves[-1].entry_hash, [row.leaf_hash for row in leaves])


def _set_head(connection: sa.Connection, size: int, tip: bytes, leaves: list[bytes]) -> None:
    frontier: tuple[bytes, ...] = ()
    for place, leaf in enumerate(leaves):
        frontier = extend_frontier(frontier, place, leaf)
    values = {"seq": size, "entry_hash": tip, "merkle_frontier": frontier_text(frontier)}
    connection.execute(sa.update(ledger_head).values(values))


def test_a_checkpoint_is_an_entry_that_covers_those_before_it(any_store: sa.Engine, tmp_path: Path) -> None:
    silences(any_store, "S1", "S2")
    with read_only(any_store).connect() as connection:
        root = head(connection).root
    made = a_sealer(any_store, tmp_path / "witness").seal().made
    assert made is not None
    assert (made.seq, made.size, made.made_at) == (3, 2, "2026-11-30T06:00:00.000000Z")
    checkpoint = read_checkpoint(made.note)
    assert (checkpoint.origin, checkpoint.size, checkpoint.root) == ("example.com/log", 2, root)
    report = verified(any_store, tmp_path / "witness")
    assert report.ok
    assert (report.coverage.checkpoints, report.coverage.size, report.coverage.witnessed) == (1, 2, 2)
    assert report.uncovered == 1


def test_checkpoints_fall_due_by_entries_and_by_time(any_store: sa.Engine) -> None:
    def made(minutes: int, *, now: bool = False) -> int | None:
        report = a_sealer(any_store, minutes=minutes, entries=3).seal(now=now)
        return report.made.size if report.made else None

    assert made(0) is None
    assert made(0, now=True) is None
    silences(any_store, "S1")
    assert made(0) == 1
    assert made(60) is None, "nothing but the checkpoint itself was recorded since"
    silences(any_store, "S2")
    assert made(4) is None
    assert made(5) == 3
    silences(any_store, "S3", "S4")
    assert made(6) is None
    assert made(6, now=True) == 6
    silences(any_store, "S5", "S6", "S7")
    assert made(6) == 10
    assert verified(any_store).ok


def test_without_a_key_signatures_are_not_checked_and_it_is_said(any_store: sa.Engine) -> None:
    silences(any_store, "S1")
    a_sealer(any_store).seal()
    report = verified(any_store, keys=())
    assert (report.ok, report.coverage.unchecked, report.coverage.size, report.uncovered) == (True, 1, 0, 2)


def test_every_witness_gets_what_it_lacks(any_store: sa.Engine, tmp_path: Path) -> None:
    here, away = tmp_path / "here", tmp_path / "volume" / "away"
    sizes = []
    for number in range(3):
        silences(any_store, f"S{number}")
        report = a_sealer(any_store, here, away).seal(now=True)
        assert report.made is not None
        sizes.append(report.made.size)
        assert report.problems == (f"the witness file {away} has not got its checkpoints: No such file or directory",)
    away.parent.mkdir()
    assert a_sealer(any_store, here, away).seal(now=True).problems == ()
    for file in (here, away):
        assert [item.size for item in read_witness(file.read_text("utf-8"), "").checkpoints] == sizes
    assert here.read_text("utf-8") == away.read_text("utf-8")
    assert verified(any_store, here, away).coverage.witnessed == sizes[-1]


def test_a_witness_file_that_was_cut_in_writing_goes_on(any_store: sa.Engine, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    silences(any_store, "S1")
    a_sealer(any_store, witness).seal(now=True)
    text = witness.read_text("utf-8")
    witness.write_text(text[:-30], "utf-8")
    silences(any_store, "S2")
    assert a_sealer(any_store, witness).seal(now=True).problems == ()
    read = read_witness(witness.read_text("utf-8"), "")
    assert [item.size for item in read.checkpoints] == [1, 3]
    report = verified(any_store, witness)
    assert (report.ok, len(report.notices)) == (True, 1)


def test_two_ledgers_may_share_a_witness_file(any_store: sa.Engine, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    other = new_signing_key("example.com/other")
    silences(any_store, "S1")
    a_sealer(any_store, witness).seal(now=True)
    foreign = other.note("example.com/other\n900\n" + "A" * 43 + "=\n")
    witness.write_text(f"{witness.read_text('utf-8')}\n{foreign}", "utf-8")
    silences(any_store, "S2")
    assert a_sealer(any_store, witness).seal(now=True).problems == ()


def test_a_tail_that_was_cut_with_its_head_is_found_by_a_witness(any_store: sa.Engine, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    silences(any_store, "S1", "S2", "S3", "S4")
    a_sealer(any_store, witness).seal()
    with unguarded(any_store) as connection:
        cut(connection, 2)
    assert found(verified(any_store)) == [], "the store alone cannot tell"
    report = verified(any_store, witness)
    assert found(report) == [(3, DamageKind.TAIL_CUT)]
    assert report.damage[0].message == "entries 3 to 4 are gone: witness has a checkpoint over 4 entries"


def test_a_rewritten_history_is_found_and_located_between_two_checkpoints(any_store: sa.Engine, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    silences(any_store, "S1", "S2")
    a_sealer(any_store, witness).seal(now=True)
    silences(any_store, "S3", "S4")
    a_sealer(any_store, witness).seal(now=True)
    with unguarded(any_store) as connection:
        cut(connection, 3)
    silences(any_store, "S3", "other", "more")
    assert found(verified(any_store)) == [], "everything hashes well"
    assert found(verified(any_store, witness)) == [(3, DamageKind.REWRITE)]


def test_a_rewrite_that_keeps_the_checkpoints_is_found_without_a_witness(any_store: sa.Engine) -> None:
    silences(any_store, "S1", "S2")
    made = a_sealer(any_store).seal(now=True).made
    assert made is not None
    with unguarded(any_store) as connection:
        kept = entry(connection, made.seq)
        assert kept is not None
        content = kept.content()
        cut(connection, 1)
        record_silence(connection, "other")
        payload = {name: value for name, value in content.items() if name not in ("entry_type", "subject_id")}
        append(connection, EntryType.CHECKPOINT, kept.subject_id, payload)
    assert found(verified(any_store)) == [(1, DamageKind.REWRITE)]


def test_a_checkpoint_by_another_key_vouches_for_nothing(any_store: sa.Engine, tmp_path: Path) -> None:
    forged = new_signing_key("example.com/log")
    silences(any_store, "S1")
    a_sealer(any_store, tmp_path / "witness", key=forged).seal()
    report = verified(any_store, tmp_path / "witness")
    assert found(report) == [(2, DamageKind.CHECKPOINT), (None, DamageKind.CHECKPOINT)]
    assert f"signed by example.com/log+{forged.public.key_id.hex()}" in report.damage[0].message
    assert report.uncovered == 2
    assert verified(any_store, tmp_path / "witness", keys=(KEY.public, forged.public)).ok


def test_two_histories_that_were_both_signed_are_a_fork(any_store: sa.Engine, tmp_path: Path) -> None:
    silences(any_store, "S1", "S2")
    a_sealer(any_store, tmp_path / "one").seal(now=True)
    with unguarded(any_store) as connection:
        cut(connection, 1)
    silences(any_store, "other")
    a_sealer(any_store, tmp_path / "two").seal(now=True)
    report = verified(any_store, tmp_path / "one", tmp_path / "two")
    assert (2, DamageKind.FORK) in found(report)
    assert (1, DamageKind.REWRITE) in found(report)


def test_a_store_that_contradicts_its_witness_is_not_sealed_on(any_store: sa.Engine, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    silences(any_store, "S1", "S2", "S3")
    a_sealer(any_store, witness).seal(now=True)
    before = witness.read_text("utf-8")
    with unguarded(any_store) as connection:
        cut(connection, 1)
    silences(any_store, "other")
    (problem,) = a_sealer(any_store, witness).seal(now=True).problems
    assert "has a checkpoint over 3 entries that the ledger does not hold" in problem
    assert witness.read_text("utf-8") == before


def test_a_damaged_checkpoint_stops_the_next_one_with_a_clear_word(any_store: sa.Engine) -> None:
    silences(any_store, "S1")
    a_sealer(any_store).seal(now=True)
    with unguarded(any_store) as connection:
        changed = sa.update(ledger_entry).where(ledger_entry.c.seq == 2).values(payload='{"size": null}')
        connection.execute(changed)
    silences(any_store, "S2")
    with pytest.raises(CheckFailedError, match="checkpoint in ledger entry 2 is damaged"):
        a_sealer(any_store).seal()


def test_proofs_hold_without_the_store(any_store: sa.Engine) -> None:
    with any_store.begin() as connection:
        for number in range(11):
            record_evaluation(connection, f"E{number}", slot=f"2026-11-{number + 1:02}T06:00:00", members=1)
    a_sealer(any_store).seal(now=True)
    silences(any_store, "S1")
    a_sealer(any_store).seal(now=True)
    with read_only(any_store).connect() as connection:
        last = last_checkpoint(connection)
        assert last is not None
        for seq in range(1, last.size + 1):
            proven = entry(connection, seq)
            assert proven is not None
            text = inclusion_proof(connection, proven, last)
            report = verify_proof(text, [KEY.public])
            assert (report.ok, report.seq, report.payload) == (True, seq, proven.payload)
            assert not verify_proof(text.replace(f"index {seq - 1}", f"index {seq}"), [KEY.public]).ok
        old, new = (read_checkpoint(item) for item in _notes(connection))
        proof = consistency_proof(connection, old, new)
        report = verify_proof(proof, [KEY.public])
        assert (report.ok, report.kind, report.sizes) == (True, "consistency", (11, 13))
        other = new_signing_key("example.com/log").public
        assert not verify_proof(proof, [other]).ok
        changed = replace(old, root=bytes(32))
        assert not verify_proof(proof.replace(old.text.split("\n")[2], _base64(changed.root)), []).ok


def _notes(connection: sa.Connection) -> list[str]:
    rows = connection.execute(
        sa.select(ledger_entry.c.seq).where(ledger_entry.c.entry_type == "checkpoint").order_by(ledger_entry.c.seq)
    ).scalars()
    found_entries = [entry(connection, seq) for seq in rows.all()]
    return [item.content()["note"] for item in found_entries if item is not None]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
