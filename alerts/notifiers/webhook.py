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
from collections.abc import Sequence
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime

import httpx

from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import Ending, Notice, NotSent, Sent
from trivet.clock import Clock
from trivet.references import Secret

_KEY_BYTES = range(24, 65)
_LONGEST_WAIT = timedelta(hours=1)
_GONE = 410
_ASKS_TO_WAIT = (429, 503)


class WebhookNotifier:
    """Posts to one URL.

    Args:
        outgoing: where to.
        keys: what `signing_key` read; each signs, so that receivers can change from one to the next. None: unsigned.
        clock: for the timestamp of each attempt.
        resends: whether what may have arrived is sent again.
    """

    def __init__(self, outgoing: Outgoing, keys: Sequence[bytes], clock: Clock, *, resends: bool = True) -> None:
        self._outgoing, self._keys, self._clock = outgoing, keys, clock
        self.resends = resends

    def send(self, notice: Notice) -> Ending:
        """Posts the payload; only 2xx counts as taken."""
        body = notice.payload.encode("utf-8")
        headers = {"content-type": "application/json", **self._signature(notice.key, body)}
        return self._outgoing.ask("POST", self._judge, headers, body)

    def _signature(self, key: str, body: bytes) -> dict[str, str]:
        stamp = str(int(self._clock.now().timestamp()))
        headers = {"webhook-id": key, "webhook-timestamp": stamp}
        text = f"{key}.{stamp}.".encode() + body
        signed = [base64.b64encode(hmac.digest(item, text, hashlib.sha256)).decode("ascii") for item in self._keys]
        if signed:
            headers["webhook-signature"] = " ".join(f"v1,{item}" for item in signed)
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
