"""The long proof: many generated pairs of a monitor and a data set, by every plan and by the oracle.

    python -m tests.conformance.prove --pairs 20000 --seed 11

The pairs are judged in shards, by several processes; what a shard draws follows from the seed and its number alone.
Shards that are done stand in a file, so the same command goes on where it was stopped. Every difference is printed,
made small, and the command ends with 1 if there was any.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from compiler.planning import why_readable
from tests.conformance import grouped_harness, harness
from tests.conformance.harness import describe
from tests.conformance.test_compiled_worlds import DATA_SETS, MONITORS, PASSES, READABLE
from tests.oracle.grouped_worlds import GroupedWorld, grouped_worlds
from tests.oracle.strategies import World, families

EXAMPLES = 16
"""Of one shard: each gives as many pairs of rows as it has monitors times data sets."""
GROUPED = 24
"""Pairs of one shard whose members are groups."""
SHARD = EXAMPLES * MONITORS * DATA_SETS + GROUPED
STATE = Path(".hypothesis")
SETTINGS = settings(
    deadline=None,
    database=None,
    derandomize=False,
    report_multiple_bugs=False,
    print_blob=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)


class DifferenceFound(Exception):
    """A plan and the oracle differ; its text is how, and on what."""


@dataclass(frozen=True, slots=True)
class Shard:
    """What one shard came to."""

    number: int
    pairs: int
    scanned: int
    """Of those, judged by a pass over the view as well."""
    seconds: float
    """Of processor time."""
    differences: tuple[str, ...]


@dataclass(slots=True)
class _Tally:
    """What was judged before the first difference; after it, ever smaller examples of it are."""

    pairs: int = 0
    scanned: int = 0
    is_open: bool = True

    def add(self, lines: list[str], *worlds: World | GroupedWorld) -> None:
        """Counts what was judged, or raises what differs."""
        if lines:
            self.is_open = False
            raise DifferenceFound("\n".join([*lines, *map(describe, worlds)]))
        if self.is_open:
            self.pairs += len(worlds)
            self.scanned += sum(isinstance(one, World) and _is_scanned(one) for one in worlds)


def _is_scanned(world: World) -> bool:
    return why_readable(harness.definition_of(world), world.contract) is None


def judge_shard(of: int, number: int) -> Shard:
    """Judges one shard, each half of it up to its first difference."""
    gc.set_threshold(50_000, 20, 50)
    began, tally = time.process_time(), _Tally()

    @seed(f"{of}/{number}/rows")
    @settings(SETTINGS, max_examples=EXAMPLES)
    @given(drawn=st.tuples(families(monitors=MONITORS, data_sets=DATA_SETS), st.sampled_from(PASSES)))
    def rows(drawn: tuple[tuple[tuple[World, ...], ...], str]) -> None:
        data_sets, scan = drawn
        for family in data_sets:
            tally.add(harness.differences(*family, plans=(READABLE, scan)), *family)

    @seed(f"{of}/{number}/groups")
    @settings(SETTINGS, max_examples=GROUPED)
    @given(world=grouped_worlds())
    def groups(world: GroupedWorld) -> None:
        tally.add(grouped_harness.differences(world), world)

    found = tuple(text for check in (rows, groups) for text in _differences(check))
    return Shard(number, tally.pairs, tally.scanned, round(time.process_time() - began, 1), found)


def _differences(check: Callable[[], Any]) -> Iterator[str]:
    try:
        check()
    except DifferenceFound as found:
        yield str(found)


def run(pairs: int, of: int, processes: int, state: Path) -> int:
    """Judges what is not done yet; 1 if there is a difference in anything that is done."""
    done = {shard.number: shard for shard in _read(state)}
    numbers = range(-(-pairs // SHARD))
    wanted = [number for number in numbers if number not in done]
    begun = f"{len(numbers) - len(wanted)} of them done ({state})"
    print(f"seed {of}: {len(numbers)} shards of {SHARD} pairs, {begun}", flush=True)
    state.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool, state.open("a", encoding="utf-8") as file:
        for future in as_completed([pool.submit(judge_shard, of, number) for number in wanted]):
            shard = future.result()
            done[shard.number] = shard
            file.write(json.dumps(asdict(shard)) + "\n")
            file.flush()
            for text in shard.differences:
                print(f"shard {shard.number}:\n{text}\n")
            print(_said(of, done.values()), flush=True)
    print(_said(of, [done[number] for number in numbers]))
    return 1 if any(done[number].differences for number in numbers) else 0


def _said(of: int, shards: Any) -> str:
    every = list(shards)
    pairs, scanned = sum(one.pairs for one in every), sum(one.scanned for one in every)
    found, seconds = sum(len(one.differences) for one in every), sum(one.seconds for one in every)
    each = f"{seconds / pairs:.2f} s of processor time each" if pairs else "none yet"
    return f"seed {of}: {pairs} pairs, {scanned} of them by a pass as well, {found} differences; {each}"


def _read(state: Path) -> Iterator[Shard]:
    if state.exists():
        for line in state.read_text("utf-8").splitlines():
            read = json.loads(line)
            yield Shard(**{**read, "differences": tuple(read["differences"])})


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.prove", description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000, help="how many at least (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="what everything follows from (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="default: %(default)s")
    parser.add_argument("--state", type=Path, help="the shards that are done; remove it to begin anew")
    given_ = parser.parse_args()
    return run(given_.pairs, given_.seed, given_.processes, given_.state or STATE / f"proof-{given_.seed}.jsonl")


if __name__ == "__main__":
    sys.exit(main())
