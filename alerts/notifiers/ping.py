"""A sign of life: a GET to an address that raises an alarm when it stays away, as dead man's switches take it."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import Ending, NotSent, Sent


@dataclass(frozen=True, slots=True)
class HttpPing:
    """Asks for one URL."""

    outgoing: Outgoing

    def send(self) -> Ending:
        """Asks once; only 2xx counts as taken."""
        return self.outgoing.ask("GET", _judge)


def _judge(response: httpx.Response) -> Ending:
    if response.is_success:
        return Sent()
    advice = ": redirects are not followed; set the address itself" if response.is_redirect else ""
    return NotSent(f"it answered {response.status_code}{advice}")
