"""Which rows an evaluation's ledger entry binds."""

from __future__ import annotations

from ledger.bound_rows import Binding, BoundTable
from ledger.entries import EntryType
from worker.tables import audit, evaluation, member

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
    ),
)
"""The evaluation's own row, its verdict counts, and its recorded members."""
