"""Alerts: how each monitor's alert stands, and what waits to be sent.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alert",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("since", sa.Text(), nullable=True),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("pending", sa.BigInteger(), nullable=False),
        sa.Column("episode", sa.BigInteger(), nullable=False),
        sa.Column("events", sa.BigInteger(), nullable=False),
        sa.Column("told", sa.Text(), nullable=True),
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("monitor", name=op.f("pk_alert")),
    )
    op.create_table(
        "outbox",
        sa.Column("alert_key", sa.Text(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("episode", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("receiver", sa.Text(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("next_attempt", sa.Text(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("alert_key", name=op.f("pk_outbox")),
    )
    op.create_index(op.f("ix_outbox_state_next_attempt"), "outbox", ["state", "next_attempt"])
    op.create_index(op.f("ix_outbox_monitor_episode"), "outbox", ["monitor", "episode"])


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
