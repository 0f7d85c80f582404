"""Whether what a daemon needs is there, in words that may be shown to anyone: no address, no value from data.

`trivet doctor` says more, to whoever may read the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa

from catalog.engines.port import Engine, WarehouseMissing
from trivet.clock import Clock
from worker.failures import FailureLog
from worker.migrating import revision_problem, store_revision
from worker.processes import last_ticks, stale_after
from worker.pulse import Pulse
from worker.stores import read_only


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that can be asked again and again."""

    what: str
    problem: Callable[[], str | None]
    """What is wrong, and what to do; None where nothing is."""


def store_probe(store: sa.Engine, migrations: Path) -> Probe:
    """The store can be reached, and is at the revision that this version needs."""
    failures = FailureLog("the store cannot be read")

    def problem() -> str | None:
        try:
            found = store_revision(store)
        except Exception as error:
            failures.failed(error)
            return "cannot be read; `trivet doctor` says why"
        failures.succeeded()
        return revision_problem(found, migrations)

    return Probe("store", problem)


def warehouse_probe(engine: Engine) -> Probe:
    """The warehouse can be opened for reading."""
    failures = FailureLog("the warehouse cannot be opened")

    def problem() -> str | None:
        try:
            with engine.snapshot():
                pass
        except WarehouseMissing:
            return "not there; run `trivet ingest`"
        except Exception as error:
            failures.failed(error)
            return "cannot be opened; `trivet doctor` says why"
        failures.succeeded()
        return None

    return Probe("warehouse", problem)


def pulse_probe(pulse: Pulse, tick: timedelta) -> Probe:
    """This process ticks, however its ticks end: restarting it mends no store."""

    def problem() -> str | None:
        age = pulse.age
        return None if age <= stale_after(tick).total_seconds() else f"the last tick was {age:.0f} s ago; restart it"

    return Probe("ticking", problem)


def tick_probe(pulse: Pulse) -> Probe:
    """The last tick of this process went well."""

    def problem() -> str | None:
        if pulse.fine is None:
            return "there was no tick yet"
        return None if pulse.fine else "the last tick failed; the log says why"

    return Probe("tick", problem)


def stored_tick_probe(store: sa.Engine, clock: Clock, tick: timedelta) -> Probe:
    """Some daemon's last tick that went well, as the store knows it, is not long ago."""

    def problem() -> str | None:
        try:
            with read_only(store).connect() as connection:
                ticks = last_ticks(connection)
            age = clock.now() - ticks[0].ticked_at if ticks else None
        except Exception:
            return "the store does not tell"
        if age is None:
            return "no daemon has ticked yet; start `trivet run`, or `trivet beat` and `trivet worker`"
        if age > stale_after(tick):
            return f"no daemon ticked for {age.total_seconds():.0f} s; see that one runs, and its log"
        return None

    return Probe("tick", problem)
