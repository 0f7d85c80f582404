"""What an evaluation may use of the machine, or of the container that it runs in."""

from __future__ import annotations

import os
from pathlib import Path

from trivet.settings import Settings
from trivet.sizes import size_text

_LEAST_MEMORY = 256 * 10**6
_LIMIT = Path("/sys/fs/cgroup/memory.max")


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_memory(limit: Path = _LIMIT) -> int:
    """Bytes of memory: the machine's, or what the container is limited to (control groups, version 2)."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(whole, int(limit.read_text("ascii")))
    except (OSError, ValueError):
        # No control group, or one that reads "max".
        return whole


def memory_of(settings: Settings, at_once: int) -> str:
    """The engine's memory for one batch of `at_once` that run at one time, such as `2GB`.

    Half of the machine's is shared among them: the engine's limit is of its own buffers, and its process uses more.
    """
    return settings.warehouse.memory or size_text(max(_LEAST_MEMORY, machine_memory() // 2 // at_once))


def threads_of(settings: Settings, at_once: int) -> int:
    """The engine's threads for one batch of `at_once` that run at one time."""
    return settings.warehouse.threads or max(1, processors() // at_once)
