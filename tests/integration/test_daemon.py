"""The daemon goes on through bad files and failing ticks, and there is one for each store."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trivet.documents import read_yaml
from trivet.errors import InputError, UnavailableError, UsageError
from trivet.settings import load_settings
from worker.bootstrap import Wiring
from worker.embedded import EmbeddedDaemon, only_daemon
from worker.evaluate import Recorded, manual_slots
from worker.runtime import Runtime
from worker.watching import WatchedWorkspace

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
    contract = WatchedWorkspace(workspace, {}).current().contract
    assert contract is not None
    made.ingest(contract)
    return made


@pytest.fixture
def runtime(wiring: Wiring) -> Iterator[Runtime]:
    made = wiring.runtime()
    yield made
    made.store.dispose()


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


def test_a_workspace_is_read_again_when_it_changes(wiring: Wiring) -> None:
    watched = WatchedWorkspace(wiring.path, {})
    first = watched.current()
    assert watched.current() is first
    edit(wiring.path, "temperature > 5", "temperature > 4")
    second = watched.current()
    assert second is not first
    assert first.monitors[0].definition_hash != second.monitors[0].definition_hash
    assert watched.current() is second


def test_a_file_at_fault_leaves_the_workspace_as_it_was_and_is_told_once(
    wiring: Wiring, caplog: pytest.LogCaptureFixture
) -> None:
    watched = WatchedWorkspace(wiring.path, {})
    first = watched.current()
    edit(wiring.path, "temperature > 5", "temprature > 5")
    assert watched.current() is first
    assert "monitors/example.yaml:" in caplog.text
    assert "temprature" in caplog.text
    caplog.clear()
    assert watched.current() is first
    assert caplog.text == ""
    edit(wiring.path, "temprature > 5", "temperature > 6")
    assert watched.current() is not first


def test_a_contract_that_is_gone_leaves_the_workspace_as_it_was(wiring: Wiring) -> None:
    watched = WatchedWorkspace(wiring.path, {})
    first = watched.current()
    (wiring.path / "contract.yaml").unlink()
    assert watched.current() is first


def test_a_daemon_does_not_begin_with_a_workspace_at_fault(wiring: Wiring) -> None:
    edit(wiring.path, "temperature > 5", "temperature >")
    with pytest.raises(InputError):
        wiring.runtime()


def test_the_daemon_evaluates_what_comes_due_and_delivers(runtime: Runtime) -> None:
    reported: list[Recorded] = []
    delivered: list[str] = []
    daemon = EmbeddedDaemon(replace(runtime, deliver=lambda: delivered.append("sent")), 2, reported.append)
    run_until(daemon, lambda: sum(item.evaluation.breached != () for item in reported) >= 2 and delivered)
    slots = [item.evaluation.slot for item in reported]
    assert len(slots) == len(set(slots))
    assert {item.evaluation.badge for item in reported} <= {"1 breach / 1 no-data", None}
    assert all(item.ledger_seq for item in reported)


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


def in_breach(wiring: Wiring, receiver: str) -> Wiring:
    """The workspace with a receiver that its monitor names, evaluated once: a notice waits in the outbox."""
    document = read_yaml(f"receivers: {{desk: {receiver}}}", file="trivet.yaml").document
    settings = load_settings(document, {}).settings
    assert settings is not None
    (wiring.path / "trivet.yaml").write_text(f"receivers: {{desk: {receiver}}}\n", "utf-8")
    edit(wiring.path, "enabled: true", "notify: [desk]")
    telling = replace(wiring, settings=settings)
    _, contract, monitors = WatchedWorkspace(wiring.path, {}).current().require()
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


def test_a_daemon_logs_what_it_could_not_send(wiring: Wiring, caplog: pytest.LogCaptureFixture) -> None:
    made = in_breach(wiring, "{webhook: {url: 'env:NO_SUCH_VARIABLE'}}").runtime()
    assert made.deliver is not None
    made.deliver()
    made.store.dispose()
    (line,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
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


def test_there_is_no_broker_in_settings_for_the_embedded_daemon(wiring: Wiring) -> None:
    with pytest.raises(UsageError, match=r"scheduler\.mode to celery"):
        wiring.broker_url()
