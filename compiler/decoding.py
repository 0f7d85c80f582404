"""Result rows to members: the other end of the column roles in `compiler/compiled.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compiler.compiled import MemberQuery, OutputColumn, Role
from monitors.evaluation import Member
from trivet.verdicts import Reason, Verdict


def read_member(query: MemberQuery, verdict: Verdict, row: Sequence[Any]) -> Member:
    """The member that one row of the breach or no_data query speaks of."""
    cells = list(zip(query.columns, row, strict=True))
    reason = next((value for column, value in cells if column.role is Role.REASON), None)
    return Member(
        verdict=verdict,
        key={column.name: _text(value) for column, value in cells if column.role is Role.KEY},
        operands={column.name: _text(value) for column, value in cells if column.role is Role.OPERAND},
        provenance=_provenance(cells),
        reason=Reason(reason) if reason is not None else None,
        causes=_causes(cells),
        partial=any(bool(value) for column, value in cells if column.role is Role.PARTIAL),
    )


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
