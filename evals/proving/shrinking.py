"""A data set on which two sides differ, made smaller as long as they do: fewer rows, then fewer cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from evals.oracle.evaluation import Table
from evals.proving.data_sets import DataSet

_MOST_TRIES = 400


def shrunk(data_set: DataSet, differs: Callable[[DataSet], bool]) -> DataSet:
    """The smallest data set that was found on which `differs` still holds; it is asked a few hundred times at most."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(data_set):
            tries += 1
            if tries > _MOST_TRIES:
                return data_set
            if differs(candidate):
                data_set, smaller = candidate, True
                break
    return data_set


def _smaller(data_set: DataSet) -> Iterator[DataSet]:
    """Data sets with less in them, those with much less first."""
    for view, table in data_set.tables.items():
        half = len(table.rows) // 2
        if half:
            yield _with(data_set, view, table.rows[:half])
            yield _with(data_set, view, table.rows[half:])
    for view, table in data_set.tables.items():
        for index in range(len(table.rows)):
            yield _with(data_set, view, [*table.rows[:index], *table.rows[index + 1 :]])
    for view, table in data_set.tables.items():
        for index, row in enumerate(table.rows):
            for name, cell in row.items():
                if cell is not None:
                    emptied = {**row, name: None}
                    yield _with(data_set, view, [*table.rows[:index], emptied, *table.rows[index + 1 :]])


def _with(data_set: DataSet, view: str, rows: Sequence[Mapping[str, object]]) -> DataSet:
    table = data_set.tables[view]
    return replace(data_set, tables={**data_set.tables, view: Table(table.columns, rows)})
