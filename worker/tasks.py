"""The Celery tasks: plan, evaluate a batch, deliver, seal. Each does what the embedded daemon does in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from celery import Celery

from worker.bootstrap import Wiring
from worker.claims import SlotKey
from worker.failures import FailureLog
from worker.preparing import Prepared
from worker.processes import DaemonKind
from worker.runtime import LONGEST_FURTHER, Runtime

PLAN = "trivet.plan"
EVALUATE_BATCH = "trivet.evaluate_batch"
DELIVER = "trivet.deliver"
SEALING = "trivet.seal"
_MARGIN = 60 + LONGEST_FURTHER.total_seconds()
"""Seconds of a batch beside its queries: opening, recording, waiting for others that record, and further slots."""


def register(app: Celery, wiring: Wiring, prepared: Prepared | None = None) -> None:
    """Gives an application its tasks.

    Args:
        app: the application.
        wiring: builds what they need.
        prepared: what was read before the processes that run them are forked.
    """

    @cache
    def runtime() -> Runtime:
        # Built by the first task, which is after the fork: connections do not survive one.
        return wiring.runtime(kind=DaemonKind.WORKER, prepared=prepared)

    ticks = FailureLog("a tick failed; the next one looks again")

    @app.task(name=PLAN)  # type: ignore[untyped-decorator]
    def plan() -> None:
        with ticks.watching():
            for batch in runtime().tick().batches:
                keys = [[key.monitor, key.scheduled_for] for key in batch.keys]
                limit = batch.limit.total_seconds() + _MARGIN
                # It expires when the store would hand the slots out again.
                evaluate_batch.apply_async((keys,), time_limit=limit, expires=runtime().lease.total_seconds())
            if runtime().deliver is not None:
                deliver.apply_async(expires=runtime().lease.total_seconds())
            if runtime().seal is not None:
                seal.apply_async(expires=runtime().lease.total_seconds())

    @app.task(name=EVALUATE_BATCH)  # type: ignore[untyped-decorator]
    def evaluate_batch(keys: Sequence[Sequence[str]]) -> None:
        for _ in runtime().evaluate([SlotKey(monitor, scheduled_for) for monitor, scheduled_for in keys]):
            pass

    @app.task(name=DELIVER)  # type: ignore[untyped-decorator]
    def deliver() -> None:
        send = runtime().deliver
        if send is not None:
            send()

    @app.task(name=SEALING)  # type: ignore[untyped-decorator]
    def seal() -> None:
        make = runtime().seal
        if make is not None:
            make(False)
