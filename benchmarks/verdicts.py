"""One monitor over the rows of a view, as a ratio to reading the same columns once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks import floors, warehouse
from benchmarks.governed import monitors
from benchmarks.jobs import Evaluation, Statement, physical
from benchmarks.measuring import Job, measure
from benchmarks.tables import Table, ratio

_CONDITIONS = {
    "constant bound": "rate < 20",
    "linked bound": "rate < held_to.rate",
    "dated link": "rate < governed_by.rate",
}
_VIEWS = {"text": "pay", "text, few to tell": "quiet_pay", "typed": "typed_pay"}
_FEW = 1_000


def run(folder: Path, rows: int, rounds: int) -> Table:
    """A row for each kind of bound, over text with many and with few members to be told, and over typed columns."""
    path, small = folder / "pay.duckdb", folder / "small.duckdb"
    for file, size in ((path, rows), (small, _FEW)):
        warehouse.build(file, size, frozenset(_VIEWS.values()))
    table = []
    for form, view in _VIEWS.items():
        found = measure(_jobs(view, path, small), rounds)
        for name in _CONDITIONS:
            floor, judged = found[f"{name} floor"], found[name]
            table.append((f"{name}, {form}", f"{floor['whole seconds']:.2f} s", *_row(judged, floor)))
    columns = ("monitor", "floor", "pass", "again", "first", "pass, work", "again, work", "first, work")
    return Table(
        f"One monitor, {rows:,} rows.", (*columns, "memory of the pass", "with members", "first"), tuple(table)
    )


def _jobs(view: str, path: Path, small: Path) -> dict[str, Job]:
    jobs: dict[str, Job] = {}
    for name, condition in _CONDITIONS.items():
        body = f'object: {view}, breach_when: "{condition}"'
        (definition,) = monitors(body)
        jobs[f"{name} floor"] = Statement(path, floors.reading(definition, physical(path)))
        jobs[name] = Evaluation(path, small, (body,))
    return jobs


def _row(judged: Mapping[str, float], floor: Mapping[str, float]) -> list[str]:
    times = [
        ratio(judged.get(f"{step} {time}"), floor[f"whole {time}"])
        for time in ("seconds", "work")
        for step in ("pass", "again", "first")
    ]
    peaks = [ratio(judged.get(peak), floor["peak"]) for peak in ("peak of pass", "peak before keys", "peak")]
    return [*times, *peaks]
