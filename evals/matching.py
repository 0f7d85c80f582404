"""Whether a result is one that a label accepts: exactly, or but for further columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.engines.port import Cell
from evals.bank import Accepted, CellValue, Tolerance, ToleranceKind
from resolver.consensus import as_number
from resolver.outcome import ResultTable, cell_json

Row = Sequence[Cell]


def matches(accepted: Accepted, table: ResultTable, *, strict: bool) -> bool:
    """Whether a result is the accepted one.

    Columns stand in the order of the label. Relaxed, further columns behind them are passed over. Further
    ones before them are not: a small count would be found in any table. A result that was cut off is none.
    """
    if table.truncated or len(table.rows) != len(accepted.rows):
        return False
    if not accepted.rows:
        return True
    width = len(accepted.rows[0])
    if len(table.columns) < width or (strict and len(table.columns) != width):
        return False
    rows = [row[:width] for row in table.rows]
    if accepted.ordered:
        return all(_row_is(row, wanted, accepted.tolerance) for row, wanted in zip(rows, accepted.rows, strict=True))
    return _pairs_up(rows, accepted.rows, accepted.tolerance)


def _pairs_up(rows: Iterable[Row], wanted: Sequence[Sequence[CellValue]], tolerance: Tolerance | None) -> bool:
    """Whether each row can be given a labelled row of its own.

    With a tolerance a row may fit several, and the first choice can take what another row needs: so
    choices are moved along augmenting paths (Kuhn's matching).
    """
    listed = list(rows)
    fits = [[index for index, one in enumerate(wanted) if _row_is(row, one, tolerance)] for row in listed]
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for index in fits[row]:
            if index not in tried:
                tried.add(index)
                if index not in taken or place(taken[index], tried):
                    taken[index] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(listed)))


def _row_is(row: Row, wanted: Sequence[CellValue], tolerance: Tolerance | None) -> bool:
    return all(_cell_is(cell, label, tolerance) for cell, label in zip(row, wanted, strict=True))


def _cell_is(cell: Cell, label: CellValue, tolerance: Tolerance | None) -> bool:
    if cell is None or label is None:
        return cell is None and label is None
    found, wanted = as_number(cell), as_number(label)
    if found is None or wanted is None:
        shown = cell_json(cell)
        return (str(shown).lower() if isinstance(shown, bool) else str(shown)) == label
    if tolerance is None:
        # As a document shows them: a double has twelve digits there.
        return as_number(str(cell_json(cell))) == wanted
    match tolerance.kind:
        case ToleranceKind.ABSOLUTE:
            return abs(found - wanted) <= tolerance.size
        case ToleranceKind.RELATIVE:
            return abs(found - wanted) <= tolerance.size * abs(wanted)
