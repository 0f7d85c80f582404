"""Health: `/healthz` says whether a process should be restarted, `/readyz` what is not there that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from worker.probing import Probe


@dataclass(frozen=True, slots=True)
class Health:
    """What is looked at, for each of the two questions."""

    alive: Sequence[Probe]
    ready: Sequence[Probe]


def health_routes(health: Health) -> list[Route]:
    """`/healthz` and `/readyz`: 200 where all is fine and 503 where something is not, which is named."""

    def healthz(_request: Request) -> Response:
        return _answer("alive", health.alive)

    def readyz(_request: Request) -> Response:
        return _answer("ready", health.ready)

    return [Route("/healthz", healthz, methods=["GET"]), Route("/readyz", readyz, methods=["GET"])]


def _answer(word: str, probes: Sequence[Probe]) -> Response:
    found = [(probe.what, probe.problem()) for probe in probes]
    fine = all(problem is None for _, problem in found)
    checks = [{"what": what, "fine": problem is None, "message": problem} for what, problem in found]
    body = {word: fine, "checks": checks}
    return JSONResponse(body, 200 if fine else 503, headers={"cache-control": "no-store"})
