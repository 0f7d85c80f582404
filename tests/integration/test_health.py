"""Health over HTTP, from a real server: what is not there is named, and nothing else is told."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from api.app import make_http_app
from api.server import address_of, listen, serving
from tests.integration.servers import running_postgres
from tests.integration.store import MIGRATIONS
from trivet.clock import FixedClock
from trivet.documents import read_yaml
from trivet.errors import UnavailableError
from trivet.settings import load_settings
from worker.bootstrap import Wiring
from worker.migrating import upgrade_store
from worker.processes import stale_after
from worker.pulse import Pulse
from worker.stores import open_store
from worker.workspace import read_workspace

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
FINE = {"what": "store", "fine": True, "message": None}


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def wiring(tmp_path: Path) -> Wiring:
    """The small example, ingested, with its store."""
    path = tmp_path / "workspace"
    shutil.copytree(ROOT / "examples" / "empty", path)
    settings = load_settings(None, {}).settings
    _, contract, _ = read_workspace(path, {}).require()
    assert settings is not None
    made = Wiring(path, settings, {}, FixedClock(NOW))
    made.ingest(contract)
    made.store().dispose()
    return made


@contextmanager
def served(wiring: Wiring, pulse: Pulse | None) -> Iterator[str]:
    with listen("127.0.0.1", 0) as listening, serving(make_http_app(wiring, pulse), listening):
        yield address_of(listening)


def get(url: str) -> tuple[int, Any, str]:
    """Status, the JSON document where it is one, and the content type."""
    response = httpx.get(url, timeout=30, trust_env=False)
    kind = response.headers["content-type"]
    return response.status_code, response.json() if kind == "application/json" else response.text, kind


def wrong(document: Any) -> dict[str, str]:
    return {item["what"]: item["message"] for item in document["checks"] if not item["fine"]}


def test_a_daemon_that_ticks_is_alive_and_ready(wiring: Wiring) -> None:
    pulse = Pulse()
    pulse.beat(fine=True)
    with served(wiring, pulse) as address:
        status, document, _ = get(f"{address}/healthz")
        assert (status, document["alive"], [item["what"] for item in document["checks"]]) == (200, True, ["ticking"])
        status, document, _ = get(f"{address}/readyz")
        assert (status, document["ready"], wrong(document)) == (200, True, {})
        assert [item["what"] for item in document["checks"]] == ["store", "warehouse", "tick"]
        status, text, kind = get(f"{address}/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert "trivet_store_up 1.0\n" in text
        assert "_created" not in text
        assert get(f"{address}/elsewhere")[0] == 404


def test_a_daemon_that_no_longer_ticks_is_not_alive(wiring: Wiring) -> None:
    seconds = Seconds()
    pulse = Pulse(seconds)
    limit = stale_after(wiring.settings.scheduler.tick).total_seconds()
    with served(wiring, pulse) as address:
        seconds.now = limit
        assert get(f"{address}/healthz")[0] == 200
        seconds.now += 1
        status, document, _ = get(f"{address}/healthz")
        assert (status, wrong(document)) == (503, {"ticking": f"the last tick was {limit + 1:.0f} s ago; restart it"})
        # A tick that fails is one: a restart would not mend what it fails on.
        pulse.beat(fine=False)
        assert get(f"{address}/healthz")[0] == 200
        status, document, _ = get(f"{address}/readyz")
        assert (status, wrong(document)) == (503, {"tick": "the last tick failed; the log says why"})


def test_a_daemon_is_not_ready_before_its_first_tick(wiring: Wiring) -> None:
    with served(wiring, Pulse()) as address:
        status, document, _ = get(f"{address}/readyz")
    assert (status, wrong(document)) == (503, {"tick": "there was no tick yet"})


def test_what_is_not_there_is_named_and_comes_back(wiring: Wiring) -> None:
    pulse, store = Pulse(), wiring.path / "trivet.db"
    pulse.beat(fine=True)
    with served(wiring, pulse) as address:
        hidden = wiring.warehouse.rename(wiring.path / "hidden.duckdb")
        assert wrong(get(f"{address}/readyz")[1]) == {"warehouse": "not there; run `trivet ingest`"}
        wiring.warehouse.write_bytes(b"garbage" * 2000)
        assert wrong(get(f"{address}/readyz")[1]) == {"warehouse": "cannot be opened; `trivet doctor` says why"}
        hidden.replace(wiring.warehouse)
        kept = store.rename(wiring.path / "kept.db")
        store.write_bytes(b"garbage" * 2000)
        status, document, _ = get(f"{address}/readyz")
        assert (status, wrong(document)) == (503, {"store": "cannot be read; `trivet doctor` says why"})
        assert str(wiring.path) not in json.dumps(document)
        assert "trivet_store_up 0.0\n" in get(f"{address}/metrics")[1]
        kept.replace(store)
        assert get(f"{address}/readyz")[0] == 200
        assert "trivet_store_up 1.0\n" in get(f"{address}/metrics")[1]


def test_a_store_at_another_revision_is_not_ready(wiring: Wiring) -> None:
    pulse = Pulse()
    pulse.beat(fine=True)
    with served(wiring, pulse) as address:
        engine = open_store(wiring.store_url())
        with engine.begin() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
        engine.dispose()
        problem = wrong(get(f"{address}/readyz")[1])["store"]
    assert problem.startswith("at revision 0001 and this version needs ")
    assert problem.endswith("; run `trivet db upgrade`")


def test_a_process_without_a_daemon_knows_of_those_elsewhere_by_the_store(wiring: Wiring) -> None:
    with served(wiring, None) as address:
        assert get(f"{address}/healthz")[:2] == (200, {"alive": True, "checks": []})
        none_yet = "no daemon has ticked yet; start `trivet run`, or `trivet beat` and `trivet worker`"
        assert wrong(get(f"{address}/readyz")[1]) == {"tick": none_yet}
        runtime = wiring.runtime()
        runtime.tick()
        assert get(f"{address}/readyz")[0] == 200
        wiring.clock.instant += timedelta(minutes=2)  # type: ignore[attr-defined]
        problem = "no daemon ticked for 120 s; see that one runs, and its log"
        assert wrong(get(f"{address}/readyz")[1]) == {"tick": problem}
        runtime.store.dispose()


def test_a_server_that_is_away_when_serving_begins_is_told_and_looked_at_again(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_postgres() as server:
        document = read_yaml(f"store: {{url: '{server.new_database()}'}}\n", file="trivet.yaml").document
        settings = load_settings(document, {}).settings
        assert settings is not None
        store = open_store(str(settings.store.url))
        # Whoever serves lets go of its connections when it ends.
        monkeypatch.setattr(Wiring, "unchecked_store", lambda _wiring: store)
        server.stop()
        with closing_store(store), served(replace(wiring, settings=settings), None) as address:
            status, document, _ = get(f"{address}/readyz")
            assert (status, wrong(document)["store"]) == (503, "cannot be read; `trivet doctor` says why")
            assert get(f"{address}/healthz")[0] == 200
            assert "trivet_store_up 0.0" in get(f"{address}/metrics")[1]
            server.start()
            status, document, _ = get(f"{address}/readyz")
            assert wrong(document)["store"].startswith("at revision none and this version needs ")
            upgrade_store(store, MIGRATIONS)
            status, document, _ = get(f"{address}/readyz")
            assert list(wrong(document)) == ["tick"]
            assert "trivet_store_up 1.0" in get(f"{address}/metrics")[1]


@contextmanager
def closing_store(store: sa.Engine) -> Iterator[None]:
    try:
        yield
    finally:
        store.dispose()


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        told = rf"^nothing can be served at 127\.0\.0\.1:{port}: Address already in use; set api\.host or api\.port"
        with pytest.raises(UnavailableError, match=told):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_told(host: str) -> None:
    with pytest.raises(UnavailableError, match=rf"^nothing can be served at {host}:0: .+; set api\.host"):
        listen(host, 0)


def test_only_this_machine_is_served_unless_the_settings_say_otherwise(wiring: Wiring) -> None:
    api = wiring.settings.api
    with listen(api.host, 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
    assert replace(wiring).settings.api.port == 8321


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_of_ipv6_is_written_as_urls_write_it() -> None:
    with socket.socket(socket.AF_INET6) as listening:
        try:
            listening.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        assert address_of(listening) == f"http://[::1]:{listening.getsockname()[1]}"
