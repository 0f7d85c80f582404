"""The files of a workspace, to be compared and changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

# SQLite's own working files, and the lock of a build: they say nothing of what a workspace holds.
_WORKING = ("trivet.db-shm", "trivet.db-wal", ".warehouse.lock")


def files_of(folder: Path) -> dict[str, Any]:
    """The content of every file, by its path; of a store that can be read, its rows."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in _WORKING]
    found: dict[str, Any] = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    with suppress(sqlite3.DatabaseError):
        found |= {"trivet.db": rows_of(folder)}
    return found


def rows_of(workspace: Path) -> dict[str, list[Any]]:
    """Every row of every table of a workspace's store."""
    with closing(sqlite3.connect(f"file:{workspace / 'trivet.db'}?mode=ro", uri=True)) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: store.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() for name in names}


@contextmanager
def by_hand(workspace: Path) -> Iterator[sqlite3.Connection]:
    """The store's file as anyone who holds it can write it, its constraints struck out."""
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("PRAGMA writable_schema=ON")
        store.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
        store.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
        store.commit()
    with closing(sqlite3.connect(workspace / "trivet.db")) as store:
        store.execute("PRAGMA ignore_check_constraints=ON")
        yield store
        store.commit()


def last_entry(workspace: Path) -> int:
    """The number of the ledger's last entry."""
    return max((int(row[0]) for row in rows_of(workspace)["ledger_entry"]), default=0)


def replace_in(file: Path, old: str, new: str) -> None:
    """Replaces a text that stands in a file exactly once."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1, f"{file.name} holds {old!r} {text.count(old)} times"
    file.write_text(text.replace(old, new), "utf-8")


def append_to(file: Path, text: str) -> None:
    """Adds to the end of a file."""
    with file.open("a", encoding="utf-8") as handle:
        handle.write(text)
