"""The Aruma workspace's contract and monitors, and questions about them, without any data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from catalog.contract import Contract, ObjectType, Property
from monitors.definition import MonitorDefinition
from resolver.question import Question
from resolver.vocabulary import Linked, MonitorWords, link_words, monitor_words
from worker.workspace import read_workspace

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases" / "questions"
NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
VALUES = {
    "employment_type": ("casual", "full-time", "part-time"),
    "classification": ("DDSO 1", "DDSO 2", "DDSO 3", "DDSO 4", "DDSO 5", "DDSO 6", "DDSO 7"),
    "employee_id": ("E1012", "E1057"),
}
"""Values that stand in for the data's."""


def cases(name: str) -> list[Any]:
    """The cases of one file."""
    loaded: list[Any] = yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    return loaded


@cache
def aruma() -> tuple[Contract, tuple[MonitorDefinition, ...]]:
    """The example's contract and monitors."""
    _, contract, monitors = read_workspace(ROOT / "examples" / "aruma", {}).require()
    return contract, monitors


def words() -> tuple[MonitorWords, ...]:
    """The words of the example's monitors."""
    contract, monitors = aruma()
    return tuple(monitor_words(item, contract) for item in monitors)


def values(object_type: ObjectType, declared: Sequence[Property]) -> Mapping[str, tuple[str, ...]]:
    """Looks values up in `VALUES`."""
    return {item.name: VALUES.get(item.name, ()) for item in declared}


def linked(text: str) -> Linked:
    """A question with its words linked."""
    return link_words(Question("q1", text, NOW), aruma()[0], values)
