"""A finding: one fault in one place of one file, with what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text file, both counted from 1 as editors do."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. Printed as `monitors/pay.yaml:7:19: monitors[0].breach_when: message`."""

    file: str
    """As the user would name it: relative to the workspace, with forward slashes."""
    position: Position | None
    key: str
    """Key path such as `object_types[0].properties[2].type`; empty for the whole file."""
    message: str
    """What is wrong, what was expected, and what to do."""

    def __str__(self) -> str:
        place = f":{self.position.line}:{self.position.column}" if self.position else ""
        key = f" {self.key}:" if self.key else ""
        return f"{self.file}{place}:{key} {self.message}"

    def to_json(self) -> dict[str, object]:
        """The finding as `--json` prints it."""
        return {
            "file": self.file,
            "line": self.position.line if self.position else None,
            "column": self.position.column if self.position else None,
            "key": self.key,
            "message": self.message,
        }


def key_path(path: Sequence[str | int]) -> str:
    """`('monitors', 0, 'id')` as a person reads it: `monitors[0].id`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known name, else the known ones if they are few."""
    candidates = sorted(set(known))
    nearest = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if nearest:
        return f"; did you mean '{nearest[0]}'?"
    if 0 < len(candidates) <= 12:
        return f"; known: {', '.join(candidates)}"
    return ""
