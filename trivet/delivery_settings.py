"""The settings of how people are told: a section of `trivet/settings.py`, which stands for all of them."""

from __future__ import annotations

import ipaddress
import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from trivet.faults import Fault, expected, refused
from trivet.fields import Between, DurationText, Text
from trivet.validation import StrictModel

_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def _read_host(value: object) -> str:
    if not isinstance(value, str) or not (_HOST.fullmatch(value) or _is_ipv6(value)):
        raise expected("a host in lower case such as hooks.example.org, or *.example.org for every host below it")
    return str(value)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _read_network(value: object) -> str:
    try:
        return str(ipaddress.ip_network(value if isinstance(value, str) else ""))
    except ValueError:
        raise expected("a network such as 10.20.0.0/16") from None


HostPattern = Annotated[str, BeforeValidator(_read_host), WithJsonSchema({"type": "string", "minLength": 1})]
Network = Annotated[str, BeforeValidator(_read_network), WithJsonSchema({"type": "string", "minLength": 1})]


class DeliverySettings(StrictModel):
    """How long it is tried to tell people, and where webhooks may go."""

    attempts: Annotated[int, Between(1, 100)] = 8
    """After so many it is given up."""
    first_wait: DurationText = timedelta(seconds=10)
    """Before the second attempt; each further wait is four times as long."""
    longest_wait: DurationText = timedelta(hours=1)
    timeout: DurationText = timedelta(seconds=30)
    """The longest that one attempt may take."""
    hosts: tuple[HostPattern, ...] | None = None
    """The only hosts that webhooks and the sign of life go to; any, if absent."""
    networks: tuple[Network, ...] = ()
    """Networks of one's own that they may go to, besides public addresses."""
    fallback: tuple[Text, ...] | None = None
    """Receivers of which the first that can be is told of one that cannot; any other, in their order, if absent."""

    @model_validator(mode="after")
    def _lasts(self) -> DeliverySettings:
        for name in ("first_wait", "longest_wait", "timeout"):
            if not getattr(self, name):
                raise refused(Fault((name,), "expected a duration of at least 1s, found '0s'"))
        return self
