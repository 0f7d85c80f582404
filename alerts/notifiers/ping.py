"""A sign of life: a GET to an address that raises an alarm when it stays away, as dead man's switches take it."""

from __future__ import annotations

import ssl
from datetime import timedelta

import httpx

from alerts.notifiers.port import Ending, MaybeSent, NotSent, Sent
from alerts.notifiers.secrecy import guard_logs, secrets_of
from alerts.notifiers.webhook import told_reason
from trivet import __version__
from trivet.references import Secret

TIMEOUT = timedelta(seconds=10)


class HttpPing:
    """Asks for one URL. It follows no redirect, uses no proxy of the environment, and reads no body of an answer."""

    def __init__(self, url: Secret, timeout: timedelta = TIMEOUT) -> None:
        """Args: where to, as `refused_webhook_url` accepted it; the longest wait for connecting and for the answer."""
        self._url, self._timeout = url, timeout
        guard_logs(secrets_of(url.reveal()), "httpx", "httpcore")

    def send(self) -> Ending:
        """Asks once; only 2xx counts as taken."""
        limits = httpx.Timeout(self._timeout.total_seconds())
        try:
            with (
                httpx.Client(trust_env=False, follow_redirects=False, timeout=limits) as client,
                client.stream("GET", self._url.reveal(), headers={"user-agent": f"trivet/{__version__}"}) as response,
            ):
                if response.is_success:
                    return Sent()
                advice = ": redirects are not followed; set the address itself" if response.is_redirect else ""
                return NotSent(f"it answered {response.status_code}{advice}")
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            return MaybeSent(f"no answer: {told_reason(error)}")
