"""Pauses of monitors, by what slots were planned, and open slots found by their monitor.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pause",
        sa.Column("pause_id", sa.Text(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.Text(), nullable=False),
        sa.Column("until", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("pause_id", name=op.f("pk_pause")),
    )
    op.create_index(op.f("ix_pause_until"), "pause", ["until"])
    for name in ("definition_hash", "contract_hash", "refresh", "jumped_from", "jumped_until"):
        op.add_column("watermark", sa.Column(name, sa.Text(), nullable=True))
    not_ended = sa.text("state IN ('planned', 'running')")
    op.drop_index(op.f("ix_slot_open"), table_name="slot")
    op.create_index(
        op.f("ix_slot_open"), "slot", ["monitor", "scheduled_for"], sqlite_where=not_ended, postgresql_where=not_ended
    )


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
