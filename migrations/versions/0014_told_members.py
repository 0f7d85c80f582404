"""Of which members people were told, so that they hear of each once in an episode.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("alert_member", sa.Column("told", sa.BigInteger(), nullable=False, server_default="0"))
    # It covered rows that 0013 took away. What is left is read by monitor, which the primary key begins with.
    op.drop_index(op.f("ix_alert_member_followed"), "alert_member")


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
