"""Which rows an evaluation's ledger entry binds."""

from __future__ import annotations

from ledger.bound_rows import Binding, BoundTable
from ledger.entries import EntryType
from worker.tables import audit, evaluation, measure, member

EVALUATION_BINDING = Binding(
    EntryType.EVALUATION,
    (
        BoundTable(evaluation, subject="evaluation_id", order=("evaluation_id",)),
        BoundTable(audit, subject="evaluation_id", order=("verdict",)),
        BoundTable(
            member,
            subject="evaluation_id",
            order=("ordinal",),
            erasable={"member_key": "{}", "operands": "{}", "provenance": "[]"},
        ),
        BoundTable(measure, subject="evaluation_id", order=("measure_hash", "ordinal"), erasable={"member_key": "{}"}),
    ),
)
"""The evaluation's own row, its verdict counts, its recorded members, and its recorded measures."""
