"""Alerts about members that their monitor does not look at any more, and of monitors that were removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from alerts.ending import end_removed
from alerts.keeping import flagged_members, keys_to_look_up
from alerts.message import Message
from alerts.reading import alerts_of
from alerts.recording import apply_all
from alerts.rendering import body, subject
from alerts.routing import Routing, Target
from alerts.silencing import silence_monitor
from alerts.states import AlertState
from alerts.tables import alert, outbox
from alerts.wording import visible
from ledger.entries import EntryType
from ledger.reading import entries, head
from ledger.verification.verify import verify_store
from monitors.definition import MonitorDefinition
from tests.alert_scenarios import Step, a_monitor, duration, evaluation
from tests.integration.store import migrated_store
from trivet.clock import FixedClock
from worker.in_force import Definitions
from worker.recording import record_all
from worker.stores import read_only
from worker.tables import watermark
from worker.unwatched import end_unwatched

ROUTING = Routing({"payroll": (Target("payroll"),)})
GROUPS = {"group_by": ["id"], "breach_when": "avg(rate) < 20", "alert_per": "group"}
BY_RATE = {"group_by": ["rate"], "breach_when": "count() < 20"}
ROWS, PER_GROUP, OTHER_GROUPS = a_monitor("m", {}), a_monitor("m", GROUPS), a_monitor("m", BY_RATE)
OTHER_OBJECT = replace(ROWS, object="employee")
TOGETHER = a_monitor("m", {**GROUPS, "alert_per": "monitor"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = migrated_store(tmp_path)
    yield engine
    engine.dispose()


def take(store: sa.Engine, slot: float, *definitions: MonitorDefinition, **raw: Any) -> None:
    with store.begin() as connection:
        flagged = keys_to_look_up(connection, [item.id for item in definitions])
        made = [evaluation(Step(raw, slot), item, flagged.get(item.id, ())) for item in definitions]
        record_all(connection, made, [])
        apply_all(connection, made, ROUTING)


def told(store: sa.Engine, since: int = 0) -> list[str]:
    """What the ledger says was told, in its order; in brackets what was sent to nobody."""
    with read_only(store).connect() as connection:
        found = [item.content() for item in entries(connection, entry_type=EntryType.ALERT_CHANGE)]
        assert verify_store(connection).damage == ()
    texts = [f"{item['event']} {item['monitor_id']}" for item in found]
    return [text if item["alert_keys"] else f"({text})" for text, item in zip(texts, found, strict=True)][since:]


def messages(store: sa.Engine, event: str) -> list[Message]:
    with read_only(store).connect() as connection:
        rows = connection.execute(sa.select(outbox.c.payload).where(outbox.c.event == event).order_by("alert_key"))
        return [Message.from_json(payload) for payload in rows.scalars()]


def is_quiet(store: sa.Engine) -> bool:
    with read_only(store).connect() as connection:
        return all(item.status.state is AlertState.QUIET for item in alerts_of(connection))


SHAPES = [
    pytest.param(PER_GROUP, ROWS, ["unwatched m#1", "unwatched m#2"], id="groups become rows"),
    pytest.param(PER_GROUP, OTHER_GROUPS, ["unwatched m#1", "unwatched m#2"], id="groups become other groups"),
    pytest.param(ROWS, PER_GROUP, ["unwatched m"], id="rows become groups"),
    pytest.param(ROWS, OTHER_OBJECT, ["unwatched m"], id="rows are of another object"),
    pytest.param(TOGETHER, ROWS, ["unwatched m"], id="groups with one alert become rows"),
    pytest.param(PER_GROUP, TOGETHER, ["resolved m#1", "resolved m#2"], id="groups stay the same"),
    pytest.param(ROWS, replace(ROWS, title="other"), ["resolved m"], id="rows stay the same"),
]


@pytest.mark.parametrize(("before", "after", "expected"), SHAPES)
def test_what_is_not_watched_any_more_ends_and_is_not_called_resolved(
    store: sa.Engine, before: MonitorDefinition, after: MonitorDefinition, expected: list[str]
) -> None:
    take(store, 0, before, breach="A B")
    fired = len(told(store))
    take(store, 1, after, not_made="timeout")
    unmade = len(told(store))
    assert not any(text.startswith(("unwatched", "resolved")) for text in told(store, fired))
    take(store, 2, after)
    assert set(expected) <= set(told(store, unmade))
    assert is_quiet(store)
    seen = len(told(store))
    take(store, 3, after)
    assert told(store, seen) == []
    with read_only(store).connect() as connection:
        assert flagged_members(connection, {"m"}) == {}


def test_the_same_evaluation_may_begin_the_next_alert(store: sa.Engine) -> None:
    take(store, 0, ROWS, breach="A")
    take(store, 1, PER_GROUP, breach="A")
    assert told(store) == ["fired m", "unwatched m", "fired m#1"]
    take(store, 2, ROWS, breach="B")
    assert told(store, 3) == ["unwatched m#1", "fired m"]
    take(store, 3, ROWS)
    assert told(store, 5) == ["resolved m"]


def test_a_late_slot_a_replay_and_one_that_had_not_come_end_nothing(store: sa.Engine) -> None:
    take(store, 5, ROWS, breach="A")
    take(store, 4, PER_GROUP)
    take(store, 6, PER_GROUP, replay=True)
    take(store, 7, PER_GROUP, early=True)
    assert told(store) == ["fired m"]


def test_an_alert_that_is_about_data_alone_goes_on_by_its_own_rules(store: sa.Engine) -> None:
    take(store, 0, ROWS, no_data="A")
    take(store, 1, TOGETHER, no_data="B")
    assert told(store) == ["fired m"]
    take(store, 2, TOGETHER)
    assert told(store) == ["fired m", "resolved m"]


def test_alerts_from_before_shapes_were_kept_are_told_apart_by_their_keys(store: sa.Engine) -> None:
    take(store, 0, PER_GROUP, breach="A")
    with store.begin() as connection:
        connection.execute(sa.update(alert).values(detail=sa.func.replace(alert.c.detail, '"shape"', '"form"')))
        connection.execute(sa.update(alert).values(detail=sa.func.json_remove(alert.c.detail, "$.form")))
    take(store, 1, OTHER_GROUPS)
    assert told(store) == ["fired m#1", "unwatched m#1"]


def test_many_groups_that_are_not_watched_any_more_are_one_message(store: sa.Engine) -> None:
    take(store, 0, PER_GROUP, breach="A B C D E")
    take(store, 1, ROWS)
    with read_only(store).connect() as connection:
        rows = connection.execute(sa.select(outbox.c.group_key).where(outbox.c.event == "unwatched")).scalars().all()
    assert len(rows) == 5
    assert len(set(rows)) == 1
    assert None not in rows


def test_who_never_heard_of_an_alert_does_not_hear_of_its_end(store: sa.Engine) -> None:
    with store.begin() as connection:
        now = Step({}, 0).now
        silence_monitor(connection, "m", "ana", "known", now, now + duration("9h"))
    take(store, 1, ROWS, breach="A")
    take(store, 2, PER_GROUP)
    assert told(store) == ["(fired m)", "(unwatched m)"]


def test_the_message_says_that_nothing_was_seen_to_end(store: sa.Engine) -> None:
    take(store, 0, ROWS, breach="A B")
    take(store, 1, PER_GROUP)
    (message,) = messages(store, "unwatched")
    assert subject(message) == "[warning] m: breach, not watched any more"
    text = body(message, visible)
    assert text.startswith("Nothing was seen to end. The alert is over, since the monitor has other members now")
    assert "2 breaches / 0 no-data" in text
    assert "resolved" not in text
    assert message.carried == 2


def remove(store: sa.Engine, *monitors: str) -> list[str]:
    with store.begin() as connection:
        head(connection, for_update=True)
        return [change.event.value for change in end_removed(connection, monitors, ROUTING, Step({}, 9).now).changes]


@pytest.mark.parametrize("definition", [ROWS, PER_GROUP, TOGETHER], ids=["rows", "groups", "one alert for groups"])
def test_the_alerts_of_a_removed_monitor_end_once(store: sa.Engine, definition: MonitorDefinition) -> None:
    other = a_monitor("other", {})
    take(store, 0, definition, other, breach="A")
    assert remove(store, "m") == ["unwatched"]
    assert remove(store, "m") == []
    with read_only(store).connect() as connection:
        assert flagged_members(connection, {"m"}) == {}
    assert sum(text.startswith("unwatched") for text in told(store)) == 1
    # It comes back, and whatever is found then is a new episode.
    take(store, 10, definition, other, breach="A")
    assert sum(text.startswith("fired") for text in told(store)) == 3
    assert "(" not in "".join(told(store))


def test_an_outage_ends_with_the_last_of_its_monitors(store: sa.Engine) -> None:
    both = (a_monitor("m", {}), a_monitor("n", {}))
    take(store, 0, *both, not_made="engine_error", says="no such file")
    assert [text.split("/")[0] for text in told(store)] == ["(fired m)", "(fired n)", "fired outage"]
    assert remove(store, "m") == ["unwatched"]
    assert [text.split("/")[0] for text in told(store, 3)] == ["(unwatched m)"]
    assert remove(store, "n") == ["unwatched", "unwatched"]
    assert [text.split("/")[0] for text in told(store, 4)] == ["(unwatched n)", "unwatched outage"]
    (message,) = messages(store, "unwatched")
    assert body(message, visible).startswith("Nothing was seen to end. The last monitor")
    assert is_quiet(store)


def test_only_monitors_that_came_due_and_are_not_in_force_end(store: sa.Engine) -> None:
    names = ("kept", "removed", "tried")
    take(store, 0, *(a_monitor(name, {}) for name in names), breach="A")
    with store.begin() as connection:
        rows = [{"monitor": name, "planned_until": "2026-11-30T06:00:00.000000Z"} for name in names[:2]]
        connection.execute(watermark.insert(), rows)
    superseded = Definitions(7, None, None, (a_monitor("kept", {}),))  # type: ignore[arg-type]
    clock = FixedClock(Step({}, 9).now)
    assert end_unwatched(store, superseded, ROUTING, clock) == []
    # Nothing was published to this store, which is what these definitions say.
    in_force = replace(superseded, seq=None)  # type: ignore[arg-type]
    assert [change.event.value for change in end_unwatched(store, in_force, ROUTING, clock)] == ["unwatched"]
    assert told(store, 3) == ["unwatched removed"]
    assert end_unwatched(store, in_force, ROUTING, clock) == []
