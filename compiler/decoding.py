"""Result rows to members: the other end of the column roles in `compiler/compiled.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compiler.compiled import MemberQuery, OutputColumn, Role
from monitors.evaluation import Member
from monitors.masking import MASKED, Mask
from trivet.verdicts import Reason, Verdict


def read_member(query: MemberQuery, verdict: Verdict, row: Sequence[Any], object_name: str, mask: Mask) -> Member:
    """The member that one row of the breach or no_data query speaks of; masked values are masked from here on.

    Args:
        query: the query that gave the row.
        verdict: what its rows are.
        row: the cells, in the order of the query's columns.
        object_name: the object type of the members.
        mask: masks the keys that need it.
    """
    cells = list(zip(query.columns, row, strict=True))
    reason = next((value for column, value in cells if column.role is Role.REASON), None)
    return Member(
        verdict=verdict,
        key={column.name: _key(column, value, object_name, mask) for column, value in cells if column.role is Role.KEY},
        operands={column.name: _operand(column, value) for column, value in cells if column.role is Role.OPERAND},
        provenance=_provenance(cells),
        reason=Reason(reason) if reason is not None else None,
        causes=_causes(cells),
        partial=any(bool(value) for column, value in cells if column.role is Role.PARTIAL),
    )


def _key(column: OutputColumn, value: Any, object_name: str, mask: Mask) -> str | None:
    text = _text(value)
    return mask.key(object_name, column.name, text) if column.masked and text is not None else text


def _operand(column: OutputColumn, value: Any) -> str | None:
    text = _text(value)
    return MASKED if column.masked and text is not None else text


def _provenance(cells: list[tuple[OutputColumn, Any]]) -> tuple[dict[str, str | int | None], ...]:
    rows: dict[str, dict[str, str | int | None]] = {}
    for column, value in cells:
        if column.role is Role.PROVENANCE:
            part = value if isinstance(value, int) and not isinstance(value, bool) else _text(value)
            rows.setdefault(column.source, {"of": column.source})[column.name] = part
    return tuple(row for row in rows.values() if any(value is not None for name, value in row.items() if name != "of"))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _causes(cells: list[tuple[OutputColumn, Any]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for column, value in cells:
        if column.role is Role.CAUSES and value is not None:
            found.setdefault(column.name, set()).update(str(value).split(","))
    return {name: tuple(sorted(causes)) for name, causes in found.items()}
