"""Every foreseeable mistake at the command line: exactly what is said of it, the exit code, and that nothing changed.

The mistakes are `tests/cases/cli/*.yaml`; the README there says how to add one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.command import finish, obey_permissions, start, trivet
from tests.acceptance.files import append_to, files_of, replace_in

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
    for name, text in mistake.get("files", {}).items():
        (at / name).write_text(text, "utf-8")
    for name, digits in mistake.get("bytes", {}).items():
        (at / name).write_bytes(bytes.fromhex(digits))
    for name, text in mistake.get("append", {}).items():
        append_to(at / name, text)
    for name, (old, new) in mistake.get("replace", {}).items():
        replace_in(at / name, old, new)
    for pattern in mistake.get("remove", ()):
        for file in at.glob(pattern):
            file.unlink()
    if "store" in mistake:
        with closing(sqlite3.connect(at / "trivet.db")) as store:
            store.execute(mistake["store"])
            store.commit()


def test_every_mistake_has_a_name_of_its_own() -> None:
    names = [mistake["name"] for mistake in MISTAKES]
    assert len(set(names)) == len(names) > 80


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
    message = mistake["says"].strip().replace("{at}", str(at))

    told = trivet(*mistake["run"].split())
    assert told.err.splitlines()[: len(message.splitlines())] == message.splitlines()
    assert (told.code, told.out) == (mistake["code"], "")

    given = trivet(*mistake["run"].split(), "--json") if mistake.get("json", True) else None
    if given is not None:
        assert (given.code, given.err) == (told.code, told.err)
        error = given.document["error"]
        assert error.keys() == {"exit_code", "message", "findings"}
        assert (error["exit_code"], error["message"]) == (mistake["code"], message)
        assert "\n".join(shown(finding) for finding in error["findings"]) == (message if error["findings"] else "")
    assert files_of(at) == before


def shown(finding: dict[str, Any]) -> str:
    """A finding of a JSON document, put together as the message shows it."""
    assert finding.keys() == {"file", "line", "column", "key", "message"}
    place = f":{finding['line']}:{finding['column']}" if finding["line"] is not None else ""
    key = f" {finding['key']}:" if finding["key"] else ""
    return f"{finding['file']}{place}:{key} {finding['message']}"
