"""The settings of who watches Trivet itself: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

from datetime import timedelta

from pydantic import model_validator

from trivet.faults import Fault, refused
from trivet.fields import DurationText, Flag
from trivet.references import SecretRef, WebhookUrl, refused_webhook_url
from trivet.validation import StrictModel


class WatchSettings(StrictModel):
    """A sign of life that goes out, to an address that raises an alarm when it stays away."""

    heartbeat: WebhookUrl | None = None
    """`https://...`, asked for after ticks that went well; one that holds a secret is a reference."""
    every: DurationText = timedelta(minutes=1)
    """How often at most."""
    insecure: Flag = False
    """Also `http://`, to this machine only."""

    @model_validator(mode="after")
    def _goes_encrypted(self) -> WatchSettings:
        if self.heartbeat is not None and not isinstance(self.heartbeat, SecretRef):
            refusal = refused_webhook_url(self.heartbeat, insecure=self.insecure)
            if refusal is not None:
                raise refused(Fault(("heartbeat",), refusal.replace("webhook's url", "heartbeat's url")))
        if not self.every:
            raise refused(Fault(("every",), "expected a duration of at least 1s, found '0s'"))
        return self
