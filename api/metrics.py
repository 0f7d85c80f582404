"""Metrics for Prometheus, worked out from the store when they are asked for: `/metrics`.

Counters begin at zero when a process starts, and then follow the ledger: each evaluation counts once, whichever
process made it. No value, name or key from data is a metric or a label; labels are codes of `trivet.verdicts`.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Iterator
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trivet import __version__
from trivet.verdicts import Verdict
from worker.failures import FailureLog
from worker.figures import Ended, Figures

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class StoreReadings(Protocol):
    """What the metrics are worked out from."""

    def figures(self) -> Figures:
        """How the work stands now."""

    def ended(self) -> Iterator[Ended]:
        """The evaluations that were recorded since this was last asked, or since the readings were made."""


def metrics_route(readings: StoreReadings) -> Route:
    """`/metrics`. It answers where the store does not, and then says that."""
    # Otherwise every counter has a second series beside it, with the time at which this process began.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    registry.register(StoreCollector(readings))

    def metrics(_request: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return Route("/metrics", metrics, methods=["GET"])


class StoreCollector(Collector):
    """Every metric. Scrapes that come at once wait for each other, so that no evaluation counts twice."""

    def __init__(self, readings: StoreReadings) -> None:
        self._readings = readings
        self._lock = threading.Lock()
        self._failures = FailureLog("the metrics could not be read from the store")
        self._evaluations = Counter(
            "trivet_evaluations",
            "Evaluations that were recorded.",
            ["verdict", "reason", "cause"],
            registry=None,
        )
        self._leases = Counter(
            "trivet_lease_expiries",
            "Leases that ended before their slot had its evaluation, counted once it has it.",
            registry=None,
        )
        self._seconds = Histogram(
            "trivet_evaluation_seconds",
            "How long an evaluation took, from the first look at the data to its verdict.",
            buckets=_SECONDS,
            registry=None,
        )
        for verdict in Verdict:
            # There from the beginning, so that the first breach is an increase.
            self._evaluations.labels(verdict.value, "", "")

    def collect(self) -> Iterator[Metric]:
        """All metrics at one instant; without a store those that need none."""
        with self._lock:
            figures = self._read()
            yield InfoMetricFamily(
                "trivet_build",
                "The program that answers.",
                {"version": __version__, "python": platform.python_version()},
            )
            yield _gauge("trivet_store_up", "Whether the store could be read.", float(figures is not None))
            for family in (self._evaluations, self._leases, self._seconds):
                yield from family.collect()
            if figures is not None:
                yield from _gauges(figures)

    def _read(self) -> Figures | None:
        try:
            for item in self._readings.ended():
                self._evaluations.labels(item.verdict, item.reason, item.cause).inc()
                self._leases.inc(item.leases_ended)
                # What nobody evaluated took no time.
                if not item.cause:
                    self._seconds.observe(item.seconds)
            figures = self._readings.figures()
        except Exception as error:
            self._failures.failed(error)
            return None
        self._failures.succeeded()
        return figures


def _gauges(figures: Figures) -> Iterator[Metric]:
    yield _gauge("trivet_slots_due", "Slots that came due and that nobody has begun.", figures.due)
    yield _gauge("trivet_slots_running", "Slots that somebody works on.", figures.running)
    yield _gauge("trivet_slots_late", "Slots that started long ago and that nobody works on.", figures.late)
    yield _gauge("trivet_ledger_head_seq", "Entries of the ledger.", figures.head)
    yield _gauge("trivet_ledger_uncovered_entries", "Entries that no checkpoint covers.", figures.uncovered)
    yield _gauge("trivet_checkpoint_age_seconds", "Since the last checkpoint.", figures.checkpoint_age)
    yield _gauge("trivet_outbox_waiting", "Notices that wait to be sent.", figures.outbox)
    yield _gauge("trivet_outbox_age_seconds", "Since the oldest waiting notice was written.", figures.outbox_age)
    yield _gauge("trivet_receiver_breakdowns", "Addresses that cannot be told of alerts.", figures.breakdowns)
    yield _gauge("trivet_last_tick_age_seconds", "Since any daemon's last tick that went well.", figures.tick_age)


def _gauge(name: str, text: str, value: float | None) -> Metric:
    """A gauge; without a sample where there is nothing to be measured."""
    family = GaugeMetricFamily(name, text)
    if value is not None:
        family.add_metric([], value)
    return family
