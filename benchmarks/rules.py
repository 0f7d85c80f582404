"""The type rules on text, against the engine's bare cast of the same column."""

from __future__ import annotations

from pathlib import Path

from benchmarks import floors, warehouse
from benchmarks.governed import monitors
from benchmarks.jobs import Statement, physical
from benchmarks.measuring import Job, measure
from benchmarks.tables import Table, ratio

_CASTS = {
    "whole": "BIGINT",
    "exact": "DECIMAL(12,4)",
    "measured": "DOUBLE",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "flag": "BOOLEAN",
}


def run(folder: Path, rows: int, rounds: int) -> Table:
    """A row for each type."""
    path = folder / "cells.duckdb"
    warehouse.build(path, rows, frozenset({"cells"}))
    (definition,) = monitors(f"object: cell, breach_when: {' and '.join(f'{name} is missing' for name in _CASTS)}")
    jobs: dict[str, Job] = {}
    for column, kind in _CASTS.items():
        jobs[f"{column} cast"] = Statement(path, floors.bare_cast("ontology.cells", column, kind))
        jobs[f"{column} rule"] = Statement(path, floors.type_rule(definition, column, physical(path)))
    found = measure(jobs, rounds)
    table = []
    for column, kind in _CASTS.items():
        cast, rule = found[f"{column} cast"], found[f"{column} rule"]
        times = (ratio(rule[f"whole {time}"], cast[f"whole {time}"]) for time in ("seconds", "work"))
        table.append((kind, f"{cast['whole seconds']:.3f} s", *times))
    columns = ("type", "bare cast", "type rule / cast, time", "work")
    return Table(f"Type rules on text, {rows:,} rows.", columns, tuple(table))
