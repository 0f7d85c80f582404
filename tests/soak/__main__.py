"""Runs a soak, and ends with 1 if anything failed: `make soak MINUTES=30`, or `make soak-stack MINUTES=30`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from tests.soak.ground import daemons
from tests.soak.soaking import soak
from tests.soak.stack import stacks


def main() -> int:
    """Soaks, and prints what it came to."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1_000_000))
    parser.add_argument("--stack", action="store_true", help="the whole topology, and not daemons")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="trivet-soak-") as folder:
        ended = soak(Path(folder), options.minutes * 60, options.seed, stacks if options.stack else daemons)
    for line in ended.lines():
        print(line)
    return 1 if ended.failures else 0


if __name__ == "__main__":
    sys.exit(main())
