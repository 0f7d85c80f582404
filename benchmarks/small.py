"""How many small monitors a second are judged and recorded, on a warm workspace."""

from __future__ import annotations

from pathlib import Path

from benchmarks import warehouse
from benchmarks.jobs import SmallEvaluations, Statement
from benchmarks.measuring import Job, measure
from benchmarks.tables import Table, ratio

MONITORS = 200
"""That are due at once."""
_CONDITIONS = {
    "nothing to tell": "point = 'X{}'",
    "constant bounds, two or more members each": "rate < 20.{:03}",
    "linked bounds, two or more members each": "rate < held_to.rate - 0.{:03}",
}


def run(folder: Path, rows: int, rounds: int) -> Table:
    """Two hundred monitors due at once over one small view, by what they say and have to tell."""
    path = folder / "pay.duckdb"
    warehouse.build(path, rows, frozenset({"pay"}))
    scan = "SELECT COUNT(TRY_CAST(rate AS DECIMAL(12,4))), SUM(HASH(grade, point) % 2) FROM ontology.pay"
    jobs: dict[str, Job] = {"floor": Statement(path, scan, MONITORS)}
    jobs |= {name: _monitors(path, condition) for name, condition in _CONDITIONS.items()}
    found = measure(jobs, rounds)
    table = []
    for name in _CONDITIONS:
        judged, floor = found[name], found["floor"]
        if judged["judged"] != MONITORS:
            raise ValueError(f"{judged['judged']} of {MONITORS} monitors were judged")
        each = MONITORS / judged["whole seconds"], MONITORS / judged["whole work"]
        times = (ratio(judged[f"whole {time}"], floor[f"whole {time}"]) for time in ("seconds", "work"))
        table.append((name, *(f"{item:.0f}" for item in each), *times))
    columns = (f"{MONITORS} monitors", "a second", "a second of work", f"/ {MONITORS} bare scans", "work")
    return Table(f"Small monitors, {rows:,} rows, recorded on SQLite.", columns, tuple(table))


def _monitors(path: Path, condition: str) -> SmallEvaluations:
    bodies = (f'object: pay, breach_when: "{condition.format(index)}"' for index in range(MONITORS))
    return SmallEvaluations(path, tuple(bodies))
