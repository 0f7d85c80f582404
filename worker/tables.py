"""The audit tables: evaluations, their verdict counts, and the members and measures they recorded.

All times are canonical UTC text, and all JSON is text that holds canonical JSON, so that a row has
the same bytes on SQLite and PostgreSQL. Every row is bound to its evaluation's ledger entry
(`worker.binding`); all columns are hashed, so a row is written once and never updated. Columns
that later migrations add are nullable.

`slot` and `watermark` are the scheduler's bookkeeping: who works on what, and how far was planned.
Their rows change and are not bound; what a slot came to is its evaluation.
"""

from __future__ import annotations

from enum import StrEnum

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
    # Hashed together with what may be erased (`ledger.bound_rows`); NULL once it was.
    sa.Column("salt", sa.Text),
    # The hash of what was erased.
    sa.Column("erased", sa.Text),
)


measure = sa.Table(
    "measure",
    metadata,
    sa.Column("evaluation_id", sa.Text, sa.ForeignKey("evaluation.evaluation_id"), primary_key=True),
    # Hash of what decides the values: the same in two evaluations whose values can be compared.
    sa.Column("measure_hash", sa.Text, primary_key=True),
    # From 1 in each measure, in key order.
    sa.Column("ordinal", sa.BigInteger, primary_key=True, autoincrement=False),
    # The figure as printed.
    sa.Column("measure", sa.Text, nullable=False),
    # JSON object in ASCII: key property -> canonical text of its value.
    sa.Column("member_key", sa.Text, nullable=False),
    # Exact; NULL where the group had no such figure, and then why.
    sa.Column("value", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("salt", sa.Text),
    sa.Column("erased", sa.Text),
)


class SlotState(StrEnum):
    """How far a slot got. Done and quarantined ones have their evaluation."""

    PLANNED = "planned"
    RUNNING = "running"
    DONE = "done"
    QUARANTINED = "quarantined"
    """It was begun too often without coming to an end, and is not begun again."""


slot = sa.Table(
    "slot",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    # The instant in UTC.
    sa.Column("scheduled_for", sa.Text, primary_key=True),
    # The same instant with the schedule's own offset.
    sa.Column("slot", sa.Text, nullable=False),
    # Of the definition that was planned or, once it is claimed, of the one that is evaluated.
    sa.Column("definition_hash", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    # Counts claims: a result is committed only under the fence that its claim was given.
    sa.Column("fence", sa.BigInteger, nullable=False),
    # The claim that works, or worked, on it.
    sa.Column("owner", sa.Text),
    # Until when a running slot is left to its owner.
    sa.Column("lease_until", sa.Text),
    sa.Column("attempt", sa.BigInteger, nullable=False),
    sa.Column("evaluation_id", sa.Text, nullable=False),
    # When it was last handed to a runner.
    sa.Column("sent_at", sa.Text),
)


def in_state(column: sa.ColumnElement[str], *states: SlotState) -> sa.ColumnElement[bool]:
    """Whether a slot's state is one of these, spelled as the partial indexes below spell it.

    SQLite uses a partial index only where it sees that the condition is the same, which a bound parameter hides.
    """
    texts: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{state.value}'") for state in states]
    return column.in_(texts) if len(texts) > 1 else column == texts[0]


IS_OPEN = in_state(slot.c.state, SlotState.PLANNED, SlotState.RUNNING)
IS_PLANNED = in_state(slot.c.state, SlotState.PLANNED)
IS_RUNNING = in_state(slot.c.state, SlotState.RUNNING)

# Most slots are done; those that are not must be found without reading all.
sa.Index("ix_slot_open", slot.c.monitor, slot.c.scheduled_for, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN)
# One evaluation of a monitor at a time.
sa.Index("uq_slot_running", slot.c.monitor, unique=True, sqlite_where=IS_RUNNING, postgresql_where=IS_RUNNING)

watermark = sa.Table(
    "watermark",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    # Every slot up to this instant was planned, or was not due.
    sa.Column("planned_until", sa.Text, nullable=False),
    # By what the slots were planned last; the ledger holds both texts. NULL before the first plan of this version.
    sa.Column("definition_hash", sa.Text),
    sa.Column("contract_hash", sa.Text),
    # For a schedule after refreshes: the warehouse that was seen last, empty where there was none. NULL before a look.
    sa.Column("refresh", sa.Text),
    # The last jump of the clock over more slots than are written: where it began, and where it led.
    sa.Column("jumped_from", sa.Text),
    sa.Column("jumped_until", sa.Text),
)

# When monitors were not to be evaluated. A row is written once, but for its end before time.
pause = sa.Table(
    "pause",
    metadata,
    sa.Column("pause_id", sa.Text, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # Who answers for it, and why.
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    # Slots that start from `since` on and before `until`, or before `ended_at`, are not evaluated.
    sa.Column("since", sa.Text, nullable=False),
    sa.Column("until", sa.Text, nullable=False),
    # When it was ended before its time, and by whom.
    sa.Column("ended_at", sa.Text),
    sa.Column("ended_by", sa.Text),
    sa.Index(None, "until"),
)

# What the store keeps to itself: written once, in no ledger entry, no document and no log.
secret = sa.Table(
    "secret",
    metadata,
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("value", sa.LargeBinary(32), nullable=False),
)

# Which daemons tick, and when each last did. A row stays and is written anew: the role may delete nothing.
process = sa.Table(
    "process",
    metadata,
    # Kind and host: `run@server-1`.
    sa.Column("process", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    # The last tick that went well.
    sa.Column("ticked_at", sa.Text, nullable=False),
    # When it was stopped; NULL while it runs, and where it died.
    sa.Column("ended_at", sa.Text),
)
