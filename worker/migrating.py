"""The revision of a store, and bringing it to the one of this version.

Alembic is imported where it runs migrations alone: every command asks a store for its revision, and would start an
eighth later for it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError

from trivet.errors import CheckFailedError, InputError
from trivet.findings import Finding
from worker.stores import read_only, sqlite_code

if TYPE_CHECKING:
    from alembic.config import Config

LATEST = "0014"
"""The newest migration, which makes the tables as this version defines them."""
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# Any constant serves, as long as every process asks for the same lock.
_MIGRATION_LOCK = 0x7472_6976_6574
_VERSION = sa.table("alembic_version", sa.column("version_num", sa.String))
"""Alembic's own table."""


def upgrade_store(engine: sa.Engine, migrations: Path) -> None:
    """Runs every migration that the store lacks, in one transaction.

    Raises:
        InputError: the store was written by a later version of Trivet.
    """
    from alembic import command

    config = _config(migrations)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        _refuse_unknown(config, _revision(connection), engine.url)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def store_revision(engine: sa.Engine) -> str | None:
    """The revision the store is at; None before its first migration.

    Raises:
        CheckFailedError: the file is no database, or a damaged one.
        UnavailableError: the store cannot be reached.
    """
    try:
        with read_only(engine).connect() as connection:
            return _revision(connection)
    except DatabaseError as error:
        if sqlite_code(error.orig) not in _CORRUPT:
            raise
        message = f"the store at {engine.url.database} is damaged: {error.orig}; restore it from a backup"
        raise CheckFailedError(message) from error


def is_empty_store(engine: sa.Engine) -> bool:
    """Whether the store holds no table: it was never migrated, or is being migrated for the first time.

    Raises:
        CheckFailedError: the file is no database, or a damaged one.
        UnavailableError: the store cannot be reached.
    """
    if store_revision(engine) is not None:
        return False
    with read_only(engine).connect() as connection:
        return not sa.inspect(connection).get_table_names()


def revision_problem(found: str | None, migrations: Path) -> str | None:
    """Why this version does not work on a store at that revision, and what to do; None where it does."""
    if found == LATEST:
        return None
    if _is_later(_config(migrations), found):
        return f"at revision {found}, which a later version of Trivet made; install that one"
    return f"at revision {found or 'none'} and this version needs {LATEST}; run `trivet db upgrade`"


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_VERSION.name):
        return None
    return connection.execute(sa.select(_VERSION.c.version_num)).scalar_one_or_none()


def _config(migrations: Path) -> Config:
    from alembic.config import Config

    config = Config()
    # The value passes through ConfigParser, where a percent sign starts an interpolation.
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config


def _is_later(config: Config, revision: str | None) -> bool:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    return revision is not None and revision not in known


def _refuse_unknown(config: Config, revision: str | None, url: URL) -> None:
    if _is_later(config, revision):
        message = f"revision {revision} of the store was written by a later version of Trivet; upgrade Trivet"
        raise InputError([Finding(url.render_as_string(hide_password=True), None, "", message)])
