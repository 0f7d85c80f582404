"""The HTTP application of one process. The API and the page will join it here."""

from __future__ import annotations

from starlette.applications import Starlette

from api.health import Health, health_routes
from api.metrics import metrics_route
from worker.bootstrap import Wiring
from worker.overdue import late_after
from worker.probing import pulse_probe, stored_tick_probe, tick_probe
from worker.pulse import Pulse
from worker.readings import Readings


def make_http_app(wiring: Wiring, pulse: Pulse | None) -> Starlette:
    """The application.

    Args:
        wiring: of the workspace.
        pulse: of the daemon in this process; None where there is none, and the store knows of those elsewhere.

    Raises:
        UnavailableError: the store cannot be used.
    """
    store, clock = wiring.monitored_store()
    scheduler = wiring.settings.scheduler
    parts = wiring.probes(store)
    if pulse is None:
        health = Health((), (*parts, stored_tick_probe(store, clock, scheduler.tick)))
    else:
        health = Health((pulse_probe(pulse, scheduler.tick),), (*parts, tick_probe(pulse)))
    readings = Readings(store, clock, late_after(scheduler))
    return Starlette(routes=[*health_routes(health), metrics_route(readings)])
