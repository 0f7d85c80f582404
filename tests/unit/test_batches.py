"""How slots that wait are put together for runners."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from catalog.expressions.syntax import SyntaxFault, parse_condition
from monitors.definition import MonitorDefinition
from worker.claims import OpenSlot, SlotKey
from worker.runtime import LONGEST_BATCH, Batch, batches_of

AT = datetime(2026, 11, 30, 6, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
_CONDITION = parse_condition("value < 0")
assert not isinstance(_CONDITION, SyntaxFault)
MONITORS = [
    MonitorDefinition("a", "reading", _CONDITION),
    MonitorDefinition("b", "reading", _CONDITION, timeout=timedelta(seconds=90)),
    MonitorDefinition("c", "floor", _CONDITION),
]


def waiting(monitor: str, attempt: int = 0, at: str = "06") -> OpenSlot:
    return OpenSlot(SlotKey(monitor, at), AT, attempt)


def names(batches: list[Batch]) -> list[list[str]]:
    return [[key.monitor for key in batch.keys] for batch in batches]


def test_the_slots_of_one_object_type_run_together() -> None:
    batches = list(batches_of([waiting("a"), waiting("c"), waiting("b")], MONITORS, MINUTE))
    assert names(batches) == [["c"], ["a", "b"]]
    assert [batch.limit for batch in batches] == [MINUTE, timedelta(seconds=150)]


def test_a_slot_that_was_begun_before_runs_alone() -> None:
    batches = list(batches_of([waiting("a"), waiting("b", attempt=1), waiting("a", at="07")], MONITORS, MINUTE))
    assert names(batches) == [["b"], ["a", "a"]]


def test_a_batch_is_split_where_it_could_take_too_long() -> None:
    many = [replace(MONITORS[0], id=f"m{number:02}") for number in range(25)]
    batches = list(batches_of([waiting(item.id) for item in many], many, MINUTE))
    assert [len(batch.keys) for batch in batches] == [10, 10, 5]
    assert all(batch.limit <= LONGEST_BATCH for batch in batches)
    assert [name for found in names(batches) for name in found] == [item.id for item in many]


def test_a_monitor_that_alone_takes_longer_than_a_batch_has_one_of_its_own() -> None:
    slow = replace(MONITORS[0], timeout=2 * LONGEST_BATCH)
    batches = list(batches_of([waiting("b"), waiting("a")], [slow, MONITORS[1]], MINUTE))
    assert names(batches) == [["b"], ["a"]]


def test_a_monitor_that_is_not_known_is_left_to_others() -> None:
    assert list(batches_of([waiting("gone")], MONITORS, MINUTE)) == []
