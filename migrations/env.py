"""Alembic's entry: runs migrations on the connection that `worker.migrating.upgrade_store` passes.

There is no alembic.ini and no offline mode: a store is only ever changed inside one transaction
that its owner opened.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context

import worker.store_tables  # noqa: F401 (registers every table)
from trivet.errors import UsageError
from trivet.metadata import metadata

connection = context.config.attributes.get("connection")
if context.is_offline_mode() or not isinstance(connection, sa.Connection):
    raise UsageError("migrations run on an open connection only; use `trivet db upgrade`")

context.configure(
    connection=connection,
    target_metadata=metadata,
    # SQLite cannot alter a constraint in place: the table is copied instead.
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
