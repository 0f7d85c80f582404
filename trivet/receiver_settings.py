"""The settings of receivers: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trivet.faults import Fault, refused
from trivet.fields import Flag
from trivet.references import ReceiverUrl, Reference, SecretRef, WebhookUrl, refused_webhook_url
from trivet.validation import StrictModel


class WebhookSettings(StrictModel):
    """An HTTP endpoint that takes alerts as JSON, signed as Standard Webhooks says."""

    url: WebhookUrl
    """`https://...`; one that holds a secret is a reference."""
    secret: Reference | None = None
    """The key for signatures: `whsec_` and base64 of 24 to 64 random bytes; unsigned if absent."""
    previous_secret: Reference | None = None
    """The key before it, which signs as well for as long as receivers change over."""
    insecure: Flag = False
    """Also `http://`, to this machine only."""

    @model_validator(mode="after")
    def _goes_encrypted(self) -> WebhookSettings:
        refusal = None if isinstance(self.url, SecretRef) else refused_webhook_url(self.url, insecure=self.insecure)
        if refusal is not None:
            raise refused(Fault(("url",), refusal))
        if self.previous_secret is not None and self.secret is None:
            raise refused(Fault(("previous_secret",), "there is no secret that came after it; give secret as well"))
        return self


class ReceiverSettings(StrictModel):
    """Where alerts go: one of `apprise`, `stdout` and `webhook`."""

    apprise: Annotated[tuple[ReceiverUrl, ...], Field(min_length=1)] | None = None
    """Apprise URLs; one that holds a secret is a reference."""
    stdout: Flag = False
    """Printed by the program that delivers."""
    webhook: WebhookSettings | None = None
    """Posted to a program."""
    unknown: Literal["resend", "hold"] | None = None
    """What becomes of a notice that may have arrived: sent again, under the same id, or held. If absent, a webhook gets
    it again, and nobody else does."""

    @property
    def resends(self) -> bool:
        """Whether what may have arrived is sent again."""
        return self.webhook is not None if self.unknown is None else self.unknown == "resend"

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> ReceiverSettings:
        kinds = {"apprise": self.apprise is not None, "stdout": self.stdout, "webhook": self.webhook is not None}
        given = [kind for kind, is_given in kinds.items() if is_given]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none of them"
            raise refused(Fault(tuple(given[1:2]), f"expected one of apprise, stdout: true and webhook, {found}"))
        return self
