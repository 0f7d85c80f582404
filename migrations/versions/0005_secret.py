"""The store's own secret, under which keys are masked. Nothing is written: it is made at first use.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secret",
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("purpose", name=op.f("pk_secret")),
    )


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")
