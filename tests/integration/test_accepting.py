"""What is accepted is known by key, erased with its member, and of each monitor alone; on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.accepting import Term, accept_members, acceptances_of, accepted_days
from alerts.message import Message
from alerts.recording import apply_all, status_of
from alerts.routing import Routing, Target
from alerts.tables import acceptance, outbox
from ledger.verification.verify import verify_store
from monitors.evaluation import Evaluation
from tests.alerting import START, a_monitor, an_evaluation, breached
from trivet.errors import UsageError
from worker.recording import record_all
from worker.redacting import redact_member
from worker.stores import read_only

ROUTING = Routing({"payroll": (Target("payroll"),)})
ONE, OTHER = a_monitor(id="one"), a_monitor(id="other")
MONITORS = {"one", "other"}
TERM = Term("ana", "back pay", START + timedelta(minutes=1), START + timedelta(days=3), date(2026, 12, 2))


def record(store: sa.Engine, slot: int, **found: Any) -> None:
    made = [an_evaluation(slot, definition=item, **found) for item in (ONE, OTHER)]
    numbered: list[Evaluation] = [
        replace(item, evaluation_id=f"{slot * 10 + number:064x}") for number, item in enumerate(made)
    ]
    with store.begin() as connection:
        record_all(connection, numbered)
        apply_all(connection, numbered, ROUTING)


def accept(store: sa.Engine, *numbers: int, term: Term = TERM) -> None:
    with store.begin() as connection:
        accept_members(connection, "one", [breached(number).key_text for number in numbers], term)


def states(store: sa.Engine) -> list[str]:
    with read_only(store).connect() as connection:
        found = [status_of(connection, name) for name in sorted(MONITORS)]
    return [str(item.state) for item in found if item is not None]


def test_what_is_accepted_of_one_monitor_is_not_accepted_of_another(any_store: sa.Engine) -> None:
    record(any_store, 0, breaches=2)
    accept(any_store, 0, 1)
    record(any_store, 1, breaches=2)
    assert states(any_store) == ["quiet", "firing"]
    with read_only(any_store).connect() as connection:
        payloads = connection.execute(sa.select(outbox.c.payload).order_by(outbox.c.ordinal)).scalars().all()
        assert verify_store(connection).damage == ()
    last = Message.from_json(payloads[-1])
    assert (last.event, last.badge, last.accepted, last.accepted_until) == (
        "resolved",
        "2 breaches / 0 no-data",
        2,
        ("2026-12-02", "2026-12-02"),
    )


def test_of_a_member_that_is_accepted_twice_the_later_day_counts(any_store: sa.Engine) -> None:
    record(any_store, 0, breaches=1)
    accept(any_store, 0)
    accept(any_store, 0, term=replace(TERM, until=TERM.until + timedelta(days=9), last_day=date(2026, 12, 11)))
    with read_only(any_store).connect() as connection:
        found = acceptances_of(connection, {"one"}, START)
    assert accepted_days(found, "one", START + timedelta(hours=1)) == {breached(0).key_text: "2026-12-11"}
    assert accepted_days(found, "one", START + timedelta(days=4)) == {breached(0).key_text: "2026-12-11"}
    assert accepted_days(found, "one", START) == {}


def test_an_erased_member_is_accepted_no_longer(any_store: sa.Engine) -> None:
    record(any_store, 0, breaches=2)
    accept(any_store, 0, 1)
    redact_member(any_store, f"{0:064x}", 1, "data officer", "asked for", START + timedelta(minutes=2))
    with read_only(any_store).connect() as connection:
        rows = connection.execute(sa.select(acceptance.c.member_key, acceptance.c.salt)).all()
        assert verify_store(connection).damage == ()
    assert sorted(row.member_key.startswith("erased ") for row in rows) == [False, True]
    assert [row.salt is None for row in rows if row.member_key.startswith("erased ")] == [True]
    assert not any(breached(0).key["employee_id"] in row.member_key for row in rows)
    record(any_store, 1, breaches=2)
    assert states(any_store)[0] == "firing"


@pytest.mark.parametrize(
    ("numbers", "term", "told"),
    [
        ((7,), TERM, "no member employee_id E1007 is in breach by the latest evaluation"),
        ((0, 7), TERM, "no member employee_id E1007 is in breach by the latest evaluation"),
        ((0,), replace(TERM, until=TERM.since), "2026-12-02 has passed already"),
    ],
)
def test_what_would_accept_nothing_is_refused_as_a_whole(
    any_store: sa.Engine, numbers: tuple[int, ...], term: Term, told: str
) -> None:
    record(any_store, 0, breaches=2, no_data=1)
    with pytest.raises(UsageError, match=told):
        accept(any_store, *numbers, term=term)
    with read_only(any_store).connect() as connection:
        assert acceptances_of(connection, None, START) == []
