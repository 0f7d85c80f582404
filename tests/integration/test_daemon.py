"""The daemon goes on through bad files and failing ticks, and there is one for each store."""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from catalog.engines.duckdb_engine import DuckDBEngine, DuckDBSnapshot
from catalog.referee.certified import CertifiedQuery
from sources.publication import generation_instant
from tests.integration.worlds import a_warehouse
from trivet.clock import utc_text
from trivet.documents import read_yaml
from trivet.errors import InputError, UnavailableError, UsageError
from trivet.settings import load_settings
from worker.applying import Applied
from worker.bootstrap import Wiring
from worker.embedded import EmbeddedDaemon, only_daemon
from worker.evaluate import Recorded, manual_slots
from worker.processes import DaemonKind
from worker.refreshes import Published
from worker.runtime import Runtime
from worker.tables import evaluation, slot, watermark
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wiring(tmp_path: Path) -> Wiring:
    """The small example, ingested, with its monitor every second."""
    workspace = tmp_path / "workspace"
    shutil.copytree(ROOT / "examples" / "empty", workspace)
    edit(workspace, "every: 1h", "every: 1s")
    settings = load_settings(None, {}).settings
    assert settings is not None
    made = Wiring(workspace, settings, {})
    _, contract, _ = read_workspace(workspace, {}).require()
    made.ingest(contract)
    return made


@pytest.fixture
def runtime(wiring: Wiring) -> Iterator[Runtime]:
    made = wiring.runtime()
    published(wiring, made)
    yield made
    made.store.dispose()


def published(wiring: Wiring, runtime: Runtime) -> Applied:
    """What came of putting the workspace's files in force."""
    return wiring.publisher(runtime.store).publish(read_workspace(wiring.path, {}), "somebody")


def edit(workspace: Path, old: str, new: str) -> None:
    file = workspace / "monitors" / "example.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def wait_for(what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline, "it did not come about within a minute"
        time.sleep(0.05)


def run_until(daemon: EmbeddedDaemon, what: Callable[[], Any]) -> None:
    """Runs the daemon in a thread until something is so, then stops it."""
    stop = threading.Event()
    thread = threading.Thread(target=daemon.run, args=(timedelta(seconds=0.2), stop))
    thread.start()
    try:
        wait_for(what)
    finally:
        stop.set()
        thread.join(timeout=60)
    assert not thread.is_alive()


def test_a_daemon_with_nothing_in_force_waits_and_says_so_once(
    wiring: Wiring, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = wiring.runtime()
    assert [runtime.tick().batches for _ in range(3)] == [(), (), ()]
    told = [record.getMessage() for record in caplog.records if record.name == "worker.watching"]
    assert told == ["nothing is in force yet, so nothing comes due; run `trivet apply`"]
    published(wiring, runtime)
    runtime.tick()
    found = runtime.in_force.current()
    assert found is not None
    assert [item.id for item in found.monitors] == ["reading-too-warm"]
    runtime.store.dispose()


def test_files_that_were_edited_have_no_effect_until_they_are_published(
    wiring: Wiring, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    before = runtime.in_force.current()
    assert before is not None
    runtime.tick()
    assert caplog.text == ""
    edit(wiring.path, "temperature > 5", "temperature > 4")
    for _ in range(3):
        runtime.tick()
    assert runtime.in_force.current() is before
    told = "the files differ from what is in force (changed reading-too-warm (breach_when)); run `trivet apply`"
    assert [record.getMessage() for record in caplog.records] == [told]
    caplog.clear()
    published(wiring, runtime)
    runtime.tick()
    after = runtime.in_force.current()
    assert after is not None
    assert after.monitors[0].definition_hash != before.monitors[0].definition_hash
    assert runtime.in_force.current() is after
    assert caplog.text == ""


def test_files_at_fault_are_told_once_and_change_nothing(
    wiring: Wiring, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    before = runtime.in_force.current()
    edit(wiring.path, "temperature > 5", "temprature > 5")
    with pytest.raises(InputError):
        published(wiring, runtime)
    for _ in range(2):
        runtime.tick()
    assert runtime.in_force.current() is before
    (record,) = caplog.records
    assert record.getMessage().startswith("the files are at fault and have no effect: monitors/example.yaml:")
    assert "temprature" in caplog.text


def test_a_worker_needs_no_files_but_the_settings(
    wiring: Wiring, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(wiring.path / "monitors")
    (wiring.path / "contract.yaml").unlink()
    runtime.tick()
    found = runtime.in_force.current()
    assert found is not None
    assert [item.id for item in found.monitors] == ["reading-too-warm"]
    assert caplog.text == ""


def test_the_daemon_evaluates_what_comes_due_and_delivers(runtime: Runtime) -> None:
    reported: list[Recorded] = []
    delivered: list[str] = []
    daemon = EmbeddedDaemon(replace(runtime, deliver=lambda: delivered.append("sent")), 2, reported.append)
    run_until(daemon, lambda: sum(item.evaluation.breached != () for item in reported) >= 2 and delivered)
    slots = [item.evaluation.slot for item in reported]
    assert len(slots) == len(set(slots))
    assert {item.evaluation.badge for item in reported} <= {"1 breach / 1 no-data", None}
    assert all(item.ledger_seq for item in reported)


def test_batches_share_an_engine_which_remembers_what_it_counted(
    wiring: Wiring, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    run = DuckDBSnapshot.run

    def noted(snapshot: DuckDBSnapshot, query: CertifiedQuery, timeout: timedelta) -> list[tuple[Any, ...]]:
        asked[query.sql] += 1
        return run(snapshot, query, timeout)

    monkeypatch.setattr(DuckDBSnapshot, "run", noted)
    _, contract, monitors = read_workspace(wiring.path, {}).require()
    for _ in range(3):
        slots = manual_slots(monitors, contract, runtime.clock.now())
        assert [item.evaluation.badge for item in runtime.evaluator(contract).evaluate(slots, None)]
    assert sorted(asked.values())[0] == 1, "how many rows there are"
    assert sorted(asked.values())[-1] == 3, "what they come to"


def test_a_tick_a_batch_or_a_delivery_that_fails_stops_nothing(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failed: list[str] = []
    reported: list[Recorded] = []
    tick, evaluate = Runtime.tick, Runtime.evaluate

    def failing_once(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            if name not in failed:
                failed.append(name)
                raise OSError(28, "No space left on device")
            return real(*arguments)

        return called

    monkeypatch.setattr(Runtime, "tick", failing_once("tick", tick))
    monkeypatch.setattr(Runtime, "evaluate", failing_once("batch", evaluate))
    delivering = replace(runtime, deliver=failing_once("delivery", lambda: None), lease=timedelta(seconds=1))
    daemon = EmbeddedDaemon(delivering, 1, reported.append)
    with caplog.at_level(logging.ERROR):
        run_until(daemon, lambda: len(failed) == 3 and any(item.evaluation.breached for item in reported))
    for told in ("a tick failed", "a batch failed", "delivery failed"):
        assert told in caplog.text


def in_breach(wiring: Wiring, receiver: str, more: str = "") -> Wiring:
    """The workspace with a receiver that its monitor names, evaluated once: a notice waits in the outbox."""
    text = f"receivers: {{desk: {receiver}}}\n{more}\n"
    document = read_yaml(text, file="trivet.yaml").document
    settings = load_settings(document, {}).settings
    assert settings is not None
    (wiring.path / "trivet.yaml").write_text(text, "utf-8")
    edit(wiring.path, "enabled: true", "notify: [desk]")
    telling = replace(wiring, settings=settings)
    _, contract, monitors = read_workspace(wiring.path, {}).require()
    store = telling.store()
    slots = manual_slots(monitors, contract, wiring.clock.now())
    assert [item.evaluation.verdict for item in telling.evaluator(contract).evaluate(slots, store)] == ["breach"]
    store.dispose()
    return telling


def test_a_daemon_prints_alerts_where_its_program_wants_them(wiring: Wiring) -> None:
    written: list[str] = []
    made = in_breach(wiring, "{stdout: true}").runtime(written.append)
    assert made.deliver is not None
    made.deliver()
    made.store.dispose()
    (text,) = written
    assert text.startswith("[warning] Cold store warmer than 5 degrees: breach\n")


@pytest.mark.parametrize("kind", list(DaemonKind))
def test_a_daemon_sends_the_digest_of_the_day_once(wiring: Wiring, kind: DaemonKind) -> None:
    telling = in_breach(wiring, "{stdout: true}", "digests: [{at: '00:00', receiver: desk}]")
    written: list[str] = []
    for _ in range(2):
        made = telling.runtime(written.append, kind)
        assert made.deliver is not None
        made.deliver()
        made.deliver()
        made.store.dispose()
    (digest,) = (text for text in written if text.startswith("[digest] "))
    assert digest.endswith("It comes every day. If it stays away nobody is told of anything: `trivet doctor` says why.")


def test_a_daemon_logs_what_it_could_not_send(wiring: Wiring, caplog: pytest.LogCaptureFixture) -> None:
    made = in_breach(wiring, "{webhook: {url: 'env:NO_SUCH_VARIABLE'}}").runtime()
    assert made.deliver is not None
    made.deliver()
    made.store.dispose()
    warnings = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    (line,) = (text for text in warnings if text.startswith("alert for"))
    assert line.startswith("alert for desk: reading-too-warm: env:NO_SUCH_VARIABLE: the secret is missing")
    assert line.endswith("; it is tried again")


def test_a_store_has_one_daemon(tmp_path: Path) -> None:
    lock = tmp_path / "trivet.db-lock"
    with (
        only_daemon(lock),
        pytest.raises(UnavailableError, match=r"another `trivet run` .*trivet\.db-lock"),
        only_daemon(lock),
    ):
        pass
    with only_daemon(lock):
        assert lock.exists()


def test_a_daemon_leaves_its_name_for_the_one_that_comes_after_it(tmp_path: Path) -> None:
    lock = tmp_path / "trivet.db-lock"
    with only_daemon(lock, "first") as before:
        assert before == ""
    with only_daemon(lock, "second") as before:
        assert before == "first"
    with only_daemon(lock, "third") as before:
        assert before == "second"


def test_a_warehouse_that_is_published_is_seen_by_itself_and_planned_once(wiring: Wiring) -> None:
    edit(wiring.path, "{every: 1s}", "{after: refresh}")

    def ticks(count: int) -> list[str]:
        # Each by a daemon that knows nothing of the others.
        for _ in range(count):
            made = wiring.runtime()
            for batch in made.tick().batches:
                list(made.evaluate(batch.keys))
            made.store.dispose()
        store = wiring.store()
        with store.connect() as connection:
            found = connection.execute(sa.select(evaluation.c.snapshot, evaluation.c.scheduled_for)).all()
        store.dispose()
        return sorted(f"{json.loads(row.snapshot)['generation']} at {row.scheduled_for}" for row in found)

    def generation() -> str:
        with wiring.engine().snapshot() as snapshot:
            return str(snapshot.identity.generation)

    assert ticks(1) == [], "nothing is in force"
    wiring.publish_first()
    assert ticks(2) == []
    _, contract, _ = read_workspace(wiring.path, {}).require()
    expected = []
    for _ in range(2):
        wiring.ingest(contract)
        built = generation_instant(generation())
        assert built is not None
        expected.append(f"{generation()} at {utc_text(built)}")
        assert ticks(3) == expected


def test_a_warehouse_that_cannot_be_read_just_now_is_seen_later(wiring: Wiring) -> None:
    published = Published(wiring.warehouse, wiring.engine())
    (served,) = published() or ()
    assert generation_instant(served.name) == served.at <= served.published
    whole = wiring.warehouse.read_bytes()
    wiring.warehouse.unlink()
    assert published() == ()
    wiring.warehouse.write_bytes(b"no database")
    assert published() is None
    wiring.warehouse.write_bytes(whole)
    assert [item.name for item in published() or ()] == [served.name]


def test_a_warehouse_that_ingestion_did_not_build_is_another_one_with_each_change(tmp_path: Path) -> None:
    folder, other = tmp_path / "one", tmp_path / "two"
    folder.mkdir()
    other.mkdir()
    warehouse = a_warehouse(folder)
    published = Published(warehouse, DuckDBEngine(warehouse))
    (first,) = published() or ()
    assert published() == (first,)
    a_warehouse(other).replace(warehouse)
    (second,) = published() or ()
    assert second.name > first.name
    assert second.at > first.at


def test_a_monitor_that_catches_up_goes_on_without_waiting_for_ticks(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is.
    monkeypatch.setattr("worker.runtime.LONGEST_FURTHER", timedelta(minutes=10))
    edit(wiring.path, "enabled: true", "catch_up: all")
    made = wiring.runtime()
    published(wiring, made)
    made.tick()
    with made.store.begin() as connection:
        before = utc_text(wiring.clock.now() - timedelta(seconds=20))
        connection.execute(sa.update(watermark).values(planned_until=before))
    (batch,) = made.tick().batches
    assert len(batch.keys) == 1
    assert len(list(made.evaluate(batch.keys, lambda: False))) == 1, "it is to stop"
    with made.store.begin() as connection:
        connection.execute(sa.update(slot).values(sent_at=None))
    (batch,) = made.tick().batches
    rest = list(made.evaluate(batch.keys))
    assert len(rest) >= 19
    assert {item.evaluation.badge for item in rest} == {"1 breach / 1 no-data"}
    made.store.dispose()


def test_there_is_no_broker_in_settings_for_the_embedded_daemon(wiring: Wiring) -> None:
    with pytest.raises(UsageError, match=r"scheduler\.mode to celery"):
        wiring.broker_url()
