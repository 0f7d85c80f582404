"""A webhook whose receiver fails in every way, on the way to its limit: retries as stated, and nobody inside is asked.

The receiver stands at 127.0.0.2, which webhooks may go to here. The rest of this machine, and the address at which
clouds tell secrets, are inside; every connection that this process makes is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.delivery import DeliveryPolicy, DeliveryReport, deliver_due
from alerts.notifiers.addresses import Reach
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.webhook import WebhookNotifier
from tests.integration.receiver import Answer, Receiver, hang_up, running_receiver, slow, status
from tests.integration.test_alert_delivery import DESK, a_breach, clock_after, ends, row, tell
from trivet.clock import FixedClock
from trivet.references import Secret

METADATA = "http://169.254.169.254/latest/meta-data/"
POLICY = DeliveryPolicy(attempts=20)
ALLOWED = tuple(ip_network(f"127.0.0.{number}/32") for number in (2, 3))


class Connections:
    """Every address that this process connects to. A hook stays for as long as the interpreter, so there is one."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and self.seen is not None and isinstance(arguments[1], tuple):
            self.seen.append(arguments[1][0])


CONNECTIONS = Connections()


@pytest.fixture
def connected(store: sa.Engine) -> Iterator[list[str]]:
    """The addresses that are connected to from now on; the store's own connections are there already."""
    with store.connect():
        CONNECTIONS.seen = []
    yield CONNECTIONS.seen
    CONNECTIONS.seen = None


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    return any_store


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver(host="127.0.0.2") as running:
        yield running


@dataclass
class Desk:
    """A notice that waits for a receiver whose name leads where it is told to lead."""

    store: sa.Engine
    port: int
    leads_to: list[Sequence[str]]
    """One answer for each question; the last one stays."""
    clock: FixedClock = field(default_factory=clock_after)

    def __post_init__(self) -> None:
        tell(self.store, a_breach())

    def look_up(self, host: str, port: int) -> Sequence[str]:
        return self.leads_to.pop(0) if len(self.leads_to) > 1 else self.leads_to[0]

    def deliver(self) -> DeliveryReport:
        reach = Reach(networks=ALLOWED, lookup=self.look_up)
        way = Outgoing(Secret(f"http://desk.example:{self.port}/hook"), reach, timedelta(seconds=3))
        notifier = WebhookNotifier(way, [bytes(32)], self.clock)
        return deliver_due(self.store, {DESK: notifier}, self.clock, POLICY)

    def waits(self) -> timedelta:
        """How long the next attempt waits from now; the clock then stands there."""
        found = row(self.store)
        due = self.clock.now().fromisoformat(found.next_attempt)
        waited = due - self.clock.now()
        self.clock.instant = due - timedelta(microseconds=1)
        assert self.deliver() == DeliveryReport(), "nothing is sent before it is due"
        self.clock.instant = due
        return waited


FAULTS: list[tuple[Answer, str]] = [
    *[(status(500), "the receiver answered 500")] * 5,
    (slow(5), "no answer: timed out"),
    (status(429, retry_after="600"), "the receiver answered 429"),
    (
        status(307, location=METADATA),
        "the receiver answered 307: redirects are not followed; set the address itself",
    ),
    (hang_up, "no answer: the receiver hung up, or answered what is no HTTP"),
]
INSIDE = (
    "its host leads to an address that is not public, and nothing was sent there;"
    " delivery.networks allows networks of one's own"
)


def test_every_fault_is_tried_again_as_stated_and_nobody_inside_is_asked(
    store: sa.Engine, receiver: Receiver, connected: list[str]
) -> None:
    with running_receiver(receiver.port) as inside:
        desk = Desk(store, receiver.port, [["127.0.0.2"]])
        for attempt, (answer, error) in enumerate(FAULTS, start=1):
            receiver.answers.append(answer)
            assert desk.deliver().retrying == 1
            found = row(store)
            assert (found.state, found.attempts, found.last_error) == ("pending", attempt, error)
            whole = min(POLICY.first_wait * 4 ** (attempt - 1), POLICY.longest_wait)
            least = max(whole / 2, timedelta(seconds=600) if "429" in error else timedelta())
            assert least <= desk.waits() <= max(whole, least)
        desk.leads_to = [["127.0.0.1"]]
        for place in (["127.0.0.1"], ["169.254.169.254"], ["127.0.0.2", "::1"]):
            desk.leads_to = [place]
            assert desk.deliver().retrying == 1
            assert row(store).last_error == INSIDE
            desk.waits()
        desk.leads_to = [["127.0.0.2"], ["127.0.0.1"]]
        assert desk.deliver().delivered == 1
        assert inside.requests == []
    assert set(connected) == {"127.0.0.2"}
    keys = {request.key for request in receiver.requests}
    assert keys == {row(store).alert_key}
    assert len(receiver.requests) == len(FAULTS) + 1
    assert ends(store) == [("delivered", len(FAULTS) + 4)]


def test_a_receiver_that_moves_is_found_at_its_new_address(
    store: sa.Engine, receiver: Receiver, connected: list[str]
) -> None:
    receiver.answers.append(status(503))
    with running_receiver(receiver.port, "127.0.0.3") as moved:
        desk = Desk(store, receiver.port, [["127.0.0.2"], ["127.0.0.3"]])
        assert desk.deliver().retrying == 1
        desk.waits()
        assert desk.deliver().delivered == 1
        assert (len(receiver.requests), len(moved.requests)) == (1, 1)
        assert moved.requests[0].key == receiver.requests[0].key
    assert connected.count("127.0.0.2") == connected.count("127.0.0.3") == 1
