"""Where webhooks may go: what a host leads to is looked up once, judged as a whole, and connected to as found."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest

from alerts.message import probe_message
from alerts.notifiers.addresses import Reach, look_up, reach_of
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import Ending, MaybeSent, Notice, NotSent, Sent
from alerts.notifiers.webhook import WebhookNotifier
from tests.alerting import START
from tests.integration.certificates import Authority
from tests.integration.receiver import Receiver, running_receiver, status
from trivet.clock import FixedClock
from trivet.delivery_settings import DeliverySettings
from trivet.references import Secret

NOTICE = Notice("k" * 64, probe_message("payroll", START).to_json())
HOST = "hooks.example.org"
INSIDE = "leads to an address that is not public"
TWO = ip_network("127.0.0.2/32")
"""Stands for an address that webhooks may go to, while the rest of this machine is inside."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


@dataclass
class Names:
    """A name server that gives each of its answers once, and the last one from then on."""

    answers: list[Sequence[str]]
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def addresses(url: str, *found: str, reach: Reach | None = None) -> tuple[str, ...] | NotSent:
    chosen = reach or Reach()
    return Reach(chosen.hosts, chosen.networks, chosen.this_machine, Names([found])).addresses(httpx.URL(url))


PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_connected_to(address: str) -> None:
    assert addresses(f"https://{HOST}/", address) == (address,)


INTERNAL = {
    "loopback": "127.0.0.1",
    "loopback further on": "127.8.9.10",
    "loopback of IPv6": "::1",
    "private, class A": "10.1.2.3",
    "private, class B": "172.16.0.1",
    "private, class C": "192.168.1.1",
    "unique local": "fd00::1",
    "link-local": "169.254.0.7",
    "link-local of IPv6": "fe80::1",
    "link-local with its zone": "fe80::1%1",
    "site-local": "fec0::1",
    "metadata of a cloud": "169.254.169.254",
    "metadata of a cloud by IPv6": "fd00:ec2::254",
    "shared by a carrier": "100.64.0.1",
    "the last shared by a carrier": "100.127.255.254",
    "multicast": "224.0.0.1",
    "multicast of IPv6": "ff02::1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "this network": "0.0.0.0",  # noqa: S104 (an address to be refused)
    "unspecified": "::",
    "documentation": "192.0.2.1",
    "documentation of IPv6": "2001:db8::1",
    "benchmarks": "198.18.0.1",
    "mapped": "::ffff:127.0.0.1",
    "mapped, though public": "::ffff:93.184.216.34",
    "compatible": "::127.0.0.1",
    "6to4": "2002:7f00:1::",
    "Teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "translated": "64:ff9b::7f00:1",
    "translated metadata": "64:ff9b::a9fe:a9fe",
}


@pytest.mark.parametrize("name", INTERNAL)
def test_an_address_that_is_not_public_is_refused(name: str) -> None:
    for url in (f"https://{HOST}/", f"https://{HOST}:8443/x"):
        refused = addresses(url, INTERNAL[name])
        assert isinstance(refused, NotSent)
        assert INSIDE in refused.error


@pytest.mark.parametrize("name", INTERNAL)
def test_one_address_that_is_not_public_refuses_all(name: str) -> None:
    for found in ((PUBLIC[0], INTERNAL[name]), (INTERNAL[name], PUBLIC[0])):
        assert isinstance(addresses(f"https://{HOST}/", *found), NotSent)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "[::ffff:7f00:1]", "[::1]", "127.0.0.1"])
def test_no_spelling_of_this_machine_gets_through(host: str) -> None:
    """By the system's own resolver."""
    found = Reach().addresses(httpx.URL(f"https://{host}/"))
    assert isinstance(found, NotSent)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_this_machine_is_reached_where_that_is_allowed_and_the_url_names_it(host: str) -> None:
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    assert addresses(f"http://{host}/", address, reach=Reach(this_machine=True)) == (address,)
    assert isinstance(addresses(f"http://{host}/", address), NotSent)


@pytest.mark.parametrize(
    ("url", "found"),
    [(f"https://{HOST}/", "127.0.0.1"), ("http://localhost/", "10.0.0.1"), ("http://localhost./x", "::")],
)
def test_a_name_that_leads_to_this_machine_is_refused_even_where_the_machine_itself_is_allowed(
    url: str, found: str
) -> None:
    assert isinstance(addresses(url, found, reach=Reach(this_machine=True)), NotSent)


def test_networks_of_ones_own_can_be_allowed() -> None:
    reach = reach_of(DeliverySettings.model_validate({"networks": ["10.20.0.0/16", "fd12::/32"]}), insecure=False)
    assert addresses(f"https://{HOST}/", "10.20.3.4", "fd12::1", reach=reach) == ("10.20.3.4", "fd12::1")
    for other in ("10.21.0.1", "127.0.0.1", "fd13::1", "::ffff:10.20.3.4"):
        assert isinstance(addresses(f"https://{HOST}/", other, reach=reach), NotSent)


HOSTS = [
    ("hooks.example.org", True),
    ("HOOKS.example.org.", True),
    ("a.chat.example", True),
    ("a.b.chat.example", True),
    ("chat.example", False),
    ("evilchat.example", False),
    ("hooks.example.org.evil.example", False),
    ("example.org", False),
    ("1.1.1.1", False),
]


@pytest.mark.parametrize(("host", "allowed"), HOSTS)
def test_only_the_named_hosts_are_asked_for_where_some_are_named(host: str, allowed: bool) -> None:
    names = Names([[PUBLIC[0]]])
    reach = Reach(("hooks.example.org", "*.chat.example"), lookup=names)
    found = reach.addresses(httpx.URL(f"https://{host}/"))
    assert (found == (PUBLIC[0],)) is allowed
    assert bool(names.asked) is allowed, "a host that is not allowed is not even looked up"


def failing(host: str, port: int) -> Sequence[str]:
    raise socket.gaierror(-2, "Name or service not known")


@pytest.mark.parametrize(("lookup", "error"), [(failing, "no such host"), (Names([[]]), "has no address")])
def test_a_host_that_is_not_found_was_not_told(lookup: Callable[[str, int], Sequence[str]], error: str) -> None:
    found = Reach(lookup=lookup).addresses(httpx.URL(f"https://{HOST}/"))
    assert isinstance(found, NotSent)
    assert error in found.error
    assert not found.final


def test_the_systems_resolver_gives_each_address_once() -> None:
    found = look_up("localhost", 80)
    assert "127.0.0.1" in found
    assert len(found) == len(set(found))


# --- What is connected to


def notifier(url: str, names: Names, *, seconds: float = 5, trust: ssl.SSLContext | None = None) -> WebhookNotifier:
    reach = Reach(networks=(TWO,), lookup=names)
    return WebhookNotifier(Outgoing(Secret(url), reach, timedelta(seconds=seconds), trust), [], FixedClock(START))


def test_an_answer_that_changes_to_this_machine_is_not_followed(receiver: Receiver) -> None:
    """Each attempt asks once, and goes where that answer says: there is no second question for it to change between."""
    names = Names([["127.0.0.2"], ["127.0.0.1"]])
    with running_receiver(receiver.port, "127.0.0.2") as outside:
        told = notifier(f"http://{HOST}:{receiver.port}/hook", names)
        assert told.send(NOTICE) == Sent()
        assert names.asked == [(HOST, receiver.port)]
        (request,) = outside.requests
        assert request.headers["host"] == f"{HOST}:{receiver.port}"
        refused = told.send(NOTICE)
    assert isinstance(refused, NotSent)
    assert INSIDE in refused.error
    assert (len(outside.requests), receiver.requests, len(names.asked)) == (1, [], 2)


def test_the_next_address_of_a_name_is_tried_where_nobody_answers_at_the_first() -> None:
    with running_receiver(host="127.0.0.2") as outside:
        names = Names([["127.0.0.3", "127.0.0.2"]])
        reach = Reach(networks=(ip_network("127.0.0.2/31"),), lookup=names)
        way = Outgoing(Secret(f"http://{HOST}:{outside.port}/"), reach, timedelta(seconds=5))
        assert WebhookNotifier(way, [], FixedClock(START)).send(NOTICE) == Sent()
        assert len(outside.requests) == 1


def test_a_request_that_was_begun_is_not_made_at_another_address(receiver: Receiver) -> None:
    with running_receiver(receiver.port, "127.0.0.2") as outside:
        outside.answers.append(status(500))
        names = Names([["127.0.0.2", "127.0.0.1"]])
        reach = Reach(networks=(ip_network("127.0.0.0/8"),), lookup=names)
        way = Outgoing(Secret(f"http://{HOST}:{outside.port}/"), reach, timedelta(seconds=5))
        assert isinstance(WebhookNotifier(way, [], FixedClock(START)).send(NOTICE), NotSent)
        assert (len(outside.requests), receiver.requests) == (1, [])


# --- Certificates


def test_the_name_of_the_url_stands_in_the_handshake_and_its_certificate_is_checked(tmp_path: Path) -> None:
    authority, seen = Authority(tmp_path), []
    context = authority.server(HOST)
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    with running_receiver(host="127.0.0.2", context=context) as outside:
        url, names = f"https://{HOST}:{outside.port}/hook", Names([["127.0.0.2"]])
        assert notifier(url, names, trust=authority.trust(HOST)).send(NOTICE) == Sent()
        assert seen == [HOST]
        assert outside.requests[0].headers["host"] == f"{HOST}:{outside.port}"


def test_a_certificate_of_another_name_or_of_nobody_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with running_receiver(host="127.0.0.2", context=authority.server("other.example.org")) as outside:
        url, names = f"https://{HOST}:{outside.port}/hook", Names([["127.0.0.2"]])
        for trust in (authority.trust("other.example.org"), None):
            refused = notifier(url, names, trust=trust).send(NOTICE)
            assert isinstance(refused, NotSent)
            assert "certificate" in refused.error
        assert outside.requests == []


# --- An end in time


@contextlib.contextmanager
def dripping(beginning: bytes, drop: bytes) -> Iterator[int]:
    """A server that answers a byte at a time, each well within any time limit, and never ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(65_536)
            connection.sendall(beginning)
            while not over.wait(0.05):
                connection.sendall(drop)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        thread.join(10)
        listener.close()


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nx: "])
def test_an_answer_that_trickles_is_cut_off_in_time(beginning: bytes) -> None:
    with dripping(beginning, b"y") as port:
        way = Outgoing(Secret(f"http://127.0.0.1:{port}/"), Reach(this_machine=True), timedelta(seconds=0.6))
        began = time.monotonic()
        ending: Ending = WebhookNotifier(way, [], FixedClock(START)).send(NOTICE)
        assert time.monotonic() - began < 5
    assert ending == MaybeSent("no answer: timed out")


def test_a_head_without_end_is_not_read_to_the_end() -> None:
    with dripping(b"HTTP/1.1 200 OK\r\n", b"x: " + b"y" * 65_000 + b"\r\n") as port:
        way = Outgoing(Secret(f"http://127.0.0.1:{port}/"), Reach(this_machine=True), timedelta(seconds=20))
        ending = WebhookNotifier(way, [], FixedClock(START)).send(NOTICE)
    assert ending == MaybeSent("no answer: the receiver hung up, or answered what is no HTTP")
