"""`make bench`: runs the benchmarks, prints their tables, and sets those of full size into `docs/performance.md`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.registry import BENCHES
from benchmarks.tables import write

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--bench", choices=sorted(BENCHES), help="one benchmark; all of them if absent")
    parser.add_argument(
        "--rows", type=int, nargs="+", help="sizes of the data, for a quick look: nothing is written then"
    )
    parser.add_argument("--write", action="store_true", help="write the tables of these sizes all the same")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name in [options.bench] if options.bench else BENCHES:
        bench = BENCHES[name]
        tables = []
        for rows in options.rows or bench.sizes:
            with tempfile.TemporaryDirectory(prefix="trivet-bench-") as folder:
                tables.append(bench.run(Path(folder), rows, options.rounds))
            print(tables[-1].markdown(), flush=True)
        if options.write or not options.rows:
            write(PAGE, name, tables)


if __name__ == "__main__":
    main()
