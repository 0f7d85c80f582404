"""Contract and monitors are put in force together or not at all, and planners go by what is in force."""

from __future__ import annotations

import json
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ledger.append import append
from ledger.entries import EntryType
from ledger.reading import entries
from tests.integration.publishing import Processes, a_workspace
from tests.integration.worlds import CONTRACT, NOW, a_warehouse, assert_verifies, rows
from trivet.clock import FixedClock
from trivet.errors import UnavailableError
from worker.applying import Publisher
from worker.in_force import InForce, Superseded
from worker.stores import read_only
from worker.tables import evaluation, slot, watermark

MINUTELY = "monitors: [{id: own, object: reading, breach_when: value < 0, schedule: {every: 1m}}]"
OTHERWISE = "monitors: [{id: own, object: reading, breach_when: value < 1, schedule: {every: 1m}}]"
SLOWER = "monitors: [{id: own, object: reading, breach_when: value < 0, schedule: {every: 5m}}]"
DISABLED = "monitors: [{id: own, object: reading, breach_when: value < 0, enabled: false, schedule: {every: 1m}}]"
OTHER = "monitors: [{id: other, object: reading, breach_when: value > 100, schedule: {every: 1h}}]"


@pytest.fixture
def processes(any_store: sa.Engine, tmp_path: Path) -> Processes:
    return Processes(any_store, FixedClock(NOW), a_warehouse(tmp_path))


def publications(store: sa.Engine) -> list[dict[str, Any]]:
    with read_only(store).connect() as connection:
        return [item.content() for item in entries(connection, entry_type=EntryType.PUBLICATION)]


def minutes(store: sa.Engine, monitor: str = "own") -> list[int]:
    """The minutes of a monitor's slots that have a result."""
    found = [row["scheduled_for"] for row in rows(store, evaluation) if row["monitor"] == monitor]
    return sorted(datetime.fromisoformat(at).minute for at in found)


def test_what_is_published_can_be_read_again_whole(processes: Processes) -> None:
    monitors = """\
monitors:
  - id: full
    title: "Café: 5 °C"
    description: |
      On two
      lines
    object: reading
    where: site = 'north'
    breach_when: value < held_to.least
    strict: true
    allow_empty: true
    samples: 7
    timeout: 30s
    enabled: true
    severity: critical
    schedule: {cron: "0 6 * * mon", timezone: Australia/Sydney}
    no_data: {alert: false, tolerate: 3}
    for: 2
    owner: somebody@example.org
    runbook: https://example.org/runbook
    labels: {team: people}
    tests:
      - name: keys of any letters
        given: {reading: [{id: "é\\\\1", site: north, value: ""}], floor: [{site: north, least: 3}]}
        expect: {no_data: {"é\\\\1": left_null}}
  - {id: plain, object: reading, breach_when: value < 0}
"""
    done = processes.publish(monitors)
    found = InForce(processes.store).current()
    workspace = a_workspace(monitors)
    assert found is not None
    assert (found.seq, found.contract) == (done.seq, workspace.contract)
    assert found.monitors == workspace.monitors
    (test,), (written,) = found.monitors[0].tests, workspace.monitors[0].tests
    assert (test.name, test.given, test.no_data) == (written.name, written.given, written.no_data)
    assert [item.file for item in found.monitors] == ["monitors.yaml", "monitors.yaml"]
    assert not processes.publish(monitors).published
    assert_verifies(processes.store, 1)


def test_a_publication_names_who_when_and_what_changed(processes: Processes) -> None:
    processes.publish(MINUTELY, by="first")
    processes.later(minutes=2)
    more = CONTRACT.replace("1.0.0", "1.1.0")
    both = SLOWER[:-1] + ", {id: new, object: reading, breach_when: value > 3}]"
    done = processes.publish(both, more, by="second")
    assert done.changes.words() == "contract world 1.1.0 (was world 1.0.0); added new; changed own (schedule)"
    first, second = publications(processes.store)
    assert (first["published_by"], first["previous"]) == ("first", None)
    assert second["published_by"] == "second"
    assert second["published_at"] == "2026-11-30T06:02:00.000000Z"
    assert second["changes"]["contract"]["before"] == first["contract"]
    assert second["changes"]["contract"]["after"] == second["contract"]
    assert (second["changes"]["added"], second["changes"]["removed"]) == (["new"], [])
    assert second["changes"]["changed"] == [{"id": "own", "keys": ["schedule"]}]
    processes.publish(OTHER, more)
    last = publications(processes.store)[-1]
    assert last["changes"]["removed"] == ["new", "own"]
    assert {item["id"]: item["planned_until"] for item in last["removed"]} == {
        "new": None,
        "own": "2026-11-30T06:02:00.000000Z",
    }


def test_files_that_say_the_same_are_not_published_again(processes: Processes) -> None:
    first = processes.publish(MINUTELY)
    spread = "# A comment\nmonitors:\n  - id: own\n    object: reading\n    breach_when: 'value < 0'\n"
    again = processes.publish(f"{spread}    schedule:\n      every: 1m\n")
    assert (again.published, again.seq) == (False, first.seq)
    assert len(publications(processes.store)) == 1


def test_daemons_that_run_already_go_by_the_latest_publication_from_their_next_tick(processes: Processes) -> None:
    processes.publish(MINUTELY)
    processes.started()
    for daemon in range(2):
        processes.tick(daemon)
    processes.publish(OTHERWISE)
    (own,) = a_workspace(OTHERWISE).monitors
    for daemon, runtime in enumerate(processes.runtimes):
        processes.run(processes.tick(daemon, minutes=1), daemon)
        found = runtime.in_force.current()
        assert found is not None
        assert found.monitors == (own,)
    assert {row["definition_hash"] for row in rows(processes.store, evaluation)} == {own.definition_hash}


def test_a_publication_costs_a_daemon_one_query_until_there_is_another(processes: Processes) -> None:
    processes.publish(MINUTELY)
    in_force = processes.runtimes[0].in_force
    first = in_force.current()
    statements: list[str] = []
    sa.event.listen(processes.store, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert in_force.current() is first
    assert [text.split()[0] for text in statements if "FROM" in text] == ["SELECT"]


def test_a_definition_that_is_published_exactly_at_a_slot_leaves_it_one_evaluation_of_one_version(
    processes: Processes,
) -> None:
    processes.publish(MINUTELY)
    processes.tick()
    processes.later(minutes=1)
    processes.publish(OTHERWISE)
    processes.drain()
    (made,) = rows(processes.store, evaluation)
    (planned,) = rows(processes.store, slot)
    assert made["scheduled_for"] == planned["scheduled_for"] == publications(processes.store)[-1]["published_at"]
    assert made["definition_hash"] == planned["definition_hash"]
    assert made["evaluation_id"] == planned["evaluation_id"]
    assert processes.complete().is_clean


def test_what_came_due_before_a_publication_is_written_down_by_what_was_in_force_then(processes: Processes) -> None:
    processes.publish(MINUTELY)
    processes.later(minutes=4)
    processes.publish(SLOWER)
    processes.later(minutes=7)
    processes.drain()
    assert minutes(processes.store) == [1, 2, 3, 4, 5, 10]
    assert processes.complete().is_clean


def test_the_time_in_which_a_monitor_was_absent_or_disabled_is_not_due(processes: Processes) -> None:
    for without in (DISABLED, OTHER):
        processes.publish(MINUTELY)
        processes.tick()
        processes.run(processes.tick(minutes=1))
        processes.publish(without)
        # Nothing runs meanwhile, so nobody moves the monitor's mark.
        processes.later(minutes=9)
    processes.publish(MINUTELY)
    processes.drain()
    assert minutes(processes.store) == [1, 11]
    assert processes.complete().is_clean


def test_a_planner_never_plans_by_what_was_replaced(processes: Processes) -> None:
    processes.publish(MINUTELY)
    late = processes.runtimes[0]
    found = late.in_force.current()
    assert found is not None
    processes.publish(SLOWER)
    processes.later(minutes=3)
    with pytest.raises(Superseded):
        late.plan(found)
    assert rows(processes.store, slot) == []


def test_of_those_who_publish_at_once_each_sees_the_others(processes: Processes) -> None:
    texts = [MINUTELY.replace("value < 0", f"value < {number}") for number in range(4)]
    failures: list[BaseException] = []
    together = threading.Barrier(len(texts))

    def publish(text: str) -> None:
        try:
            together.wait(timeout=60)
            processes.publish(text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=publish, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert failures == []
    with read_only(processes.store).connect() as connection:
        found = list(entries(connection, entry_type=EntryType.PUBLICATION))
    assert [item.content()["previous"] for item in found] == [None, *(item.seq for item in found[:-1])]
    assert len(found) == len(texts)
    assert len(rows(processes.store, watermark)) == 1
    assert_verifies(processes.store, len(texts))


def test_monitors_that_were_planned_before_there_were_publications_go_on_where_they_were(
    processes: Processes,
) -> None:
    with processes.store.begin() as connection:
        until = "2026-11-30T05:57:00.000000Z"
        connection.execute(watermark.insert(), {"monitor": "own", "planned_until": until})
    processes.publish(MINUTELY)
    processes.drain()
    assert minutes(processes.store) == [0, 58, 59]
    assert processes.complete().is_clean


def test_only_the_first_publication_is_made_where_that_is_asked_for(processes: Processes) -> None:
    publisher = Publisher(processes.store, processes.clock, processes.runtimes[0].plan)
    assert publisher.publish(a_workspace(MINUTELY), "beat", first_only=True).published
    again = publisher.publish(a_workspace(OTHER), "beat", first_only=True)
    assert (again.published, bool(again.changes)) == (False, True)


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"schema": 99}, "its payload is of version 99"),
        ({"schema": 1}, "its payload lacks what a publication has"),
    ],
)
def test_a_publication_that_this_version_cannot_read_is_refused_with_advice(
    processes: Processes, payload: dict[str, int], told: str
) -> None:
    with processes.store.begin() as connection:
        append(connection, EntryType.PUBLICATION, "later", payload)
    for _ in range(2):
        with pytest.raises(UnavailableError, match=rf"ledger entry 1 .*{told}.*trivet apply"):
            processes.tick()
    with pytest.raises(UnavailableError, match="update trivet"):
        processes.publish(MINUTELY)


def test_monitors_that_this_version_cannot_read_can_be_published_anew(processes: Processes) -> None:
    processes.publish(MINUTELY)
    (payload,) = publications(processes.store)
    payload["monitors"][0]["document"]["a_later_key"] = "5"
    given = {name: value for name, value in payload.items() if name not in ("entry_type", "subject_id")}
    with processes.store.begin() as connection:
        append(connection, EntryType.PUBLICATION, "later", {**given, "previous": 3})
    with pytest.raises(UnavailableError, match="a_later_key"):
        processes.tick()
    processes.publish(MINUTELY)
    processes.tick()
    assert json.dumps(publications(processes.store)[-1]["changes"]["changed"]) == json.dumps(
        [{"id": "own", "keys": ["a_later_key"]}]
    )
