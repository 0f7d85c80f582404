"""The daemon is killed while it delivers: before the send, after the receiver took it, after its end was committed.

A receiver that drops ids that it had takes each notice once, and none is lost to it. Where one may have arrived and
is not sent again, its delivery is told as unknown.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from alerts.delivery import DeliveryReport
from alerts.states import DeliveryState
from alerts.tables import outbox
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from tests.acceptance.command import finish, start, trivet
from tests.acceptance.daemons import QUICK, all_told, opened, rows, running, stop, wait_for
from tests.acceptance.dying import entry
from tests.acceptance.files import append_to
from tests.integration.mail_server import MailServer, running_mail_server
from tests.integration.receiver import Receiver, running_receiver
from tests.integration.servers import postgres
from tests.integration.store import MIGRATIONS
from worker.delivering import Deliverer
from worker.migrating import upgrade_store
from worker.processes import last_ticks
from worker.stores import open_store, read_only

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

SENDS = {
    "desk": "'alerts.notifiers.webhook:WebhookNotifier', 'send'",
    "mail": "'alerts.notifiers.smtp:SmtpNotifier', 'send'",
}
POINTS = {
    "before it sends": "before({send})",
    "after the receiver took it": "after({send})",
    "before the end is committed": "after('alerts.delivery', 'append_all')",
    "after the end is committed": "after('alerts.delivery:_Round', 'settle')",
}
CUT_OFF = {
    "before it sends": (0, 1),
    "after the receiver took it": (1, 2),
    "before the end is committed": (1, 2),
    "after the end is committed": (1, 1),
}
"""How often each receiver is sent the notice in the end: one that is not sent again to, and one that is."""

SECOND = """\
  - {id: reading-not-cold, object: reading, breach_when: temperature > 4, title: Not cold, owner: ops}
"""
GATHERED_POINTS = POINTS | {"while it gathers": "after('alerts.gathering', '_row')"}
GATHERED_CUT_OFF = CUT_OFF | {"while it gathers": (1, 1)}


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace in whose outbox a notice waits for one receiver, or two of one group do, and the receivers."""

    workspace: Path
    store: sa.Engine
    environment: dict[str, str]
    desk: Receiver
    mail: MailServer

    def keys(self) -> list[str]:
        """The ids by which receivers find a repetition, as they came in."""
        return [item.key for item in self.desk.requests] + [
            str(item["Message-ID"]).strip("<>").partition("@")[0] for item in self.mail.mails
        ]

    def dies(self, fault: str) -> None:
        """A daemon that is killed where it is told to be."""
        process = start("run", at=self.workspace, entry=entry(fault), environment=self.environment)
        ended = finish(process)
        assert ended.code == -signal.SIGKILL, ended.err

    def goes_on(self) -> None:
        """A daemon that delivers whatever is left."""
        with running(self.workspace, "run", environment=self.environment) as daemon:
            for _ in range(2):
                # Whoever ticks delivers afterwards, so by the second tick it has.
                before = self.ticked()
                wait_for(lambda before=before: self.ticked() != before, daemon)
            wait_for(lambda: all_told(self.store), daemon)
            stop(daemon)

    def ticked(self) -> datetime | None:
        """When a daemon ticked last."""
        with read_only(self.store).connect() as connection:
            return next((item.ticked_at for item in last_ticks(connection)), None)


@pytest.fixture
def place(request: pytest.FixtureRequest, small: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    kind, name, gathered = request.param
    url = f"sqlite:///{small / 'trivet.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    monkeypatch.setenv("TRIVET_STORE__URL", url)
    with ExitStack() as stack, running_receiver() as desk, running_mail_server() as mail, opened(url) as store:
        # A command in this process would leave its connections to its end.
        monkeypatch.setattr("worker.bootstrap.open_store", partial(_let_go_at_end, stack))
        upgrade_store(store, MIGRATIONS)
        append_to(
            small / "trivet.yaml",
            "receivers:\n"
            f"  desk: {{webhook: {{url: '{desk.url()}', insecure: true}}}}\n"
            f"  mail: {{smtp: {{host: 127.0.0.1, port: {mail.port}, tls: none, sender: a@example.org,"
            " to: [b@example.org]}}\n"
            "delivery: {first_wait: 1s, longest_wait: 1s, timeout: 1s}\n",
        )
        if gathered:
            append_to(small / "trivet.yaml", f"routes: [{{receiver: {name}, group_by: [], group_wait: 1s}}]\n")
            append_to(small / "monitors" / "example.yaml", SECOND)
        else:
            append_to(small / "monitors" / "example.yaml", f"    notify: [{name}]\n")
        with monkeypatch.context() as silent:
            silent.setattr(Deliverer, "deliver", lambda *given, **named: DeliveryReport())
            assert trivet("evaluate", at=small).code == 1
        waits = [(row["state"], row["attempts"]) for row in rows(store, outbox)]
        assert waits == [(DeliveryState.PENDING, 0)] * (2 if gathered else 1)
        yield Place(small, store, QUICK | {"TRIVET_STORE__URL": url}, desk, mail)


def _let_go_at_end(stack: ExitStack, url: str, **options: bool) -> sa.Engine:
    engine = open_store(url, **options)
    stack.callback(engine.dispose)
    return engine


PLACES = [("sqlite", name, point) for name in SENDS for point in POINTS]
PLACES += [("postgresql", name, "after the receiver took it") for name in SENDS]


@pytest.mark.parametrize(
    ("place", "name", "point"),
    [((kind, name, False), name, point) for kind, name, point in PLACES],
    indirect=["place"],
    ids=[f"{kind}-{name}-{point.replace(' ', '_')}" for kind, name, point in PLACES],
)
def test_a_daemon_that_is_killed_while_it_delivers(place: Place, name: str, point: str) -> None:
    place.dies(POINTS[point].format(send=SENDS[name]))
    committed = point == "after the end is committed"
    (cut,) = rows(place.store, outbox)
    assert (cut["state"], cut["attempts"]) == ("delivered" if committed else "attempting", 1)
    place.goes_on()
    (ended,) = rows(place.store, outbox)
    held, resent = CUT_OFF[point]
    times = resent if name == "desk" else held
    assert Counter(place.keys()) == Counter({ended["alert_key"]: times} if times else {})
    unknown = name == "mail" and not committed
    assert ended["state"] == (DeliveryState.UNKNOWN if unknown else DeliveryState.DELIVERED)
    with read_only(place.store).connect() as connection:
        (told,) = entries(connection, entry_type=EntryType.DELIVERY)
        assert (told.subject_id, told.content()["state"]) == (ended["alert_key"], ended["state"])
        assert verify_store(connection).ok
    shown = trivet("alerts", "show", "reading-too-warm", at=place.workspace).out
    assert ("unknown" in shown) is unknown


GATHERED = [
    ("sqlite", "desk", "while it gathers"),
    ("sqlite", "desk", "after the receiver took it"),
    ("sqlite", "mail", "after the receiver took it"),
    ("postgresql", "desk", "before the end is committed"),
]


@pytest.mark.parametrize(
    ("place", "name", "point"),
    [((kind, name, True), name, point) for kind, name, point in GATHERED],
    indirect=["place"],
    ids=[f"{kind}-{name}-{point.replace(' ', '_')}" for kind, name, point in GATHERED],
)
def test_a_daemon_that_is_killed_while_it_delivers_a_gathered_message(place: Place, name: str, point: str) -> None:
    place.dies(GATHERED_POINTS[point].format(send=SENDS[name]))
    settled = {"while it gathers": "pending", "after the end is committed": "delivered"}.get(point, "gathered")
    assert [row["state"] for row in rows(place.store, outbox) if row["event"] == "fired"] == [settled] * 2
    place.goes_on()
    found = {row["alert_key"]: row for row in rows(place.store, outbox)}
    (message,) = [row for row in found.values() if row["event"] == "gathered"]
    notices = [row for row in found.values() if row["event"] == "fired"]
    held, resent = GATHERED_CUT_OFF[point]
    times = resent if name == "desk" else held
    assert Counter(place.keys()) == Counter({message["alert_key"]: times} if times else {})
    unknown = name == "mail" and settled == "gathered"
    state = DeliveryState.UNKNOWN if unknown else DeliveryState.DELIVERED
    assert [(row["state"], row["gathered_in"]) for row in notices] == [(state, message["alert_key"])] * 2
    with read_only(place.store).connect() as connection:
        told = {item.subject_id: item.content() for item in entries(connection, entry_type=EntryType.DELIVERY)}
        assert {key: item["state"] for key, item in told.items()} == {row["alert_key"]: state for row in notices}
        assert verify_store(connection).ok
