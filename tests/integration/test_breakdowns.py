"""A receiver that cannot be told is itself told of, once for each breakdown, to somebody who can be."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.breakdowns import PREFIX, breakdowns, enable
from alerts.delivery import DeliveryPolicy, DeliveryReport, deliver_due
from alerts.message import Message
from alerts.notifiers.fake import FakeNotifier
from alerts.notifiers.port import Ending, NotSent
from alerts.rendering import body, subject
from alerts.routing import Target
from alerts.states import AlertEvent
from alerts.tables import outbox
from alerts.wording import visible
from ledger.verification.verify import verify_store
from tests.alerting import START
from tests.integration.test_alert_delivery import a_breach, clock_after, tell
from trivet.clock import FixedClock
from worker.stores import read_only

DESK, CHAT, SCREEN = Target("desk"), Target("chat"), Target("screen")
POLICY = DeliveryPolicy(attempts=2)
REFUSED = NotSent("the receiver answered 500")
GONE = NotSent("the receiver answered 410: it is gone for good", final=True)


@pytest.fixture
def store(any_store: sa.Engine) -> sa.Engine:
    return any_store


class House:
    """Receivers, and what was told to each."""

    def __init__(self, store: sa.Engine, **endings: Iterable[Ending]) -> None:
        """Args: for each receiver, how its first deliveries end."""
        self.store = store
        self.receivers = {Target(name): FakeNotifier(list(given)) for name, given in endings.items()}

    def deliver(self, hour: int, others: tuple[Target, ...] | None = None) -> DeliveryReport:
        to = list(self.receivers) if others is None else list(others)
        return deliver_due(self.store, self.receivers, clock(hour), POLICY, others=to)

    def told(self, target: Target) -> list[tuple[AlertEvent, str]]:
        """Event of each notice that came in there, and the receiver that it is about; empty for a monitor's."""
        messages = [Message.from_json(notice.payload) for notice in self.receivers[target].sent]
        return [(item.event, item.monitor.removeprefix(PREFIX)) for item in messages]


def clock(hour: int) -> FixedClock:
    return clock_after(hours=hour)


def rows(store: sa.Engine) -> list[sa.Row[Any]]:
    with read_only(store).connect() as connection:
        return list(connection.execute(sa.select(outbox)).all())


def holds(store: sa.Engine) -> None:
    with read_only(store).connect() as connection:
        assert verify_store(connection).ok


def test_what_was_given_up_is_told_to_another_receiver_at_once(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 2, chat=[], screen=[])
    tell(store, a_breach())
    assert house.deliver(0).retrying == 1
    report = house.deliver(1)
    assert (report.failed, report.delivered) == (1, 1)
    assert report.problems == ["desk: pay-below-floor: the receiver answered 500; it is given up"]
    assert house.told(CHAT) == [(AlertEvent.FIRED, "desk")]
    assert house.told(SCREEN) == []
    (notice,) = house.receivers[CHAT].sent
    message = Message.from_json(notice.payload)
    assert message.title == "Trivet cannot tell the receiver desk"
    given_up = "A notice about monitor pay-below-floor was given up after 2 attempts: the receiver answered 500."
    assert message.detail == given_up
    assert f"{subject(message)}\n{body(message, visible)}" == (
        f"[critical] Trivet cannot tell the receiver desk\n{given_up}\n"
        "What it was not told is in the store: `trivet alerts list` shows what fires."
    )
    holds(store)


def test_of_one_breakdown_is_told_once_however_many_notices_are_given_up(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 10, chat=[])
    tell(store, *(a_breach(monitor=f"m{number}") for number in range(5)))
    for hour in range(3):
        house.deliver(hour)
    assert house.told(CHAT) == [(AlertEvent.FIRED, "desk")]
    with read_only(store).connect() as connection:
        (found,) = breakdowns(connection)
    assert (found.target, found.told, found.disabled_at) == (DESK, "chat", None)


def test_the_end_of_a_breakdown_is_told_to_whoever_was_told_of_it_and_the_next_one_is_another(
    store: sa.Engine,
) -> None:
    house = House(store, desk=[REFUSED] * 2, chat=[])
    tell(store, a_breach(monitor="a"))
    house.deliver(0)
    house.deliver(1)
    tell(store, a_breach(monitor="b"))
    house.deliver(2)
    both = [(AlertEvent.FIRED, "desk"), (AlertEvent.RESOLVED, "desk")]
    assert house.told(CHAT) == both
    house.receivers[DESK]._endings += [REFUSED] * 2
    tell(store, a_breach(monitor="c"))
    house.deliver(3)
    house.deliver(4)
    assert house.told(CHAT) == [*both, (AlertEvent.FIRED, "desk")]
    assert len({notice.key for notice in house.receivers[CHAT].sent}) == 3
    holds(store)


def test_a_receiver_that_cannot_be_told_either_is_passed_over(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 2, chat=[REFUSED] * 2, screen=[])
    tell(store, a_breach())
    for hour in range(4):
        house.deliver(hour)
    assert len(house.receivers[CHAT].sent) == 2
    assert sorted(house.told(SCREEN)) == [(AlertEvent.FIRED, "chat"), (AlertEvent.FIRED, "desk")]
    with read_only(store).connect() as connection:
        assert {item.target: item.told for item in breakdowns(connection)} == {DESK: "screen", CHAT: "screen"}
    holds(store)


def test_somebody_who_was_asked_in_vain_and_can_be_told_again_is_told(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 9, chat=[REFUSED] * 2)
    tell(store, a_breach(monitor="a"))
    for hour in range(4):
        house.deliver(hour)
    tell(store, a_breach(monitor="b", notify=("chat",)), to=(CHAT,))
    tell(store, a_breach(monitor="c"))
    for hour in range(4, 7):
        house.deliver(hour)
    about = [(event, receiver) for event, receiver in house.told(CHAT) if receiver == "desk"]
    assert about == [(AlertEvent.FIRED, "desk")] * 3, "twice in vain, and then taken"
    last = [row.state for row in rows(store) if row.monitor == "receiver/desk"]
    assert sorted(last) == ["delivered", "failed"]
    holds(store)


def test_where_nobody_is_left_that_is_said_and_it_comes_to_an_end(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 9, chat=[REFUSED] * 9)
    tell(store, a_breach())
    problems = [problem for hour in range(8) for problem in house.deliver(hour).problems]
    last = "receiver/desk: the receiver answered 500; it is given up, and nobody else is left to be told of that"
    assert problems[-1] == f"chat: {last}"
    assert len(rows(store)) == 2
    assert all(row.state == "failed" for row in rows(store))
    holds(store)


def test_who_is_told_can_be_chosen_and_can_be_nobody(store: sa.Engine) -> None:
    house = House(store, desk=[REFUSED] * 2, chat=[], screen=[])
    tell(store, a_breach())
    house.deliver(0, others=(SCREEN,))
    house.deliver(1, others=(SCREEN,))
    assert (house.told(CHAT), house.told(SCREEN)) == ([], [(AlertEvent.FIRED, "desk")])
    house.receivers[CHAT]._endings += [REFUSED] * 2
    tell(store, a_breach(monitor="b", notify=("chat",)), to=(CHAT,))
    house.deliver(2, others=())
    (problem,) = house.deliver(3, others=()).problems
    assert problem.endswith("nobody else is left to be told of that")


def test_every_address_of_the_other_receiver_is_told_and_one_is_enough(store: sa.Engine) -> None:
    both = (Target("chat", 1), Target("chat", 2))
    notifiers = {
        DESK: FakeNotifier([GONE]),
        both[0]: FakeNotifier([GONE]),
        both[1]: FakeNotifier(),
        SCREEN: FakeNotifier(),
    }
    tell(store, a_breach())
    deliver_due(store, notifiers, clock(0), POLICY, others=list(notifiers))
    about = [[Message.from_json(notice.payload).monitor for notice in notifiers[target].sent] for target in both]
    assert about == [["receiver/desk"], ["receiver/desk"]]
    assert [Message.from_json(notice.payload).monitor for notice in notifiers[SCREEN].sent] == ["receiver/chat"]


# --- Gone for good


def test_a_receiver_that_is_gone_is_sent_nothing_more_until_it_is_enabled(store: sa.Engine) -> None:
    house = House(store, desk=[GONE], chat=[])
    tell(store, *(a_breach(monitor=name) for name in "abc"))
    report = house.deliver(0)
    assert (len(house.receivers[DESK].sent), report.failed) == (1, 3)
    assert "trivet alerts enable desk" in report.problems[-1]
    (notice,) = house.receivers[CHAT].sent
    assert "run `trivet alerts enable desk`" in (Message.from_json(notice.payload).detail or "")
    with store.begin() as connection:
        (found,) = breakdowns(connection)
        assert found.disabled_at == "2026-11-30T06:00:02.000000Z"
        assert enable(connection, "desk", "kim", START) == 1
        assert enable(connection, "desk", "kim", START) == 0
    tell(store, a_breach(monitor="d"))
    assert house.deliver(1).delivered == 2
    assert house.told(CHAT) == [(AlertEvent.FIRED, "desk"), (AlertEvent.RESOLVED, "desk")]
    with read_only(store).connect() as connection:
        assert breakdowns(connection) == []


def test_one_address_of_a_receiver_is_gone_alone(store: sa.Engine) -> None:
    both = (Target("desk", 1), Target("desk", 2))
    first, second = FakeNotifier([GONE]), FakeNotifier()
    for name in "ab":
        tell(store, a_breach(monitor=name), to=both)
        deliver_due(store, dict(zip(both, (first, second), strict=True)), clock_after(hours=1), POLICY)
    assert (len(first.sent), len(second.sent)) == (1, 2)


def test_a_crash_between_two_attempts_loses_no_news_of_a_breakdown(store: sa.Engine) -> None:
    """The notice of the breakdown is committed with the end of the delivery, or neither is."""

    class Killed(BaseException):
        pass

    class Dying(FakeNotifier):
        def send(self, notice: Any) -> Ending:
            raise Killed

    notifiers = {DESK: FakeNotifier([GONE]), CHAT: Dying()}
    tell(store, a_breach())
    with pytest.raises(Killed):
        deliver_due(store, notifiers, clock(0), POLICY, others=list(notifiers))
    assert {row.monitor: row.state for row in rows(store)} == {
        "pay-below-floor": "failed",
        "receiver/desk": "attempting",
    }
    fine = FakeNotifier()
    after = FixedClock(clock(0).now() + POLICY.lease + timedelta(seconds=1))
    deliver_due(store, {DESK: FakeNotifier(), CHAT: fine}, after, POLICY)
    assert [Message.from_json(notice.payload).monitor for notice in fine.sent] == ["receiver/desk"]
