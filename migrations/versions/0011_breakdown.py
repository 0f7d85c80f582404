"""Breakdowns: addresses that something was given up for, and those that nothing is sent to any more.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "breakdown",
        sa.Column("receiver", sa.Text(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.Column("episode", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.Text(), nullable=True),
        sa.Column("disabled_at", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("told", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("receiver", "target", name=op.f("pk_breakdown")),
    )


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
