"""The soak itself: a thread for each ground, which does something to it every two seconds."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from tests.acceptance.daemons import all_ended, slots, wait_for
from tests.soak.faults import FAULTS
from tests.soak.ground import Ground, daemons
from tests.soak.report import Done, Report, examined, last_slot, now
from tests.soak.stack import STACK_FAULTS

Grounds: TypeAlias = Callable[[Path, Random], AbstractContextManager[Sequence[Ground]]]

_FAULTS: Mapping[str, Sequence[Callable[[Any], None]]] = {**FAULTS, "stack": STACK_FAULTS}
PAUSE = 2.0
"""Seconds from one fault to the next, at least."""


@dataclass(frozen=True, slots=True)
class Soaked:
    """What all of it came to."""

    reports: Sequence[Report]
    failures: Sequence[str]
    """Each with the name of its ground."""

    def lines(self) -> list[str]:
        """For people."""
        said = [line for report in self.reports for line in report.lines()]
        return [*said, *self.failures, "failed" if self.failures else "lost 0, doubled 0, false compliant 0"]


def soak(folder: Path, seconds: float, seed: int, grounds: Grounds = daemons) -> Soaked:
    """Soaks each ground for so long, lets it come to rest, and holds it to what must hold."""
    reports, failures = [], []
    random = Random(seed)  # noqa: S311 (nothing is to be kept secret)
    with grounds(folder, random) as made, ThreadPoolExecutor(len(made)) as pool:
        ended = [pool.submit(_soak_one, ground, time.monotonic() + seconds) for ground in made]
        for ground, future in zip(made, ended, strict=True):
            try:
                reports.append(future.result())
            except Exception:
                said = "\n".join(f"{log.name}:\n{log.read_text('utf-8')[-4000:]}" for log in ground.logs)
                failures.append(f"{ground.name}: {traceback.format_exc()}\nits daemons last said:\n{said}")
    return Soaked(reports, failures)


def _soak_one(ground: Ground, deadline: float) -> Report:
    wait_for(lambda: slots(ground.store), ground.alive)
    done = []
    while time.monotonic() < deadline:
        fault = ground.random.choice(_FAULTS[ground.name])
        began = now()
        fault(ground)
        done.append(Done(fault.__name__, began, now()))
        time.sleep(max(0.0, PAUSE - (now() - began).total_seconds()))
    ground.heal()
    rested = now()
    wait_for(lambda: last_slot(ground) >= rested, ground.alive)
    until = last_slot(ground)
    wait_for(lambda: all_ended(ground.store, until), ground.alive)
    ground.rest()
    return examined(ground, done, until)
