"""Which answer the proposals agree on. Results are compared by their values alone, never by their SQL.

Agreement is not confidence: proposals of one model are wrong together. It only stops answers that
not even the proposals support.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Generic, TypeVar

from catalog.engines.port import Cell
from resolver.outcome import Agreement, Refusal, ResultTable
from resolver.refusals import refuse
from trivet.outcomes import ReasonCode

THRESHOLD = Decimal("0.6")
"""Share of the requested proposals that must reach the winning answer."""

_NINE_DIGITS = Context(prec=9)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vote(Generic[T]):
    """One result in the vote."""

    source: str
    """The model whose proposal it is of."""
    table: ResultTable
    ranked: bool
    """Whether the order of the rows is part of the answer."""
    of: T
    """What the result is of."""


def agree(
    votes: Sequence[Vote[T]], requested: int, threshold: Decimal, must_agree: Sequence[str] = ()
) -> tuple[Vote[T], Agreement] | Refusal:
    """The first vote of the winning group, or a refusal with reason LOW_AGREEMENT.

    A result without a value never outvotes one with: wrong literals agree on nothing all too well.

    Args:
        votes: every result, at least one.
        requested: proposals that were asked for; those that never came or were stopped count against agreement.
        threshold: least share of `requested` that the winner needs.
        must_agree: sources of which each needs a vote in the winning group.
    """
    telling = [vote for vote in votes if not is_empty(vote.table)] or list(votes)
    groups: dict[object, list[Vote[T]]] = defaultdict(list)
    for vote in telling:
        groups[_key(vote)].append(vote)
    ordered = sorted(groups.values(), key=len, reverse=True)
    winner = ordered[0]
    agreement = Agreement(requested, len(votes), len(winner))
    counted = f"{len(winner)} of {requested} reached the most common answer"
    if len(ordered) > 1 and len(ordered[1]) == len(winner):
        return refuse(ReasonCode.LOW_AGREEMENT, f"{counted}, and as many another one")
    absent = sorted(set(must_agree) - {vote.source for vote in winner})
    if absent:
        return refuse(ReasonCode.LOW_AGREEMENT, f"{', '.join(absent)} did not reach the answer of the others")
    if Decimal(len(winner)) < threshold * requested:
        return refuse(ReasonCode.LOW_AGREEMENT, f"{counted}, and {threshold.normalize():f} of them are needed")
    return winner[0], agreement


def is_empty(table: ResultTable) -> bool:
    """Whether a result holds no value at all: no row, or NULL alone."""
    return all(cell is None for row in table.rows for cell in row)


def _key(vote: Vote[T]) -> object:
    """What two results must share to be one answer: the multiset of their rows' values."""
    rows = [tuple(sorted(_value(cell) for cell in row)) for row in vote.table.rows]
    return tuple(rows if vote.ranked else sorted(rows))


def _value(cell: Cell) -> tuple[str, str]:
    """A cell's kind and value: numbers of any type are one where nine significant digits are the same."""
    if cell is None or isinstance(cell, bool):
        return "other", str(cell)
    if isinstance(cell, datetime | date):
        return "moment", cell.isoformat()
    number = as_number(cell)
    if number is not None:
        return "number", str(number.normalize(_NINE_DIGITS) + 0)
    return "text", str(cell)


def as_number(cell: Cell) -> Decimal | None:
    """A cell as a number, where it is one or is the text of one."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(cell).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
