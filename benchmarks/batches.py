"""Monitors with constant bounds that are due together over one view, as a ratio to one of them."""

from __future__ import annotations

from pathlib import Path

from benchmarks import floors, warehouse
from benchmarks.governed import monitors
from benchmarks.jobs import Evaluation, Statement, physical
from benchmarks.measuring import Job, measure
from benchmarks.tables import Table, ratio

MOST = {1_000_000: 1_000}
"""Monitors of the largest batch, by the rows of the view."""
SIZES = (1, 10, 100, 1_000)
_FEW = 1_000


def run(folder: Path, rows: int, rounds: int) -> Table:
    """A row for each size of the batch, over a view with few and over one with many members to be told."""
    path, small = folder / "pay.duckdb", folder / "small.duckdb"
    for file, size in ((path, rows), (small, _FEW)):
        warehouse.build(file, size, frozenset({"quiet_pay", "pay"}))
    sizes = [size for size in SIZES if size <= MOST.get(rows, 100)]
    table = []
    for view in ("quiet_pay", "pay"):
        wanted = sizes if view == "quiet_pay" else sizes[:2]
        (one,) = monitors(_body(view, 0))
        jobs: dict[str, Job] = {"floor": Statement(path, floors.reading(one, physical(path)))}
        for size in wanted:
            jobs[f"{size}"] = Evaluation(path, small, tuple(_body(view, index) for index in range(size)))
        found = measure(jobs, rounds)
        for size in wanted:
            judged, single, floor = found[f"{size}"], found["1"], found["floor"]
            table.append(
                (
                    f"{size:,} over `{view}`",
                    *(
                        ratio(judged["again seconds"], item)
                        for item in (single["again seconds"], floor["whole seconds"])
                    ),
                    *(ratio(judged["again work"], item) for item in (single["again work"], floor["whole work"])),
                    ratio(judged.get("pass work"), floor["whole work"]),
                    ratio(judged["peak"], floor["peak"]),
                )
            )
    columns = ("monitors", "/ one of them", "/ floor", "/ one, work", "/ floor, work", "pass / floor, work", "memory")
    return Table(f"Monitors of one batch, {rows:,} rows.", columns, tuple(table))


def _body(view: str, index: int) -> str:
    return f'object: {view}, breach_when: "rate < {19 + index / 1000:.3f}"'
