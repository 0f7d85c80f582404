"""The ledger's two tables. Entries are inserted and never updated or deleted; the head row moves."""

from __future__ import annotations

import sqlalchemy as sa

from trivet.metadata import metadata

ledger_entry = sa.Table(
    "ledger_entry",
    metadata,
    # 1, 2, 3, ... taken from the head row: a database sequence leaves gaps when a transaction rolls back.
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("entry_type", sa.Text, nullable=False),
    sa.Column("subject_id", sa.Text, nullable=False),
    # Exactly the canonical JSON that was hashed, never rebuilt from columns.
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("leaf_hash", sa.LargeBinary(32), nullable=False),
    sa.Column("prev_hash", sa.LargeBinary(32), nullable=False),
    sa.Column("entry_hash", sa.LargeBinary(32), nullable=False),
    sa.UniqueConstraint("entry_type", "subject_id"),
    # One successor for each entry: a fork is an error of the database, not a matter of discipline.
    sa.UniqueConstraint("prev_hash"),
    sa.UniqueConstraint("entry_hash"),
)

ledger_head = sa.Table(
    "ledger_head",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("entry_hash", sa.LargeBinary(32), nullable=False),
    # Canonical JSON list of hex hashes: the perfect subtrees over all leaves, largest first.
    sa.Column("merkle_frontier", sa.Text, nullable=False),
    sa.CheckConstraint("id = 1", name="one_row"),
)


def as_stored(table: sa.Table) -> sa.TableClause:
    """The same table without column types, so that values arrive as the driver reads them.

    A typed column converts what it reads and fails on a value that was changed by hand into another
    type; what is to be verified has to be read before anything interprets it.
    """
    return sa.table(table.name, *(sa.column(column.name) for column in table.columns))
