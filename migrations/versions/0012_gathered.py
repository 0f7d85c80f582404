"""Gathering: the group in which a notice waits, and the message it went out in. Alerts of the groups of monitors.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("outbox", sa.Column("group_key", sa.Text(), nullable=True))
    op.add_column("outbox", sa.Column("gathered_at", sa.Text(), nullable=True))
    op.add_column("outbox", sa.Column("gathered_in", sa.Text(), nullable=True))
    op.create_index(op.f("ix_outbox_group_key_gathered_at"), "outbox", ["group_key", "gathered_at"])
    op.create_index(op.f("ix_outbox_gathered_in"), "outbox", ["gathered_in"])
    op.add_column("alert", sa.Column("group_of", sa.Text(), nullable=True))
    op.add_column("alert", sa.Column("member_key", sa.Text(), nullable=True))
    op.create_index("ix_alert_group_of", "alert", ["group_of"])


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
