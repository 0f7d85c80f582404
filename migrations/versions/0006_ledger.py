"""The ledger guarded: append-only by trigger, one place for each entry, and text that may be erased.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Table to its key: rows that are written once. Those with erasable columns have what is put in place of the text.
FIXED = {
    "ledger_entry": ("seq",),
    "evaluation": ("evaluation_id",),
    "audit": ("evaluation_id", "verdict"),
    "member": ("evaluation_id", "ordinal"),
    "outcome": ("request_id",),
}
ERASABLE = {
    "member": {"member_key": "'{}'", "operands": "'{}'", "provenance": "'[]'"},
    "outcome": {
        "asker": "NULL",
        "question": "''",
        "answer": "NULL",
        "refusal": "NULL",
        "draft": "NULL",
        "document": "'{}'",
        "candidates": "'[]'",
    },
}
KEPT = {
    "member": ("evaluation_id", "ordinal", "verdict", "reason", "causes", "partial"),
    "outcome": (
        "request_id",
        "asked_at",
        "finished_at",
        "state",
        "verdict",
        "reason_code",
        "clause",
        "contract_id",
        "contract_version",
        "contract_hash",
        "snapshot",
    ),
}


def upgrade() -> None:
    for table in ERASABLE:
        op.add_column(table, sa.Column("salt", sa.Text(), nullable=True))
        op.add_column(table, sa.Column("erased", sa.Text(), nullable=True))
    bind = op.get_bind()
    for statement in _sqlite() if bind.dialect.name == "sqlite" else _postgresql():
        bind.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("an audit store is never downgraded; restore a backup")


def _sqlite() -> Iterator[str]:
    for table, key in FIXED.items():
        yield _sqlite_trigger(table, "delete", "DELETE", "1", f"{table} is append-only")
        forbidden = f"NOT ({_erases(table, 'IS')})" if table in ERASABLE else "1"
        yield _sqlite_trigger(table, "update", "UPDATE", forbidden, f"{table} is append-only")
        if table == "ledger_entry":
            continue
        # INSERT OR REPLACE deletes without firing the delete trigger.
        same = " AND ".join(f"{name} = NEW.{name}" for name in key)
        taken = f"EXISTS (SELECT 1 FROM {table} WHERE {same})"
        yield _sqlite_trigger(table, "replace", "INSERT", taken, f"{table} is append-only")
    subject = "SELECT 1 FROM ledger_entry WHERE entry_type = NEW.entry_type AND subject_id = NEW.subject_id"
    message = "ledger_entry: one entry for each type and subject"
    yield _sqlite_trigger("ledger_entry", "subject", "INSERT", f"EXISTS ({subject})", message)
    misplaced = (
        "NEW.seq <> coalesce((SELECT max(seq) FROM ledger_entry), 0) + 1 OR NEW.prev_hash <> "
        "coalesce((SELECT entry_hash FROM ledger_entry ORDER BY seq DESC LIMIT 1), zeroblob(32))"
    )
    yield _sqlite_trigger("ledger_entry", "follow", "INSERT", misplaced, "ledger_entry: an entry follows the last one")
    yield _sqlite_trigger("ledger_head", "delete", "DELETE", "1", "ledger_head is kept")
    yield _sqlite_trigger("ledger_head", "update", "UPDATE", "NEW.seq <= OLD.seq", "ledger_head only moves forward")
    yield _sqlite_trigger("ledger_head", "replace", "INSERT", "1", "ledger_head is kept")


def _sqlite_trigger(table: str, name: str, event: str, forbidden: str, message: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{message}') WHERE {forbidden}; END"
    )


def _postgresql() -> Iterator[str]:
    refusal = "USING ERRCODE = 'integrity_constraint_violation', MESSAGE = "
    yield _function("trivet_append_only", f"RAISE EXCEPTION {refusal} TG_TABLE_NAME || ' is append-only';")
    for table in (*FIXED, "ledger_head"):
        yield (
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION trivet_append_only()"
        )
        yield (
            f"CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION trivet_append_only()"
        )
    for table in FIXED:
        function = "trivet_append_only"
        if table in ERASABLE:
            function = f"trivet_{table}_erased"
            erases = _erases(table, "IS NOT DISTINCT FROM")
            body = f"IF {erases} THEN RETURN NEW; END IF; RAISE EXCEPTION {refusal} '{table} is append-only';"
            yield _function(function, body)
        yield f"CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()"
    body = f"IF NEW.seq > OLD.seq THEN RETURN NEW; END IF; RAISE EXCEPTION {refusal} 'ledger_head only moves forward';"
    yield _function("trivet_head_moves", body)
    yield (
        "CREATE TRIGGER ledger_head_update BEFORE UPDATE ON ledger_head "
        "FOR EACH ROW EXECUTE FUNCTION trivet_head_moves()"
    )


def _function(name: str, body: str) -> str:
    return f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"


def _erases(table: str, same: str) -> str:
    """Whether an update does nothing but erase the text of a row, and the ledger tells of it."""
    place = " || '/' || ".join([f"'{table}'", *(f"OLD.{name}" for name in FIXED[table])])
    told = f"SELECT 1 FROM ledger_entry WHERE entry_type = 'redaction' AND subject_id = {place}"
    tests = [
        "OLD.erased IS NULL AND NEW.erased IS NOT NULL AND OLD.salt IS NOT NULL AND NEW.salt IS NULL",
        *(f"NEW.{name} {same} OLD.{name}" for name in KEPT[table]),
        *(f"NEW.{name} {same} {empty}" for name, empty in ERASABLE[table].items()),
        f"EXISTS ({told})",
    ]
    return " AND ".join(tests)
