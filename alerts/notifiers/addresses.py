"""Where a URL leads, and whether Trivet may connect there: looked up once, and what was found is connected to.

Who writes settings names a host; who runs its name server decides where that leads, and may let it lead inside: to a
service of this machine, of the network around it, or of the cloud that it runs in. So every address that a name has
must be one of the public internet, or of the networks that the settings allow.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

import httpx

from alerts.notifiers.port import NotSent
from trivet.delivery_settings import DeliverySettings
from trivet.references import is_this_machine

Address: TypeAlias = IPv4Address | IPv6Address
Lookup: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a host; nothing where it has none. Raises OSError or UnicodeError where it cannot be looked up."""

_PORTS = {"http": 80, "https": 443}
# RFC 6052: an IPv4 address behind a translator.
_TRANSLATED = IPv6Network("64:ff9b::/96")


def look_up(host: str, port: int) -> Sequence[str]:
    """What the system's resolver says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far webhooks may go."""

    hosts: tuple[str, ...] | None = None
    """The only hosts, as `DeliverySettings` spells them; None for any."""
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """What is allowed besides public addresses."""
    this_machine: bool = False
    """Whether `localhost` and loopback addresses are allowed where the URL names them itself."""
    lookup: Lookup = look_up

    def addresses(self, url: httpx.URL) -> tuple[str, ...] | NotSent:
        """The addresses to connect to, or why none is.

        One that is not allowed refuses all: whoever answers the question chooses which comes first.
        """
        host = url.raw_host.decode("ascii").lower().removesuffix(".")
        if self.hosts is not None and not any(_is_named(host, pattern) for pattern in self.hosts):
            return NotSent("its host is not among delivery.hosts")
        try:
            found = [_address(text) for text in self.lookup(host, url.port or _PORTS.get(url.scheme, 0))]
        except (OSError, UnicodeError, ValueError):
            return NotSent("no such host, or its name cannot be looked up now")
        if not found:
            return NotSent("its host has no address")
        itself = self.this_machine and is_this_machine(host)
        if not all((itself and item.is_loopback) or self._is_allowed(item) for item in found):
            return NotSent(
                "its host leads to an address that is not public, and nothing was sent there;"
                " delivery.networks allows networks of one's own"
            )
        return tuple(map(str, found))

    def _is_allowed(self, address: Address) -> bool:
        return _is_public(address) or any(address in network for network in self.networks)


def reach_of(settings: DeliverySettings, *, insecure: bool) -> Reach:
    """As settings have it."""
    return Reach(settings.hosts, tuple(map(ipaddress.ip_network, settings.networks)), insecure)


def _address(text: str) -> Address:
    return ipaddress.ip_address(text)


def _is_named(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        if address in _TRANSLATED:
            return _is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        # Each of these hides an IPv4 address, or is a leftover of the beginnings.
        if address.ipv4_mapped or address.sixtofour or address.teredo or address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
