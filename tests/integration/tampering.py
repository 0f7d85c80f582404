"""Random histories of a ledger, and every way of damaging one, with what a verifier must say to it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import sqlalchemy as sa

from ledger.append import append, frontier_text
from ledger.checkpoints import write_checkpoint
from ledger.entries import EntryType
from ledger.hashing import GENESIS_HASH, entry_hash, extend_frontier, leaf_hash
from ledger.keys import new_signing_key
from ledger.tables import as_stored, ledger_entry, ledger_head
from ledger.texts import PublishedText
from ledger.verification.notes import read_witness
from tests.integration.store import lift_guards, record_evaluation, record_silence
from trivet.canonical import content_hash
from worker.tables import audit, evaluation, measure, member

KEY = new_signing_key("example.com/log")
NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
AUDITOR = Path(__file__).parents[2] / "docs" / "auditor"
ENTRY, HEAD = as_stored(ledger_entry), as_stored(ledger_head)
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class History:
    """What was recorded into a store."""

    size: int
    """Entries."""
    checkpoints: tuple[int, ...]
    """Sizes that checkpoints were signed over."""
    bound: tuple[int, ...]
    """Entries that bind rows."""
    witness: str
    """The checkpoints as a witness keeps them."""

    def covered(self, seq: int) -> bool:
        """Whether a checkpoint vouches for an entry."""
        return seq <= max(self.checkpoints, default=0)

    def before(self, seq: int) -> int:
        """The size of the last checkpoint that does not reach so far."""
        return max((size for size in self.checkpoints if size < seq), default=0)


@dataclass(frozen=True, slots=True)
class Damage:
    """One change made by hand, and what must be said of it."""

    what: str
    kinds: frozenset[str]
    """One of which the first finding must be."""
    first: range
    """Where it must be located."""
    covered: bool = True
    """Whether it must be found at all; what lies behind the last checkpoint need not be."""
    seqs: Sequence[int] = field(default=())


def record_history(connection: sa.Connection, random: Random) -> History:
    """Writes a history into an empty store, inside the caller's transaction."""
    checkpoints, bound, notes = [], [], []
    size = 0
    for number in range(random.randint(6, 24)):
        match random.choice(["silence", "silence", "evaluation", "evaluation", "text", "checkpoint"]):
            case "silence":
                size = record_silence(connection, f"S{number}").seq
            case "evaluation":
                slot = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T06:00:00"
                members, measures = random.randint(0, 4), random.choice([0, 0, 1, 3])
                size = record_evaluation(connection, f"E{number}", slot, members, measures=measures).seq
                bound.append(size)
            case "text":
                content = {"id": f"monitor-{number}"}
                text = PublishedText(EntryType.DEFINITION_PUBLISHED, content_hash(content), content).draft()
                size = append(connection, text.entry_type, text.subject_id, text.payload).seq
            case _:
                made = write_checkpoint(connection, KEY, NOW, None)
                if made is not None:
                    size = made.seq
                    checkpoints.append(made.size)
                    notes.append(made.note)
    return History(size, tuple(checkpoints), tuple(bound), "\n".join(notes))


def damages() -> dict[str, Callable[[sa.Connection, History, Random], Damage | None]]:
    """Every way of damaging a store, by name; each gives None where a history has nothing that it could damage."""
    return {
        "flip a bit of an entry": flip_entry,
        "flip a bit of a bound row": flip_row,
        "delete an entry": delete_entry,
        "delete a bound row": delete_row,
        "insert an entry": insert_entry,
        "insert a bound row": insert_row,
        "swap two entries": swap_entries,
        "move an entry": move_entry,
        "cut the tail": cut_tail,
        "cut the tail and the head row": cut_with_head,
        "rewrite one entry": rewrite_one,
        "rewrite from an entry on": rewrite_from,
        "fork": fork,
        "set the head row back": set_head_back,
        "forge a checkpoint": forge_checkpoint,
    }


def _entries(connection: sa.Connection) -> Rows:
    return [dict(row) for row in connection.execute(sa.select(ENTRY).order_by(ENTRY.c.seq)).mappings()]


def _update(connection: sa.Connection, at: int, **values: Any) -> None:
    connection.execute(sa.update(ENTRY).where(ENTRY.c.seq == at).values(values))


def _flipped(value: Any, random: Random) -> Any:
    """A value of the same kind that differs in one bit."""
    match value:
        case bool():
            return not value
        case int():
            return value ^ 1 << random.randint(0, 20)
        case bytes():
            place = random.randrange(len(value))
            return value[:place] + bytes([value[place] ^ 1 << random.randint(0, 7)]) + value[place + 1 :]
    places = [place for place, char in enumerate(value) if "!" < char < "\x7f"]
    place, bit = random.choice(places), random.randint(0, 4)
    return value[:place] + chr(ord(value[place]) ^ 1 << bit) + value[place + 1 :]


def flip_entry(connection: sa.Connection, history: History, random: Random) -> Damage:
    """Content where what was hashed is touched, a link where a hash is."""
    seq = random.randint(1, history.size)
    column = random.choice(["payload", "entry_type", "subject_id", "leaf_hash", "prev_hash", "entry_hash"])
    value = connection.execute(sa.select(ENTRY.c[column]).where(ENTRY.c.seq == seq)).scalar_one()
    _update(connection, seq, **{column: _flipped(value, random)})
    kind = "link" if column.endswith("hash") else "content"
    return Damage(f"{column} of {seq}", frozenset({kind}), range(seq, seq + 1))


def _some_row(connection: sa.Connection, random: Random) -> tuple[sa.TableClause, sa.Table, dict[str, Any]] | None:
    table = random.choice([evaluation, audit, member, measure])
    stored = as_stored(table)
    rows = [dict(row) for row in connection.execute(sa.select(stored)).mappings()]
    return (stored, table, random.choice(rows)) if rows else None


def _of(connection: sa.Connection, subject: str) -> int:
    found = connection.execute(sa.select(ENTRY.c.seq).where(ENTRY.c.subject_id == subject)).scalar_one()
    return int(found)


def _same(table: sa.Table, stored: sa.TableClause, row: dict[str, Any]) -> list[sa.ColumnElement[bool]]:
    return [stored.c[column.name] == row[column.name] for column in table.primary_key]


def flip_row(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """Found at the entry that binds the row."""
    found = _some_row(connection, random)
    if found is None:
        return None
    stored, table, row = found
    keys = {column.name for column in table.primary_key}
    columns = [name for name, value in row.items() if value not in (None, "") and name not in keys and value != []]
    name = random.choice(columns)
    flipped = _flipped(row[name], random)
    if isinstance(table.c[name].type, sa.Boolean):
        flipped = not row[name]
    connection.execute(sa.update(stored).where(*_same(table, stored, row)).values({name: flipped}))
    seq = _of(connection, row["evaluation_id"])
    return Damage(f"{table.name}.{name} of {seq}", frozenset({"rows"}), range(seq, seq + 1))


def delete_entry(connection: sa.Connection, history: History, random: Random) -> Damage:
    """A gap, or a cut tail where it was the last one."""
    seq = random.randint(1, history.size)
    connection.execute(sa.delete(ENTRY).where(ENTRY.c.seq == seq))
    kind = "tail_cut" if seq == history.size else "gap"
    return Damage(f"entry {seq}", frozenset({kind}), range(seq, seq + 1))


def delete_row(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """Found at the entry that binds the row."""
    found = _some_row(connection, random)
    if found is None or found[1] is evaluation:
        return None
    stored, table, row = found
    connection.execute(sa.delete(stored).where(*_same(table, stored, row)))
    seq = _of(connection, row["evaluation_id"])
    return Damage(f"a row of {table.name} of {seq}", frozenset({"rows"}), range(seq, seq + 1))


def insert_entry(connection: sa.Connection, history: History, random: Random) -> Damage:
    """A copy of an entry behind the last one, its hashes made up."""
    row = random.choice(_entries(connection))
    made = {"seq": history.size + 1, "subject_id": "made up", "prev_hash": random.randbytes(32)}
    connection.execute(sa.insert(ENTRY).values({**row, **made, "entry_hash": random.randbytes(32)}))
    kinds = frozenset({"link", "content"})
    return Damage("one more entry", kinds, range(history.size + 1, history.size + 2))


def insert_row(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """A member more than was recorded."""
    if not history.bound:
        return None
    seq = random.choice(history.bound)
    subject = connection.execute(sa.select(ENTRY.c.subject_id).where(ENTRY.c.seq == seq)).scalar_one()
    row = {"evaluation_id": subject, "ordinal": 99, "verdict": "breach", "member_key": "{}", "causes": "{}"}
    row |= {"operands": "{}", "provenance": "[]", "partial": False, "salt": "aa"}
    connection.execute(sa.insert(member).values(row))
    return Damage(f"one more member of {seq}", frozenset({"rows"}), range(seq, seq + 1))


def swap_entries(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """Two entries that stand in each other's place."""
    if history.size < 2:
        return None
    one, other = sorted(random.sample(range(1, history.size + 1), 2))
    for was, now in ((one, 10**9), (other, one), (10**9, other)):
        _update(connection, was, seq=now)
    return Damage(f"{one} and {other}", frozenset({"order"}), range(one, one + 1))


def move_entry(connection: sa.Connection, history: History, random: Random) -> Damage:
    """An entry that stands behind the end."""
    seq = random.randint(1, history.size)
    _update(connection, seq, seq=history.size + random.randint(2, 9))
    return Damage(f"entry {seq}", frozenset({"gap"}), range(seq, seq + 1))


def cut_tail(connection: sa.Connection, history: History, random: Random) -> Damage:
    """The head row still knows of what was cut."""
    kept = random.randint(0, history.size - 1)
    connection.execute(sa.delete(ENTRY).where(ENTRY.c.seq > kept))
    return Damage(f"after {kept}", frozenset({"tail_cut"}), range(kept + 1, kept + 2))


def set_head(connection: sa.Connection, rows: Rows) -> None:
    """Makes the head row describe these entries."""
    frontier: tuple[bytes, ...] = ()
    for place, row in enumerate(rows):
        frontier = extend_frontier(frontier, place, row["leaf_hash"])
    tip = rows[-1]["entry_hash"] if rows else GENESIS_HASH
    connection.execute(sa.update(HEAD).values(seq=len(rows), entry_hash=tip, merkle_frontier=frontier_text(frontier)))


def cut_with_head(connection: sa.Connection, history: History, random: Random) -> Damage:
    """As a restored old copy looks: nothing inside the store shows it, but rows that are left."""
    kept = random.randint(0, history.size - 1)
    rows = _entries(connection)[:kept]
    gone = [row["subject_id"] for row in _entries(connection)[kept:]]
    connection.execute(sa.delete(ENTRY).where(ENTRY.c.seq > kept))
    for table in (measure, member, audit, evaluation):
        stored = as_stored(table)
        connection.execute(sa.delete(stored).where(stored.c.evaluation_id.in_(gone)))
    set_head(connection, rows)
    covered = kept < max(history.checkpoints, default=0)
    return Damage(f"after {kept}", frozenset({"tail_cut"}), range(kept + 1, kept + 2), covered)


def _rechained(rows: Rows, first: int) -> None:
    """Computes the hashes of the rows from `first` on anew, as someone who knows the format can."""
    for place in range(first - 1, len(rows)):
        row, before = rows[place], rows[place - 1]["entry_hash"] if place else GENESIS_HASH
        row["leaf_hash"] = leaf_hash(row["payload"].encode())
        row["prev_hash"] = before
        row["entry_hash"] = entry_hash(row["seq"], before, row["leaf_hash"])


def _rewrite(connection: sa.Connection, rows: Rows, first: int) -> None:
    connection.execute(sa.delete(ENTRY).where(ENTRY.c.seq >= first))
    for row in rows[first - 1 :]:
        connection.execute(sa.insert(ENTRY).values(row))


def _changed(row: dict[str, Any], random: Random) -> str:
    payload: str = row["payload"]
    return (
        payload.replace("}", f',"zz":{random.randint(0, 999)}}}')
        if payload.count("}") == 1
        else payload[:-1] + (f',"zz":{random.randint(0, 999)}}}')
    )


def rewrite_one(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """One entry with new hashes of its own, and those behind it left as they are."""
    if history.size < 2:
        return None
    seq = random.randint(1, history.size - 1)
    rows = _entries(connection)
    rows[seq - 1]["payload"] = _changed(rows[seq - 1], random)
    _rechained(rows[:seq], seq)
    row = rows[seq - 1]
    _update(connection, seq, **{name: row[name] for name in ("payload", "leaf_hash", "prev_hash", "entry_hash")})
    return Damage(f"entry {seq}", frozenset({"link"}), range(seq, seq + 1))


def rewrite_from(connection: sa.Connection, history: History, random: Random) -> Damage:
    """A history that hashes well from end to end, and is another one."""
    first = random.randint(1, history.size)
    rows = _entries(connection)
    rows[first - 1]["payload"] = _changed(rows[first - 1], random)
    _rechained(rows, first)
    _rewrite(connection, rows, first)
    set_head(connection, rows)
    covered = history.covered(first)
    return Damage(f"from {first}", frozenset({"rewrite"}), range(history.before(first) + 1, first + 1), covered)


def fork(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """A second successor of an entry, sound in itself."""
    if history.size < 2:
        return None
    after = random.randint(0, history.size - 2)
    rows = _entries(connection)
    before = rows[after - 1]["entry_hash"] if after else GENESIS_HASH
    payload = '{"entry_type":"silence","subject_id":"forked"}'
    leaf, seq = leaf_hash(payload.encode()), history.size + 1
    made = {"seq": seq, "entry_type": "silence", "subject_id": "forked", "payload": payload, "leaf_hash": leaf}
    connection.execute(
        sa.insert(ENTRY).values({**made, "prev_hash": before, "entry_hash": entry_hash(seq, before, leaf)})
    )
    return Damage(f"after {after}", frozenset({"fork"}), range(seq, seq + 1))


def set_head_back(connection: sa.Connection, history: History, random: Random) -> Damage | None:
    """A head row that no longer describes the entries."""
    kept = random.randint(0, history.size - 1)
    set_head(connection, _entries(connection)[:kept])
    return Damage(f"to {kept}", frozenset({"head"}), range(0, 1))


def forge_checkpoint(connection: sa.Connection, history: History, random: Random) -> Damage:
    """A checkpoint by someone who has not got the key."""
    made = write_checkpoint(connection, new_signing_key(KEY.name), NOW, None)
    if made is None:
        append(connection, EntryType.SILENCE, "one more", {})
        made = write_checkpoint(connection, new_signing_key(KEY.name), NOW, None)
    assert made is not None
    return Damage("by another key", frozenset({"checkpoint"}), range(made.seq, made.seq + 1))


def unguard(connection: sa.Connection) -> None:
    """Everything that the database itself would refuse is lifted, inside the transaction."""
    lift_guards(connection)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE ledger_entry DROP CONSTRAINT uq_ledger_entry_prev_hash")
        connection.exec_driver_sql("ALTER TABLE ledger_entry DROP CONSTRAINT uq_ledger_entry_entry_type_subject_id")
        connection.exec_driver_sql("ALTER TABLE member DROP CONSTRAINT fk_member_evaluation_id_evaluation")
        connection.exec_driver_sql("ALTER TABLE measure DROP CONSTRAINT fk_measure_evaluation_id_evaluation")
        connection.exec_driver_sql("ALTER TABLE audit DROP CONSTRAINT fk_audit_evaluation_id_evaluation")


def auditor() -> ModuleType:
    """The auditor's own script, as a module."""
    if str(AUDITOR) not in sys.path:
        sys.path.insert(0, str(AUDITOR))
    spec = importlib.util.spec_from_file_location("auditor_verify", AUDITOR / "verify.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def witness_of(history: History) -> list[Any]:
    """The history's checkpoints as the verifier reads them."""
    return [read_witness(history.witness, "witness")] if history.witness else []
