"""The scheduler's bookkeeping: slots and how far they were planned.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "slot",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("scheduled_for", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("definition_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Text(), nullable=True),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("monitor", "scheduled_for", name=op.f("pk_slot")),
    )
    not_ended = sa.text("state IN ('planned', 'running')")
    running = sa.text("state = 'running'")
    op.create_index(op.f("ix_slot_open"), "slot", ["scheduled_for"], sqlite_where=not_ended, postgresql_where=not_ended)
    op.create_index(
        op.f("uq_slot_running"), "slot", ["monitor"], unique=True, sqlite_where=running, postgresql_where=running
    )
    op.create_table(
        "watermark",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("planned_until", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("monitor", name=op.f("pk_watermark")),
    )


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
