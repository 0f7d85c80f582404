"""What an evaluation may use of the machine: what the settings say, else its share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trivet.settings import Settings, load_settings
from trivet.sizes import size_bytes, size_text
from worker import resources
from worker.resources import machine_memory, memory_of, processors, threads_of


def settings(**variables: str) -> Settings:
    found = load_settings(None, {f"TRIVET_WAREHOUSE__{name.upper()}": text for name, text in variables.items()})
    assert found.settings is not None, found.findings
    return found.settings


@pytest.mark.parametrize(
    ("memory", "cores", "at_once", "expected"),
    [
        (8 * 10**9, 4, 1, ("4000MB", 4)),
        (8 * 10**9, 4, 2, ("2000MB", 2)),
        (8 * 10**9, 4, 3, ("1333MB", 1)),
        (8 * 10**9, 4, 64, ("256MB", 1)),
        (10**8, 1, 1, ("256MB", 1)),
    ],
)
def test_batches_at_one_time_share_half_the_memory_and_all_processors(
    monkeypatch: pytest.MonkeyPatch, memory: int, cores: int, at_once: int, expected: tuple[str, int]
) -> None:
    monkeypatch.setattr(resources, "machine_memory", lambda: memory)
    monkeypatch.setattr(resources, "processors", lambda: cores)
    assert (memory_of(settings(), at_once), threads_of(settings(), at_once)) == expected


def test_what_the_settings_say_is_for_each_batch() -> None:
    chosen = settings(memory="3GB", threads="5")
    assert [(memory_of(chosen, at_once), threads_of(chosen, at_once)) for at_once in (1, 8)] == [("3GB", 5)] * 2


def test_the_memory_is_the_containers_where_that_is_less(tmp_path: Path) -> None:
    whole = machine_memory(tmp_path / "no-such-file")
    assert whole > 10**8
    limit = tmp_path / "memory.max"
    for text, expected in (("1000000\n", 1_000_000), ("max\n", whole), (f"{whole * 2}\n", whole)):
        limit.write_text(text)
        assert machine_memory(limit) == expected


def test_the_processors_are_those_that_this_process_may_use() -> None:
    assert processors() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("text", "size"), [("1MB", 10**6), ("512MB", 512 * 10**6), ("2GB", 2 * 10**9), ("3TB", 3 * 10**12)]
)
def test_a_size_is_a_number_and_a_power_of_a_thousand(text: str, size: int) -> None:
    assert size_bytes(text) == size
    assert size_bytes(size_text(size)) == size


@pytest.mark.parametrize("text", ["0MB", "2", "2gb", "2GiB", "1.5GB", "-1GB", "2 GB", "9999999MB", "2KB", "2GB; SET x"])
def test_what_is_no_size_is_refused(text: str) -> None:
    found = load_settings(None, {"TRIVET_WAREHOUSE__MEMORY": text})
    (finding,) = found.findings
    assert (finding.key, finding.message[:42]) == ("warehouse.memory", "expected a size such as 512MB or 2GB, foun")
