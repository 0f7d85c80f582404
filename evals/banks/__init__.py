"""The banks that ship with the program, each with a recording of proposals beside it."""

from __future__ import annotations

from pathlib import Path


def shipped_bank() -> Path:
    """The bank over the example workspace `aruma`; its recording has the same name and ends with `.replay.jsonl`."""
    return Path(__file__).parent / "aruma.yaml"
