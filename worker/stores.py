"""Opening the audit store, on SQLite or PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from trivet.clock import Clock
from trivet.errors import InputError, UnavailableError
from trivet.findings import Finding

_BUSY_TIMEOUT_MS = 10_000
_PATIENCE = 30.0
"""Seconds that a writing transaction waits for its turn."""
_POLL_MS = 50
# SQLite writes beside its file even to read it, so a folder that cannot be written is no use to it.
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; wait for that, then retry",
    sqlite3.SQLITE_LOCKED: "another process is writing to it; wait for that, then retry",
    sqlite3.SQLITE_CANTOPEN: "the file and its folder must be there, and be writable",
    sqlite3.SQLITE_READONLY: "the file and its folder must be writable",
    sqlite3.SQLITE_PERM: "the file and its folder must be writable",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "look at the disk",
}
_READS = "trivet_reads"
# Any constant serves, as long as every process asks for the same lock.
_DELIVERY_LOCK = 0x7472_6976_6575
_PLANNING_LOCK = 0x7472_6976_6576


def open_store(url: str, *, create: bool = True) -> sa.Engine:
    """An engine on the store at `url`: `sqlite:///FILE` or `postgresql+psycopg://...`.

    Transactions are writing ones: on SQLite they begin with BEGIN IMMEDIATE, so two writers wait for
    each other at the start and cannot fail half-way. For reading alone use `read_only(engine)`.
    Nothing is connected yet. A relative SQLite path is taken from the current directory.

    Args:
        url: An SQLAlchemy URL.
        create: Whether a missing SQLite file may be made on the first connection.

    Raises:
        InputError: the URL is malformed or names a store that Trivet does not run on.
        UnavailableError: the SQLite file is missing, or the PostgreSQL driver is not installed.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed, create)
    try:
        engine = sa.create_engine(parsed, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise UnavailableError(f"store.url asks for PostgreSQL: install the package {error.name}") from error
    sa.event.listen(engine, "handle_error", _refuse_unusable)
    sa.event.listen(engine, "checkout", _forget_access_mode)
    return engine


def _forget_access_mode(connection: Any, _record: object, _proxy: object) -> None:
    # Once a connection was used for reading alone, SQLAlchemy leaves READ WRITE behind, which would overrule an
    # administrator who lets the server only be read for a while (default_transaction_read_only).
    connection.read_only = None


def read_only(engine: sa.Engine) -> sa.Engine:
    """The same store for reading: each transaction sees one snapshot and holds up no writer."""
    if engine.dialect.name == "sqlite":
        return engine.execution_options(**{_READS: True})
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


class StoreClock:
    """The clock of a PostgreSQL server, which all that share the store agree on."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        with read_only(self._engine).connect() as connection:
            instant: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
        return instant.astimezone(UTC)


def store_clock(engine: sa.Engine, machine: Clock) -> Clock:
    """By whose time leases end: the server's, or the machine's where the store is a file on it."""
    return StoreClock(engine) if engine.dialect.name == "postgresql" else machine


def delivery_turn(engine: sa.Engine) -> AbstractContextManager[bool]:
    """Whether no other daemon delivers from this store; none does until the end, then.

    The server lets go of the lock however its holder ends. On SQLite there is one daemon, which delivers in one thread.
    """
    return _turn(engine, _DELIVERY_LOCK)


def planning_turn(engine: sa.Engine) -> AbstractContextManager[bool]:
    """Whether no other daemon plans the slots of this store; as for `delivery_turn`."""
    return _turn(engine, _PLANNING_LOCK)


@contextmanager
def _turn(engine: sa.Engine, lock: int) -> Iterator[bool]:
    if engine.dialect.name != "postgresql":
        yield True
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.execute(sa.select(sa.func.pg_try_advisory_lock(lock))).scalar_one():
            yield False
            return
        try:
            yield True
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(lock)))


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        # The text is not repeated: a malformed URL may hold a password anywhere.
        raise _bad_url("not a database URL") from error
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    shown = parsed.render_as_string(hide_password=True)
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise _bad_url(f"{shown} is not a store that Trivet runs on")
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise _bad_url(f"{shown} names no file, and an audit store must outlive the process")
    return parsed


def _bad_url(fault: str) -> InputError:
    message = f"{fault}; write sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"
    return InputError([Finding("settings", None, "store.url", message)])


def _open_sqlite(url: URL, create: bool) -> sa.Engine:
    if not create and not Path(url.database or "").is_file():
        raise UnavailableError(f"there is no store at {url.database}; run `trivet db upgrade` to make one")
    file = Path(url.database or "").absolute()
    # Without a pool a connection closes where its `with` ends, and no file is held open behind anyone's back.
    options: dict[str, Any] = {"poolclass": sa.NullPool}
    if _is_closed(file):
        options["creator"] = lambda: _immutable(file)
    engine = sa.create_engine(url, **options)
    sa.event.listen(engine, "connect", _set_up_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    sa.event.listen(engine, "handle_error", _refuse_unusable)
    return engine


def _is_closed(file: Path) -> bool:
    """Whether nobody has the file open for writing, and we could not: an auditor's copy, a read-only mount."""
    log = file.with_name(f"{file.name}-wal")
    return file.is_file() and not os.access(file.parent, os.W_OK) and not log.exists()


def _immutable(file: Path) -> sqlite3.Connection:
    """Reads the file alone. SQLite writes beside a file in WAL mode even to read it, unless it is told this."""
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def _refuse_unusable(context: ExceptionContext) -> None:
    """A store that is out of reach, held, full or closed to writing is no fault of ours: says so, and what to do."""
    engine, error = context.engine, context.original_exception
    if engine is None or not isinstance(context.sqlalchemy_exception, OperationalError):
        return
    store, text = engine.url.render_as_string(hide_password=True), " ".join(str(error).split())
    code = sqlite_code(error)
    if code in _ADVICE:
        raise UnavailableError(f"the store {store} cannot be used: {text}; {_ADVICE[code]}") from error
    if engine.dialect.name == "postgresql":
        raise UnavailableError(f"the store {store} cannot be used: {text}") from error


def sqlite_code(error: BaseException | None) -> int | None:
    """The primary result code of SQLite that an error has, if it is one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    # An extended result code keeps the primary one in its low byte.
    return None if code is None else code & 0xFF


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver's own BEGIN is deferred and comes late (SQLAlchemy, "SQLite Transactions"); ours is
    # emitted by `_begin_sqlite`.
    connection.isolation_level = None
    for setting in (
        f"busy_timeout={_BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        # NORMAL may lose the last commits on power loss, and no evaluation may be lost.
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: sa.Connection) -> None:
    if connection.get_execution_options().get(_READS, False):
        connection.exec_driver_sql("BEGIN")
    elif not _got_turn(connection.connection.driver_connection):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _got_turn(raw: Any) -> bool:
    """Begins a writing transaction; False where that is to be tried once more, so that its fault is told.

    SQLite hands its lock to whoever asks at the right moment, and asks ever more rarely: one of eight busy writers was
    seen to wait in vain for ten seconds. So it is asked often, and for longer.
    """
    until = time.monotonic() + _PATIENCE
    raw.execute(f"PRAGMA busy_timeout={_POLL_MS}")
    try:
        while time.monotonic() < until:
            try:
                raw.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if sqlite_code(error) != sqlite3.SQLITE_BUSY:
                    return False
            else:
                return True
        return False
    finally:
        raw.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
