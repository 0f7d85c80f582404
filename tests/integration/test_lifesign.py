"""The sign of life goes to a real server, after ticks that went well and after no other, and holds up no tick."""

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

from alerts.notifiers.addresses import Reach
from alerts.notifiers.outgoing import Outgoing
from alerts.notifiers.ping import HttpPing
from alerts.notifiers.port import Ending, MaybeSent, NotSent, Sent
from tests.integration.receiver import Receiver, hang_up, running_receiver, slow, status
from trivet.documents import read_yaml
from trivet.errors import InputError
from trivet.references import Secret
from trivet.settings import Settings, load_settings
from worker.bootstrap import Wiring
from worker.embedded import EmbeddedDaemon
from worker.lifesign import LifeSign
from worker.runtime import Runtime
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[2]
CANARY = "hunter2hunter2"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


def settings(text: str) -> Settings:
    found = load_settings(read_yaml(f"watch: {text}", file="trivet.yaml").document, {})
    assert found.settings is not None, found.findings
    return found.settings


@pytest.fixture
def wiring(tmp_path: Path, receiver: Receiver) -> Wiring:
    path = tmp_path / "workspace"
    shutil.copytree(ROOT / "examples" / "empty", path)
    environment = {"PING_URL": receiver.url(f"/{CANARY}")}
    made = Wiring(path, settings("{heartbeat: 'env:PING_URL', every: 1s, insecure: true}"), environment)
    _, contract, _ = read_workspace(path, {}).require()
    made.ingest(contract)
    made.publish_first()
    return made


@pytest.fixture
def runtime(wiring: Wiring) -> Iterator[Runtime]:
    made = wiring.runtime()
    yield made
    made.store.dispose()


def ping(url: str, seconds: float = 10) -> HttpPing:
    return HttpPing(Outgoing(Secret(url), Reach(this_machine=True), timedelta(seconds=seconds)))


def wait_for(what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline, "it did not come about within a minute"
        time.sleep(0.02)


def test_a_tick_that_went_well_is_told(runtime: Runtime, receiver: Receiver) -> None:
    runtime.tick()
    wait_for(lambda: receiver.requests)
    assert [(item.path, item.body) for item in receiver.requests] == [(f"/{CANARY}", b"")]
    assert receiver.requests[0].headers["user-agent"].startswith("trivet/")


def test_a_tick_that_fails_is_not_told(
    runtime: Runtime, wiring: Wiring, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """The store goes away under a running daemon, and comes back."""
    told: list[Any] = []
    daemon = EmbeddedDaemon(runtime, 1, told.append)
    stop = threading.Event()
    thread = threading.Thread(target=daemon.run, args=(timedelta(seconds=0.2), stop))
    thread.start()
    try:
        wait_for(lambda: receiver.requests)
        store = wiring.path / "trivet.db"
        hidden = store.rename(wiring.path / "hidden.db")
        store.write_bytes(b"garbage" * 2000)
        wait_for(lambda: daemon.pulse.fine is False)
        # One that was begun before may still come in.
        time.sleep(0.5)
        before = len(receiver.requests)
        time.sleep(2.5)
        assert (len(receiver.requests), daemon.pulse.fine) == (before, False)
        hidden.replace(store)
        wait_for(lambda: len(receiver.requests) > before)
        assert daemon.pulse.fine is True
    finally:
        stop.set()
        thread.join(timeout=60)
    assert not thread.is_alive()
    errors = [item for item in caplog.records if item.levelno >= logging.ERROR and "a tick failed" in item.getMessage()]
    assert len(errors) == 1
    assert CANARY not in caplog.text


def test_it_goes_out_at_most_so_often(receiver: Receiver) -> None:
    now = [0.0]
    sign = LifeSign(ping(receiver.url()).send, MINUTE, lambda: now[0])
    for second in range(0, 125, 5):
        now[0] = float(second)
        sign.after_tick()
        wait_for(lambda: sign._under_way is not None and not sign._under_way.is_alive())
    assert len(receiver.requests) == 3


def test_an_address_that_is_slow_holds_up_no_tick_and_is_asked_once_at_a_time(receiver: Receiver) -> None:
    receiver.answers += [slow(1.0)]
    now = [0.0]
    sign = LifeSign(ping(receiver.url(), 30).send, MINUTE, lambda: now[0])
    began = time.monotonic()
    for _ in range(5):
        sign.after_tick()
        now[0] += 60
    assert time.monotonic() - began < 0.8
    wait_for(lambda: sign._under_way is not None and not sign._under_way.is_alive())
    assert len(receiver.requests) == 1
    sign.after_tick()
    wait_for(lambda: len(receiver.requests) == 2)


ENDINGS: dict[str, tuple[Any, Ending]] = {
    "taken": (status(200), Sent()),
    "taken without a body": (status(204), Sent()),
    "refused": (status(404), NotSent("it answered 404")),
    "broken": (status(500), NotSent("it answered 500")),
    "a redirect": (
        status(307, location="http://127.0.0.1:1/elsewhere"),
        NotSent("it answered 307: redirects are not followed; set the address itself"),
    ),
    "hung up": (hang_up, MaybeSent("no answer: the receiver hung up, or answered what is no HTTP")),
    "too slow": (slow(1.0), MaybeSent("no answer: timed out")),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_only_an_answer_of_2xx_counts_as_taken(receiver: Receiver, name: str) -> None:
    answer, ending = ENDINGS[name]
    receiver.answers.append(answer)
    assert ping(receiver.url(f"/{CANARY}"), 0.3).send() == ending
    assert len(receiver.requests) == 1


def test_a_proxy_of_the_environment_is_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert ping(receiver.url()).send() == Sent()


def test_a_sign_that_is_not_taken_is_told_without_its_address(
    runtime: Runtime, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.answers.append(status(500))
    runtime.tick()
    wait_for(lambda: "the sign of life was not taken: it answered 500" in caplog.text)
    assert CANARY not in caplog.text


REFUSED = {
    "http://example.org/x": "begin with https://",
    "https://": "no http or https URL",
    "ftp://example.org/x": "begins with https:// or http://",
}


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_is_not_encrypted_is_refused(url: str) -> None:
    found = load_settings(read_yaml(f"watch: {{heartbeat: '{url}'}}", file="trivet.yaml").document, {})
    (finding,) = found.findings
    assert finding.key == "watch.heartbeat"
    assert REFUSED[url] in finding.message


def test_a_reference_to_an_address_that_is_not_encrypted_stops_the_daemon_at_its_start(wiring: Wiring) -> None:
    strict = replace(wiring, settings=settings("{heartbeat: 'env:PING_URL'}"))
    with pytest.raises(InputError, match=r"heartbeat's url must begin with https://") as caught:
        strict.runtime()
    assert CANARY not in str(caught.value)
    with pytest.raises(InputError, match=r"env:PING_URL: the secret is missing"):
        replace(strict, environment={}).runtime()


def test_an_interval_of_nothing_is_refused() -> None:
    found = load_settings(read_yaml("watch: {every: 0s}", file="trivet.yaml").document, {})
    assert [(item.key, item.message) for item in found.findings] == [
        ("watch.every", "expected a duration of at least 1s, found '0s'")
    ]
