"""Measures: what figures came to in each evaluation, for monitors that are held against their own history.

Guarded as every bound table: append-only by trigger, but for a group's key that is erased.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEY = ("evaluation_id", "measure_hash", "ordinal")
_KEPT = (*_KEY, "measure", "value", "reason")
_APPEND_ONLY = "measure is append-only"


def upgrade() -> None:
    op.create_table(
        "measure",
        sa.Column("evaluation_id", sa.Text(), nullable=False),
        sa.Column("measure_hash", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("member_key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("erased", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint(*_KEY, name=op.f("pk_measure")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.evaluation_id"], name=op.f("fk_measure_evaluation_id_evaluation")
        ),
    )
    bind = op.get_bind()
    for statement in _sqlite() if bind.dialect.name == "sqlite" else _postgresql():
        bind.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")


def _sqlite() -> Iterator[str]:
    # INSERT OR REPLACE deletes without firing the delete trigger.
    same = " AND ".join(f"{name} = NEW.{name}" for name in _KEY)
    taken = f"EXISTS (SELECT 1 FROM measure WHERE {same})"
    for name, event, forbidden in (
        ("delete", "DELETE", "1"),
        ("update", "UPDATE", f"NOT ({_erases('IS')})"),
        ("replace", "INSERT", taken),
    ):
        yield (
            f"CREATE TRIGGER measure_{name} BEFORE {event} ON measure "
            f"BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}') WHERE {forbidden}; END"
        )


def _postgresql() -> Iterator[str]:
    refusal = f"RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{_APPEND_ONLY}';"
    body = f"IF {_erases('IS NOT DISTINCT FROM')} THEN RETURN NEW; END IF; {refusal}"
    yield f"CREATE FUNCTION trivet_measure_erased() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    for name, event, function in (
        ("truncate", "BEFORE TRUNCATE ON measure FOR EACH STATEMENT", "trivet_append_only"),
        ("delete", "BEFORE DELETE ON measure FOR EACH ROW", "trivet_append_only"),
        ("update", "BEFORE UPDATE ON measure FOR EACH ROW", "trivet_measure_erased"),
    ):
        yield f"CREATE TRIGGER measure_{name} {event} EXECUTE FUNCTION {function}()"


def _erases(same: str) -> str:
    """Whether an update does nothing but erase the key of a group, and the ledger tells of it."""
    place = " || '/' || ".join(["'measure'", *(f"OLD.{name}" for name in _KEY)])
    told = f"SELECT 1 FROM ledger_entry WHERE entry_type = 'redaction' AND subject_id = {place}"
    tests = [
        "OLD.erased IS NULL AND NEW.erased IS NOT NULL AND OLD.salt IS NOT NULL AND NEW.salt IS NULL",
        *(f"NEW.{name} {same} OLD.{name}" for name in _KEPT),
        f"NEW.member_key {same} '{{}}'",
        f"EXISTS ({told})",
    ]
    return " AND ".join(tests)
