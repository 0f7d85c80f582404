"""Which rows outside the ledger each type of entry binds, and in which order they are hashed.

The same is stated where the rows are written; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT, INTEGER, BOOLEAN = "text", "integer", "boolean"


@dataclass(frozen=True, slots=True)
class BoundRows:
    """One table whose rows belong to the subject of an entry."""

    table: str
    subject: str
    """The column that holds the subject."""
    order: tuple[str, ...]
    """The columns that order the rows of one subject."""
    columns: Mapping[str, str]
    """Every column that is hashed, with its kind."""
    erasable: Mapping[str, str | None] = field(default_factory=dict)
    """The columns whose text may be erased, with what is then put in its place.

    They are hashed with the row's `salt`, and the row's leaf holds that hash, which an erased row keeps in `erased`.
    """


def _columns(texts: str, integers: str = "", booleans: str = "") -> dict[str, str]:
    kinds = ((texts, TEXT), (integers, INTEGER), (booleans, BOOLEAN))
    return {name: kind for names, kind in kinds for name in names.split()}


EVALUATION = BoundRows(
    "evaluation",
    "evaluation_id",
    ("evaluation_id",),
    _columns(
        "evaluation_id monitor definition_hash contract_id contract_version contract_hash object trigger slot"
        " scheduled_for started_at finished_at status verdict reason cause message no_data_reasons engine"
        " engine_version snapshot queries_hash",
        "population breach no_data compliant partial duplicate_keys unexpected",
        "recorded_truncated",
    ),
)
AUDIT = BoundRows("audit", "evaluation_id", ("verdict",), _columns("evaluation_id verdict reasons", "count"))
MEMBER = BoundRows(
    "member",
    "evaluation_id",
    ("ordinal",),
    _columns("evaluation_id verdict member_key reason causes operands provenance salt erased", "ordinal", "partial"),
    {"member_key": "{}", "operands": "{}", "provenance": "[]"},
)
MEASURE = BoundRows(
    "measure",
    "evaluation_id",
    ("measure_hash", "ordinal"),
    _columns("evaluation_id measure_hash measure member_key value reason salt erased", "ordinal"),
    {"member_key": "{}"},
)
OUTCOME = BoundRows(
    "outcome",
    "request_id",
    ("request_id",),
    _columns(
        "request_id asked_at finished_at asker question state verdict reason_code clause answer refusal draft"
        " contract_id contract_version contract_hash document candidates snapshot salt erased"
    ),
    {
        "asker": None,
        "question": "",
        "answer": None,
        "refusal": None,
        "draft": None,
        "document": "{}",
        "candidates": "[]",
    },
)
MEMBER_CHANGE = BoundRows(
    "member_change",
    "evaluation_id",
    ("ordinal",),
    _columns("evaluation_id member_key was state salt erased", "ordinal"),
    {"member_key": "{}"},
)

LAYOUT: Mapping[str, tuple[BoundRows, ...]] = {
    "evaluation": (EVALUATION, AUDIT, MEMBER, MEASURE),
    "outcome": (OUTCOME,),
    "member_changes": (MEMBER_CHANGE,),
}
"""By entry type; tables in the order in which their rows are hashed."""
