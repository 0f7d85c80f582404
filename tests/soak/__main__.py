"""Runs the soak: `python -m tests.soak --minutes 30`, or `make soak MINUTES=30`. It ends with 1 if anything failed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from tests.soak.soaking import soak


def main() -> int:
    """Soaks, and prints what it came to."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="trivet-soak-") as folder:
        ended = soak(Path(folder), options.minutes * 60, options.seed)
    for line in ended.lines():
        print(line)
    return 1 if ended.failures else 0


if __name__ == "__main__":
    sys.exit(main())
