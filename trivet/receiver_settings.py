"""The settings of receivers: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from trivet.faults import Fault, expected, refused
from trivet.fields import Between, Flag, Text
from trivet.references import (
    ReceiverUrl,
    Reference,
    SecretRef,
    WebhookUrl,
    is_this_machine,
    refused_webhook_url,
)
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


def _read_address(value: object) -> str:
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise expected("a mail address such as payroll@example.org")
    return str(value)


_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
MailAddress = Annotated[str, BeforeValidator(_read_address), WithJsonSchema({"type": "string", "format": "email"})]


class SmtpSettings(StrictModel):
    """A mail server that takes mail for people."""

    host: Text
    port: Annotated[int, Between(1, 65535)] | None = None
    """587 for `starttls`, 465 for `implicit` and 25 for `none`, if absent."""
    tls: Literal["starttls", "implicit", "none"] = "starttls"
    """`none`: to a server on this machine only."""
    username: Reference | None = None
    password: Reference | None = None
    sender: MailAddress
    to: Annotated[tuple[MailAddress, ...], Field(min_length=1)]
    """Each gets a mail of its own."""

    @property
    def at_port(self) -> int:
        """The port, or the one that belongs to `tls`."""
        return self.port or {"starttls": 587, "implicit": 465, "none": 25}[self.tls]

    @model_validator(mode="after")
    def _goes_encrypted(self) -> SmtpSettings:
        faults = []
        if self.tls == "none" and not is_this_machine(self.host):
            faults.append(Fault(("tls",), "only to a server on this machine may mail go without TLS"))
        for name, other in (("username", "password"), ("password", "username")):
            if getattr(self, name) is not None and getattr(self, other) is None:
                faults.append(Fault((name,), f"{name} needs {other}"))
        if faults:
            raise refused(*faults)
        return self


class ReceiverSettings(StrictModel):
    """Where alerts go: one of `apprise`, `smtp`, `stdout` and `webhook`."""

    apprise: Annotated[tuple[ReceiverUrl, ...], Field(min_length=1)] | None = None
    """Apprise URLs; one that holds a secret is a reference."""
    smtp: SmtpSettings | None = None
    """Mailed."""
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
        kinds = {
            "apprise": self.apprise is not None,
            "smtp": self.smtp is not None,
            "stdout": self.stdout,
            "webhook": self.webhook is not None,
        }
        given = [kind for kind, is_given in kinds.items() if is_given]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none of them"
            raise refused(Fault(tuple(given[1:2]), f"expected one of apprise, smtp, stdout: true and webhook, {found}"))
        return self
