"""Every foreseeable mistake at the command line: exactly what is said of it, the exit code, and that nothing changed.

The mistakes are `tests/cases/cli/*.yaml`; the README there says how to add one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.command import finish, obey_permissions, start, trivet
from tests.acceptance.files import append_to, files_of, replace_in
from worker.migrating import LATEST

CASES = Path(__file__).parents[1] / "cases" / "cli"
MISTAKES: list[dict[str, Any]] = [
    mistake for file in sorted(CASES.glob("*.yaml")) for mistake in yaml.safe_load(file.read_text("utf-8"))
]
KEYS = {
    *("name", "workspace", "files", "bytes", "append", "replace", "remove", "store"),
    *("environment", "without", "run", "code", "json", "says"),
}


@pytest.fixture(scope="module")
def workspaces(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The workspaces that mistakes are made in, to be copied."""
    root = tmp_path_factory.mktemp("workspaces")
    (root / "none").mkdir()
    assert trivet("init", root / "small").code == 0
    assert trivet("ingest", at=root / "small").code == 0
    return {"demo": demo, "small": root / "small", "none": root / "none"}


def make(mistake: dict[str, Any], at: Path) -> None:
    """Makes a mistake in a workspace."""
    assert mistake.keys() <= KEYS, mistake.keys() - KEYS
    for pattern in mistake.get("remove", ()):
        for file in at.glob(pattern):
            file.unlink()
    for name, text in mistake.get("files", {}).items():
        (at / name).write_text(text, "utf-8")
    for name, digits in mistake.get("bytes", {}).items():
        (at / name).write_bytes(bytes.fromhex(digits))
    for name, text in mistake.get("append", {}).items():
        append_to(at / name, text)
    for name, (old, new) in mistake.get("replace", {}).items():
        replace_in(at / name, old, new)
    if "store" in mistake:
        with closing(sqlite3.connect(at / "trivet.db")) as store:
            store.execute(mistake["store"])
            store.commit()


def test_every_mistake_has_a_name_of_its_own() -> None:
    names = [mistake["name"] for mistake in MISTAKES]
    assert len(set(names)) == len(names) >= 80


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["name"].replace(" ", "-"))
def test_a_mistake_is_told_exactly_and_changes_nothing(
    mistake: dict[str, Any], workspaces: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = Path(shutil.copytree(workspaces[mistake.get("workspace", "demo")], tmp_path / "at"))
    make(mistake, at)
    monkeypatch.chdir(at)
    for name, value in mistake.get("environment", {}).items():
        monkeypatch.setenv(name, value)
    if "without" in mistake:
        monkeypatch.setitem(sys.modules, mistake["without"], None)
    before = files_of(at)
    message = mistake["says"].strip().replace("{at}", str(at)).replace("{latest}", LATEST)

    told = trivet(*mistake["run"].split())
    faults = len(message.splitlines())
    assert told.err == message + "\n" + (f"{faults} faults; nothing was changed\n" if faults > 1 else "")
    assert (told.code, told.out) == (mistake["code"], "")

    if mistake.get("json", True):
        given = trivet(*mistake["run"].split(), "--json")
        assert (given.code, given.err) == (told.code, told.err)
        error = given.document["error"]
        assert error.keys() == {"exit_code", "message", "findings"}
        assert (error["exit_code"], error["message"]) == (mistake["code"], message)
        assert "\n".join(map(shown, error["findings"])) == (message if told.code == 65 else "")
    assert files_of(at) == before


def shown(finding: dict[str, Any]) -> str:
    """A finding of a JSON document, put together as the message shows it."""
    assert finding.keys() == {"file", "line", "column", "key", "message"}
    place = f":{finding['line']}:{finding['column']}" if finding["line"] is not None else ""
    key = f" {finding['key']}:" if finding["key"] else ""
    return f"{finding['file']}{place}:{key} {finding['message']}"


def test_the_command_alone_prints_its_help_as_a_wrong_usage() -> None:
    ended = trivet()
    assert (ended.code, ended.out) == (64, "")
    assert ended.err.startswith("Usage: trivet [OPTIONS] COMMAND [ARGS]...\n")
    assert "see `trivet --help`" not in ended.err


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "-h"], ["ledger", "--help"], ["--version"]])
def test_help_and_version_are_no_mistakes(arguments: list[str]) -> None:
    ended = trivet(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert "trivet" in ended.out


def test_a_second_ingest_at_the_same_time_is_refused(workspace: Path) -> None:
    before = files_of(workspace)
    with (workspace / ".warehouse.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = trivet("ingest", at=workspace)
    assert ended.code == 69
    message = f"another ingest is building warehouse.duckdb (process {os.getpid()}); wait for it, then retry\n"
    assert ended.err == message
    assert files_of(workspace) == before


def test_a_store_that_another_process_holds_is_waited_for_and_then_told(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.stores._BUSY_TIMEOUT_MS", 50)
    monkeypatch.setattr("worker.stores._PATIENCE", 0.1)
    with closing(sqlite3.connect(workspace / "trivet.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = trivet("evaluate", "hours-over-limit", at=workspace)
    advice = "another process is writing to it; wait for that, then retry"
    assert (ended.code, ended.out) == (69, "")
    assert ended.err == f"the store sqlite:///{workspace}/trivet.db cannot be used: database is locked; {advice}\n"


@pytest.fixture
def read_only(workspace: Path) -> Iterator[Path]:
    """A workspace that nothing can be written into."""
    folders = [workspace, *(path for path in workspace.rglob("*") if path.is_dir())]
    for path in [*workspace.rglob("*"), workspace]:
        path.chmod(path.stat().st_mode & ~0o222)
    yield workspace
    for folder in folders:
        folder.chmod(0o700)


def test_a_workspace_that_cannot_be_written_can_be_read_and_says_what_it_lacks(read_only: Path) -> None:
    before = files_of(read_only)
    store = f"the store sqlite:///{read_only}/trivet.db cannot be used: attempt to write a readonly database"
    advice = "the file and its folder must be writable"
    expected = {
        "evaluate hours-over-limit --dry-run": (1, ""),
        "evaluate hours-over-limit": (69, f"{store}; {advice}\n"),
        "ingest": (69, ". cannot be written: Permission denied\n"),
        "init new": (69, "new: Permission denied\n"),
    }
    started = {line: start(*line.split(), at=read_only, before=obey_permissions) for line in expected}
    ended = {line: finish(process) for line, process in started.items()}
    assert {line: (end.code, end.err) for line, end in ended.items()} == expected
    assert files_of(read_only) == before


def test_an_auditor_can_verify_a_ledger_that_cannot_be_written(read_only: Path) -> None:
    ended = finish(start("ledger", "verify", at=read_only, before=obey_permissions))
    assert (ended.code, ended.err) == (0, "")
