"""The audit store: the ledger with its genesis head, and evaluations with their rows.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_ledger()
    _create_evaluation()
    _create_audit()
    _create_member()


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")


def _create_ledger() -> None:
    op.create_table(
        "ledger_entry",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entry_type", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("leaf_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("prev_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("entry_hash", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_ledger_entry")),
        sa.UniqueConstraint("entry_type", "subject_id", name=op.f("uq_ledger_entry_entry_type_subject_id")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_ledger_entry_prev_hash")),
        sa.UniqueConstraint("entry_hash", name=op.f("uq_ledger_entry_entry_hash")),
    )
    head = op.create_table(
        "ledger_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("entry_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("merkle_frontier", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_ledger_head_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_head")),
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "entry_hash": bytes(32), "merkle_frontier": "[]"}])


def _create_evaluation() -> None:
    op.create_table(
        "evaluation",
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("definition_hash", sa.Text(), nullable=False),
        sa.Column("contract_id", sa.Text(), nullable=False),
        sa.Column("contract_version", sa.Text(), nullable=False),
        sa.Column("contract_hash", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("scheduled_for", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("population", sa.BigInteger(), nullable=True),
        sa.Column("breach", sa.BigInteger(), nullable=True),
        sa.Column("no_data", sa.BigInteger(), nullable=True),
        sa.Column("compliant", sa.BigInteger(), nullable=True),
        sa.Column("partial", sa.BigInteger(), nullable=True),
        sa.Column("duplicate_keys", sa.BigInteger(), nullable=True),
        sa.Column("unexpected", sa.BigInteger(), nullable=True),
        sa.Column("no_data_reasons", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("engine_version", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=True),
        sa.Column("queries_hash", sa.Text(), nullable=True),
        sa.Column("recorded_truncated", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", name=op.f("pk_evaluation")),
    )
    slot = ["monitor", "scheduled_for"]
    op.create_index(op.f("ix_evaluation_monitor_scheduled_for"), "evaluation", slot)
    # Quoted, since the word is a keyword of SQLite.
    scheduled = sa.text("\"trigger\" = 'schedule'")
    op.create_index(
        op.f("uq_evaluation_monitor_scheduled_for"),
        "evaluation",
        slot,
        unique=True,
        sqlite_where=scheduled,
        postgresql_where=scheduled,
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=True),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", "verdict", name=op.f("pk_audit")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.evaluation_id"], name=op.f("fk_audit_evaluation_id_evaluation")
        ),
    )


def _create_member() -> None:
    op.create_table(
        "member",
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("member_key", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("causes", sa.Text(), nullable=False),
        sa.Column("operands", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("partial", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", "ordinal", name=op.f("pk_member")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.evaluation_id"], name=op.f("fk_member_evaluation_id_evaluation")
        ),
    )
