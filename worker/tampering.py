"""A demonstration: a copy of the store is damaged in each way that a person with the file could think of.

The store itself is only read. Each copy stands for an attacker who holds the file, knows the format, and can compute
every hash; what he has not got is the key, and the witness's copy of the checkpoint.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import sqlalchemy as sa

from ledger.append import frontier_text
from ledger.checkpoints import write_checkpoint
from ledger.hashing import GENESIS_HASH, entry_hash, extend_frontier, leaf_hash
from ledger.keys import new_signing_key
from ledger.reading import head
from ledger.verification.findings import Report
from ledger.verification.notes import PublicKey, Witness, read_witness
from ledger.verification.verify import verify_store
from trivet.clock import Clock
from trivet.errors import CheckFailedError, UsageError
from worker.backup import back_up
from worker.stores import open_store, read_only

_LEAST = 3
"""Entries that a ledger must have for every way of damaging it to mean something."""
_Row: TypeAlias = tuple[int, str, str, str, bytes, bytes, bytes]


@dataclass(frozen=True, slots=True)
class Tampering:
    """One way of damaging a ledger, and what a verifier says to it."""

    what: str
    """What was done to the copy."""
    report: Report


def demonstrate(store: sa.Engine, migrations: Path, clock: Clock, keys: Sequence[PublicKey]) -> Iterator[Tampering]:
    """Damages copies of a store one after the other, and verifies each.

    A copy gets a checkpoint by a key that is made for this and thrown away, so that there is one to hold it against.

    Raises:
        UsageError: the ledger is too short to be damaged in every way.
        CheckFailedError: the store itself does not verify.
    """
    with tempfile.TemporaryDirectory(prefix="trivet-tamper-") as folder:
        sound = Path(folder) / "sound.db"
        report = back_up(store, sound, migrations).report
        if not report.ok:
            raise CheckFailedError("the store is damaged as it is; run `trivet ledger verify`")
        if report.entries < _LEAST:
            raise UsageError(f"the ledger has {report.entries} entries and needs {_LEAST}; evaluate something first")
        known, witness = _sealed(sound, clock, keys)
        yield Tampering("nothing, as a comparison", _verify(sound, known, witness))
        for what, damage in WAYS.items():
            copy = Path(folder) / "copy.db"
            shutil.copyfile(sound, copy)
            if _damaged(copy, damage):
                yield Tampering(what, _verify(copy, known, witness))


def _sealed(file: Path, clock: Clock, keys: Sequence[PublicKey]) -> tuple[list[PublicKey], Witness]:
    key = new_signing_key("tamper-demo")
    engine = open_store(f"sqlite:///{file}", create=False)
    with engine.begin() as connection:
        made = write_checkpoint(connection, key, clock.now(), None)
        if made is None:
            raise CheckFailedError(f"the copy of {head(connection).seq} entries could not be sealed")
    known = [*keys, key.public]
    witness = read_witness(made.note, "the witness")
    if not _verify(file, known, witness).ok:
        # The store has checkpoints by keys that nobody named; their roots are compared, their signatures are not.
        known = []
    return known, witness


def _verify(file: Path, keys: Sequence[PublicKey], witness: Witness) -> Report:
    with read_only(open_store(f"sqlite:///{file}", create=False)).connect() as connection:
        return verify_store(connection, keys, [witness])


def _damaged(file: Path, damage: Callable[[sqlite3.Connection], bool]) -> bool:
    """Whether a way of damaging found something to damage. Triggers and constraints are struck out first."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
        connection.commit()
    with closing(sqlite3.connect(file)) as connection:
        # A copy of a table has none of its constraints.
        connection.executescript(
            "CREATE TABLE bare AS SELECT * FROM ledger_entry; DROP TABLE ledger_entry;"
            "ALTER TABLE bare RENAME TO ledger_entry"
        )
        done = damage(connection)
        connection.commit()
    return done


def _entries(connection: sqlite3.Connection) -> list[_Row]:
    return list(connection.execute("SELECT * FROM ledger_entry ORDER BY seq"))


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM ledger_entry").fetchone()[0])


def _change_payload(connection: sqlite3.Connection) -> bool:
    """The verdict of the last evaluation, or whatever a payload holds."""
    changed = connection.execute(
        'UPDATE ledger_entry SET payload = replace(payload, \'"verdict":"breach"\', \'"verdict":"compliant"\')'
        ' WHERE seq = (SELECT max(seq) FROM ledger_entry WHERE payload LIKE \'%"verdict":"breach"%\')'
    )
    if not changed.rowcount:
        renamed = "replace(payload, '\"schema\":', '\"Schema\":')"
        connection.execute(f"UPDATE ledger_entry SET payload = {renamed} WHERE seq = 1")
    return True


def _change_member(connection: sqlite3.Connection) -> bool:
    one = "SELECT max(rowid) FROM member"
    changed = "CASE verdict WHEN 'breach' THEN 'no_data' ELSE 'breach' END"
    return bool(connection.execute(f"UPDATE member SET verdict = {changed} WHERE rowid = ({one})").rowcount)


def _delete_member(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("DELETE FROM member WHERE rowid = (SELECT max(rowid) FROM member)").rowcount)


def _delete_entry(connection: sqlite3.Connection) -> bool:
    middle = max(_count(connection) // 2, 1)
    return bool(connection.execute("DELETE FROM ledger_entry WHERE seq = ?", (middle,)).rowcount)


def _swap(connection: sqlite3.Connection) -> bool:
    connection.execute("UPDATE ledger_entry SET seq = 3 - seq WHERE seq IN (1, 2)")
    return True


def _insert(connection: sqlite3.Connection) -> bool:
    last = _entries(connection)[-1]
    made = (last[0] + 1, last[1], "made up", last[3], last[4], last[6], sha256(b"made up").digest())
    connection.execute("INSERT INTO ledger_entry VALUES (?, ?, ?, ?, ?, ?, ?)", made)
    return True


def _fork(connection: sqlite3.Connection) -> bool:
    rows = _entries(connection)
    payload = '{"entry_type":"silence","subject_id":"forked"}'
    seq, leaf = rows[-1][0] + 1, leaf_hash(payload.encode())
    made = (seq, "silence", "forked", payload, leaf, rows[0][6], entry_hash(seq, rows[0][6], leaf))
    connection.execute("INSERT INTO ledger_entry VALUES (?, ?, ?, ?, ?, ?, ?)", made)
    return True


def _cut(connection: sqlite3.Connection) -> bool:
    """The tail with its rows, and the head row set back: nothing that is left shows it."""
    kept = max(_count(connection) // 2, 1)
    for table in ("measure", "member", "audit", "evaluation"):
        known = "SELECT subject_id FROM ledger_entry WHERE seq > ?"
        connection.execute(f"DELETE FROM {table} WHERE evaluation_id IN ({known})", (kept,))
    connection.execute(
        "DELETE FROM outcome WHERE request_id IN (SELECT subject_id FROM ledger_entry WHERE seq > ?)", (kept,)
    )
    connection.execute("DELETE FROM ledger_entry WHERE seq > ?", (kept,))
    _set_head(connection)
    return True


def _rewrite(connection: sqlite3.Connection) -> bool:
    """Everything from an entry on, every hash computed anew, the head row too."""
    first = max(_count(connection) // 2, 1)
    before = GENESIS_HASH
    for seq, entry_type, subject, payload, leaf, _, _ in _entries(connection):
        text = payload[:-1] + ',"zz":"rewritten"}' if seq == first else payload
        new_leaf = leaf_hash(text.encode()) if seq >= first else leaf
        chained = entry_hash(seq, before, new_leaf)
        connection.execute(
            "UPDATE ledger_entry SET payload = ?, leaf_hash = ?, prev_hash = ?, entry_hash = ? WHERE seq = ?"
            " AND entry_type = ? AND subject_id = ?",
            (text, new_leaf, before, chained, seq, entry_type, subject),
        )
        before = chained
    _set_head(connection)
    return True


def _forge(connection: sqlite3.Connection) -> bool:
    """A checkpoint over the rewritten history, signed by the attacker's own key."""
    file = Path(str(connection.execute("PRAGMA database_list").fetchone()[2]))
    _rewrite(connection)
    last = "(SELECT max(seq) FROM ledger_entry)"
    connection.execute(f"DELETE FROM ledger_entry WHERE entry_type = 'checkpoint' AND seq = {last}")
    _set_head(connection)
    connection.commit()
    engine = open_store(f"sqlite:///{file}", create=False)
    with engine.begin() as writing:
        write_checkpoint(writing, new_signing_key("tamper-demo"), datetime.now(UTC), None)
    return True


def _set_head(connection: sqlite3.Connection) -> None:
    rows = _entries(connection)
    frontier: tuple[bytes, ...] = ()
    for place, row in enumerate(rows):
        frontier = extend_frontier(frontier, place, row[4])
    values = (len(rows), rows[-1][6] if rows else GENESIS_HASH, frontier_text(frontier))
    connection.execute("UPDATE ledger_head SET seq = ?, entry_hash = ?, merkle_frontier = ?", values)


WAYS: dict[str, Callable[[sqlite3.Connection], bool]] = {
    "a verdict in a payload was changed": _change_payload,
    "a recorded member was changed": _change_member,
    "a recorded member was deleted": _delete_member,
    "an entry was deleted": _delete_entry,
    "two entries were exchanged": _swap,
    "an entry was made up and inserted": _insert,
    "a second history was begun behind entry 1": _fork,
    "the second half was cut off, its rows and the head row with it": _cut,
    "history was rewritten from the middle on, every hash with it": _rewrite,
    "and a checkpoint over it was signed by another key": _forge,
}
"""What a demonstration does, in this order; a way that finds nothing to damage is left out."""
