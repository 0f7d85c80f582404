"""Result rows to members: the other end of the column roles in `compiler/compiled.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compiler.compiled import MemberQuery, Role
from monitors.evaluation import Member
from monitors.masking import MASKED, Mask
from trivet.verdicts import Reason, Verdict

_REASONS: dict[str | None, Reason | None] = {None: None, **{reason.value: reason for reason in Reason}}


def member_reader(
    query: MemberQuery, verdict: Verdict, object_name: str, mask: Mask
) -> Callable[[Sequence[Any]], Member]:
    """What makes the member that one row of the breach or no_data query speaks of; it masks what is to be masked.

    A million rows may come, so where the columns stand is found out once, and equal causes are one object.

    Args:
        query: the query that gives the rows.
        verdict: what they are.
        object_name: the object type of the members.
        mask: masks the keys that need it.
    """
    keys, operands, causes = (_places(query, role) for role in (Role.KEY, Role.OPERAND, Role.CAUSES))
    reasons, partials = (_places(query, role) for role in (Role.REASON, Role.PARTIAL))
    sources: dict[str, list[tuple[str, int]]] = {}
    for place, column in enumerate(query.columns):
        if column.role is Role.PROVENANCE:
            sources.setdefault(column.source, []).append((column.name, place))
    width = len(query.columns)
    masked = {place for place, column in enumerate(query.columns) if column.masked}
    known: dict[tuple[Any, ...], Mapping[str, tuple[str, ...]]] = {}

    def masked_key(value: Any, name: str) -> str | None:
        text = _text(value)
        return None if text is None else mask.key(object_name, name, text)

    def read(row: Sequence[Any]) -> Member:
        if len(row) != width:
            raise ValueError(f"a row of {len(row)} columns where {width} are wanted")
        said = tuple([row[place] for _, place in causes])
        found = known.get(said)
        if found is None:
            found = known[said] = _causes([name for name, _ in causes], said)
        return Member(
            verdict,
            {name: masked_key(row[place], name) if place in masked else _text(row[place]) for name, place in keys},
            {name: _operand(row[place]) if place in masked else _text(row[place]) for name, place in operands},
            _provenance(row, sources) if sources else (),
            _reason(row[reasons[0][1]]) if reasons else None,
            found,
            bool(partials) and bool(row[partials[0][1]]),
        )

    return read


def _operand(value: Any) -> str | None:
    return None if value is None else MASKED


def _places(query: MemberQuery, role: Role) -> list[tuple[str, int]]:
    return [(column.name, place) for place, column in enumerate(query.columns) if column.role is role]


def _reason(value: Any) -> Reason | None:
    found = _REASONS.get(value)
    return Reason(value) if found is None and value is not None else found


def _provenance(
    row: Sequence[Any], sources: Mapping[str, Sequence[tuple[str, int]]]
) -> tuple[dict[str, str | int | None], ...]:
    found = []
    for source, parts in sources.items():
        told: dict[str, str | int | None] = {"of": source}
        present = False
        for name, place in parts:
            value = row[place]
            present = present or value is not None
            told[name] = value if type(value) is int else _text(value)
        if present:
            found.append(told)
    return tuple(found)


def _text(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def _causes(names: Sequence[str], said: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for name, value in zip(names, said, strict=True):
        if value is not None:
            found.setdefault(name, set()).update(str(value).split(","))
    return {name: tuple(sorted(causes)) for name, causes in found.items()}
