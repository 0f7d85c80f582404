"""One monitor over groups, as a ratio to reading the same columns once."""

from __future__ import annotations

from pathlib import Path

from benchmarks import floors, warehouse
from benchmarks.governed import monitors
from benchmarks.jobs import Evaluation, Statement, physical
from benchmarks.measuring import Job, measure
from benchmarks.tables import Table, ratio

_GROUPS = {
    "average by grade and point": 'group_by: [grade, point], breach_when: "avg(rate) < 20"',
    "average by grade and month": 'group_by: [grade, {period: month, of: paid}], breach_when: "avg(rate) < 20"',
    "share below a linked bound": 'group_by: [grade, point], breach_when: "share(rate < held_to.rate) > 0.05"',
}
_READ = {
    "average by grade and point": "rate < 20 and held_to.rate is missing",
    "average by grade and month": "rate < 20 and governed_by.rate is missing",
    "share below a linked bound": "rate < held_to.rate",
}
"""Conditions over rows that read the same columns; what they say does not matter."""
_FEW = 1_000


def run(folder: Path, rows: int, rounds: int) -> Table:
    """A row for each monitor."""
    path, small = folder / "pay.duckdb", folder / "small.duckdb"
    for file, size in ((path, rows), (small, _FEW)):
        warehouse.build(file, size, frozenset({"pay"}))
    jobs: dict[str, Job] = {}
    for name, body in _GROUPS.items():
        (read,) = monitors(f'object: pay, breach_when: "{_READ[name]}"')
        jobs[f"{name} floor"] = Statement(path, floors.reading(read, physical(path)))
        jobs[name] = Evaluation(path, small, (f"object: pay, {body}",))
    found = measure(jobs, rounds)
    table = []
    for name in _GROUPS:
        floor, judged = found[f"{name} floor"], found[name]
        times = (ratio(judged[f"again {time}"], floor[f"whole {time}"]) for time in ("seconds", "work"))
        peak = ratio(judged["peak"], floor["peak"])
        table.append((name, f"{floor['whole seconds']:.2f} s", *times, peak))
    return Table(f"One grouped monitor, {rows:,} rows.", ("monitor", "floor", "time", "work", "memory"), tuple(table))
