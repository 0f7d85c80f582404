"""Telling a program: an HTTP POST, signed as Standard Webhooks 1.0.0 says (https://www.standardwebhooks.com).

The receiver finds a repetition by `webhook-id`, which is the same on every attempt, and with the shared key checks
that the bytes are ours (`webhook-signature`) and recent (`webhook-timestamp`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import ssl
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime

import httpx

from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.notifiers.secrecy import guard_logs, secrets_of
from trivet import __version__
from trivet.clock import Clock
from trivet.references import Secret

TIMEOUT = timedelta(seconds=15)
_KEY_BYTES = range(24, 65)
_LONGEST_WAIT = timedelta(hours=1)
_GONE = 410
_ASKS_TO_WAIT = (429, 503)


class WebhookNotifier:
    """Posts to one URL. It follows no redirect, uses no proxy of the environment, and reads no body of an answer.

    Args:
        url: where to; `refused_webhook_url` accepted it.
        key: what `signing_key` read; None sends unsigned.
        clock: for the timestamp of each attempt.
        timeout: longest wait for each of connecting, writing and the answer's head.
    """

    dedupes = True

    def __init__(self, url: Secret, key: bytes | None, clock: Clock, timeout: timedelta = TIMEOUT) -> None:
        self._url, self._key, self._clock, self._timeout = url, key, clock, timeout
        guard_logs(secrets_of(url.reveal()), "httpx", "httpcore")

    def send(self, notice: Notice) -> Ending:
        """Posts the payload; only 2xx counts as taken."""
        body = notice.payload.encode("utf-8")
        headers = {
            "content-type": "application/json",
            "user-agent": f"trivet/{__version__}",
            **self._signature(notice.key, body),
        }
        limits = httpx.Timeout(self._timeout.total_seconds())
        try:
            with (
                httpx.Client(trust_env=False, follow_redirects=False, timeout=limits) as client,
                client.stream("POST", self._url.reveal(), content=body, headers=headers) as response,
            ):
                return self._judge(response)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return NotSent(f"cannot connect: {told_reason(error)}")
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            return MaybeSent(f"no answer: {told_reason(error)}")

    def _signature(self, key: str, body: bytes) -> dict[str, str]:
        stamp = str(int(self._clock.now().timestamp()))
        headers = {"webhook-id": key, "webhook-timestamp": stamp}
        if self._key is not None:
            signed = hmac.digest(self._key, f"{key}.{stamp}.".encode() + body, hashlib.sha256)
            headers["webhook-signature"] = f"v1,{base64.b64encode(signed).decode('ascii')}"
        return headers

    def _judge(self, response: httpx.Response) -> Ending:
        status = response.status_code
        if response.is_success:
            return Sent()
        if status == _GONE:
            return NotSent("the receiver answered 410: it is gone for good", final=True)
        if response.is_redirect:
            return NotSent(f"the receiver answered {status}: redirects are not followed; set the address itself")
        wait = self._wait(response.headers.get("retry-after", "")) if status in _ASKS_TO_WAIT else None
        return NotSent(f"the receiver answered {status}", wait=wait)

    def _wait(self, text: str) -> timedelta | None:
        """What `Retry-After` asks for: seconds or a date (RFC 9110, 10.2.3), within an hour."""
        if re.fullmatch(r"[0-9]{1,9}", text):
            asked = timedelta(seconds=int(text))
        else:
            try:
                instant = parsedate_to_datetime(text)
            except ValueError:
                return None
            aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
            asked = aware - self._clock.now()
        return min(max(asked, timedelta()), _LONGEST_WAIT)


def signing_key(secret: Secret) -> bytes | None:
    """The key that a `whsec_` secret holds; None where it is none: base64 of 24 to 64 random bytes."""
    try:
        key = base64.b64decode(secret.reveal().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if secret.reveal().startswith("whsec_") and len(key) in _KEY_BYTES else None


def told_reason(error: Exception) -> str:
    """The kind of a failure. Its text is left out: it may quote what the receiver sent."""
    match error:
        case httpx.TimeoutException():
            return "timed out"
        case httpx.RemoteProtocolError():
            return "the receiver hung up, or answered what is no HTTP"
        case httpx.ConnectError():
            return "refused, no such host, or a certificate that is not trusted"
        case _:
            return type(error).__name__
