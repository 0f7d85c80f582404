"""The Celery application: the door to Celery, with every setting that keeps slots from being lost.

`celery -A worker.app worker` and `celery -A worker.app beat` find it here; the workspace is the one that
TRIVET_WORKSPACE names, else the current directory. Messages are hints: the store knows what is due,
and a claim decides who works, so a message may be lost, late or repeated without harm.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

from celery import Celery
from celery.beat import Scheduler, Service
from celery.signals import setup_logging

from trivet.logs import set_up_logs
from worker.bootstrap import Wiring
from worker.preparing import Prepared
from worker.tasks import PLAN, register
from worker.workspace import read_workspace

_log = logging.getLogger(__name__)
_VISIBILITY = 900
"""Seconds after which Redis gives a message to another worker: well above the longest batch."""
_HARD_LIMIT = 150
"""Seconds for a task that names no limit of its own."""
_LONGEST_SLEEP = 5.0
"""Seconds that beat sleeps at most."""


@setup_logging.connect(weak=False)  # type: ignore[untyped-decorator]
def _our_logs(loglevel: int | str | None = None, **_others: object) -> None:
    """Celery leaves logs alone where somebody answers this; the `trivet` command has set them up by then."""
    set_up_logs(sys.stderr, loglevel or "WARNING")


def make_app(wiring: Wiring, prepared: Prepared | None = None) -> Celery:
    """The application of one workspace.

    Args:
        wiring: builds its parts.
        prepared: what was read before a worker forks; each of its processes reads that for itself if absent.

    Raises:
        UsageError: the settings name no broker.
        InputError: the broker's reference leads nowhere.
    """
    scheduler = wiring.settings.scheduler
    app = Celery("trivet", broker=wiring.broker_url(), set_as_current=False)
    app.publish_first = wiring.publish_first
    app.conf.update(_conf(scheduler.tick, scheduler.workers))
    register(app, wiring, prepared)
    return app


def broker_problem(app: Celery) -> str | None:
    """Why the broker does not answer, and what to do; None where it does."""
    with app.connection_for_write(transport_options={"socket_connect_timeout": 3, "socket_timeout": 3}) as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=3)
        except Exception as error:
            # Of the URL nothing but a hidden password is left out.
            return f"{connection.as_uri()} does not answer ({type(error).__name__}); start it, or mend scheduler.broker"
    return None


def run_worker(app: Celery, level: str, at_end: Callable[[], None] | None = None) -> int:
    """Works until it is stopped, does what is to be done in the end, and gives its exit code.

    SIGTERM lets what runs come to its end. With REMAP_SIGTERM=SIGQUIT in the environment it waits for
    `worker_soft_shutdown_timeout` at most, and then puts the messages back.
    """
    worker = app.Worker(pool="prefork", loglevel=level, quiet=True, without_gossip=True, without_mingle=True)
    worker.start()
    if at_end is not None:
        at_end()
    return int(worker.exitcode or 0)


def run_beat(app: Celery) -> None:
    """Sends ticks until it is stopped.

    Celery's own program ends by an exception out of the signal's handler. Where that falls into the
    sending of a message it is lost, and beat goes on; so here the handler only asks the loop to end.
    """
    app.finalize()
    service = Service(app, max_interval=app.conf.beat_max_loop_interval, scheduler_cls=TickScheduler)

    def stop(_number: int, _frame: FrameType | None) -> None:
        service.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    service.start()


class TickScheduler(Scheduler):  # type: ignore[misc]
    """Beat's schedule in memory alone: what is due stands in the store, so beat has nothing to remember.

    With its ticks it sees to it that something is in force: workers have nothing to go by until then.
    """

    _publishes = True
    _fault = ""

    def setup_schedule(self) -> None:
        """Takes the entries of the configuration."""
        self.merge_inplace(self.app.conf.beat_schedule)

    def tick(self, *arguments: Any, **options: Any) -> Any:
        """Sends what is to be sent, and gives the seconds until the next tick."""
        if self._publishes:
            try:
                self.app.publish_first()
                self._publishes = False
            except Exception as error:
                if str(error) != self._fault:
                    _log.error("the files cannot be put in force; it is tried again at each tick: %s", error)
                self._fault = str(error)
        return super().tick(*arguments, **options)


def _conf(tick: timedelta, workers: int) -> Mapping[str, Any]:
    seconds = tick.total_seconds()
    return {
        # A worker that is killed leaves its message, and the claim makes running it again harmless.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        # After a failure the store hands the slot out again, and counts how often.
        "task_acks_on_failure": True,
        "task_acks_on_timeout": True,
        "task_time_limit": _HARD_LIMIT,
        # No soft limit: inside DuckDB it does not arrive as the exception that one could catch.
        # Results are in the store.
        "task_ignore_result": True,
        # Never pickle: whoever can write to Redis must not be able to run code.
        "task_serializer": "json",
        "accept_content": ["json"],
        # The planner must not hang while Redis is away; the next tick sends again.
        "task_publish_retry_policy": {"max_retries": 3, "interval_start": 0.2, "interval_step": 0.4, "interval_max": 1},
        # Reserved messages age against the visibility timeout.
        "worker_prefetch_multiplier": 1,
        "worker_concurrency": workers,
        # Guards against leaks; both act between tasks only.
        "worker_max_tasks_per_child": 200,
        "worker_max_memory_per_child": 1_500_000,
        # Of a stop by SIGQUIT: what runs longer goes back to the queue. Containers are killed after 45 seconds.
        "worker_soft_shutdown_timeout": 30.0,
        # A run can still commit to the store while Redis is away.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # It would leave queues of its own in Redis for each worker that died.
        "worker_enable_remote_control": False,
        "worker_hijack_root_logger": False,
        # By default Celery gives up after a hundred tries.
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "visibility_timeout": _VISIBILITY,
            # Looks for messages of dead workers every ten seconds instead of every hundred.
            "unacked_restore_interval": 10,
            "unacked_restore_throttle": 1,
            # A connection that the other side forgot is noticed.
            "socket_timeout": 30,
            "socket_keepalive": True,
            "health_check_interval": 25,
            # Others may use the same database.
            "global_keyprefix": "trivet:",
        },
        "timezone": "UTC",
        "enable_utc": True,
        "beat_scheduler": "worker.app:TickScheduler",
        # Beat notices that it is to stop once it wakes.
        "beat_max_loop_interval": min(seconds, _LONGEST_SLEEP),
        # A tick that nobody took in time is of no use: the next one sees the same, and more.
        "beat_schedule": {"plan": {"task": PLAN, "schedule": seconds, "options": {"expires": 2 * seconds}}},
    }


def __getattr__(name: str) -> Any:
    """The application of the workspace around us, built when Celery asks for it and not on import (PEP 562)."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    environment = dict(os.environ)
    path = Path(environment.get("TRIVET_WORKSPACE") or ".")
    settings = read_workspace(path, environment).require_settings()
    globals()["app"] = made = make_app(Wiring(path, settings, environment))
    return made
