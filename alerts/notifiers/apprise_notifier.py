"""Telling people: chat and mail, through Apprise (https://github.com/caronc/apprise).

An Apprise URL is code as much as it is an address, so it comes from the settings alone. Nothing is ever attached, since
an attachment could read a local file or fetch an internal address.
"""

from __future__ import annotations

import warnings
from datetime import timedelta

import apprise
from apprise.result import AppriseResultStatus

from alerts.gathered import is_fine
from alerts.message import Message
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.notifiers.secrecy import guard_logs, scrubbed, secrets_of
from alerts.rendering import body, subject
from alerts.states import AlertEvent
from alerts.wording import inactive, shortened, visible
from trivet.references import Secret
from trivet.verdicts import Severity

TIMEOUT = timedelta(seconds=30)
_LONGEST_ERROR = 200
_TYPES = {
    Severity.INFO: apprise.NotifyType.INFO,
    Severity.WARNING: apprise.NotifyType.WARNING,
    Severity.CRITICAL: apprise.NotifyType.FAILURE,
}


class AppriseNotifier:
    """One Apprise URL.

    Args:
        url: the Apprise URL.
        timeout: longest wait for one call.
        resends: whether what may have arrived is sent again. These services cannot tell a repetition.
    """

    def __init__(self, url: Secret, timeout: timedelta = TIMEOUT, *, resends: bool = False) -> None:
        self._timeout, self.resends = timeout, resends
        self._secrets = secrets_of(url.reveal())
        # Apprise logs URLs below WARNING, and so do the HTTP libraries beneath it.
        guard_logs(self._secrets, "apprise", "urllib3", "requests", "httpx", "httpcore")
        asset = apprise.AppriseAsset(
            app_id="Trivet",
            app_desc="Trivet",
            storage_mode="memory",
            http_redirects=False,
            interpret_escapes=False,
            interpret_emojis=False,
        )
        self._service = apprise.Apprise(asset=asset)
        with warnings.catch_warnings():
            # The first address imports every service that Apprise knows, some of which use what Python deprecates.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._loaded = bool(self._service.add(url.reveal()))
        for service in self._service:
            # A URL can ask for redirects (`?redirect=yes`), and one may lead inside; for attempts of its own, which the
            # outbox would not know of; and for a failure to be called none.
            service.redirects = False
            service.retry = 0
            service.optional = False
        self._targets = sum(len(service) for service in self._service)

    def send(self, notice: Notice) -> Ending:
        """Hands it to the service once."""
        if not self._loaded:
            return NotSent("the URL names no service that Apprise knows, or lacks a part that the service needs")
        if self._targets > 1:
            # One that fails would have the others told again.
            return NotSent(f"the URL leads to {self._targets} places; give each a URL of its own")
        message = Message.from_json(notice.payload)
        resolved = message.event is not AlertEvent.TEST and is_fine(message)
        result = self._service.notify(
            body=body(message, inactive),
            title=subject(message),
            notify_type=apprise.NotifyType.SUCCESS if resolved else _TYPES[message.severity],
            body_format=apprise.NotifyFormat.TEXT,
            timeout=self._timeout.total_seconds(),
        )
        if result.status is AppriseResultStatus.SUCCESS:
            return Sent()
        if result.status is AppriseResultStatus.TIMEOUT:
            return MaybeSent(f"no answer within {self._timeout.total_seconds():g} s")
        return NotSent(self._error(result))

    def _error(self, result: apprise.AppriseResult) -> str:
        said = next((entry.message for entry in result.logs() if entry.level in ("WARNING", "ERROR")), "")
        text = shortened(scrubbed(visible(said), self._secrets), _LONGEST_ERROR)
        return f"the service did not take it: {text}" if text else "the service did not take it"
