"""Groups that have alerts of their own: how many messages they are, how commands name them, and on real data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from alerts.delivery import deliver_due
from alerts.groups import MOST_APART, advance_groups, name_of
from alerts.keeping import group_alerts
from alerts.message import Message
from alerts.notifiers.fake import FakeNotifier
from alerts.reading import alerts_of, required_alert
from alerts.recording import apply_all
from alerts.reminders import acknowledge_alert, release_members, remind_due
from alerts.rendering import subject
from alerts.routing import Routing, Target
from alerts.status import AlertStatus
from alerts.tables import outbox
from ledger.verification.verify import verify_store
from monitors.definition import MonitorDefinition
from monitors.evaluation import key_text
from tests.alert_scenarios import Step, a_monitor, evaluation
from tests.integration.store import migrated_store
from tests.integration.test_following import Watch, reading
from trivet.clock import FixedClock
from trivet.errors import UsageError
from worker.recording import record_all
from worker.redacting import redact_member
from worker.stores import read_only

KEYS = {"group_by": ["id"], "breach_when": "avg(rate) < 20", "alert_per": "group", "notify": ["payroll"]}
GROUPED = a_monitor("m", KEYS)
PAYROLL = Target("payroll")
ROUTING = Routing({"payroll": (PAYROLL,)})
ON_DATA = "monitors: [{id: m, object: reading, group_by: [site], breach_when: max(value) < 0, alert_per: group}]"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = migrated_store(tmp_path)
    yield engine
    engine.dispose()


def take(store: sa.Engine, slot: float, definition: MonitorDefinition = GROUPED, **raw: object) -> None:
    """One evaluation, for which every group that ever had an alert is looked up."""
    with store.begin() as connection:
        keys = [kept.key or "" for kept in group_alerts(connection, {"m"}).values()]
        made = evaluation(Step(raw, slot), definition, keys)
        record_all(connection, [made], [])
        apply_all(connection, [made], ROUTING)


def sent(store: sa.Engine, slot: float) -> list[Message]:
    fake = FakeNotifier()
    deliver_due(store, {PAYROLL: fake}, FixedClock(Step({}, slot).now))
    return [Message.from_json(notice.payload) for notice in fake.sent]


def groups(count: int) -> str:
    return " ".join(f"G{number}" for number in range(count))


@pytest.mark.parametrize("count", [1, MOST_APART, MOST_APART + 1, 40])
def test_a_few_groups_are_told_apart_and_more_are_one_message(store: sa.Engine, count: int) -> None:
    take(store, 0, population=50, breach=groups(count))
    fired = sent(store, 0)
    take(store, 1, population=50)
    resolved = sent(store, 1)
    for messages, kind in ((fired, "breach"), (resolved, "resolved")):
        if count <= MOST_APART:
            assert sorted(str(item.group["id"]) for item in messages) == groups(count).split()
        else:
            (message,) = messages
            assert (message.kinds, message.by) == ({kind: count}, {"monitor": "m"})
    with read_only(store).connect() as connection:
        assert verify_store(connection).ok
        assert {item.status.state for item in alerts_of(connection)} == {"quiet"}


def test_many_groups_that_are_repeated_at_once_are_one_message(store: sa.Engine) -> None:
    definition = a_monitor("m", KEYS | {"repeat": {"every": "30m"}})
    take(store, 0, definition, breach=groups(5))
    sent(store, 0)
    remind_due(store, {"m": definition}, ROUTING, FixedClock(Step({}, 0.75).now))
    (message,) = sent(store, 0.75)
    assert [item.event for item in message.notices] == ["repeated"] * 5


def test_groups_beyond_the_limit_are_told_of_in_the_monitors_own_alert_until_they_are_compliant() -> None:
    status, flagged, held = AlertStatus(), {}, {}
    seen = []
    for slot, raw in enumerate(
        [{"breach": "A B C D"}, {"breach": "A B C"}, {"breach": "A C E"}, {"gone": "C", "breach": "A"}, {"breach": "A"}]
    ):
        keys = {key for key, item in flagged.items() if item.is_followed} | set(held)
        made = evaluation(Step(raw, slot), GROUPED, keys)
        moved = advance_groups(status, list(held.values()), made, flagged, most=2)
        status = moved.monitor.status
        flagged |= {item.key: item.after for item in moved.members}
        held |= {item.alert.key: item.alert for item in moved.groups}
        own = sorted(key[7] for key, item in held.items() if item.status.state == "firing")
        seen.append(("".join(own), str(status.state), str(status.kind)))
    assert seen == [
        ("AB", "firing", "breach"),
        ("AB", "firing", "breach"),
        # C was told of in the own alert of the monitor, and stays there. E comes before B made room.
        ("A", "firing", "breach"),
        ("A", "firing", "unjudged"),
        ("A", "quiet", "None"),
    ]


def test_a_monitor_whose_groups_are_not_told_apart_any_more_ends_what_is_open(store: sa.Engine) -> None:
    together = a_monitor("m", {name: value for name, value in KEYS.items() if name != "alert_per"})
    take(store, 0, breach="A")
    take(store, 1, together, breach="A B")
    assert states(store) == {"m": "firing", "m#1": "firing"}
    take(store, 2, together, breach="B")
    assert states(store) == {"m": "firing", "m#1": "quiet"}


def states(store: sa.Engine) -> dict[str, str]:
    with read_only(store).connect() as connection:
        return {item.monitor: str(item.status.state) for item in alerts_of(connection)}


def test_acknowledging_a_monitor_takes_on_every_group_that_fires(store: sa.Engine) -> None:
    take(store, 0, breach="A B C")
    now = Step({}, 0.5).now
    with store.begin() as connection:
        assert list(acknowledge_alert(connection, "m#2", "ana", now)) == ["m#2"]
        assert list(acknowledge_alert(connection, "m", "bo", now)) == ["m#1", "m#3"]
        with pytest.raises(UsageError, match="only one that fires"):
            acknowledge_alert(connection, "m", "bo", now)


def test_a_group_that_is_there_is_not_let_go(store: sa.Engine) -> None:
    take(store, 0, breach="A B")
    take(store, 1, gone="A", breach="B")
    now = Step({}, 1.5).now
    with store.begin() as connection:
        for name in ("m", "m#2"):
            with pytest.raises(UsageError, match="waits for no member that is gone"):
                release_members(connection, name, "ana", "closed", now)
        assert release_members(connection, "m#1", "ana", "closed", now).gone == 1
    take(store, 2, gone="A", breach="B")
    assert states(store) == {"m": "quiet", "m#1": "quiet", "m#2": "firing"}


def test_an_unknown_group_is_told_what_there_is(store: sa.Engine) -> None:
    take(store, 0, breach="A")
    with read_only(store).connect() as connection, pytest.raises(UsageError, match="did you mean 'm#1'"):
        required_alert(connection, "m#9")


def test_on_real_data_a_group_that_vanishes_is_carried_until_it_is_judged(store: sa.Engine) -> None:
    watch = Watch(store, ON_DATA)

    def stands() -> list[tuple[str, str, str]]:
        with read_only(store).connect() as connection:
            found = alerts_of(connection)
        return sorted((str((item.group or {}).get("site")), item.status.state, str(item.status.kind)) for item in found)

    watch.take([reading("R1", "-1"), reading("R2", "-1", "south"), reading("R3", "1", "east")])
    assert stands() == [("None", "quiet", "None"), ("north", "firing", "breach"), ("south", "firing", "breach")]
    watch.take([reading("R2", "1", "south"), reading("R3", "1", "east")])
    assert stands() == [("None", "quiet", "None"), ("north", "firing", "unjudged"), ("south", "quiet", "None")]
    watch.take([reading("R3", "1", "east")])
    assert stands()[1] == ("north", "firing", "unjudged")
    watch.take([reading("R1", "1"), reading("R3", "1", "east")])
    assert [state for _, state, _ in stands()] == ["quiet", "quiet", "quiet"]


def test_a_group_whose_key_was_erased_is_in_no_alert_and_no_message(store: sa.Engine) -> None:
    watch = Watch(store, ON_DATA)
    watch.take([reading("R1", "-1"), reading("R3", "1", "east")])
    sent(store, 10**4)
    redact_member(store, watch.last["m"].evaluation_id, 1, "ana", "asked for it", watch.last["m"].finished_at)
    with read_only(store).connect() as connection:
        (named,) = [item for item in alerts_of(connection) if item.group is not None]
        kept = group_alerts(connection, {"m"})[name_of("m", 1)]
        assert (named.group, named.status.state, kept.message) == ({}, "quiet", None)
        assert "north" not in str(kept)
        texts: Sequence[str] = connection.execute(sa.select(outbox.c.payload)).scalars().all()
    assert not any("north" in text for text in texts)
    watch.take([reading("R1", "1"), reading("R3", "1", "east")])
    assert states(store) == {"m": "quiet", "m#1": "quiet"}


def test_the_subject_names_the_group(store: sa.Engine) -> None:
    take(store, 0, breach="A")
    (message,) = sent(store, 0)
    assert subject(message) == "[warning] m (id A): breach"
    assert (message.name, message.whole, key_text(message.group)) == ("m#1", "1 breach / 0 no-data", '{"id":"A"}')
