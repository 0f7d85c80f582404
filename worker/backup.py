"""Backing the store up while it runs, and restoring it. A backup is itself a store, in one SQLite file."""

from __future__ import annotations

import base64
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from ledger.append import append
from ledger.checkpoints import last_checkpoint
from ledger.entries import EntryType, LedgerEntry, LedgerHead
from ledger.reading import head
from ledger.tables import ledger_head
from ledger.verification.findings import Report
from ledger.verification.notes import Checkpoint, read_checkpoint, read_witness
from ledger.verification.verify import verify_store
from trivet.canonical import Json
from trivet.clock import utc_text
from trivet.errors import CheckFailedError, TrivetError, UnavailableError, UsageError
from worker.migrating import LATEST, store_revision, upgrade_store
from worker.store_tables import store_tables
from worker.stores import open_store, read_only

PAYLOAD_VERSION = 1
_CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    file: Path
    report: Report
    """What verifying it said."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was restored."""

    entry: LedgerEntry
    """The `recovery` entry."""
    size: int
    """How many entries the backup held."""
    seen: int | None
    """How many entries the last checkpoint that anyone has seen was signed over."""
    aside: Path | None
    """Where the store that was there before lies now."""


def back_up(store: sa.Engine, file: Path, migrations: Path) -> Backup:
    """Copies the store as it stands at one moment into a new SQLite file, and verifies the copy.

    Others may go on writing meanwhile.

    Raises:
        UsageError: the file exists already.
        UnavailableError: the store cannot be read, or the file cannot be written.
    """
    if file.exists():
        raise UsageError(f"'{file}' exists already; a backup is never overwritten")
    made = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        if store.dialect.name == "sqlite":
            _copy_file(Path(str(store.url.database)), made)
        else:
            _copy_tables_to(store, made, migrations)
        report = _verified(made)
        _sync(made)
        made.rename(file)
    except OSError as error:
        raise UnavailableError(f"the backup cannot be written: {error.strerror or error}") from error
    finally:
        made.unlink(missing_ok=True)
    return Backup(file, report)


def restore(
    backup: Path,
    url: str,
    migrations: Path,
    witnesses: Sequence[Path],
    now: datetime,
    *,
    replace: bool = False,
) -> Restored:
    """Makes a backup the store, and says so in its ledger: a `recovery` entry names the last checkpoints seen.

    Args:
        backup: what `back_up` made.
        url: of the store: a SQLite file, or a PostgreSQL database that holds no entries.
        migrations: the backup is brought to the latest of them.
        witnesses: files of checkpoints, which tell how far the ledger once reached.
        now: the time.
        replace: put a SQLite file that is there aside; PostgreSQL data is never replaced.

    Raises:
        CheckFailedError: the backup is damaged.
        UsageError: a store is there already.
        UnavailableError: the store cannot be reached or written.
    """
    if not backup.is_file():
        raise UsageError(f"there is no backup '{backup}'")
    with tempfile.TemporaryDirectory(prefix="trivet-restore-") as folder, backup.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
        copy = Path(folder) / "store.db"
        shutil.copyfile(backup, copy)
        source = open_store(f"sqlite:///{copy}", create=False)
        _refuse_damage(backup, source)
        upgrade_store(source, migrations)
        target = _SqliteTarget(url) if url.startswith("sqlite") else _ServerTarget(url, migrations)
        with closing(target):
            seen = list(_seen(witnesses, target.present(replace)))

            def tell(connection: sa.Connection) -> LedgerEntry:
                payload = _payload(head(connection), seen, digest, now)
                return append(connection, EntryType.RECOVERY, uuid.uuid4().hex, payload)

            entry, aside = target.take(source, tell)
    return Restored(entry, entry.seq - 1, max((item.size for item in seen), default=None), aside)


def _payload(last: LedgerHead, seen: Iterable[Checkpoint], digest: str, now: datetime) -> dict[str, Json]:
    named = {(item.size, base64.b64encode(item.root).decode("ascii")) for item in seen}
    return {
        "schema": PAYLOAD_VERSION,
        "restored": {"size": last.seq, "entry_hash": last.entry_hash.hex()},
        "seen": [{"size": size, "root": root} for size, root in sorted(named)],
        "backup": digest,
        "recovered_at": utc_text(now),
    }


def _seen(witnesses: Sequence[Path], present: sa.Engine | None) -> Iterable[Checkpoint]:
    """The last checkpoint of each origin in each witness, and that of the store which is given up."""
    for file in witnesses:
        if file.is_file():
            read = read_witness(file.read_bytes().decode("utf-8", "replace"), file.name).checkpoints
            yield from {item.origin: item for item in read}.values()
    if present is not None:
        try:
            with read_only(present).connect() as connection:
                last = last_checkpoint(connection)
            if last is not None:
                yield read_checkpoint(last.note)
        except (TrivetError, DatabaseError, ValueError):
            # It may be as broken as it likes: that is why a backup is restored.
            return


def _refuse_damage(backup: Path, source: sa.Engine) -> None:
    if store_revision(source) is None:
        raise UsageError(f"'{backup}' is no backup of a store")
    report = _verified(Path(str(source.url.database)))
    if not report.ok:
        raise CheckFailedError(f"the backup is damaged: {report.damage[0]}; restore another one")


_Tell: TypeAlias = Callable[[sa.Connection], LedgerEntry]
"""Appends the entry that tells of a recovery."""


class _SqliteTarget:
    """A SQLite file, which becomes the backup."""

    def __init__(self, url: str) -> None:
        self._file = Path(url.removeprefix("sqlite:///"))
        self._url = url

    def present(self, replace: bool) -> sa.Engine | None:
        """The store that is there now."""
        if not self._file.exists():
            return None
        if not replace:
            raise UsageError(f"there is a store at {self._file}; say --replace to put it aside")
        return open_store(self._url, create=False)

    def take(self, source: sa.Engine, tell: _Tell) -> tuple[LedgerEntry, Path | None]:
        """Puts the copy, once it tells of its recovery, in the place of what is there; where that lies now."""
        with source.begin() as connection:
            entry = tell(connection)
        copy, aside = Path(str(source.url.database)), None
        _fold_log(copy)
        made = self._file.with_name(f".{self._file.name}.{uuid.uuid4().hex}")
        shutil.copyfile(copy, made)
        _sync(made)
        if self._file.exists():
            aside = self._file.with_name(f"{self._file.name}.before-{uuid.uuid4().hex[:8]}")
            _fold_log(self._file)
            self._file.rename(aside)
        for name in ("-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{name}").unlink(missing_ok=True)
        made.rename(self._file)
        return entry, aside

    def close(self) -> None:
        """Nothing is held open."""


class _ServerTarget:
    """A PostgreSQL database without entries, into which the backup's rows are copied."""

    def __init__(self, url: str, migrations: Path) -> None:
        self._engine = open_store(url)
        upgrade_store(self._engine, migrations)

    def present(self, _replace: bool) -> sa.Engine | None:
        """Nothing that could be given up: the database must be empty."""
        with read_only(self._engine).connect() as connection:
            if head(connection).seq:
                raise UsageError("the database holds a ledger already; make a new one, and name it in store.url")
        return None

    def take(self, source: sa.Engine, tell: _Tell) -> tuple[LedgerEntry, None]:
        """Copies every row and tells of the recovery, in one transaction."""
        with read_only(source).connect() as reading, self._engine.begin() as writing:
            _copy_tables(reading, writing)
            return tell(writing), None

    def close(self) -> None:
        """Lets go of the server."""
        self._engine.dispose()


def _copy_tables_to(store: sa.Engine, file: Path, migrations: Path) -> None:
    if store_revision(store) != LATEST:
        raise UnavailableError("the store is not at this version's revision; run `trivet db upgrade`")
    target = open_store(f"sqlite:///{file}")
    upgrade_store(target, migrations)
    with read_only(store).connect() as reading, target.begin() as writing:
        _copy_tables(reading, writing)
    _fold_log(file)


def _copy_tables(reading: sa.Connection, writing: sa.Connection) -> None:
    for table in store_tables():
        statement = sa.select(table).order_by(*table.primary_key.columns).execution_options(yield_per=_CHUNK)
        with reading.execute(statement) as rows:
            for part in rows.mappings().partitions():
                found = [dict(row) for row in part]
                if table is ledger_head:
                    if found[0]["seq"]:
                        writing.execute(sa.update(ledger_head).values(found[0]))
                else:
                    writing.execute(sa.insert(table), found)


def _copy_file(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as reading,
        closing(sqlite3.connect(target)) as made,
    ):
        reading.backup(made)
    _fold_log(target)


def _fold_log(file: Path) -> None:
    """Leaves a SQLite database in its one file, with no log beside it."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise UnavailableError(f"the store {file} is held or broken: {error}; stop what uses it, then retry") from error


def _verified(file: Path) -> Report:
    engine = open_store(f"sqlite:///{file}", create=False)
    with read_only(engine).connect() as connection:
        return verify_store(connection)


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
