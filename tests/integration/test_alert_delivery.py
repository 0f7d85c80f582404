"""Sending from the outbox: retries, order, crashes at every point, and who may be sent a notice twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from alerts.delivery import DeliveryPolicy, DeliveryReport, deliver_due
from alerts.notifiers.addresses import Reach
from alerts.notifiers.apprise_notifier import AppriseNotifier
from alerts.notifiers.fake import FakeNotifier
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import Ending, MaybeSent, Notice, Notifier, NotSent
from alerts.notifiers.webhook import WebhookNotifier
from alerts.recording import apply
from alerts.routing import Routing, Target
from alerts.tables import outbox
from ledger.entries import EntryType
from ledger.reading import entries
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation
from tests.alerting import START, a_monitor, an_evaluation
from tests.integration.receiver import Receiver, hang_up, running_receiver, status
from trivet.clock import FixedClock
from trivet.references import Secret
from worker.recording import record
from worker.stores import delivery_turn, read_only

DESK = Target("desk")
ROOT = Path(__file__).parents[2]
POLICY = DeliveryPolicy(attempts=3)
REFUSED = NotSent("the receiver answered 500")
GIVEN_UP = "it is given up, and nobody else is left to be told of that"


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    return any_store


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


def tell(store: sa.Engine, *made: Evaluation, to: tuple[Target, ...] = (DESK,)) -> None:
    """Records the evaluations and what is to be told of them."""
    receivers: dict[str, tuple[Target, ...]] = {}
    for target in to:
        receivers[target.receiver] = (*receivers.get(target.receiver, ()), target)
    for item in made:
        with store.begin() as connection:
            record(connection, item)
            apply(connection, item, Routing(receivers))


def a_breach(slot: int = 0, *, monitor: str = "pay-below-floor", notify: tuple[str, ...] = ("desk",)) -> Evaluation:
    definition = a_monitor(id=monitor, notify=notify)
    made = an_evaluation(slot, breaches=1, definition=definition)
    return replace(made, evaluation_id=f"{monitor}-{slot}")


def all_clear(slot: int) -> Evaluation:
    return an_evaluation(slot, definition=a_monitor(notify=("desk",)))


def rows(store: sa.Engine) -> list[Any]:
    with read_only(store).connect() as connection:
        order = (outbox.c.monitor, outbox.c.episode, outbox.c.ordinal, outbox.c.receiver, outbox.c.target)
        return list(connection.execute(sa.select(outbox).order_by(*order)).all())


def row(store: sa.Engine) -> Any:
    (found,) = rows(store)
    return found


def ends(store: sa.Engine) -> list[tuple[str, int]]:
    """What the ledger says of deliveries: how each ended, after how many attempts."""
    with read_only(store).connect() as connection:
        found = [entry.content() for entry in entries(connection, entry_type=EntryType.DELIVERY)]
        assert verify_store(connection).ok
    return [(content["state"], content["attempts"]) for content in found]


def clock_after(slot: int = 0, **later: float) -> FixedClock:
    return FixedClock(START + timedelta(hours=slot, seconds=2) + timedelta(**later))


def deliver(
    store: sa.Engine,
    clock: FixedClock,
    notifiers: Mapping[Target, Notifier] | Notifier,
    policy: DeliveryPolicy = POLICY,
) -> DeliveryReport:
    built = notifiers if isinstance(notifiers, Mapping) else {DESK: notifiers}
    return deliver_due(store, built, clock, policy, others=list(built))


def test_what_is_due_is_sent_once_and_its_end_is_in_the_ledger(store: sa.Engine) -> None:
    fake = FakeNotifier()
    tell(store, a_breach())
    report = deliver(store, clock_after(), fake)
    assert (report.delivered, report.retrying, report.failed, report.unknown, report.problems) == (1, 0, 0, 0, [])
    assert deliver(store, clock_after(hours=9), fake) == DeliveryReport()
    (notice,) = fake.sent
    found = row(store)
    assert (notice.key, notice.payload) == (found.alert_key, found.payload)
    assert (found.state, found.attempts, found.next_attempt, found.last_error) == ("delivered", 1, None, None)
    assert ends(store) == [("delivered", 1)]


def test_nothing_is_sent_before_it_is_due(store: sa.Engine) -> None:
    fake = FakeNotifier()
    tell(store, a_breach())
    assert deliver(store, FixedClock(START), fake) == DeliveryReport()
    assert fake.sent == []


def test_an_attempt_is_written_down_before_the_call_and_holds_no_transaction(store: sa.Engine) -> None:
    seen: list[tuple[str, int]] = []

    class Looking(FakeNotifier):
        def send(self, notice: Notice) -> Ending:
            with store.begin() as connection:
                found = connection.execute(sa.select(outbox)).one()
            seen.append((found.state, found.attempts))
            return super().send(notice)

    tell(store, a_breach())
    deliver(store, clock_after(), Looking())
    assert seen == [("attempting", 1)]


def test_a_failed_attempt_is_made_again_later_and_later_under_the_same_key(store: sa.Engine) -> None:
    fake = FakeNotifier([REFUSED, REFUSED])
    tell(store, a_breach())
    clock = clock_after()
    report = deliver(store, clock, fake)
    problem = "desk: pay-below-floor: the receiver answered 500; it is tried again"
    assert (report.retrying, report.problems) == (1, [problem])
    found = row(store)
    assert (found.state, found.attempts, found.last_error) == ("pending", 1, "the receiver answered 500")
    assert deliver(store, clock, fake) == DeliveryReport()
    clock.instant += POLICY.first_wait
    assert deliver(store, clock, fake).retrying == 1
    clock.instant += POLICY.first_wait
    assert deliver(store, clock, fake) == DeliveryReport()
    clock.instant += 3 * POLICY.first_wait
    assert deliver(store, clock, fake).delivered == 1
    assert len({notice.key for notice in fake.sent}) == 1
    assert ends(store) == [("delivered", 3)]


def test_it_is_given_up_after_the_last_attempt(store: sa.Engine) -> None:
    fake = FakeNotifier([REFUSED] * 9)
    tell(store, a_breach())
    reports = [deliver(store, clock_after(hours=hour), fake) for hour in range(6)]
    assert [(report.retrying, report.failed) for report in reports[:4]] == [(1, 0), (1, 0), (0, 1), (0, 0)]
    assert reports[2].problems == [f"desk: pay-below-floor: the receiver answered 500; {GIVEN_UP}"]
    assert len(fake.sent) == POLICY.attempts
    assert (row(store).state, row(store).next_attempt) == ("failed", None)
    assert ends(store) == [("failed", 3)]


def test_what_is_gone_for_good_is_given_up_at_once(store: sa.Engine) -> None:
    tell(store, a_breach())
    assert deliver(store, clock_after(), FakeNotifier([NotSent("gone", final=True)])).failed == 1
    assert ends(store) == [("failed", 1)]


def test_a_receiver_that_asks_to_wait_is_left_alone_for_so_long(store: sa.Engine) -> None:
    fake = FakeNotifier([NotSent("the receiver answered 429", wait=timedelta(minutes=30))])
    tell(store, a_breach())
    deliver(store, clock_after(), fake)
    assert deliver(store, clock_after(minutes=29), fake) == DeliveryReport()
    assert deliver(store, clock_after(minutes=30), fake).delivered == 1


@pytest.mark.parametrize(("resends", "sent", "state"), [(True, 2, "delivered"), (False, 1, "unknown")])
def test_what_may_have_arrived_is_sent_again_only_where_the_receiver_resends(
    store: sa.Engine, resends: bool, sent: int, state: str
) -> None:
    fake = FakeNotifier([MaybeSent("no answer: timed out")], resends=resends)
    tell(store, a_breach())
    deliver(store, clock_after(), fake)
    deliver(store, clock_after(hours=1), fake)
    assert len(fake.sent) == sent
    assert row(store).state == state
    assert ends(store) == [(state, sent)]


@pytest.mark.parametrize(("resends", "state"), [(True, "delivered"), (False, "unknown")])
def test_an_attempt_that_was_cut_off_is_found_when_its_lease_has_ended(
    store: sa.Engine, resends: bool, state: str
) -> None:
    class Killed(BaseException):
        pass

    class Dying(FakeNotifier):
        def send(self, notice: Notice) -> Ending:
            super().send(notice)
            raise Killed

    dying, fake = Dying(resends=resends), FakeNotifier(resends=resends)
    tell(store, a_breach())
    with pytest.raises(Killed):
        deliver(store, clock_after(), dying)
    assert row(store).state == "attempting"
    assert deliver(store, clock_after(seconds=119), fake) == DeliveryReport()
    deliver(store, clock_after(seconds=120), fake)
    assert row(store).state == state
    assert [notice.key for notice in fake.sent] == ([row(store).alert_key] if resends else [])


def test_a_fault_of_a_notifier_stops_no_other_row(store: sa.Engine) -> None:
    class Broken(FakeNotifier):
        def send(self, notice: Notice) -> Ending:
            raise ValueError("hunter2")

    fake = FakeNotifier()
    tell(store, a_breach(notify=("chat", "desk")), to=(Target("chat"), DESK))
    report = deliver(store, clock_after(), {Target("chat"): Broken(resends=False), DESK: fake})
    assert (report.delivered, report.unknown) == (1, 1)
    fault = "fault in Trivet while sending: ValueError; it may have arrived, and is not sent again"
    assert report.problems == [f"chat: pay-below-floor: {fault}"]


def test_a_receiver_that_left_the_settings_is_given_up_in_the_end(store: sa.Engine) -> None:
    tell(store, a_breach())
    reports = [deliver(store, clock_after(hours=hour), {}) for hour in range(3)]
    unknown = "desk: pay-below-floor: the settings have no receiver desk"
    assert reports[0].problems == [f"{unknown}; it is tried again"]
    assert row(store).state == "failed"


def test_one_address_of_a_receiver_fails_alone(store: sa.Engine) -> None:
    first, second = FakeNotifier([REFUSED]), FakeNotifier()
    both = (Target("desk", 1), Target("desk", 2))
    tell(store, a_breach(), to=both)
    for hour in (0, 1):
        deliver(store, clock_after(hours=hour), dict(zip(both, (first, second), strict=True)))
    assert (len(first.sent), len(second.sent)) == (2, 1)
    assert [found.state for found in rows(store)] == ["delivered", "delivered"]


def test_the_end_of_an_alert_waits_for_its_beginning(store: sa.Engine) -> None:
    fake = FakeNotifier([REFUSED])
    tell(store, a_breach(0), all_clear(1))
    deliver(store, clock_after(1), fake)
    assert [found.state for found in rows(store)] == ["pending", "pending"]
    deliver(store, clock_after(1, minutes=1), fake)
    fired, resolved = rows(store)
    assert [notice.key for notice in fake.sent] == [fired.alert_key, fired.alert_key, resolved.alert_key]
    assert ends(store) == [("delivered", 2), ("delivered", 1)]


def test_an_address_that_fails_holds_up_no_other_monitor(store: sa.Engine) -> None:
    fake = FakeNotifier([REFUSED])
    tell(store, a_breach(monitor="a"), a_breach(monitor="b"))
    report = deliver(store, clock_after(), fake)
    assert (report.retrying, report.delivered) == (1, 1)


class Slow(FakeNotifier):
    """Takes its time before it fails."""

    def __init__(self, clock: FixedClock, takes: timedelta) -> None:
        super().__init__([MaybeSent("no answer: timed out")] * 9)
        self.clock, self.takes = clock, takes

    def send(self, notice: Notice) -> Ending:
        self.clock.instant += self.takes
        return super().send(notice)


def test_an_address_that_hangs_holds_up_no_other_address(store: sa.Engine) -> None:
    clock = clock_after()
    fake, slow = FakeNotifier(), Slow(clock, POLICY.slow)
    both = ("chat", "desk")
    tell(store, *(a_breach(monitor=name, notify=both) for name in "abc"), to=(Target("chat"), DESK))
    report = deliver(store, clock, {Target("chat"): slow, DESK: fake})
    assert (len(slow.sent), len(fake.sent)) == (1, 3)
    assert (report.retrying, report.delivered) == (1, 3)
    deliver(store, clock, {Target("chat"): slow, DESK: fake})
    assert (len({notice.key for notice in slow.sent}), len(fake.sent)) == (2, 3)


def test_a_round_that_may_not_take_longer_leaves_the_rest_to_the_next(store: sa.Engine) -> None:
    clock = clock_after()
    slow = Slow(clock, timedelta(seconds=3))
    tell(store, *(a_breach(monitor=name) for name in "abc"))
    deliver_due(store, {DESK: slow}, clock, POLICY, longest=timedelta(seconds=5))
    assert [found.attempts for found in rows(store)] == [1, 1, 0]
    deliver_due(store, {DESK: slow}, clock, POLICY, longest=timedelta(seconds=5))
    assert min(found.attempts for found in rows(store)) == 1


def test_of_daemons_on_one_server_one_delivers_at_a_time(postgres_store: sa.Engine) -> None:
    with delivery_turn(postgres_store) as first, delivery_turn(postgres_store) as second:
        assert (first, second) == (True, False)
    with delivery_turn(postgres_store) as again:
        assert again


def test_two_that_deliver_at_once_send_each_notice_once(store: sa.Engine) -> None:
    fake = FakeNotifier()
    tell(store, *(a_breach(monitor=f"m{number:02}") for number in range(30)))
    reports: list[DeliveryReport] = []
    threads = [
        threading.Thread(target=lambda: reports.append(deliver(store, clock_after(), fake)), daemon=True)
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(report.delivered for report in reports) == 30
    assert len({notice.key for notice in fake.sent}) == len(fake.sent) == 30
    assert len(ends(store)) == 30


def test_a_late_end_does_not_undo_what_another_has_written(store: sa.Engine) -> None:
    class Overtaken(FakeNotifier):
        def send(self, notice: Notice) -> Ending:
            deliver(store, clock_after(hours=1), other)
            return REFUSED

    other = FakeNotifier()
    tell(store, a_breach())
    report = deliver(store, clock_after(), Overtaken())
    assert len(other.sent) == 1
    assert report == DeliveryReport()
    assert (row(store).state, row(store).attempts) == ("delivered", 2)
    assert ends(store) == [("delivered", 2)]


# --- With a real receiver


def webhook(receiver: Receiver) -> WebhookNotifier:
    way = Outgoing(Secret(receiver.url()), Reach(this_machine=True), timedelta(seconds=5))
    return WebhookNotifier(way, [bytes(32)], clock_after())


def apprise(receiver: Receiver) -> AppriseNotifier:
    return AppriseNotifier(Secret(receiver.url(scheme="json")))


def test_a_webhook_that_hangs_up_after_taking_gets_the_same_id_again(store: sa.Engine, receiver: Receiver) -> None:
    receiver.answers += [hang_up, status(500)]
    tell(store, a_breach())
    for hour in range(3):
        deliver(store, clock_after(hours=hour), webhook(receiver))
    assert [request.key for request in receiver.requests] == [row(store).alert_key] * 3
    assert len({request.body for request in receiver.requests}) == 1
    assert ends(store) == [("delivered", 3)]


def test_apprise_is_called_once_for_each_address(store: sa.Engine, receiver: Receiver) -> None:
    receiver.answers.append(status(500))
    both = (Target("desk", 1), Target("desk", 2))
    tell(store, a_breach(), to=both)
    for hour in range(2):
        deliver(store, clock_after(hours=hour), {target: apprise(receiver) for target in both})
    assert len(receiver.requests) == 3
    assert sorted(ends(store)) == [("delivered", 1), ("delivered", 2)]


DYING = """
import os, signal, sys
from datetime import datetime, timedelta
from alerts.delivery import deliver_due
from alerts.notifiers.addresses import Reach
from alerts.notifiers.apprise_notifier import AppriseNotifier
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.port import Sent
from alerts.notifiers.webhook import WebhookNotifier
from alerts.routing import Target
from trivet.clock import FixedClock
from trivet.references import Secret
from worker.stores import open_store

kind, url, store, now = sys.argv[1:]
clock = FixedClock(datetime.fromisoformat(now))

class Dying:
    resends = True
    def send(self, notice):
        way = Outgoing(Secret(url), Reach(this_machine=True))
        real = AppriseNotifier(Secret(url)) if kind == "apprise" else WebhookNotifier(way, [], clock)
        assert real.send(notice) == Sent()
        os.kill(os.getpid(), signal.SIGKILL)

deliver_due(open_store(store), {Target("desk"): Dying()}, clock)
"""


@pytest.mark.parametrize(("kind", "requests", "state"), [("webhook", 2, "delivered"), ("apprise", 1, "unknown")])
def test_a_program_that_is_killed_after_the_receiver_took_it(
    store: sa.Engine, receiver: Receiver, kind: str, requests: int, state: str
) -> None:
    """The one window that no outbox closes: told, and not yet written down."""
    tell(store, a_breach())
    notifier, scheme = (webhook(receiver), "http") if kind == "webhook" else (apprise(receiver), "json")
    arguments = (
        kind,
        receiver.url(scheme=scheme),
        store.url.render_as_string(hide_password=False),
        clock_after().now().isoformat(),
    )
    killed = subprocess.run([sys.executable, "-c", DYING, *arguments], env={"PYTHONPATH": str(ROOT)}, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert (row(store).state, len(receiver.requests)) == ("attempting", 1)
    deliver(store, clock_after(hours=1), notifier)
    assert len(receiver.requests) == requests
    assert row(store).state == state
    if kind == "webhook":
        assert len({request.key for request in receiver.requests}) == 1


# --- How long is waited


@given(st.text(max_size=5), st.integers(1, 1_000))
def test_waits_grow_to_a_limit_and_are_drawn_from_the_key(key: str, attempt: int) -> None:
    policy = DeliveryPolicy()
    whole = min(policy.first_wait * 4 ** min(attempt - 1, 9), policy.longest_wait)
    assert whole / 2 <= policy.wait(key, attempt) <= whole
    assert policy.wait(key, attempt) == policy.wait(key, attempt)


def test_notices_that_failed_together_do_not_come_back_together() -> None:
    waits = sorted(DeliveryPolicy().wait(f"key {number}", 5) for number in range(50))
    assert waits[-1] - waits[0] > DeliveryPolicy().longest_wait / 4
    assert all(a < b for a, b in pairwise(waits))
