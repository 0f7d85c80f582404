"""Every benchmark, by the name that `make bench BENCH=` knows it by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import batches, groups, rules, small, verdicts
from benchmarks.tables import Table


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark: what it measures, at which sizes, and how."""

    about: str
    sizes: tuple[int, ...]
    """Rows of the data, one run for each; `ROWS=` takes their place."""
    run: Callable[[Path, int, int], Table]
    """From a folder of its own, the rows, and the rounds."""


BENCHES: Mapping[str, Bench] = {
    "rules": Bench("the type rules against the engine's own cast", (1_000_000, 10_000_000), rules.run),
    "verdicts": Bench(
        "one monitor over rows: constant, linked and dated bounds", (1_000_000, 10_000_000), verdicts.run
    ),
    "groups": Bench("one monitor over groups", (1_000_000, 10_000_000), groups.run),
    "batches": Bench("1 to 1,000 monitors over one view", (1_000_000, 5_000_000), batches.run),
    "small": Bench("small monitors per second, recorded", (57,), small.run),
}
