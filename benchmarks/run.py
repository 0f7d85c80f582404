"""What an evaluation costs, as a ratio to reading the same data once, within one run.

The floor scans the member's columns, applies the type rule's cheapest stand-in (the engine's own
cast) and hashes the link keys. Machines are noisy: rounds of all shapes are interleaved, and the
median of each is compared with the median of the floor. `make bench` prints the table.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb

from catalog.contract import Cardinality, Contract, EffectiveDates, LinkType, ObjectType, Property, Restates
from catalog.datatypes import DATE, TEXT, decimal
from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.expressions.syntax import parse_condition
from catalog.expressions.tree import Comparison
from compiler.compile import compile_monitor
from monitors.definition import MonitorDefinition

KEYS = 500
TIMEOUT = timedelta(minutes=10)
FLOOR = """
SELECT count(TRY_CAST(rate AS DECIMAL(12,4))), sum(hash(grade, point) % 2), count(TRY_CAST(paid AS DATE))
FROM ontology.pay
"""


def build(path: Path, rows: int) -> None:
    """A warehouse of `rows` pay lines and 500 floors, all text: 1 % breach, 1.5 % cannot be judged."""
    with duckdb.connect(str(path)) as connection:
        # With a dictionary the bare cast runs once per distinct text, and a ratio to that means little.
        connection.execute("PRAGMA force_compression = 'uncompressed'")
        connection.execute("CREATE SCHEMA ontology")
        connection.execute(
            f"""
            CREATE TABLE ontology.pay AS SELECT
                'E' || i AS id, 'G' || (i % 25) AS grade, 'P' || (i % {KEYS} // 25) AS point, '2026-03-01' AS paid,
                CASE WHEN i % 200 = 7 THEN 'see note' WHEN i % 100 = 3 THEN NULL
                     WHEN i % 100 = 9 THEN (20 + i % {KEYS} / 100.0 - 0.5)::DECIMAL(12,4)::VARCHAR
                     ELSE (20 + i % {KEYS} / 100.0 + i % 977 / 100.0)::DECIMAL(12,4)::VARCHAR END AS rate
            FROM range({rows}) AS t(i)
            """
        )
        connection.execute(
            f"""
            CREATE TABLE ontology.floor AS SELECT
                'G' || (i % 25) AS grade, 'P' || (i // 25) AS point, year || '-07-01' AS since,
                (20 + i / 100.0 - (2025 - year))::DECIMAL(12,4)::VARCHAR AS rate
            FROM range({KEYS}) AS t(i), (VALUES (2023), (2024), (2025)) AS y(year)
            """
        )


def contract() -> Contract:
    """The pay lines, the floors, and the dated link between them."""
    rate = Property("rate", decimal(12, 4), unit="AUD/hour")
    pay = (Property("id", TEXT), Property("grade", TEXT), Property("point", TEXT), Property("paid", DATE), rate)
    floor = (Property("grade", TEXT), Property("point", TEXT), Property("since", DATE), rate)
    objects = (
        ObjectType("pay", "ontology.pay", ("id",), pay),
        ObjectType("floor", "ontology.floor", ("grade", "point", "since"), floor),
    )
    dates = EffectiveDates("paid", "since", Restates.ALL)
    keys = ("grade", "point")
    link = LinkType("governed_by", "pay", keys, "floor", keys, Cardinality.MANY_TO_ONE, as_of=dates)
    return Contract("bench", "1.0.0", "draft", "0" * 64, objects, (link,))


def shapes(snapshot: DuckDBSnapshot, connection: duckdb.DuckDBPyConnection) -> dict[str, Callable[[], object]]:
    """Each shape that is timed, by the name it has in the table."""
    found: dict[str, Callable[[], object]] = {"floor": lambda: connection.execute(FLOOR).fetchall()}
    views = {item.view: snapshot.columns(item.view) or {} for item in contract().object_types}
    for name, text in (("constant bound", "rate < 20"), ("dated link", "rate < governed_by.rate")):
        condition = parse_condition(text)
        if not isinstance(condition, Comparison):
            raise SystemExit(f"{text} is no comparison")
        compiled = compile_monitor(MonitorDefinition("bench", "pay", condition), contract(), views)
        queries = {
            "breach": compiled.breach.query,
            "no_data": compiled.no_data.query,
            "population": compiled.population,
        }
        for title, query in queries.items():
            found[f"{name}: {title}"] = lambda query=query: snapshot.run(query, TIMEOUT)
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.duckdb"
        build(path, options.rows)
        with DuckDBEngine(path).snapshot() as snapshot, duckdb.connect(str(path), read_only=True) as connection:
            connection.execute("SET threads = 2")
            timed = shapes(snapshot, connection)
            seconds: dict[str, list[float]] = {name: [] for name in timed}
            for _ in range(options.rounds):
                for name, run in timed.items():
                    start = time.perf_counter()
                    run()
                    seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    print(f"{options.rows:,} rows, median of {options.rounds} rounds, floor {medians['floor']:.3f} s = 1.0")
    for name, median in medians.items():
        print(f"  {name:30} {median / medians['floor']:6.1f}")


if __name__ == "__main__":
    main()
