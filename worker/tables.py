"""The audit tables: evaluations, their verdict counts, and the members they recorded.

All times are canonical UTC text, and all JSON is text that holds canonical JSON, so that a row has
the same bytes on SQLite and PostgreSQL. Every row is bound to its evaluation's ledger entry
(`worker.binding`); all columns are hashed, so a row is written once and never updated. Columns
that later migrations add are nullable.
"""

from __future__ import annotations

import sqlalchemy as sa

from trivet.metadata import metadata
from trivet.verdicts import Trigger

evaluation = sa.Table(
    "evaluation",
    metadata,
    sa.Column("evaluation_id", sa.Text, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("definition_hash", sa.Text, nullable=False),
    sa.Column("contract_id", sa.Text, nullable=False),
    sa.Column("contract_version", sa.Text, nullable=False),
    sa.Column("contract_hash", sa.Text, nullable=False),
    # The contract's object type that the monitor watches.
    sa.Column("object", sa.Text, nullable=False),
    sa.Column("trigger", sa.Text, nullable=False),
    # The scheduled instant with the schedule's own offset, as people read it.
    sa.Column("slot", sa.Text, nullable=False),
    # The same instant in UTC, as it is compared and claimed.
    sa.Column("scheduled_for", sa.Text, nullable=False),
    sa.Column("started_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    # Why it could not be made, and what the engine or the planner said of it.
    sa.Column("reason", sa.Text),
    sa.Column("cause", sa.Text),
    sa.Column("message", sa.Text),
    # Counts of members; NULL where the evaluation could not be made.
    sa.Column("population", sa.BigInteger),
    sa.Column("breach", sa.BigInteger),
    sa.Column("no_data", sa.BigInteger),
    sa.Column("compliant", sa.BigInteger),
    sa.Column("partial", sa.BigInteger),
    sa.Column("duplicate_keys", sa.BigInteger),
    sa.Column("unexpected", sa.BigInteger),
    # JSON object: reason -> count.
    sa.Column("no_data_reasons", sa.Text, nullable=False),
    sa.Column("engine", sa.Text, nullable=False),
    sa.Column("engine_version", sa.Text, nullable=False),
    # JSON: the identity of the data that was read.
    sa.Column("snapshot", sa.Text),
    sa.Column("queries_hash", sa.Text),
    # Whether members beyond the hard limit were left unrecorded; the counts stay whole.
    sa.Column("recorded_truncated", sa.Boolean, nullable=False),
    sa.Index(None, "monitor", "scheduled_for"),
)

_SCHEDULED = evaluation.c.trigger == sa.literal_column(f"'{Trigger.SCHEDULE.value}'")

# One evaluation for each slot of a schedule, whoever races for it; manual runs and replays are free.
sa.Index(
    "uq_evaluation_monitor_scheduled_for",
    evaluation.c.monitor,
    evaluation.c.scheduled_for,
    unique=True,
    sqlite_where=_SCHEDULED,
    postgresql_where=_SCHEDULED,
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("evaluation_id", sa.Text, sa.ForeignKey("evaluation.evaluation_id"), primary_key=True),
    sa.Column("verdict", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger),
    # JSON object: reason -> count.
    sa.Column("reasons", sa.Text, nullable=False),
)

member = sa.Table(
    "member",
    metadata,
    sa.Column("evaluation_id", sa.Text, sa.ForeignKey("evaluation.evaluation_id"), primary_key=True),
    # From 1: breached members first, then undecided ones, each in key order.
    sa.Column("ordinal", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("verdict", sa.Text, nullable=False),
    # JSON object: key property -> value as text.
    sa.Column("member_key", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    # JSON object: operand (or link) -> sorted list of causes.
    sa.Column("causes", sa.Text, nullable=False),
    # JSON object: operand -> value as text.
    sa.Column("operands", sa.Text, nullable=False),
    # JSON list: where in the sources the values were printed.
    sa.Column("provenance", sa.Text, nullable=False),
    sa.Column("partial", sa.Boolean, nullable=False),
)
