"""How many small monitors a daemon keeps up with: planned, claimed, judged, recorded, minute after minute.

The workspace is the one that `trivet init` makes, of four rows, with so many monitors that come due every minute. The
clock is moved by hand, so the figure is what one thread of one daemon can do, not what came due. SQLite runs as Trivet
opens it, every commit synchronous; PostgreSQL with its defaults, fsync on. `make bench` prints the table; alone it runs
from the root of the checkout as `python -m benchmarks.sustained`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from tests.integration.servers import running_postgres
from tests.integration.store import MIGRATIONS
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.settings import load_settings
from worker.bootstrap import Wiring
from worker.migrating import upgrade_store
from worker.stores import open_store
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[1]
BEGIN = datetime(2026, 11, 30, 6, tzinfo=UTC)
CONDITIONS = {"two members to tell": "temperature > 5", "none to tell": 'station = "nowhere"'}
"""Of each monitor, by what it finds."""


def workspace(folder: Path, condition: str, count: int) -> Path:
    """The workspace of `trivet init` with that many monitors."""
    made = Path(shutil.copytree(ROOT / "examples" / "empty", folder))
    lines = [
        f"  - {{id: small-{number:04}, object: reading, breach_when: '{condition}', schedule: {{every: 1m}}}}"
        for number in range(count)
    ]
    (made / "monitors" / "example.yaml").write_text("\n".join(["monitors:", *lines, ""]), "utf-8")
    return made


def rates(place: Path, url: str, minutes: int) -> tuple[float, float]:
    """Evaluations a second of the clock, and of the processor, after a first minute that nobody counts."""
    document = read_yaml(f"store: {{url: '{url}'}}\n", file="trivet.yaml").document
    settings = load_settings(document, {}).settings
    if settings is None:
        raise SystemExit("the settings are at fault")
    clock = FixedClock(BEGIN)
    wiring = Wiring(place, settings, {}, clock)
    _, contract, _ = read_workspace(place, {}).require()
    wiring.ingest(contract)
    # On PostgreSQL it would be the server's own clock.
    with patch("worker.bootstrap.store_clock", lambda store, own: own):
        wiring.publish_first()
        runtime = wiring.runtime()
    runtime.tick()
    made, wall, processor = 0, 0.0, 0.0
    for minute in range(minutes + 1):
        clock.instant += timedelta(minutes=1)
        began, used = time.perf_counter(), time.process_time()
        count = sum(1 for batch in runtime.tick().batches for _ in runtime.evaluate(batch.keys))
        if minute:
            made += count
            wall += time.perf_counter() - began
            processor += time.process_time() - used
    runtime.store.dispose()
    return made / wall, made / processor


@contextmanager
def urls(folder: Path) -> Iterator[dict[str, Iterator[str]]]:
    """By the name of each kind of store, fresh ones of it."""

    def sqlite() -> Iterator[str]:
        for number in range(1000):
            yield f"sqlite:///{folder / f'{number}.db'}"

    with running_postgres(durable=True) as server:
        yield {"SQLite": sqlite(), "PostgreSQL": (server.new_database() for _ in range(1000))}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=200, help="due every minute")
    parser.add_argument("--minutes", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, urls(Path(folder)) as kinds:
        for kind, fresh in kinds.items():
            for name, condition in CONDITIONS.items():
                url = next(fresh)
                store = open_store(url)
                upgrade_store(store, MIGRATIONS)
                store.dispose()
                place = workspace(Path(folder) / f"{kind}-{name}", condition, options.monitors)
                by_clock, by_processor = rates(place, url, options.minutes)
                print(f"{kind:10}  {name:20} {by_clock:6.0f} evaluations/s ({by_processor:.0f} by processor time)")


if __name__ == "__main__":
    main()
