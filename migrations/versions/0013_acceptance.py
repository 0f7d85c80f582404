"""Accepted members, whose breach somebody answers for until a date; members that recovered are followed no longer.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "acceptance",
        sa.Column("acceptance_id", sa.Text(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("member_key", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.Text(), nullable=False),
        sa.Column("until", sa.Text(), nullable=False),
        sa.Column("last_day", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("acceptance_id", name=op.f("pk_acceptance")),
    )
    op.create_index(op.f("ix_acceptance_monitor_until"), "acceptance", ["monitor", "until"])
    # Their rows were kept, and nothing looks for them.
    op.execute("DELETE FROM alert_member WHERE NOT (state != 'compliant' AND (breached OR state != 'gone'))")


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
