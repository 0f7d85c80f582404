"""Members that alerts follow, their moves, silences, and what else is known of an alert.

The moves are guarded as every bound table: append-only by trigger, but for a member's key that is erased.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_KEY = ("evaluation_id", "ordinal")
_KEPT = (*_KEY, "was", "state")
_APPEND_ONLY = "member_change is append-only"


def upgrade() -> None:
    for name in ("detail", "message", "outage"):
        op.add_column("alert", sa.Column(name, sa.Text(), nullable=True))
    op.create_index(op.f("ix_alert_outage"), "alert", ["outage"])
    op.create_table(
        "alert_member",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("member_key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("breached", sa.Boolean(), nullable=False),
        sa.Column("since", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("monitor", "member_key", name=op.f("pk_alert_member")),
    )
    followed = sa.text("state != 'compliant' AND (breached OR state != 'gone')")
    op.create_index(
        op.f("ix_alert_member_followed"),
        "alert_member",
        ["monitor"],
        sqlite_where=followed,
        postgresql_where=followed,
    )
    op.create_table(
        "member_change",
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("member_key", sa.Text(), nullable=False),
        sa.Column("was", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("erased", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint(*_KEY, name=op.f("pk_member_change")),
    )
    op.create_table(
        "silence",
        sa.Column("silence_id", sa.Text(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.Text(), nullable=False),
        sa.Column("until", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("silence_id", name=op.f("pk_silence")),
    )
    op.create_index(op.f("ix_silence_until"), "silence", ["until"])
    bind = op.get_bind()
    for statement in _sqlite() if bind.dialect.name == "sqlite" else _postgresql():
        bind.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")


def _sqlite() -> Iterator[str]:
    # INSERT OR REPLACE deletes without firing the delete trigger.
    same = " AND ".join(f"{name} = NEW.{name}" for name in _KEY)
    taken = f"EXISTS (SELECT 1 FROM member_change WHERE {same})"
    for name, event, forbidden in (
        ("delete", "DELETE", "1"),
        ("update", "UPDATE", f"NOT ({_erases('IS')})"),
        ("replace", "INSERT", taken),
    ):
        yield (
            f"CREATE TRIGGER member_change_{name} BEFORE {event} ON member_change "
            f"BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}') WHERE {forbidden}; END"
        )


def _postgresql() -> Iterator[str]:
    refusal = f"RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{_APPEND_ONLY}';"
    body = f"IF {_erases('IS NOT DISTINCT FROM')} THEN RETURN NEW; END IF; {refusal}"
    yield f"CREATE FUNCTION trivet_member_change_erased() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    for name, event, function in (
        ("truncate", "BEFORE TRUNCATE ON member_change FOR EACH STATEMENT", "trivet_append_only"),
        ("delete", "BEFORE DELETE ON member_change FOR EACH ROW", "trivet_append_only"),
        ("update", "BEFORE UPDATE ON member_change FOR EACH ROW", "trivet_member_change_erased"),
    ):
        yield f"CREATE TRIGGER member_change_{name} {event} EXECUTE FUNCTION {function}()"


def _erases(same: str) -> str:
    """Whether an update does nothing but erase the key of a member, and the ledger tells of it."""
    place = " || '/' || ".join(["'member_change'", *(f"OLD.{name}" for name in _KEY)])
    told = f"SELECT 1 FROM ledger_entry WHERE entry_type = 'redaction' AND subject_id = {place}"
    tests = [
        "OLD.erased IS NULL AND NEW.erased IS NOT NULL AND OLD.salt IS NOT NULL AND NEW.salt IS NULL",
        *(f"NEW.{name} {same} OLD.{name}" for name in _KEPT),
        f"NEW.member_key {same} '{{}}'",
        f"EXISTS ({told})",
    ]
    return " AND ".join(tests)
