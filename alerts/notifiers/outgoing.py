"""One HTTP request to one URL, for webhooks and for the sign of life.

It goes to an address that was checked, with the name of the URL in `Host` and in the TLS handshake; it follows no
redirect, uses no proxy of the environment, reads no body of an answer, and ends in time.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx

from alerts.notifiers.addresses import Reach
from alerts.notifiers.deadline import Deadline
from alerts.notifiers.port import Ending, MaybeSent, NotSent
from alerts.notifiers.secrecy import guard_logs, secrets_of
from trivet import __version__
from trivet.references import Secret

TIMEOUT = timedelta(seconds=30)
_TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Where to, and under which limits."""

    url: Secret
    """As `refused_webhook_url` accepted it."""
    reach: Reach = field(default_factory=Reach)
    timeout: timedelta = TIMEOUT
    """The longest for everything but looking the name up."""
    trust: ssl.SSLContext | None = None
    """Whose certificates are trusted; the usual authorities if absent."""

    def __post_init__(self) -> None:
        guard_logs(secrets_of(self.url.reveal()), "httpx", "httpcore")

    def leads_to(self) -> tuple[str, ...] | NotSent:
        """The addresses that it would go to now, or why to none."""
        try:
            return self.reach.addresses(httpx.URL(self.url.reveal()))
        except httpx.InvalidURL:
            return NotSent("the URL is none")

    def ask(
        self,
        method: str,
        judge: Callable[[httpx.Response], Ending],
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Ending:
        """Sends it once; `judge` sees status and headers of the answer.

        An address that cannot be connected to was not asked, so the next one of the same name is.
        """
        found = self.leads_to()
        if isinstance(found, NotSent):
            return found
        url = httpx.URL(self.url.reveal())
        named = {"user-agent": f"trivet/{__version__}", **(headers or {}), "host": url.netloc.decode("ascii")}
        ending: Ending = NotSent(f"cannot connect: {_TIMED_OUT}")
        with Deadline(self.timeout) as deadline:
            for address in found:
                if deadline.is_over:
                    break
                try:
                    return self._ask_at(address, url, method, judge, named, body, deadline)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    ending = NotSent(f"cannot connect: {_TIMED_OUT if deadline.is_over else told_reason(error)}")
                except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
                    return MaybeSent(f"no answer: {_TIMED_OUT if deadline.is_over else told_reason(error)}")
        return ending

    def _ask_at(
        self,
        address: str,
        url: httpx.URL,
        method: str,
        judge: Callable[[httpx.Response], Ending],
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: Deadline,
    ) -> Ending:
        def watch(name: str, info: Mapping[str, Any]) -> None:
            if name == "connection.connect_tcp.complete":
                deadline.watch(info["return_value"].get_extra_info("socket"))

        told = {"trace": watch, "sni_hostname": url.raw_host.decode("ascii")}
        with (
            httpx.Client(
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(deadline.left),
                verify=self.trust or True,
            ) as client,
            client.stream(
                method, url.copy_with(host=address), content=body, headers=dict(headers), extensions=told
            ) as response,
        ):
            return judge(response)


def told_reason(error: Exception) -> str:
    """The kind of a failure. Its text is left out: it may quote what the receiver sent."""
    match error:
        case httpx.TimeoutException():
            return _TIMED_OUT
        case httpx.RemoteProtocolError():
            return "the receiver hung up, or answered what is no HTTP"
        case httpx.ConnectError():
            return "refused, no such host, or a certificate that is not trusted"
        case _:
            return type(error).__name__
